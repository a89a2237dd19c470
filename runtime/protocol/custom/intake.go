package custom

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

const codeMost = 64 // bytes of its code

// Measure is one that an answer has: At is its place in the program's hello.
type Measure struct {
	At int
	N  uint64
}

// Answer is that of a call. It is valid until the listener returns.
type Answer struct {
	Bytes    int // of its line
	Status   int
	Body     []byte
	Err      *http1.Error // that the program told; nil: the call went well
	Measures []Measure
}

// Listener hears what a program says.
type Listener interface {
	Answered(tag uint64, a *Answer)
}

// Feed takes what was read of the program's stdout. Its error is a breach of the protocol: then the
// conversation is over.
func (c *Conn) Feed(b []byte, on Listener) error {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			if len(c.held)+len(b) > c.most() {
				return c.tooLong(b)
			}
			c.held = append(c.held, b...)
			return nil
		}
		line := b[:end]
		b = b[end+1:]
		if len(c.held)+len(line) > c.most() {
			return c.tooLong(line)
		}
		if len(c.held) > 0 {
			c.held = append(c.held, line...)
			line = c.held
		}
		err := c.line(bytes.TrimSuffix(line, []byte("\r")), on)
		if c.held = c.held[:0]; cap(c.held) > 64<<10 {
			c.held = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// most bounds the line that comes.
func (c *Conn) most() int {
	if c.stage == stageHello {
		return helloMost
	}
	return LineMost
}

func (c *Conn) tooLong(b []byte) error {
	return breach(append(c.held, b[:min(len(b), 2*shownMost)]...), "a line of the program's stdout has more than %d KiB", c.most()>>10)
}

// line takes a whole line.
func (c *Conn) line(line []byte, on Listener) error {
	if !json.Valid(line) {
		return breach(line, "a line of the program's stdout is no JSON: print to stderr what is no answer")
	}
	line = bytes.TrimSpace(line)
	switch {
	case c.stage == stageHello:
		p, err := welcome(line)
		if err == nil {
			c.program, c.stage = p, stageOpen
		}
		return err
	case c.stage == stageOver:
		return breach(line, "the program says more behind its last line")
	}
	o, ok := fields(line)
	if !ok {
		return breach(line, "a line of the program's stdout is no object")
	}
	return c.answers(line, o, on)
}

// answers takes an answer, or the last line.
func (c *Conn) answers(line []byte, o object, on Listener) error {
	a := &c.answer
	*a = Answer{Bytes: len(line) + 1, Body: a.Body[:0], Measures: a.Measures[:0]}
	var f found
	for key, value, ok := o.next(); ok; key, value, ok = o.next() {
		if err := c.field(&f, key, value); err != nil {
			return err
		}
	}
	switch {
	case f.id == 0 && f.last && c.stage == stageEnding:
		c.calls, c.stage = f.calls, stageOver
		return nil
	case f.id == 0 && f.last:
		return breach(line, "the program says its last line before it hears the end")
	case f.id == 0:
		return breach(line, "a line of the program's stdout has no id of a call")
	case !f.judged:
		return breach(line, `an answer says neither "ok":true nor "ok":false`)
	}
	at := f.id & (InFlightMost - 1)
	if at >= uint64(len(c.places)) || c.places[at].id != f.id {
		if c.pays(f.id) {
			return nil
		}
		return breach(line, "the program answers a call that it was not asked, or has answered")
	}
	tag := c.places[at].tag
	c.release(int32(at))
	f.judge(a)
	on.Answered(tag, a)
	return nil
}

// found are the fields of an answer.
type found struct {
	id         uint64
	judged, ok bool
	code, text string
	calls      uint64
	last       bool // it has calls
}

// judge completes an answer.
func (f *found) judge(a *Answer) {
	if f.ok {
		if a.Status == 0 {
			a.Status = 200
		}
		return
	}
	if a.Status == 0 {
		a.Status = 500
	}
	if f.code == "" {
		f.code = "error"
	}
	a.Err = told(f.code, f.text)
}

// field takes one field of a line; those that the protocol does not know are nothing.
func (c *Conn) field(f *found, key, value []byte) error {
	good := true
	switch string(key) {
	case "id":
		if f.id, good = whole(value); f.id == 0 {
			good = false
		}
	case "ok":
		f.judged = true
		f.ok, good = truth(value)
	case "status":
		n, is := whole(value)
		good = is && n >= 100 && n <= 999
		c.answer.Status = int(n)
	case "body":
		c.answer.Body = append(c.answer.Body, bodyOf(value)...)
	case "code":
		code, is := textOf(value)
		good = is && printable(code, codeMost)
		f.code = string(code)
	case "error":
		text, is := textOf(value)
		good = is
		f.text = strings.ToValidUTF8(redact.Excerpt(string(text), redact.TextMost), "")
	case "calls":
		f.last = true
		f.calls, good = whole(value)
	case "measures":
		return c.measures(value)
	}
	if !good {
		return breach(value, "%q of an answer is %s", key, map[string]string{
			"id": "no id of a call", "ok": "neither true nor false", "status": "no number from 100 to 999", "code": "no text of 64 bytes at most, without control characters",
			"error": "no text", "calls": "no whole number"}[string(key)])
	}
	return nil
}

// bodyOf is a text as it is, and other JSON as it is written; null is none.
func bodyOf(value []byte) []byte {
	if text, ok := textOf(value); ok {
		return text
	}
	if string(value) == "null" {
		return nil
	}
	return value
}

// measures reads those of an answer.
func (c *Conn) measures(value []byte) error {
	o, ok := fields(value)
	if !ok {
		return breach(value, "the measures of an answer are no object")
	}
	for key, value, ok := o.next(); ok; key, value, ok = o.next() {
		at := slices.Index(c.program.Measures, string(key))
		if at < 0 {
			return breach(key, "a measure of an answer is not among those of the program's hello")
		}
		n, is := whole(value)
		if !is {
			return breach(value, "the measure %s of an answer is no whole number from 0 on", key)
		}
		c.answer.Measures = append(c.answer.Measures, Measure{At: at, N: n})
	}
	return nil
}
