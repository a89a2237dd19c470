package markup

import "strings"

// Bounds. An element takes about 200 bytes.
const (
	TextMax     = 4 << 20 // bytes of a document
	ElementsMax = 100_000 // of a document
	DepthMax    = 200     // of elements in elements, in XML; the HTML parser has 512
	SelectorMax = 1_000   // bytes of a selector or a path
)

// Attr is an attribute.
type Attr struct{ Name, Value string }

// Element is a found element. It is shared: do not change it.
type Element struct {
	Name  string
	Attrs []Attr
	Text  string // of it and all below it
}

// Attr returns the value of an attribute.
func (e *Element) Attr(name string) (string, bool) {
	for _, a := range e.Attrs {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}

func (e *Element) attrBytes() (n int) {
	for _, a := range e.Attrs {
		n += len(a.Name) + len(a.Value)
	}
	return n
}

// tidy folds white space: each run becomes one space.
func tidy(s string) string { return strings.Join(strings.Fields(s), " ") }
