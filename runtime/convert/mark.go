package convert

import (
	"fmt"
	"hyperscale/core/workflow/language"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Marks stand in texts around the name of a param or of an extracted value. They are of
// Unicode's private use, and clean takes them out of whatever is read.
const (
	ParamOpen  = '\uE000'
	valueOpen  = '\uE001'
	MarkClose  = '\uE002'
	markString = "\uE000\uE001\uE002"
)

func paramMark(name string) string { return string(ParamOpen) + name + string(MarkClose) }

// ComputedMark is an expression that stands where a param may.
func ComputedMark(code string) string { return string(ParamOpen) + code + string(MarkClose) }

// computed says whether such an expression is in a text.
func computed(s string) bool {
	return Marked(s) && slices.ContainsFunc(Pieces(s), func(q piece) bool { return q.Mark == ParamOpen && strings.Contains(q.Text, "(") })
}

func ValueMark(name string) string { return string(valueOpen) + name + string(MarkClose) }

// Clean makes text of a source fit to stand in a plan.
func Clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if !strings.ContainsAny(s, markString) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(markString, r) {
			return -1
		}
		return r
	}, s)
}

// piece is a part of a text: literal, or the name of a param or a value.
type piece struct {
	Mark rune // 0: literal
	Text string
}

func Pieces(s string) []piece {
	var out []piece
	for s != "" {
		i := strings.IndexAny(s, markString)
		if i < 0 {
			return append(out, piece{0, s})
		}
		if i > 0 {
			out = append(out, piece{0, s[:i]})
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		s = s[i+n:]
		if r == MarkClose {
			continue
		}
		name, rest, ok := strings.Cut(s, string(MarkClose))
		if !ok {
			return out
		}
		out = append(out, piece{r, name})
		s = rest
	}
	return out
}

func Marked(s string) bool { return strings.ContainsAny(s, markString) }

// Shown is a text for people: marks are names in braces.
func Shown(s string) string {
	var b strings.Builder
	for _, piece := range Pieces(s) {
		if piece.Mark != 0 {
			b.WriteString("{" + piece.Text + "}")
		} else {
			b.WriteString(piece.Text)
		}
	}
	return language.Clip(b.String(), 80)
}

// Bare is a text where no mark may stand: names of headers, of cookies and of parts.
func Bare(s string) string {
	if !Marked(s) {
		return s
	}
	var b strings.Builder
	for _, piece := range Pieces(s) {
		b.WriteString(piece.Text)
	}
	return b.String()
}

// OneLine is text that can stand in a comment.
func OneLine(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(markString, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, Clean(language.Clip(s, 4*n)))
	return language.Clip(strings.Join(strings.Fields(s), " "), n)
}

// Words cuts a text at everything that is no letter or digit, and where a small letter
// meets a capital one.
func Words(s string) []string {
	var out []string
	var word strings.Builder
	small := false
	flush := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
			word.Reset()
		}
	}
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			small = true
			word.WriteRune(r)
			continue
		case r >= 'A' && r <= 'Z':
			if small {
				flush()
			}
			word.WriteRune(r + 'a' - 'A')
		default:
			flush()
		}
		small = false
	}
	flush()
	return out
}

// Snake makes a snake_case name of words, at most n bytes long.
func Snake(s string, n int) string {
	name := ""
	for _, w := range Words(language.Clip(s, 1000)) {
		w = w[:min(len(w), 30)]
		if len(name)+1+len(w) > n {
			break
		}
		if name != "" {
			name += "_"
		}
		name += w
	}
	return name
}

// taken are names that a param must not shadow: Starlark's, and the language's.
const taken = ` and as assert async await break class continue def del elif else except finally for from global if import in is lambda load nonlocal not or
 pass raise return try while with yield none true false any all bool bytes chr dict dir enumerate fail float getattr hasattr hash int len list max min ord
 print range repr reversed set sorted str tuple type zip abs map filter json base64 hex url sha256 sha1 sha512 md5 hmac uuid jwt aws time regex html xml math
 struct file param workflow step check metric action provide use stage between tls json_path css xpath retry header cookie form_value status header_is body_contains
 json_is latency_below size_below dns http graphql feed vu random `

// Identifier is a name for a param.
func Identifier(wish string) string {
	name := Snake(wish, 40)
	switch {
	case name == "":
		return "value"
	case name[0] >= '0' && name[0] <= '9':
		return "value_" + name
	case strings.Contains(taken, " "+name+" ") || strings.Contains(taken, "\n"+name+" ") || strings.Contains(taken, " "+name+"\n"):
		return name + "_value"
	}
	return name
}

// UrlText makes a text that can stand in a URL, as browsers do.
func UrlText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%' && (i+2 >= len(s) || !IsHex(s[i+1]) || !IsHex(s[i+2])):
			b.WriteString("%25")
		case c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0:
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func IsHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// markedURL is urlText around marks.
func markedURL(s string) string {
	var b strings.Builder
	for _, piece := range Pieces(s) {
		switch piece.Mark {
		case 0:
			b.WriteString(UrlText(piece.Text))
		default:
			b.WriteString(string(piece.Mark) + piece.Text + string(MarkClose))
		}
	}
	return b.String()
}

// Origin cuts scheme and host off a URL.
func Origin(address string) (host, rest string, ok bool) {
	scheme, rest, ok := strings.Cut(address, "://")
	scheme = strings.ToLower(scheme)
	if !ok || scheme != "http" && scheme != "https" {
		return "", "", false
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host, rest = rest[:end], rest[end:]
	if u, err := url.Parse(scheme + "://" + host); err != nil || u.Hostname() == "" || u.User != nil || !PlainHost(host) {
		return "", "", false
	}
	return scheme + "://" + strings.ToLower(host), rest, true
}

// PlainHost says whether a host can be looked up: a name or an address, and a port from 1 to 65535 if it has one.
func PlainHost(host string) bool {
	for i := range len(host) {
		c := host[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(".-_:[]", c) >= 0) {
			return false
		}
	}
	if at := strings.LastIndexByte(host, ':'); at > strings.LastIndexByte(host, ']') && at+1 < len(host) {
		if n, err := strconv.ParseUint(host[at+1:], 10, 16); err != nil || n == 0 {
			return false
		}
	}
	return len(host) <= 260
}

func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func BaseName(name string) string {
	return OneLine(path.Base(strings.ReplaceAll(Bare(name), "\\", "/")), 60)
}
