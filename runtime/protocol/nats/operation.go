package nats

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

// Part is a piece of a text: its own bytes, or a value.
type Part struct {
	Text  string
	Value int // index; below 0: Text
}

// Text is what a message has at one place.
type Text []Part

// Plain returns a text without values.
func Plain(s string) Text { return Text{{Text: s, Value: -1}} }

// Field is a field of a message's header.
type Field struct {
	Name  string
	Value Text
}

// Verb says what ends an operation.
type Verb uint8

// The verbs.
const (
	Publish Verb = iota // nothing: the kernel has it
	Flush               // a PONG: the server has it
	Stream              // the acknowledgement of JetStream
	Request             // a reply
)

// Message is what an operation sends.
type Message struct {
	Verb    Verb
	Subject Text
	Header  []Field
	Data    Text
}

// Operation is a message, compiled before the clock runs. It refers to no connection and does not change.
type Operation struct {
	Message
	subject string // empty: it has values
	header  []byte // nil: it has none, or values
	data    []byte // nil: it has values
	open    bool   // something of it has values
	wire    wire   // of one without values
}

// wire is a message as it goes out, but for where its reply goes.
type wire struct {
	before, behind []byte
	size           int // of header and data, in bytes
	heads          bool
}

// Compile makes an operation of a message. Its own texts are checked where the file is loaded.
func Compile(m Message) *Operation {
	o := &Operation{Message: m}
	if m.Subject.open() {
		o.open = true
	} else {
		o.subject = string(m.Subject.fill(nil, nil))
	}
	if slices.ContainsFunc(m.Header, func(f Field) bool { return f.Value.open() }) {
		o.open = true
	} else if len(m.Header) > 0 {
		o.header = appendHeader(nil, m.Header, nil)
	}
	if m.Data.open() {
		o.open = true
	} else {
		o.data = m.Data.fill([]byte{}, nil)
	}
	if !o.open {
		o.wire = wire{appendVerb(nil, o.header, []byte(o.subject)), appendRest(nil, o.header, o.data), len(o.header) + len(o.data), len(o.header) > 0}
		o.header, o.data = nil, nil // they are a part of it
	}
	return o
}

// appendVerb appends a message up to where its reply goes.
func appendVerb(dst, header, subject []byte) []byte {
	if len(header) > 0 {
		dst = append(dst, 'H')
	}
	return append(append(dst, "PUB "...), subject...)
}

// appendRest appends what stands behind that.
func appendRest(dst, header, data []byte) []byte {
	if len(header) > 0 {
		dst = strconv.AppendInt(append(dst, ' '), int64(len(header)), 10)
	}
	dst = append(strconv.AppendInt(append(dst, ' '), int64(len(header)+len(data)), 10), "\r\n"...)
	return append(append(append(dst, header...), data...), "\r\n"...)
}

// open reports whether a value stands in the text.
func (t Text) open() bool { return slices.ContainsFunc(t, func(p Part) bool { return p.Value >= 0 }) }

// fill appends the text with its values.
func (t Text) fill(dst []byte, values [][]byte) []byte {
	for _, p := range t {
		if dst = append(dst, p.Text...); p.Value >= 0 {
			dst = append(dst, values[p.Value]...)
		}
	}
	return dst
}

const headLine = "NATS/1.0"

// appendHeader appends a header with the blank line that ends it.
func appendHeader(dst []byte, all []Field, values [][]byte) []byte {
	dst = append(dst, headLine+"\r\n"...)
	for _, f := range all {
		dst = append(append(dst, f.Name...), ": "...)
		dst = append(f.Value.fill(dst, values), "\r\n"...)
	}
	return append(dst, "\r\n"...)
}

// filled is what of an operation goes out, in memory that the next one takes.
type filled struct{ subject, header, data []byte }

// fill puts the values in place, and refuses those that would end what they stand in.
func (o *Operation) fill(m *filled, values [][]byte) *http1.Error {
	m.subject = append(m.subject[:0], o.subject...)
	if o.subject == "" {
		m.subject = o.Subject.fill(m.subject, values)
		if why := Unsendable(string(m.subject), false); why != "" {
			return &http1.Error{Kind: http1.KindValue, Detail: "the subject " + strconv.Quote(clip(m.subject)) + " " + why}
		}
	}
	if m.header = append(m.header[:0], o.header...); o.header == nil && len(o.Header) > 0 {
		for _, f := range o.Header {
			for _, p := range f.Value {
				if p.Value >= 0 && bytes.ContainsAny(values[p.Value], "\r\n") {
					return &http1.Error{Kind: http1.KindValue, Detail: "a value of the header " + f.Name + " has a line break in it"}
				}
			}
		}
		m.header = appendHeader(m.header, o.Header, values)
	}
	if m.data = append(m.data[:0], o.data...); o.data == nil {
		m.data = o.Data.fill(m.data, values)
	}
	return nil
}

const shownMost = 60 // bytes of a subject in an error

func clip(b []byte) string { return redact.Excerpt(string(b), shownMost) }

// Unsendable says why a subject cannot stand in a message, or with wild in a subscription; empty: it can.
func Unsendable(subject string, wild bool) string {
	switch {
	case subject == "":
		return "is empty"
	case strings.ContainsAny(subject, " \t\r\n\x00"):
		return "has a blank in it"
	case strings.HasPrefix(subject, ".") || strings.HasSuffix(subject, ".") || strings.Contains(subject, ".."):
		return "has an empty word between its dots"
	}
	for rest, more := subject, true; more; {
		var word string
		word, rest, more = strings.Cut(rest, ".")
		switch {
		case word != "*" && word != ">":
		case !wild:
			return "has the wildcard " + word + ", which only a subscription may have"
		case word == ">" && more:
			return "has > before its last word"
		}
	}
	return ""
}
