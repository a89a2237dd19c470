package bson

import (
	"fmt"
	"strconv"
	"strings"
)

// Word is a word of a text that a value replaces.
type Word struct {
	Text  string
	Value int // index of the value
}

// Compile makes a document of a text of extended JSON. Words may stand in texts, and where extended JSON writes a
// number, a date or an identifier as a text.
func Compile(text string, words []Word) (*Template, error) {
	t, err := parse(text)
	if err != nil {
		return nil, err
	}
	if t.kind != kindObject {
		return nil, fmt.Errorf("a document is a dict")
	}
	c := compiler{words: words, out: &Template{}}
	if err := c.document(t); err != nil {
		return nil, err
	}
	c.flush()
	return c.out, nil
}

// compiler collects the pieces of a template.
type compiler struct {
	words []Word
	out   *Template
	raw   []byte // that no piece has yet
}

func (c *compiler) flush() {
	if len(c.raw) > 0 {
		c.out.pieces = append(c.out.pieces, piece{does: doesBytes, bytes: c.raw})
		c.raw = nil
	}
}

// open reports whether a value stands in it.
func (c *compiler) open(t *tree) bool {
	if t.kind == kindText {
		return c.has(t.text)
	}
	for i := range t.each {
		if c.open(&t.each[i]) {
			return true
		}
	}
	return false
}

func (c *compiler) has(text string) bool {
	for i := range c.words {
		if strings.Contains(text, c.words[i].Text) {
			return true
		}
	}
	return false
}

// document writes an object or an array. One without values is bytes at once.
func (c *compiler) document(t *tree) error {
	if c.open(t) {
		c.flush()
		c.out.pieces = append(c.out.pieces, piece{does: doesBegin})
		if err := c.fields(t); err != nil {
			return err
		}
		c.flush()
		c.out.pieces = append(c.out.pieces, piece{does: doesEnd})
		return nil
	}
	start := len(c.raw)
	c.raw = append(c.raw, 0, 0, 0, 0)
	if err := c.fields(t); err != nil {
		return err
	}
	c.raw = append(c.raw, 0)
	putLength(c.raw, start, len(c.raw)-start)
	return nil
}

func (c *compiler) fields(t *tree) error {
	for i := range t.each {
		name := strconv.Itoa(i)
		if t.kind == kindObject {
			name = t.names[i]
		}
		if strings.ContainsRune(name, 0) {
			return fmt.Errorf("the name %q has a zero byte", name)
		}
		if err := c.element(name, &t.each[i]); err != nil {
			return within(name, err)
		}
	}
	return nil
}

// FieldError is an error in a field of a document.
type FieldError struct {
	Path string // "order.lines.0"
	Err  error
}

func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns what is wrong with the field.
func (e *FieldError) Unwrap() error { return e.Err }

func within(name string, err error) error {
	if f, ok := err.(*FieldError); ok {
		return &FieldError{name + "." + f.Path, f.Err}
	}
	return &FieldError{name, err}
}

// head writes a field's type and name.
func (c *compiler) head(t Type, name string) {
	c.raw = append(append(append(c.raw, byte(t)), name...), 0)
}

func (c *compiler) element(name string, t *tree) error {
	switch t.kind {
	case kindNull:
		c.head(Null, name)
	case kindBool:
		c.head(Bool, name)
		c.raw = append(c.raw, 0)
		if t.truth {
			c.raw[len(c.raw)-1] = 1
		}
	case kindNumber:
		return c.number(name, t.text)
	case kindText:
		c.head(Text, name)
		c.text(t.text)
	case kindArray:
		c.head(Array, name)
		return c.document(t)
	default:
		if len(t.names) > 0 && strings.HasPrefix(t.names[0], "$") {
			if is, err := c.wrapped(name, t); is || err != nil {
				return err
			}
		}
		c.head(Document, name)
		return c.document(t)
	}
	return nil
}

// number writes a number as it is written: a whole one takes 32 or 64 bits, another is a double.
func (c *compiler) number(name, text string) error {
	if strings.ContainsAny(text, ".eE") {
		return c.scalar(name, formDouble, text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return fmt.Errorf("%s does not fit into 64 bits: write %s.0, or {\"$numberDecimal\": \"%s\"}", clip(text), clip(text), clip(text))
	case int64(int32(n)) == n:
		return c.scalar(name, formInt, text)
	}
	return c.scalar(name, formLong, text)
}

// text writes a text, and its values.
func (c *compiler) text(text string) {
	if !c.has(text) {
		c.raw = appendText(c.raw, text)
		return
	}
	c.place(formText, text)
}

// place leaves room for a scalar whose text has values.
func (c *compiler) place(f form, text string) {
	c.flush()
	c.out.pieces = append(c.out.pieces, piece{does: doesScalar, form: f, parts: cut(text, c.words)})
	c.out.open = true
}

// scalar writes a value whose type is known, from its text.
func (c *compiler) scalar(name string, f form, text string) error {
	c.head(f.of(), name)
	if c.has(text) {
		c.place(f, text)
		return nil
	}
	out, err := f.append(c.raw, text)
	c.raw = out
	return err
}

// part is a piece of a text: text, or the place of a value.
type part struct {
	text  string
	value int // index; below 0: it is text
}

// cut cuts a text where words stand in it.
func cut(text string, words []Word) (all []part) {
	for {
		first, at := (*Word)(nil), len(text)
		for i := range words {
			if k := strings.Index(text[:at], words[i].Text); k >= 0 {
				first, at = &words[i], k
			}
		}
		if at > 0 {
			all = append(all, part{text[:at], -1})
		}
		if first == nil {
			return all
		}
		all, text = append(all, part{value: first.Value}), text[at+len(first.Text):]
	}
}
