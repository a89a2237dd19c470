package amqp

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// Property is one of those of a message that are texts.
type Property uint8

// The properties that are texts, in their order on the wire.
const (
	ContentType Property = iota
	ContentEncoding
	CorrelationID
	ReplyTo
	Expiration
	MessageID
	Type
	UserID
	AppID
	Properties // how many there are
)

// propertyShape is one property: its name, the letter of its field, and which of the texts it is.
type propertyShape struct {
	name  string
	field byte
	text  Property
}

// properties has them in the order of their flags, the highest bit first.
var properties = [...]propertyShape{
	{"content-type", 'S', ContentType},
	{"content-encoding", 'S', ContentEncoding},
	{"headers", 'T', Properties},
	{"delivery-mode", 'o', Properties},
	{"priority", 'o', Properties},
	{"correlation-id", 'S', CorrelationID},
	{"reply-to", 'S', ReplyTo},
	{"expiration", 'S', Expiration},
	{"message-id", 'S', MessageID},
	{"timestamp", 'q', Properties},
	{"type", 'S', Type},
	{"user-id", 'S', UserID},
	{"app-id", 'S', AppID},
	{"cluster-id", 'S', Properties},
}

// String is the property's name.
func (p Property) String() string {
	for _, s := range properties {
		if s.text == p {
			return s.name
		}
	}
	return ""
}

// Fields are the properties of a message and the fields of its headers, as texts.
type Fields []field

type field struct{ name, value []byte }

// Len is how many there are.
func (f Fields) Len() int { return len(f) }

// At returns one of them.
func (f Fields) At(i int) (name, value []byte) { return f[i].name, f[i].value }

// Head returns what stands around a message, copied out of the connection's memory: its exchange, its key, and
// whether it was delivered before, behind its fields.
func (o *Outcome) Head() Fields {
	around := Fields{{[]byte("exchange"), o.Exchange}, {[]byte("key"), o.Key}, {[]byte("redelivered"), strconv.AppendBool(nil, o.Redelivered)}}
	return append(around.Clone(), o.Fields.Clone()...)
}

// Clone copies them out of the connection's memory.
func (f Fields) Clone() Fields {
	out := make(Fields, len(f))
	for i := range f {
		out[i].name, out[i].value = bytes.Clone(f[i].name), bytes.Clone(f[i].value)
	}
	return out
}

const contentHead = 14 // bytes of a content header before its properties: class, weight, size, flags

// readContent reads the size that a content header tells, and of its properties what keeps says.
func readContent(b []byte, keeps reads) (size uint64, all Fields, err error) {
	if len(b) < contentHead {
		return 0, nil, errContent
	}
	size = binary.BigEndian.Uint64(b[4:])
	flags := binary.BigEndian.Uint16(b[12:])
	if binary.BigEndian.Uint16(b) != classBasic || flags&3 != 0 {
		return 0, nil, errContent
	}
	r := reader{b: b[contentHead:]}
	for i, p := range properties {
		if flags&(1<<(15-i)) == 0 {
			continue
		}
		var value []byte
		switch p.field {
		case 'S':
			value = r.short()
		case 'T':
			var ok bool
			if all, ok = readTable(r.long(), all, keeps); !ok {
				return 0, nil, errTable
			}
			continue
		default:
			if n := r.number(sizeOf(p.field)); keeps.all {
				value = strconv.AppendUint(nil, n, 10)
			}
		}
		if keeps.all {
			all = append(all, field{[]byte(p.name), value})
		}
	}
	if r.broken || len(r.b) > 0 {
		return 0, nil, errContent
	}
	return size, all, nil
}
