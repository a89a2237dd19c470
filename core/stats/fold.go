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

// kindMax bounds a folded text.
const kindMax = 100

// FoldText replaces the numbers and ids of a failure's text, so that failures that differ in
// these alone are one kind: 17 and 4.5 are {n}, 3f2a9c10 is {id}.
func FoldText(text string) string {
	out := make([]byte, 0, min(len(text), kindMax+len(folded)))
	for i := 0; i < len(text) && len(out) <= kindMax; {
		word := i
		for i < len(text) && wordByte(text[i]) {
			i++
		}
		if i == word {
			out = append(out, text[i])
			i++
			continue
		}
		if len(out) > 0 && out[len(out)-1] == '.' && strings.HasSuffix(string(out[:len(out)-1]), number) && text[word] >= '0' && text[word] <= '9' {
			out = out[:len(out)-1-len(number)] // 4.5 is one number
		}
		out = foldWord(out, text[word:i])
	}
	if len(out) > kindMax {
		return string(append(cut(out, kindMax), "..."...))
	}
	return string(out)
}

// number replaces one in a text.
const number = "{n}"

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '_'
}

func foldWord(to []byte, s string) []byte {
	if digits, hex := digitsOf(s); digits < len(s) && isID(s, digits, hex) {
		return append(to, folded...)
	}
	for i := 0; i < len(s); {
		if s[i] < '0' || s[i] > '9' {
			to = append(to, s[i])
			i++
			continue
		}
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		to = append(to, number...)
	}
	return to
}

// idLength is how long a word with digits is at least if it is an id, and not a name.
const idLength = 16

// foldSegment appends one segment of a path: an id, or its text with each of its numbers as one.
// The v1 of an interface's version stays.
func foldSegment(to []byte, s string) []byte {
	digits, hex := digitsOf(s)
	switch {
	case digits == 0 || isVersion(s):
		return append(to, s...)
	case isID(s, digits, hex):
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

// digitsOf counts the digits of a word. hex says that all else of it may stand in a hexadecimal
// number.
func digitsOf(s string) (digits int, hex bool) {
	hex = true
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
	return digits, hex
}

// isID reports whether a word with digits is an id: a hexadecimal number of eight digits or more, or
// a long word with digits.
func isID(s string, digits int, hex bool) bool {
	return digits > 0 && (hex && len(s) >= 8 || len(s) >= idLength && digits >= 2 && !strings.ContainsAny(s, "%.") && !words(s))
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
