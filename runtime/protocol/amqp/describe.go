package amqp

import (
	"strconv"
)

// Describe appends a line about the bytes of a greeting, by the names of their methods: what proves the user
// is not shown.
func Describe(dst, b []byte) []byte {
	for len(b) > 0 {
		if len(dst) > 0 {
			dst = append(dst, "; "...)
		}
		if len(b) >= len(preamble) && string(b[:len(preamble)]) == preamble {
			dst, b = append(dst, "AMQP 0.9.1"...), b[len(preamble):]
			continue
		}
		var f frame
		n, _, err := f.cut(b, len(b))
		if err != nil || n == 0 {
			return append(dst, strconv.Itoa(len(b))+" bytes"...)
		}
		b = b[n:]
		switch name := methodOf(&f); {
		case name != "":
			dst = append(dst, name...)
		default:
			dst = append(dst, strconv.Itoa(len(f.payload))+" bytes of content"...)
		}
	}
	return dst
}

// methodOf is the name of the method that a frame carries; empty: none.
func methodOf(f *frame) string {
	if f.kind != frameMethod || len(f.payload) < 4 {
		return ""
	}
	if s := shapeOf(method(number(f.payload, 4))); s != nil {
		return s.name
	}
	return "method " + strconv.FormatUint(number(f.payload, 4), 16)
}

// Show appends a line about an operation that goes out.
func (o *Operation) Show(dst []byte, values [][]byte) []byte {
	switch o.verb {
	case verbGet:
		return o.queue.fill(append(dst, "get "...), values)
	case verbDeclare:
		d := &o.declares
		if dst = append(dst, "declare"...); d.Exchange != "" {
			dst = append(append(dst, " exchange "...), d.Exchange...)
		}
		if d.Of != DeclaresExchange {
			dst = d.Queue.fill(append(dst, " queue "...), values)
		}
		return dst
	}
	m := &o.message
	dst = append(dst, "publish "...)
	if o.verb == verbConfirm {
		dst = append(dst, "and confirm "...)
	}
	dst = m.Exchange.fill(append(dst, '"'), values)
	dst = m.Key.fill(append(dst, "\" "...), values)
	return m.Body.fill(append(dst, ": "...), values)
}
