package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// lineMin is the least length of a line of a value that is hidden by itself.
const lineMin = 8

// codedMin is the least length of what base64 makes of a value at any offset.
const codedMin = 6

// forms lists how values appear in texts, longest first.
func forms(values []string) []string {
	seen := map[string]bool{}
	var all []string
	add := func(least int, texts ...string) {
		for _, s := range texts {
			if len(s) >= least && !seen[s] {
				seen[s] = true
				all = append(all, s)
			}
		}
	}
	for _, value := range values {
		for _, v := range pieces(value) {
			add(ValueMin, hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v))))
			for _, once := range escaped(v) {
				add(ValueMin, escaped(once)...)
				for _, c := range coded(once) {
					add(codedMin, c, url.QueryEscape(c), lowerHex(url.QueryEscape(c)))
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return all
}

// escaped is a value as it is, and as an address, JSON, a Go string or a page has it. A program that
// escapes a value itself, and a log of JSON, escape it twice.
func escaped(v string) []string {
	query, path := url.QueryEscape(v), url.PathEscape(v)
	return []string{v, lowerHex(query), query, lowerHex(path), path, strings.ReplaceAll(query, "+", "%20"), quoted(v), inner(strconv.Quote(v)), html.EscapeString(v)}
}

// pieces are a value, and its lines: a dump shows them apart.
func pieces(value string) []string {
	if len(value) < ValueMin {
		return nil
	}
	all := []string{value}
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= lineMin && line != value {
			all = append(all, line)
		}
	}
	return all
}

// lowerHex writes the escapes of a URL in lower case.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

// quoted is a value as JSON has it.
func quoted(v string) string {
	b, err := json.Marshal(v)
	if err != nil {
		return v
	}
	return inner(string(b))
}

func inner(s string) string { return s[1 : len(s)-1] }

// coded is what base64 makes of a value wherever it stands in a longer text: without the
// characters that depend on its neighbours.
func coded(v string) []string {
	var all []string
	for before := range 3 {
		padded := append(make([]byte, before), v...)
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			s := e.EncodeToString(padded)
			first, last := (before*8+5)/6, len(padded)*8/6
			all = append(all, s[first:last])
		}
	}
	return append(all, base64.StdEncoding.EncodeToString([]byte(v)), base64.URLEncoding.EncodeToString([]byte(v)))
}
