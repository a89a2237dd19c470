package mqtt

import (
	"bytes"
	"unicode/utf8"

	"hyperscale/runtime/protocol/http1"
)

// The properties that are read or written.
const (
	propertyReply      = 0x08
	propertyExpiry     = 0x11
	propertyKeepAlive  = 0x13
	propertyDelay      = 0x18
	propertyReason     = 0x1F
	propertyReceive    = 0x21
	propertyAlias      = 0x23
	propertyQoS        = 0x24
	propertyRetain     = 0x25
	propertyUser       = 0x26
	propertyPacketMost = 0x27
)

// form is how a property's value is written.
type form uint8

const (
	formNone form = iota // there is no such property
	formByte
	form16
	form32
	formVariable
	formText
	formPair
)

// size is how many bytes a number has; 0: it says so itself.
func (f form) size() int {
	switch f {
	case formByte:
		return 1
	case form16:
		return 2
	case form32:
		return 4
	}
	return 0
}

// formOf returns the form of a property, by its identifier.
func formOf(id byte) form {
	switch id {
	case 0x01, 0x17, 0x19, propertyQoS, propertyRetain, 0x28, 0x29, 0x2A:
		return formByte
	case propertyKeepAlive, propertyReceive, 0x22, propertyAlias:
		return form16
	case 0x02, propertyExpiry, propertyDelay, propertyPacketMost:
		return form32
	case 0x0B:
		return formVariable
	case 0x03, propertyReply, 0x09, 0x12, 0x15, 0x16, 0x1A, 0x1C, propertyReason:
		return formText
	case propertyUser:
		return formPair
	}
	return formNone
}

// properties are what of a packet's properties is read.
type properties struct {
	reply  []byte
	reason []byte
	alias  uint16
	fields Fields
	limits
}

// limits are what a CONNACK allows.
type limits struct {
	keepAlive  uint16
	told       bool   // keepAlive is the server's
	packetMost uint32 // bytes; 0: it names none
	receive    uint16 // exchanges that may be open
	qosMost    uint8
	noRetain   bool
}

// cutProperties cuts the properties off that begin b, and reads them. Keeps says that user properties
// matter.
func cutProperties(b []byte, keeps bool) (p properties, rest []byte, err *http1.Error) {
	p.receive, p.qosMost = 65535, 2
	size, used, ok := variable(b)
	if !ok || size > len(b)-used {
		return p, nil, errProperties
	}
	all, rest := b[used:used+size], b[used+size:]
	for n := 0; len(all) > 0; n++ {
		if n == fieldsMost {
			return p, nil, errFields
		}
		if all, err = p.take(all[0], all[1:], keeps); err != nil {
			return p, nil, err
		}
	}
	return p, rest, nil
}

// take takes the value that begins b, of one property.
func (p *properties) take(id byte, b []byte, keeps bool) (rest []byte, err *http1.Error) {
	kind := formOf(id)
	size := kind.size()
	switch {
	case kind == formNone:
		return nil, errProperty(id)
	case len(b) < size:
		return nil, errProperties
	case kind == formVariable:
		_, used, ok := variable(b)
		if !ok {
			return nil, errProperties
		}
		return b[used:], nil
	case kind == formText:
		text, rest, ok := cutText(b)
		if !ok {
			return nil, errProperties
		}
		switch id {
		case propertyReply:
			p.reply = text
		case propertyReason:
			p.reason = text
		}
		return rest, nil
	case kind == formPair:
		name, rest, ok := cutText(b)
		if !ok {
			return nil, errProperties
		}
		value, rest, ok := cutText(rest)
		if !ok || !utf8.Valid(name) || !utf8.Valid(value) {
			return nil, errProperties
		}
		if keeps {
			p.fields = append(p.fields, struct{ name, value []byte }{name, value})
		}
		return rest, nil
	}
	return b[size:], p.number(id, b[:size])
}

// number takes a property that is a number.
func (p *properties) number(id byte, b []byte) *http1.Error {
	var n uint32
	for _, d := range b {
		n = n<<8 | uint32(d)
	}
	switch id {
	case propertyKeepAlive:
		p.keepAlive, p.told = uint16(n), true
	case propertyReceive:
		p.receive = uint16(n)
	case propertyAlias:
		p.alias = uint16(n)
	case propertyPacketMost:
		p.packetMost = n
	case propertyQoS:
		p.qosMost = uint8(n)
	case propertyRetain:
		p.noRetain = n == 0
	}
	if n == 0 && (id == propertyReceive || id == propertyPacketMost || id == propertyAlias) || n > 1 && (id == propertyQoS || id == propertyRetain) {
		return errProperty(id)
	}
	return nil
}

// variable reads a number of up to four bytes; false: it is none, or not whole.
func variable(b []byte) (n, used int, ok bool) {
	for i := 0; i < len(b) && i < 4; i++ {
		n |= int(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return n, i + 1, true
		}
	}
	return 0, 0, false
}

// Fields are the user properties of a message.
type Fields []struct{ name, value []byte }

// Len is how many there are.
func (f Fields) Len() int { return len(f) }

// At returns one of them.
func (f Fields) At(i int) (name, value []byte) { return f[i].name, f[i].value }

// Clone copies them out of the connection's memory.
func (f Fields) Clone() Fields {
	out := make(Fields, len(f))
	for i := range f {
		out[i].name, out[i].value = bytes.Clone(f[i].name), bytes.Clone(f[i].value)
	}
	return out
}

// appendUser appends a user property.
func appendUser(dst []byte, name string, value []byte) []byte {
	dst = appendText(append(dst, propertyUser), name)
	return appendText(dst, value)
}
