package markup

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/antchfx/xpath"
	"golang.org/x/net/html"
)

// Path is an XPath 1.0 expression.
type Path struct{ text string }

// functions lists those that a path may call: the work and the memory of the others have no bound.
func functions() []string {
	return []string{
		"boolean", "ceiling", "comment", "concat", "contains", "count", "ends-with", "false", "floor", "last", "local-name", "lower-case",
		"name", "node", "normalize-space", "not", "number", "position", "round", "starts-with", "string", "string-length", "substring",
		"substring-after", "substring-before", "sum", "text", "translate", "true",
	}
}

// ParsePath reads a path. It drops the prefixes of names.
func ParsePath(text string) (*Path, error) {
	if len(text) > SelectorMax {
		return nil, fmt.Errorf("a path of %d bytes, the limit is %d", len(text), SelectorMax)
	}
	wrong := func(what string) error {
		return fmt.Errorf("the path %q %s: write one such as \"/feed/entry[2]/@id\" or \"//title\"", text, what)
	}
	if strings.TrimSpace(text) == "" {
		return nil, wrong("is empty")
	}
	bare, why := unprefixed(text)
	if why != "" {
		return nil, wrong(why)
	}
	if err := compiles(bare); err != nil {
		return nil, wrong("is not XPath (" + err.Error() + ")")
	}
	return &Path{bare}, nil
}

// compiles tries an expression on an empty document too: some mistakes appear only then.
func compiles(text string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	e, err := xpath.Compile(text)
	if err != nil {
		return err
	}
	_ = e.Evaluate(&walk{work: &work{left: 1000}, root: &html.Node{Type: html.DocumentNode}, at: &html.Node{Type: html.DocumentNode}, attr: -1})
	return nil
}

// scan reads the tokens of a path.
type scan struct {
	text    string
	at      int
	bare    strings.Builder // without prefixes
	operand bool            // the last token ends one
	open    []byte          // brackets that are not closed
}

// unprefixed drops the prefixes of names. It says what is wrong with a function that no path may
// call, and with text behind the end, which xpath would not read.
func unprefixed(text string) (bare, why string) {
	s := scan{text: text}
	for s.at < len(text) && why == "" {
		switch c := text[s.at]; {
		case c == '\'' || c == '"':
			why = s.quoted(c)
		case isWord(c) && c != '-':
			why = s.word()
		default:
			switch c {
			case ' ', '\t', '\n', '\r':
			case '(', '[':
				s.open, s.operand = append(s.open, c), false
			case ')', ']':
				why, s.operand = s.closes(c), true
			case '*':
				s.operand = !s.operand // a name, or times
			default:
				s.operand = false
			}
			s.bare.WriteByte(c)
			s.at++
		}
	}
	if why == "" && len(s.open) > 0 {
		why = "has a " + string(s.open[len(s.open)-1:]) + " that is not closed"
	}
	return s.bare.String(), why
}

func (s *scan) closes(c byte) string {
	n := len(s.open) - 1
	if n < 0 || (s.open[n] == '(') != (c == ')') {
		return "has a " + string([]byte{c}) + " that closes nothing"
	}
	s.open = s.open[:n]
	return ""
}

func (s *scan) quoted(quote byte) string {
	end := strings.IndexByte(s.text[s.at+1:], quote)
	switch {
	case end < 0:
		return "has a text that does not end"
	case s.operand:
		return "has a text where it should end"
	}
	s.operand = true
	s.bare.WriteString(s.text[s.at : s.at+end+2])
	s.at += end + 2
	return ""
}

