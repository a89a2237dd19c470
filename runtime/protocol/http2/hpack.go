package http2

import (
	"bytes"

	"hyperscale/runtime/protocol/http1"
)

var (
	errIndex    = &http1.Error{Kind: http1.KindCompression, Detail: "a header block refers to a table entry that does not exist"}
	errInteger  = &http1.Error{Kind: http1.KindCompression, Detail: "a header block has a number that is too large"}
	errCut      = &http1.Error{Kind: http1.KindCompression, Detail: "a header block ends in the middle of a header"}
	errHuffman  = &http1.Error{Kind: http1.KindCompression, Detail: "a header block has invalid Huffman code"}
	errUpdate   = &http1.Error{Kind: http1.KindCompression, Detail: "a header block changes the table's size late, or beyond what was offered"}
	errBomb     = &http1.Error{Kind: http1.KindCompression, Detail: "a header block decompresses to more than 64 KiB"}
	errManyHead = &http1.Error{Kind: http1.KindTooLarge, Detail: "a header block has more than 1,000 headers"}
)

// decoder decodes header blocks (RFC 7541). It materialises a field only if it is collected or
// the dynamic table must keep it.
type decoder struct {
	table table
	name  []byte // scratch
	value []byte
	last  memo
	// cookies takes the Set-Cookie fields of the current block; nil: they are not needed.
	cookies *http1.Cookies
}

// memo is the last block that was not collected, with its meaning. A server under load sends
// the same block again and again; while the table is unchanged, the same bytes mean the same.
type memo struct {
	block   []byte
	changes uint64 // table.changes of then
	head    head
}

// memoMost is the largest block remembered, in bytes: an ordinary head, once a connection.
const memoMost = 256

func (d *decoder) reset() {
	d.table.reset()
	d.last.block = d.last.block[:0]
	if cap(d.value) > tableMost || cap(d.name) > tableMost {
		d.name, d.value = nil, nil
	}
}

// decode decodes one whole block. After an error the connection is unusable: the table no
// longer equals the peer's.
func (d *decoder) decode(b []byte, h *head) *http1.Error {
	if h.collector != nil || h.trailer || len(b) > memoMost || len(b) == 0 {
		return d.fields(b, h)
	}
	m := &d.last
	if m.changes == d.table.changes && bytes.Equal(m.block, b) {
		*h = m.head
		return nil
	}
	m.changes, m.block = d.table.changes, m.block[:0]
	err := d.fields(b, h)
	if err == nil && m.changes == d.table.changes && !h.cookies {
		m.block, m.head = append(m.block, b...), *h
	}
	return err
}

func (d *decoder) fields(b []byte, h *head) *http1.Error {
	started := false
	for len(b) > 0 {
		var err *http1.Error
		switch c := b[0]; {
		case c >= 0x80:
			b, err = d.indexed(b, h)
		case c >= 0x40:
			b, err = d.literal(b, 6, true, h)
		case c >= 0x20:
			if started {
				return errUpdate
			}
			b, err = d.update(b)
		default:
			b, err = d.literal(b, 4, false, h)
		}
		if err != nil {
			return err
		}
		started = started || h.fields > 0
	}
	return nil
}

// count bounds a block's size before the decoder keeps any of it.
func (h *head) count(bytes int) *http1.Error {
	h.fields++
	h.size += bytes + entryOverhead
	switch {
	case h.size > http1.MaxHeadBytes:
		return errBomb
	case h.fields > http1.MaxHeadLines:
		return errManyHead
	}
	return nil
}

func (d *decoder) indexed(b []byte, h *head) ([]byte, *http1.Error) {
	index := uint64(b[0] & 0x7f)
	if index < 0x7f {
		b = b[1:]
	} else {
		var err *http1.Error
		if index, b, err = integer(b, 7); err != nil {
			return nil, err
		}
	}
	if index < uint64(len(staticFields)) {
		if index == 0 {
			return nil, errIndex
		}
		f := &staticFields[index]
		if err := h.count(len(f.Name) + len(f.Value)); err != nil {
			return nil, err
		}
		if h.collector != nil && f.Name[0] != ':' {
			d.name, d.value = append(d.name[:0], f.Name...), append(d.value[:0], f.Value...)
			h.collector.AddField(d.name, d.value)
		}
		h.field(staticRows[index])
		return b, nil
	}
	r, ok := d.table.at(index - uint64(len(staticFields)))
	if !ok {
		return nil, errIndex
	}
	if err := h.count(int(r.name) + int(r.value)); err != nil {
		return nil, err
	}
	if h.collector != nil {
		h.collect(d.table.text(r))
	}
	if r.meaning.class == classCookie {
		_, value := d.table.text(r)
		d.cookie(h, value)
	}
	h.field(r.meaning)
	return b, nil
}

