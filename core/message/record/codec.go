package record

import (
	"errors"
	"fmt"

	"github.com/tinylib/msgp/msgp"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Record is a struct of this package.
type Record interface {
	fields() int
	append(b []byte) []byte
	read(r *reader)
}

// ErrRecord is wrapped by the error of every record that cannot be read.
var ErrRecord = errors.New("not a record of this layout")

// ErrForeign is the error for a file that a record names and that is of another job or shard, as
// only a member that lies writes it.
var ErrForeign = errors.New("it is of another job or shard")

// Append appends the encoding of a record to b.
func Append(b []byte, rec Record) []byte { return rec.append(b) }

// Read decodes a record, which is all of b, into a zero struct.
func Read(b []byte, rec Record) error {
	n, err := message.Scan(b)
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrRecord)
	}
	if rec.fields() > 0 {
		node.Bug("record: %T is read into a struct that is not zero", rec)
	}
	r := reader{b: b}
	rec.read(&r)
	if r.err == nil && n != len(b) {
		r.fail("%d bytes are left over", len(b)-n)
	}
	return r.err
}

// reader reads one value after the other; err stays once it is set.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format+": %w", append(args, ErrRecord)...)
	}
	r.b = nil
}

// took continues after a value.
func (r *reader) took(rest []byte, err error) {
	if r.b = rest; err != nil {
		r.fail("%v", err)
	}
}

// fields reads the number of a struct's fields.
func (r *reader) fields() int {
	n, rest, err := msgp.ReadMapHeaderBytes(r.b)
	if r.took(rest, err); n > 2*FieldsMax {
		r.fail("a struct of %d fields is above the bound of %d", n, 2*FieldsMax)
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

// name reads the name of a field.
func (r *reader) name() []byte {
	name, rest, err := msgp.ReadStringZC(r.b)
	r.took(rest, err)
	return name
}

// once rejects a field that occurs twice.
func (r *reader) once(seen *uint64, at uint) {
	if *seen&(1<<at) != 0 {
		r.fail("a field stands twice")
	}
	*seen |= 1 << at
}

func (r *reader) require(is bool, name string) {
	if !is {
		r.fail("field %q is missing or zero", name)
	}
}

// list reads the number of elements, each at least one byte.
func (r *reader) list(most int) int {
	n, rest, err := msgp.ReadArrayHeaderBytes(r.b)
	if r.took(rest, err); uint64(n) > uint64(most) || int(n) > len(r.b) {
		r.fail("a list of %d is above the bound of %d", n, most)
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	s, rest, err := msgp.ReadStringBytes(r.b)
	r.took(rest, err)
	return s
}

func (r *reader) bool() bool {
	v, rest, err := msgp.ReadBoolBytes(r.b)
	r.took(rest, err)
	return v
}

func (r *reader) int() int64 {
	v, rest, err := msgp.ReadInt64Bytes(r.b)
	r.took(rest, err)
	return v
}

// uint reads a number of that many bits.
func (r *reader) uint(bits uint) uint64 {
	v, rest, err := msgp.ReadUint64Bytes(r.b)
	if r.took(rest, err); bits < 64 && v>>bits != 0 {
		r.fail("%d does not fit %d bits", v, bits)
	}
	return v
}

func (r *reader) file() (f message.FileDigest) {
	rest, err := msgp.ReadExactBytes(r.b, f[:])
	r.took(rest, err)
	return f
}

// fence reads the three epochs of a fence, which never gets another field.
func (r *reader) fence() message.Fence {
	if n := r.list(3); n != 3 {
		r.fail("a fence of %d epochs", n)
	}
	return message.Fence{JobEpoch: r.uint(64), SubjobEpoch: r.uint(64), Attempt: r.uint(64)}
}

func appendFence(b []byte, f message.Fence) []byte {
	b = msgp.AppendArrayHeader(b, 3)
	for _, n := range [...]uint64{f.JobEpoch, f.SubjobEpoch, f.Attempt} {
		b = msgp.AppendUint64(b, n)
	}
	return b
}

// listed asserts that a list can be read again.
func listed(what string, n, most int) uint32 {
	if n > most {
		node.Bug("record: %s has %d elements, %d is the bound", what, n, most)
	}
	return uint32(n)
}
