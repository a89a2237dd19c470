package mqtt

import (
	"encoding/binary"
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

// Field is a user property.
type Field struct {
	Name  string
	Value Text
}

// Message is what an operation sends.
type Message struct {
	Topic  Text
	Data   Text
	QoS    uint8 // 0, 1 or 2
	Retain bool
	Fields []Field // of version 5
}

// Operation is a message, compiled before the clock runs. It refers to no connection and does not change.
type Operation struct {
	Message
	version Version
	whole   []byte // the packet, with an identifier of 0; nil: something of it has values
	at      int    // where the identifier stands in it
}

// Compile makes an operation of a message. Its own texts are checked where the file is loaded.
func Compile(v Version, m Message) *Operation {
	o := &Operation{Message: m, version: v}
	open := m.Topic.open() || m.Data.open() || slices.ContainsFunc(m.Fields, func(f Field) bool { return f.Value.open() })
	if open {
		return o
	}
	var memory filled
	if o.fill(&memory, nil) == nil {
		o.whole, o.at = memory.append(nil, o)
	}
	return o
}

// filled is what of an operation goes out, in memory that the next one takes.
type filled struct{ topic, fields, data []byte }

// fill puts the values in place, and refuses those that could not travel there.
func (o *Operation) fill(m *filled, values [][]byte) *http1.Error {
	m.topic = o.Topic.fill(m.topic[:0], values)
	if why := Unsendable(string(m.topic)); why != "" {
		return &http1.Error{Kind: http1.KindValue, Detail: "the topic " + strconv.Quote(clip(m.topic)) + " " + why}
	}
	m.fields = m.fields[:0]
	for _, f := range o.Fields {
		value := f.Value.fill(nil, values)
		if why := unwritable(string(value)); why != "" {
			return &http1.Error{Kind: http1.KindValue, Detail: "the value of the header " + f.Name + " " + why}
		}
		m.fields = appendUser(m.fields, f.Name, value)
	}
	m.data = o.Data.fill(m.data[:0], values)
	if n := m.size(o); n > lengthMost {
		return &http1.Error{Kind: http1.KindValue, Detail: "data: the message has " + strconv.Itoa(n) + " bytes with its topic, and MQTT carries no more than 268435455: send less"}
	}
	return nil
}

// size is the length of the packet behind its first bytes.
func (m *filled) size(o *Operation) int {
	size := 2 + len(m.topic) + len(m.data)
	if o.QoS > 0 {
		size += 2
	}
	if o.version == Version5 {
		size += lengthOf(len(m.fields)) + len(m.fields)
	}
	return size
}

// append appends the packet, and returns where its identifier stands.
func (m *filled) append(dst []byte, o *Operation) (out []byte, at int) {
	first := byte(packetPublish)<<4 | o.QoS<<qosShift
	if o.Retain {
		first |= flagRetain
	}
	start := len(dst)
	dst = appendLength(append(dst, first), m.size(o))
	dst = appendText(dst, m.topic)
	if at = len(dst) - start; o.QoS > 0 {
		dst = append(dst, 0, 0)
	}
	if o.version == Version5 {
		dst = append(appendLength(dst, len(m.fields)), m.fields...)
	}
	return append(dst, m.data...), at
}

// queue appends the packet with its identifier.
func (o *Operation) queue(dst []byte, m *filled, values [][]byte, id uint16) ([]byte, *http1.Error) {
	start, at := len(dst), o.at
	if o.whole != nil {
		dst = append(dst, o.whole...)
	} else {
		if err := o.fill(m, values); err != nil {
			return dst, err
		}
		dst, at = m.append(dst, o)
		if cap(m.data) > bufferKept {
			m.data = nil
		}
	}
	if o.QoS > 0 {
		binary.BigEndian.PutUint16(dst[start+at:], id)
	}
	return dst, nil
}

const shownMost = 60 // bytes of a topic in an error

func clip(b []byte) string { return redact.Excerpt(string(b), shownMost) }

// Unsendable says why a topic cannot stand in a message; empty: it can.
func Unsendable(topic string) string {
	switch {
	case topic == "":
		return "is empty"
	case strings.ContainsAny(topic, "+#"):
		return "has a wildcard, which only a subscription may have"
	}
	return unwritable(topic)
}
