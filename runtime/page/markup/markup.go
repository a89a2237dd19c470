package markup

import (
	"bytes"
	"fmt"
	"html"
)

// literal is a text that stands in the program: a constant becomes one where it is passed, a variable does not.
type literal string

// HTML is what a Writer has written. Its zero value is empty.
type HTML struct{ text string }

// Writer gathers HTML. Its zero value is ready.
type Writer struct{ b bytes.Buffer }

// Put writes a format of package fmt and its arguments.
func (w *Writer) Put(format literal, args ...any) {
	safe := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case int, uint64, float64:
			safe[i] = a
		case HTML:
			safe[i] = a.text
		case []byte:
			safe[i] = html.EscapeString(string(a))
		default:
			safe[i] = html.EscapeString(fmt.Sprint(a))
		}
	}
	fmt.Fprintf(&w.b, string(format), safe...)
}

// Embed writes as it is what go:embed has put into the program: a style or a script.
func (w *Writer) Embed(own string) { w.b.WriteString(own) }

// Len is how many bytes are written.
func (w *Writer) Len() int { return w.b.Len() }

// HTML is all that is written.
func (w *Writer) HTML() HTML { return HTML{w.b.String()} }

// Bytes is the same, until the next Put.
func (w *Writer) Bytes() []byte { return w.b.Bytes() }
