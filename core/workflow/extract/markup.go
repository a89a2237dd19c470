package extract

import (
	"bytes"
	"strings"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/markup"
)

// pageMax bounds a body in which css and xpath look: they parse it, and other virtual users wait.
const pageMax = 1 << 20

// marked finds a value in a page, or in an XML document.
func (e *Extract) marked(body []byte) (value []byte, why string) {
	if len(body) > pageMax {
		return nil, "takes too long on " + guard.Size(uint64(len(body))) + ": use regex"
	}
	if e.Kind == XPath && bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n\ufeff"), []byte("<?xml")) {
		d, err := markup.ParseDocument(string(body))
		if err != nil {
			return nil, err.Error()
		}
		return one(d.Find(e.xpath, 1))(body)
	}
	page, err := markup.ParsePage(strings.ToValidUTF8(string(body), "\ufffd"))
	if err != nil {
		return nil, err.Error()
	}
	if e.Kind == XPath {
		return one(page.Find(e.xpath, 1))(body)
	}
	all, err := page.Select(e.css, 1)
	if err != nil || len(all) == 0 || e.attr == "" {
		return one(markup.Found{Elements: all}, err)(body)
	}
	text, ok := all[0].Attr(e.attr)
	if !ok {
		return nil, "the element has no attribute " + e.attr
	}
	return []byte(text), ""
}

// one takes the first text that was found in a body.
func one(f markup.Found, err error) func(body []byte) (value []byte, why string) {
	return func(body []byte) ([]byte, string) {
		switch {
		case err != nil:
			return nil, err.Error()
		case len(f.Texts) > 0:
			return []byte(f.Texts[0]), ""
		case len(f.Elements) > 0:
			return []byte(f.Elements[0].Text), ""
		}
		return nil, "finds nothing in " + excerpt(body)
	}
}
