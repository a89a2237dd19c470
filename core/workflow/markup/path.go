package markup

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Path is a parsed path: /a/b, //b, *, b[2], b[@id='x'], b[name='x'], and at its end @id or
// text().
type Path struct {
	steps []pathStep
	last  string // "@name" or "text()"; empty: elements
}

type pathStep struct {
	deep  bool   // //: at any depth
	name  string // "*": any
	tests []pathTest
}

// pathTest is a condition in brackets: a position, or the value of a child or an attribute.
type pathTest struct {
	position int // from 1; 0: name and value
	name     string
	value    string
	any      bool // [@id], [name]: it exists
}

const stepsMax = 32

// ParsePath reads a path.
func ParsePath(text string) (*Path, error) {
	if len(text) > SelectorMax {
		return nil, fmt.Errorf("a path of %d bytes, the limit is %d", len(text), SelectorMax)
	}
	wrong := func(what string) error {
		return fmt.Errorf("the path %q %s: write one such as \"/feed/entry[2]/@id\" or \"//title\"", text, what)
	}
	p, rest := &Path{}, text
	if rest == "" {
		return nil, wrong("is empty")
	}
	if rest[0] != '/' {
		rest = "/" + rest
	}
	for rest != "" {
		if p.last != "" {
			return nil, wrong("goes on behind " + p.last)
		}
		if len(p.steps) == stepsMax {
			return nil, wrong("has more than " + strconv.Itoa(stepsMax) + " steps")
		}
		var s pathStep
		if rest, s.deep = strings.CutPrefix(rest, "//"); !s.deep {
			if !strings.HasPrefix(rest, "/") {
				return nil, wrong("lacks a / before " + strconv.Quote(rest))
			}
			rest = rest[1:]
		}
		end := strings.IndexAny(rest, "/[")
		if end < 0 {
			end = len(rest)
		}
		s.name, rest = rest[:end], rest[end:]
		switch {
		case s.name == "text()" || strings.HasPrefix(s.name, "@") && len(s.name) > 1:
			if s.deep {
				p.steps = append(p.steps, pathStep{deep: true, name: "*"})
			}
			p.last = s.name
			continue
		case !isName(s.name):
			return nil, wrong("has " + strconv.Quote(s.name) + " for a name")
		}
		if i := strings.LastIndexByte(s.name, ':'); i >= 0 {
			s.name = s.name[i+1:]
		}
		var err error
		if s.tests, rest, err = parseTests(rest); err != nil {
			return nil, wrong(err.Error())
		}
		p.steps = append(p.steps, s)
	}
	if len(p.steps) == 0 {
		return nil, wrong("names no element")
	}
	return p, nil
}

func isName(s string) bool {
	return s != "" && (s == "*" || (s[0] < '0' || s[0] > '9') && !strings.ContainsAny(s, " \t\r\n*@()'\"=<>|!$,"))
}

func parseTests(rest string) (tests []pathTest, after string, err error) {
	for strings.HasPrefix(rest, "[") {
		body, quote := 1, byte(0)
		for ; body < len(rest) && (quote != 0 || rest[body] != ']'); body++ {
			switch c := rest[body]; {
			case quote == c:
				quote = 0
			case quote == 0 && (c == '\'' || c == '"'):
				quote = c
			}
		}
		if body == len(rest) {
			return nil, "", errors.New("has a [ that is not closed")
		}
		t, err := parseTest(strings.TrimSpace(rest[1:body]))
		if err != nil {
			return nil, "", err
		}
		if tests = append(tests, t); len(tests) > 8 {
			return nil, "", errors.New("has more than 8 conditions on one element")
		}
		rest = rest[body+1:]
	}
	return tests, rest, nil
}

func parseTest(s string) (pathTest, error) {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return pathTest{position: n}, nil
	}
	name, value, is := strings.Cut(s, "=")
	name = strings.TrimSpace(name)
	if !isName(strings.TrimPrefix(name, "@")) {
		return pathTest{}, fmt.Errorf("has the condition [%s]", s)
	}
	if !is {
		return pathTest{name: name, any: true}, nil
	}
	value = strings.TrimSpace(value)
	if len(value) < 2 || value[0] != value[len(value)-1] || value[0] != '\'' && value[0] != '"' {
		return pathTest{}, fmt.Errorf("has the condition [%s] without quotes", s)
	}
	return pathTest{name: name, value: value[1 : len(value)-1]}, nil
}

// Found is the result of a path: elements, or the texts of attributes and text().
type Found struct {
	Elements []Element
	Texts    []string
	IsText   bool
}

// Find follows a path. It marks visited nodes, so that a document serves one caller at a time.
func (d *Document) Find(p *Path, most int) (Found, error) {
	at := []*node{d.root}
	for i, s := range p.steps {
		if s.deep {
			var all []*node
			for _, n := range at {
				all = n.expand(i+1, all)
			}
			at = all
		}
		var next []*node
		left := TextMax
		for _, n := range at {
			next = append(next, n.pick(s, &left)...)
			if left < 0 {
				return Found{}, errors.New("the conditions of the path read too much: test an attribute, or write more names before them")
			}
		}
		at = next
	}
	d.root.forget()
	slices.SortFunc(at, func(a, b *node) int { return a.order - b.order })
	return p.found(at, most)
}

// expand lists a node and all below it, each once in a step.
func (n *node) expand(step int, out []*node) []*node {
	if n.seen == step {
		return out
	}
	n.seen = step
	out = append(out, n)
	for _, c := range n.children {
		out = c.expand(step, out)
	}
	return out
}

func (n *node) forget() {
	n.seen = 0
	for _, c := range n.children {
		c.forget()
	}
}

// pick returns the children that a step names. Positions count those that the earlier
// conditions kept.
func (n *node) pick(s pathStep, left *int) []*node {
	var got []*node
	for _, c := range n.children {
		if c.name != "" && (s.name == "*" || c.name == s.name) {
			got = append(got, c)
		}
	}
	for _, t := range s.tests {
		var kept []*node
		for i, c := range got {
			if t.holds(c, i+1, left) {
				kept = append(kept, c)
			}
		}
		got = kept
	}
	return got
}

func (t pathTest) holds(n *node, position int, left *int) bool {
	if t.position > 0 {
		return t.position == position
	}
	if name, ok := strings.CutPrefix(t.name, "@"); ok {
		v, there := n.attr(name)
		return there && (t.any || v == t.value)
	}
	for _, c := range n.children {
		if *left--; c.name != "" && (t.name == "*" || c.name == t.name) && (t.any || c.content(left) == t.value) {
			return true
		}
	}
	return false
}

func (p *Path) found(at []*node, most int) (Found, error) {
	f := Found{IsText: p.last != ""}
	left := TextMax
	for _, n := range at {
		if len(f.Elements)+len(f.Texts) == most {
			break
		}
		switch {
		case p.last == "":
			e := Element{Name: n.name, Attrs: n.attrs, Text: n.content(&left)}
			left -= e.attrBytes()
			f.Elements = append(f.Elements, e)
		case p.last == "text()":
			f.Texts = append(f.Texts, n.content(&left))
		default:
			if v, ok := n.attr(p.last[1:]); ok {
				f.Texts = append(f.Texts, v)
				left -= len(v)
			}
		}
		if left < 0 {
			return Found{}, fmt.Errorf("what the path finds holds more than %d bytes: find less", TextMax)
		}
	}
	return f, nil
}
