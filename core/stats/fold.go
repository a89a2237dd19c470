package stats

import "strings"

// Bounds of the names of functions' requests.
const (
	PartsMax    = 64  // names of one step, before PartOther counts the rest
	AllPartsMax = 256 // names of one workflow
	foldedMax   = 96  // bytes of a name that was made of a method and a path
)

// PartOther counts the requests whose name follows after PartsMax others.
const PartOther = "other"

// folded replaces a number or an id in a path.
const folded = "{id}"

// FoldRequest appends a request's name: its method and its path, in which numbers and ids are
// {id}, so that requests of one kind share it. It drops scheme, host, query and fragment.
func FoldRequest(to []byte, method, url string) []byte {
	begin := len(to)
	to = append(append(to, method...), ' ')
	path := pathOf(url)
	if path == "" {
		path = "/"
	}
	for path != "" {
		segment, rest, more := strings.Cut(path, "/")
		to = foldSegment(to, segment)
		if path = rest; more {
			to = append(to, '/')
		}
		if len(to)-begin > foldedMax {
			return append(cut(to, begin+foldedMax), "..."...)
		}
	}
	return to
}

// cut shortens a text to most bytes, between two characters.
func cut(b []byte, most int) []byte {
	for most > 0 && b[most]&0xc0 == 0x80 {
		most--
	}
	return b[:most]
}

func pathOf(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	if i := strings.IndexByte(url, '/'); i >= 0 {
		return url[i:]
	}
	return ""
}

// idLength is how long a word with digits is at least if it is an id, and not a name.
const idLength = 16

// foldSegment appends one segment of a path. A segment is an id if it is a hexadecimal number
// of eight digits or more, or a long word with digits. Otherwise each of its numbers is one.
// The v1 of an interface's version stays.
func foldSegment(to []byte, s string) []byte {
	digits, hex := 0, true
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '-':
		case c|0x20 >= 'a' && c|0x20 <= 'f':
		default:
			hex = false
		}
	}
	switch {
	case digits == 0 || isVersion(s):
		return append(to, s...)
	case hex && len(s) >= 8 || len(s) >= idLength && digits >= 2 && !strings.ContainsAny(s, "%.") && !words(s):
		return append(to, folded...)
	}
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '%' && i+3 <= len(s):
			to = append(to, s[i:i+3]...)
			i += 3
		case c >= '0' && c <= '9':
			for i < len(s) && s[i] >= '0' && s[i] <= '9' {
				i++
			}
			to = append(to, folded...)
		default:
			to = append(to, c)
			i++
		}
	}
	return to
}

func isVersion(s string) bool {
	if len(s) < 2 || len(s) > 4 || s[0] != 'v' {
		return false
	}
	for _, c := range s[1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// words reports whether a segment is of words with a - or _ between them: its numbers alone are
// folded.
func words(s string) bool {
	longest, run := 0, 0
	for i := range len(s) {
		if c := s[i] | 0x20; c >= 'a' && c <= 'z' {
			run++
		} else {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.ContainsAny(s, "-_") && longest >= 4
}
