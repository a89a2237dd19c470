package record

import (
	"github.com/tinylib/msgp/msgp"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Bounds of one struct of a record.
const (
	FieldsMax  = 32       // that a version knows, and as many that it does not
	UnknownMax = 16 << 10 // bytes of the unknown ones
)

// Unknown are the fields of a struct that this version does not know, as read: name, value,
// name, value. The node writes them again with the struct.
type Unknown []byte

// fields counts the fields.
func (u Unknown) fields() (n int) {
	for b := []byte(u); len(b) > 0; n++ {
		_, b = field(b)
	}
	return n
}

// has reports whether a field has a name.
func (u Unknown) has(name []byte) bool {
	for b := []byte(u); len(b) > 0; {
		var other []byte
		if other, b = field(b); string(other) == string(name) {
			return true
		}
	}
	return false
}

// field returns the name of the first field, and the bytes after its value. Only reader.unknown
// creates such a list.
func field(b []byte) (name, rest []byte) {
	name, rest, err := msgp.ReadStringZC(b)
	if err != nil {
		node.Bug("record: an unknown field without a name: %v", err)
	}
	n, err := message.Scan(rest)
	if err != nil {
		node.Bug("record: the value of an unknown field: %v", err)
	}
	return name, rest[n:]
}

// unknown stores the value of a field that this version does not know.
func (r *reader) unknown(u *Unknown, name []byte) {
	if r.err != nil {
		return
	}
	n, err := message.Scan(r.b)
	switch {
	case err != nil:
		r.fail("the value of %.64q: %v", name, err)
	case u.has(name):
		r.fail("field %.64q stands twice", name)
	case u.fields() == FieldsMax || len(*u)+len(name)+n > UnknownMax:
		r.fail("a struct has more than %d unknown fields, or %d bytes of them: the version that wrote it is too new for this one", FieldsMax, UnknownMax)
	default:
		*u = append(msgp.AppendStringFromBytes(*u, name), r.b[:n]...)
		r.b = r.b[n:]
	}
}
