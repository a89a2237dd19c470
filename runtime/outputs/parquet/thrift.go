package parquet

import "encoding/binary"

// The types of fields in Thrift's compact protocol.
const (
	thriftInt32  = 5
	thriftInt64  = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// thrift writes structures in the compact protocol.
type thrift struct {
	b    []byte
	last []int16 // ids of the fields before, by depth
}

func (t *thrift) begin() { t.last = append(t.last, 0) }

func (t *thrift) end() {
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

// field begins a field; ids ascend by at most 15.
func (t *thrift) field(id int16, of byte) {
	at := len(t.last) - 1
	t.b = append(t.b, byte(id-t.last[at])<<4|of)
	t.last[at] = id
}

func (t *thrift) number(id int16, n int64, of byte) {
	t.field(id, of)
	t.b = binary.AppendVarint(t.b, n)
}

func (t *thrift) text(id int16, s string) {
	t.field(id, thriftBinary)
	t.bytes(s)
}

func (t *thrift) bytes(s string) { t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...) }

// list begins a list: its members follow.
func (t *thrift) list(id int16, of byte, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|of)
		return
	}
	t.b = binary.AppendUvarint(append(t.b, 0xf0|of), uint64(n))
}

// structure writes a field that is a structure.
func (t *thrift) structure(id int16, fields func()) {
	t.field(id, thriftStruct)
	t.member(fields)
}

// member writes a member of a list of structures.
func (t *thrift) member(fields func()) {
	t.begin()
	fields()
	t.end()
}
