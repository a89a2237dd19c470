package kafka

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"hyperscale/runtime/protocol/http1"
)

// Record is a record that came. Its bytes are valid during Message; nil: it has none.
type Record struct {
	Offset     int64
	Time       int64 // milliseconds since 1970; below 0: it has none
	Key, Value []byte
	headers    []byte
	count      int // of headers
}

// Headers calls for each header of a record; a value that is null is nil.
func (r *Record) Headers(each func(name, value []byte)) {
	f := fields{b: r.headers}
	for range r.count {
		name := f.sized()
		each(name, f.sized())
	}
}

// fetched is the memory of one answer.
type fetched struct {
	found    []Found
	answered []bool // by the place of a position
	records  []Record
	plain    []byte // of batches that were compressed
	most     int64  // bytes of it
}

// What outlives an answer.
const (
	recordsKept = 64 << 10
	plainKept   = 4 << 20
)

func (m *fetched) begin(most int64) {
	if m.most = most; cap(m.records) > recordsKept {
		m.records = nil
	}
	if cap(m.plain) > plainKept {
		m.plain = nil
	}
	clear(m.records)
	m.records, m.plain = m.records[:0], m.plain[:0]
}

// Places and sizes in a batch of version 2, beside those of batch.go.
const (
	batchHead    = 61
	batchMagic   = 16
	recordLeast  = 7
	batchControl = 1 << 5
	batchAppends = 1 << 3 // the broker's time is that of all records
)

// read takes the batches of a partition. An incomplete one at the end is left out: the broker cuts there.
func (p *Pool) read(f *Found, b []byte, from *Position) *http1.Error {
	m := &p.fetched
	first, whole := len(m.records), false
	for len(b) > batchLength+4 {
		size := int64(int32(binary.BigEndian.Uint32(b[batchLength:])))
		if size < batchHead-batchLength-4 {
			return errBatch(from, "says that it has %d bytes", size)
		}
		if size += batchLength + 4; size > int64(len(b)) {
			break
		}
		if err := p.readBatch(f, b[:size], from); err != nil {
			return err
		}
		b, whole = b[size:], true
		f.Batches++
	}
	if len(b) > 0 && !whole {
		f.Err = &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("%s[%d] has a batch at offset %d that does not fit into an answer: raise max_body", from.Topic, from.Partition, from.Offset)}
	}
	f.Records = m.records[first:]
	return nil
}

// readBatch takes one batch.
func (p *Pool) readBatch(f *Found, b []byte, from *Position) *http1.Error {
	if b[batchMagic] != 2 {
		return errBatch(from, "has version %d, and Kafka writes version 2 since 0.11", b[batchMagic])
	}
	if crc32.Checksum(b[batchCovered:], castagnoli) != binary.BigEndian.Uint32(b[batchCRC:]) {
		return errBatch(from, "has a wrong checksum")
	}
	base := int64(binary.BigEndian.Uint64(b))
	flags := binary.BigEndian.Uint16(b[batchCovered:])
	last := int64(int32(binary.BigEndian.Uint32(b[23:])))
	next := base + last + 1
	if base < 0 || last < 0 || next <= f.Next {
		return errBatch(from, "ends at offset %d, before what was asked for", next-1)
	}
	began, newest := int64(binary.BigEndian.Uint64(b[27:])), int64(binary.BigEndian.Uint64(b[35:]))
	count := int64(int32(binary.BigEndian.Uint32(b[57:])))
	records := b[batchHead:]
	if by := Compression(flags & 7); by != Uncompressed {
		var why string
		start := len(p.fetched.plain)
		if p.fetched.plain, why = p.expand(p.fetched.plain, by, records, p.fetched.most-int64(start)); why != "" {
			return errBatch(from, "%s", why)
		}
		records = p.fetched.plain[start:]
	}
	if count < 0 || count*recordLeast > int64(len(records)) {
		return errBatch(from, "says that it has %d records in %d bytes", count, len(records))
	}
	least := f.Next
	f.Next = next
	if flags&batchControl != 0 {
		return nil
	}
	r := fields{b: records}
	for range count {
		one := r.record()
		if r.bad {
			return errBatch(from, "has a record that does not have what it says")
		}
		if one.Offset += base; one.Offset < base || one.Offset >= next {
			return errBatch(from, "has a record at offset %d", one.Offset)
		}
		if one.Time += began; flags&batchAppends != 0 {
			one.Time = newest
		}
		if one.Offset >= least {
			p.fetched.records = append(p.fetched.records, one)
		}
	}
	return nil
}

func errBatch(from *Position, format string, values ...any) *http1.Error {
	return breach("%s[%d]: the batch at or behind offset %d %s", from.Topic, from.Partition, from.Offset, fmt.Sprintf(format, values...))
}

// fields reads what a record has. Behind a field that is not whole all others are empty.
type fields struct {
	b   []byte
	bad bool
}

func (r *fields) varint() int64 {
	n, used := binary.Varint(r.b)
	if used <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[used:]
	return n
}

// sized reads bytes behind their length; nil: they are null.
func (r *fields) sized() []byte {
	n := r.varint()
	if n > int64(len(r.b)) || n < -1 {
		r.b, r.bad = nil, true
		return nil
	}
	if n < 0 {
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

// record reads the next record: offset and time are distances to the batch's.
func (r *fields) record() (out Record) {
	in := fields{b: r.sized(), bad: r.bad}
	if len(in.b) == 0 {
		r.bad = true
		return out
	}
	in.b = in.b[1:] // attributes: there are none
	out.Time, out.Offset = in.varint(), in.varint()
	out.Key, out.Value = in.sized(), in.sized()
	headers := in.varint()
	if out.headers = in.b; headers < 0 || headers > int64(len(in.b))/2 {
		in.bad = true
		headers = 0
	}
	out.count = int(headers)
	for range headers {
		in.sized()
		if in.sized(); in.bad {
			break
		}
	}
	r.bad = in.bad || len(in.b) > 0
	return out
}