func (s *scan) word() string {
	end := s.at
	for end < len(s.text) && isWord(s.text[end]) {
		end++
	}
	word, rest := s.text[s.at:end], s.text[end:]
	s.at = end
	operator := word == "and" || word == "or" || word == "div" || word == "mod"
	switch {
	case len(rest) > 1 && rest[0] == ':' && (isWord(rest[1]) || rest[1] == '*'): // its name follows
		s.at++
		return ""
	case s.operand && !operator:
		return "has " + word + " where it should end"
	case !operator && strings.HasPrefix(strings.TrimLeft(rest, " "), "(") && !slices.Contains(functions(), word):
		return "calls " + word + "(), which is none of " + strings.Join(functions(), ", ")
	}
	s.operand = !s.operand || !operator
	s.bare.WriteString(word)
	return ""
}

func isWord(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Found is the result of a path: elements, or texts, which attributes, text() and functions have.
type Found struct {
	Elements []Element
	Texts    []string
	IsText   bool
	Work     int // nodes that it visited
}

// visitsMax bounds the nodes that a path visits: 10 million take about a second.
const visitsMax = 10 << 20

// Find follows a path.
func (d *Document) Find(p *Path, most int) (Found, error) {
	return find(d.root, p, most, func(n *html.Node, left *int) string {
		var b strings.Builder
		for t := range n.Descendants() {
			if t.Type == html.TextNode {
				if *left -= len(t.Data) + 1; *left < 0 {
					return ""
				}
				b.WriteString(t.Data)
			}
		}
		return strings.TrimSpace(b.String())
	})
}

// Find follows a path.
func (p *Page) Find(path *Path, most int) (Found, error) { return find(p.root, path, most, textOf) }

func find(root *html.Node, p *Path, most int, text func(*html.Node, *int) string) (f Found, err error) {
	w := &work{left: visitsMax}
	defer func() {
		f.Work = visitsMax - max(w.left, 0)
		switch r := recover().(type) {
		case nil:
		case tooMuch:
			err = errors.New("the path takes too long: write more names in it, and fewer //")
		default:
			err = fmt.Errorf("the path does not fit: %v", r)
		}
	}()
	e, err := xpath.Compile(p.text) // an expression has a state
	if err != nil {
		return f, err
	}
	switch v := e.Evaluate(&walk{work: w, root: root, at: root, attr: -1}).(type) {
	case *xpath.NodeIterator:
		return collect(root, v, most, text)
	case float64:
		f.Texts = []string{strconv.FormatFloat(v, 'f', -1, 64)}
	default:
		f.Texts = []string{fmt.Sprint(v)}
	}
	f.IsText = true
	return f, nil
}

// collect takes the nodes that a path finds, each once, in the document's order.
func collect(root *html.Node, nodes *xpath.NodeIterator, most int, text func(*html.Node, *int) string) (f Found, err error) {
	type place struct {
		at   *html.Node
		attr int
	}
	var all []place
	seen := map[place]bool{}
	for nodes.MoveNext() {
		n, ok := nodes.Current().(*walk)
		if !ok {
			break
		}
		if p := (place{n.at, n.attr}); !seen[p] {
			seen[p], all = true, append(all, p)
		}
	}
	if len(all) > 1 {
		order := map[*html.Node]int{root: 0}
		for n := range root.Descendants() {
			order[n] = len(order)
		}
		slices.SortStableFunc(all, func(a, b place) int {
			return cmp.Or(cmp.Compare(order[a.at], order[b.at]), cmp.Compare(a.attr, b.attr))
		})
	}
	left := TextMax
	for _, p := range all[:min(len(all), most)] {
		if p.attr < 0 && p.at.Type == html.ElementNode {
			e, err := elementOf(p.at, text, &left)
			if err != nil {
				return f, err
			}
			f.Elements = append(f.Elements, e)
			continue
		}
		t := (&walk{work: &work{left: visitsMax}, root: root, at: p.at, attr: p.attr}).Value()
		if left -= len(t); left < 0 {
			return f, fmt.Errorf("what the path finds holds more than %d bytes: find less", TextMax)
		}
		f.Texts = append(f.Texts, t)
	}
	if f.IsText = len(f.Texts) > 0; f.IsText && len(f.Elements) > 0 {
		return f, errors.New("the path finds elements and texts: write one path for each")
	}
	return f, nil
}
