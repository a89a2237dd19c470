package curl

import (
	"fmt"
	"strconv"
	"strings"
)

const urlsMax = 50 // of a command

// globbed returns the URLs that curl makes from [1-9] and {a,b}; an invalid pattern stays as it
// is.
func (c *curling) globbed(address string) []string {
	if c.literal || !strings.ContainsAny(address, "[{") {
		return []string{address}
	}
	all := []string{""}
	add := func(options []string) {
		var next []string
		for _, before := range all {
			for _, o := range options {
				if len(next) <= urlsMax {
					next = append(next, before+o)
				}
			}
		}
		all = next
	}
	host := strings.Index(address, "://[") + len("://")
	for i := 0; i < len(address); i++ {
		switch ch := address[i]; {
		case ch == '\\' && i+1 < len(address) && strings.IndexByte("[]{}", address[i+1]) >= 0:
			i++
			add([]string{address[i : i+1]})
			continue
		case ch == '{':
			if end := strings.IndexByte(address[i:], '}'); end > 0 && !strings.Contains(address[i+1:i+end], "{") {
				add(strings.Split(address[i+1:i+end], ","))
				i += end
				continue
			}
		case ch == '[' && i != host:
			end := strings.IndexByte(address[i:], ']')
			if end > 0 {
				if options := span(address[i+1 : i+end]); len(options) > 0 {
					add(options)
					i += end
					continue
				}
			}
			c.warnings = append(c.warnings, "curl refuses this URL for its [ without -g: here it stands for itself")
		}
		add([]string{address[i : i+1]})
	}
	return all
}

// span is what [1-10], [001-100:2] and [a-z] stand for.
func span(text string) []string {
	text, by, stepped := strings.Cut(text, ":")
	low, high, ok := strings.Cut(text, "-")
	step := 1
	if n, err := strconv.Atoi(by); stepped {
		if step = n; err != nil || n < 1 {
			return nil
		}
	}
	if !ok || low == "" || high == "" {
		return nil
	}
	var out []string
	from, err1 := strconv.Atoi(low)
	to, err2 := strconv.Atoi(high)
	letters := len(low) == 1 && len(high) == 1 && isLetter(low[0]) && isLetter(high[0])
	if letters {
		from, to, err1, err2 = int(low[0]), int(high[0]), nil, nil
	}
	if err1 != nil || err2 != nil || from < 0 {
		return nil
	}
	width := 0
	if low[0] == '0' {
		width = len(low)
	}
	for n := from; n <= to && len(out) <= urlsMax && step <= 1<<30; n += step {
		if letters {
			out = append(out, string(rune(n)))
		} else {
			out = append(out, fmt.Sprintf("%0*d", width, n))
		}
	}
	return out
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// undotted takes . and .. out of a path, as curl does (RFC 3986, 5.2.4).
func undotted(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	end := strings.IndexAny(rest, "?#")
	if end < 0 {
		end = len(rest)
	}
	path, after := rest[:end], rest[end:]
	if !strings.Contains(path, "/.") {
		return address
	}
	segments := strings.Split(path, "/")
	kept := segments[:1]
	for i, segment := range segments[1:] {
		last := i == len(segments)-2
		switch segment {
		case ".", "..":
			if segment == ".." && len(kept) > 1 {
				kept = kept[:len(kept)-1]
			}
			if last {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, segment)
		}
	}
	return scheme + "://" + strings.Join(kept, "/") + after
}
