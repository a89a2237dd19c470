package http3

import (
	"bytes"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http2"
)

// appendField encodes a field (RFC 9204, 4.5). It marks secret values, so that no intermediary puts
// them into a table.
func appendField(b []byte, name, value string) []byte {
	first, known := staticNames[name]
	for i := first; known && i < len(staticFields); i++ {
		if staticFields[i].name == name && staticFields[i].value == value {
			return http2.AppendInteger(b, 0xc0, 6, i)
		}
	}
	if known {
		return appendText(http2.AppendInteger(b, 0x50, 4, first), 0, 7, value)
	}
	return appendText(appendText(b, 0x20, 3, name), 0, 7, value)
}

// appendText encodes a string; the bit above the prefix says whether it is Huffman code.
func appendText(b []byte, first byte, prefix uint, s string) []byte {
	if n := http2.HuffmanLen(s); n < len(s) {
		return http2.AppendHuffman(http2.AppendInteger(b, first|1<<prefix, prefix, n), s)
	}
	return append(http2.AppendInteger(b, first, prefix, len(s)), s...)
}

// decoder decodes header blocks. There is no dynamic table: its capacity is 0.
type decoder struct {
	name, value []byte // scratch
	last        memo
}

// memo is the last block that was not collected, with its meaning: a server under load sends the same
// block again and again.
type memo struct {
	block []byte
	head  http2.Head
}

// memoMost is the largest block remembered, in bytes.
const memoMost = 256

// decode decodes one whole block.
func (d *decoder) decode(b []byte, h *http2.Head, kept bool, cookies *http1.Cookies) *http1.Error {
	if kept || len(b) > memoMost || len(b) == 0 {
		return d.fields(b, h, cookies)
	}
	if bytes.Equal(d.last.block, b) {
		*h = d.last.head
		return nil
	}
	d.last.block = d.last.block[:0]
	err := d.fields(b, h, cookies)
	if err == nil && !h.Cookies() {
		d.last.block, d.last.head = append(d.last.block, b...), *h
	}
	return err
}

func (d *decoder) fields(b []byte, h *http2.Head, cookies *http1.Cookies) *http1.Error {
	b, err := prefix(b)
	for err == nil && len(b) > 0 {
		var name, value []byte
		if name, value, b, err = d.line(b); err != nil {
			return err
		}
		before := h.Cookies()
		if err = h.Field(name, value); err != nil {
			return err
		}
		if cookies != nil && (h.Cookies() && !before || string(name) == "set-cookie") {
			cookies.Add(value)
		}
	}
	return err
}

// prefix takes that of a block: it needs no dynamic table.
func prefix(b []byte) ([]byte, *http1.Error) {
	if len(b) == 0 {
		return nil, errCut
	}
	inserts, b, err := http2.Integer(b, 8)
	switch {
	case err != nil:
		return nil, err
	case inserts != 0:
		return nil, errDynamic
	case len(b) == 0:
		return nil, errCut
	case b[0]&0x80 != 0:
		return nil, errDynamic
	}
	_, b, err = http2.Integer(b, 7)
	return b, err
}

// line takes one field.
func (d *decoder) line(b []byte) (name, value, rest []byte, err *http1.Error) {
	var index uint64
	switch c := b[0]; {
	case c >= 0x80: // indexed
		if c&0x40 == 0 {
			return nil, nil, nil, errDynamic
		}
		if index, rest, err = http2.Integer(b, 6); err != nil {
			return nil, nil, nil, err
		}
		if index >= uint64(len(staticFields)) {
			return nil, nil, nil, errIndex
		}
		f := &staticFields[index]
		d.name, d.value = append(d.name[:0], f.name...), append(d.value[:0], f.value...)
		return d.name, d.value, rest, nil
	case c >= 0x40: // its name is
		if c&0x10 == 0 {
			return nil, nil, nil, errDynamic
		}
		if index, rest, err = http2.Integer(b, 4); err != nil {
			return nil, nil, nil, err
		}
		if index >= uint64(len(staticFields)) {
			return nil, nil, nil, errIndex
		}
		d.name = append(d.name[:0], staticFields[index].name...)
		name = d.name
	case c >= 0x20:
		if name, d.name, rest, err = text(b, 3, d.name); err != nil {
			return nil, nil, nil, err
		}
	default:
		return nil, nil, nil, errDynamic
	}
	value, d.value, rest, err = text(rest, 7, d.value)
	return name, value, rest, err
}

// text reads a string: as it lies in the block, or decoded into the scratch.
func text(b []byte, prefix uint, scratch []byte) (s, grown, rest []byte, err *http1.Error) {
	if len(b) == 0 {
		return nil, scratch, nil, errCut
	}
	coded := b[0]&(1<<prefix) != 0
	n, b, err := http2.Integer(b, prefix)
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
	scratch, ok := http2.DecodeHuffman(scratch[:0], s)
	if !ok {
		return nil, scratch, nil, errHuffman
	}
	return scratch, scratch, rest, nil
}
