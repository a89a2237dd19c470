package markup

import (
	"errors"
	"fmt"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// Page is a parsed HTML document.
type Page struct {
	root  *html.Node
	shape shape
}

// Selector is a parsed CSS selector.
type Selector struct {
	group cascadia.SelectorGroup
	cost  cost
}

// ParsePage parses a page. HTML has no syntax errors: the parser repairs everything as browsers
// do.
func ParsePage(text string) (*Page, error) {
	if len(text) > TextMax {
		return nil, fmt.Errorf("a page of %d bytes, the limit is %d", len(text), TextMax)
	}
	if n := strings.Count(text, "<"); n > 2*ElementsMax {
		return nil, fmt.Errorf("a page of %d tags, the limit is %d", n, 2*ElementsMax)
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the page cannot be read: %w", err)
	}
	p := &Page{root: root}
	if err := p.measure(); err != nil {
		return nil, err
	}
	return p, nil
}

// ParseSelector reads a selector.
func ParseSelector(css string) (*Selector, error) {
	if strings.TrimSpace(css) == "" {
		return nil, errors.New("the selector is empty: write one such as \"a.next\"")
	}
	if len(css) > SelectorMax {
		return nil, fmt.Errorf("a selector of %d bytes, the limit is %d", len(css), SelectorMax)
	}
	c, err := costOf(css)
	if err != nil {
		return nil, err
	}
	group, err := cascadia.ParseGroup(css)
	if err != nil {
		return nil, fmt.Errorf("the selector %q cannot be read: %w", css, err)
	}
	return &Selector{group, c}, nil
}

// Work returns about how many matches Select tries, at most.
func (p *Page) Work(s *Selector) int { return p.shape.work(s.cost) }

// Select returns the elements that a selector matches, with a bound on their number.
func (p *Page) Select(s *Selector, most int) ([]Element, error) {
	if p.Work(s) > workMax {
		return nil, fmt.Errorf("the selector takes too long on a page of %d elements: write it with fewer spaces, ~ and :has", p.shape.elements)
	}
	var out []Element
	left := TextMax
	for n := range p.root.Descendants() {
		if n.Type != html.ElementNode || !s.group.Match(n) {
			continue
		}
		e, err := elementOf(n, textOf, &left)
		if err != nil {
			return nil, err
		}
		if out = append(out, e); len(out) == most {
			break
		}
	}
	return out, nil
}

func elementOf(n *html.Node, text func(*html.Node, *int) string, left *int) (Element, error) {
	e := Element{Name: n.Data}
	for _, a := range n.Attr {
		e.Attrs = append(e.Attrs, Attr{a.Key, a.Val})
	}
	*left -= e.attrBytes()
	if e.Text = text(n, left); *left < 0 {
		return e, fmt.Errorf("the elements found hold more than %d bytes: select fewer", TextMax)
	}
	return e, nil
}

func textOf(n *html.Node, left *int) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && (d.Parent == n || !isHidden(d.Parent)) {
			b.WriteString(d.Data)
			if *left -= len(d.Data); *left < 0 {
				return ""
			}
		}
	}
	return tidy(b.String())
}

// isHidden reports text that no reader sees, unless a selector asks for it.
func isHidden(n *html.Node) bool { return n.Data == "script" || n.Data == "style" }