func (h *head) collect(name, value []byte) {
	if len(name) > 0 && name[0] != ':' {
		h.collector.AddField(name, value)
	}
}

// literal takes a field whose value is written out, and whose name may be.
func (d *decoder) literal(b []byte, prefix uint, keep bool, h *head) ([]byte, *http1.Error) {
	index, b, err := integer(b, prefix)
	if err != nil {
		return nil, err
	}
	var name []byte
	var c class
	switch {
	case index == 0:
		if name, d.name, b, err = text(b, d.name); err != nil {
			return nil, err
		}
		c = classOfName(name)
	case index < uint64(len(staticFields)):
		c = staticNames[index]
		if keep || h.collector != nil || c == classBad {
			d.name = append(d.name[:0], staticFields[index].Name...)
			name = d.name
		}
	default:
		r, ok := d.table.at(index - uint64(len(staticFields)))
		if !ok {
			return nil, errIndex
		}
		old, _ := d.table.text(r)
		d.name = append(d.name[:0], old...) // an insertion may shift the table's bytes
		name, c = d.name, r.nameClass
	}
	value, b, err := d.valueOf(b)
	if err != nil {
		return nil, err
	}
	nameLen := len(name)
	if name == nil && index != 0 {
		nameLen = len(staticFields[index].Name)
	}
	if err := h.count(nameLen + len(value)); err != nil {
		return nil, err
	}
	m := meaningOf(c, value)
	if c == classBad {
		m.number = whyBad(name)
	}
	if keep {
		d.table.insert(name, value, c, m)
	}
	if h.collector != nil {
		h.collect(name, value)
	}
	if m.class == classCookie {
		d.cookie(h, value)
	}
	h.field(m)
	return b, nil
}

func (d *decoder) cookie(h *head, value []byte) {
	h.cookies = true
	if d.cookies != nil {
		d.cookies.Add(value)
	}
}

func (d *decoder) valueOf(b []byte) (value, rest []byte, err *http1.Error) {
	value, d.value, rest, err = text(b, d.value)
	return value, rest, err
}

func (d *decoder) update(b []byte) ([]byte, *http1.Error) {
	size, b, err := integer(b, 5)
	if err != nil {
		return nil, err
	}
	if size > tableMost {
		return nil, errUpdate
	}
	d.table.limit(int(size))
	return b, nil
}

// text reads a string: as it lies in the block, or decoded into the scratch.
func text(b, scratch []byte) (s, grown, rest []byte, err *http1.Error) {
	if len(b) == 0 {
		return nil, scratch, nil, errCut
	}
	coded := b[0]&0x80 != 0
	n, b, err := integer(b, 7)
	if err != nil {
		return nil, scratch, nil, err
	}
	if n > uint64(len(b)) {
		return nil, scratch, nil, errCut
	}
	s, rest = b[:n:n], b[n:]
	if !coded {
		return s, scratch, rest, nil
	}
	scratch, ok := decodeHuffman(scratch[:0], s)
	if !ok {
		return nil, scratch, nil, errHuffman
	}
	return scratch, scratch, rest, nil
}

// integer reads a number whose first byte gives the low prefix bits (RFC 7541, 5.1). Ours
// index tables or count bytes of one block, so that 32 bits are more than enough.
func integer(b []byte, prefix uint) (uint64, []byte, *http1.Error) {
	most := uint64(1)<<prefix - 1
	n := uint64(b[0]) & most
	b = b[1:]
	if n < most {
		return n, b, nil
	}
	for shift := uint(0); len(b) > 0; shift += 7 {
		c := b[0]
		b = b[1:]
		if shift > 28 {
			return 0, nil, errInteger
		}
		n += uint64(c&0x7f) << shift
		if c < 0x80 {
			return n, b, nil
		}
	}
	return 0, nil, errCut
}
