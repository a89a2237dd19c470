package markup

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"
)

// Document is a parsed XML document.
type Document struct{ root *html.Node }

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
	root := &html.Node{Type: html.DocumentNode}
	open := []*html.Node{root}
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
			n := &html.Node{Type: html.ElementNode, Data: token.Name.Local}
			for _, a := range token.Attr {
				if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
					n.Attr = append(n.Attr, html.Attribute{Key: a.Name.Local, Val: a.Value})
				}
			}
			if elements++; elements > ElementsMax {
				return nil, fmt.Errorf("a document of more than %d elements", ElementsMax)
			}
			if len(open) > DepthMax {
				return nil, fmt.Errorf("a document nested more than %d deep", DepthMax)
			}
			top.AppendChild(n)
			open = append(open, n)
		case xml.EndElement:
			if top.Data != token.Name.Local || len(open) == 1 {
				return nil, fmt.Errorf("the text is not XML: </%s> closes nothing that is open", token.Name.Local)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 1 {
				top.AppendChild(&html.Node{Type: html.TextNode, Data: string(token)})
			}
		}
	}
	if len(open) > 1 {
		return nil, fmt.Errorf("the text is not XML: <%s> is not closed", open[len(open)-1].Data)
	}
	if elements == 0 {
		return nil, errors.New("the text is not XML: it has no element")
	}
	return &Document{root}, nil
}
