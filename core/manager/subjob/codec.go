package subjob

import (
	"encoding/binary"

	"hyperscale/core/message"
)

// encoder writes numbers and texts one after the other.
type encoder struct{ bytes []byte }

// decoder reads what an encoder wrote; bad stays once it is set.
type decoder struct {
	bytes []byte
	bad   bool
}

func (e *encoder) number(n uint64) { e.bytes = binary.AppendUvarint(e.bytes, n) }

func (e *encoder) text(s string) {
	e.number(uint64(len(s)))
	e.bytes = append(e.bytes, s...)
}

func (e *encoder) fence(f message.Fence) {
	e.number(f.JobEpoch)
	e.number(f.SubjobEpoch)
	e.number(f.Attempt)
}

func (e *encoder) file(d message.FileDigest) { e.bytes = append(e.bytes, d[:]...) }

func (d *decoder) fail() {
	d.bad, d.bytes = true, nil
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.bytes)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.bytes = d.bytes[size:]
	return n
}

// count reads how many elements follow, each of them a byte at least.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.bytes)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.number()
	if n > uint64(len(d.bytes)) {
		d.fail()
		return ""
	}
	s := string(d.bytes[:n])
	d.bytes = d.bytes[n:]
	return s
}

func (d *decoder) fence() message.Fence {
	return message.Fence{JobEpoch: d.number(), SubjobEpoch: d.number(), Attempt: d.number()}
}

func (d *decoder) file() (f message.FileDigest) {
	if len(d.bytes) < len(f) {
		d.fail()
		return f
	}
	copy(f[:], d.bytes)
	d.bytes = d.bytes[len(f):]
	return f
}
