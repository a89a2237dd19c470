package markup

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Document is a parsed XML document.
type Document struct{ root *node }

// node is an element of a document, or a text in one (name empty).
type node struct {
	name     string // without its prefix
	attrs    []Attr
	text     string
	children []*node
	order    int // its place in the document
	seen     int // last step of the path that has visited it, while Find runs
}

// ParseDocument parses a document. It drops prefixes of names; entities are those of XML alone,
// so that none can grow.
func ParseDocument(text string) (*Document, error) {
	if len(text) > TextMax {
		return nil, fmt.Errorf("a document of %d bytes, the limit is %d", len(text), TextMax)
	}
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("its encoding is %q: only UTF-8 is read", charset)
	}
	root := &node{}
	open := []*node{root}
	elements := 0
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the text is not XML: %w", err)
		}
		top := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{name: token.Name.Local, order: elements}
			for _, a := range token.Attr {
				if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
					n.attrs = append(n.attrs, Attr{a.Name.Local, a.Value})
				}
			}
			if elements++; elements > ElementsMax {
				return nil, fmt.Errorf("a document of more than %d elements", ElementsMax)
			}
			if len(open) > DepthMax {
				return nil, fmt.Errorf("a document nested more than %d deep", DepthMax)
			}
			top.children = append(top.children, n)
			open = append(open, n)
		case xml.EndElement:
			if top.name != token.Name.Local || len(open) == 1 {
				return nil, fmt.Errorf("the text is not XML: </%s> closes nothing that is open", token.Name.Local)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 1 {
				top.children = append(top.children, &node{text: string(token)})
			}
		}
	}
	if len(open) > 1 {
		return nil, fmt.Errorf("the text is not XML: <%s> is not closed", open[len(open)-1].name)
	}
	if elements == 0 {
		return nil, errors.New("the text is not XML: it has no element")
	}
	return &Document{root}, nil
}

// content returns the text of an element and of all below it.
func (n *node) content(left *int) string {
	var b strings.Builder
	n.write(&b, left)
	return strings.TrimSpace(b.String())
}

func (n *node) write(b *strings.Builder, left *int) {
	if *left -= len(n.text) + 1; *left < 0 {
		return
	}
	b.WriteString(n.text)
	for _, c := range n.children {
		c.write(b, left)
	}
}

func (n *node) attr(name string) (string, bool) {
	for _, a := range n.attrs {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}
