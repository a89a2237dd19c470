package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"

	"hyperscale/runtime/outputs"
)

// Numbers of the format.
const (
	magic = "PAR1"

	typeTruth, typeWhole, typeFloat, typeText = 0, 2, 5, 6
	repeatRequired, repeatRepeated            = 0, 2
	isText, isList, isTime                    = 0, 3, 9 // converted types
	plain, levels                             = 0, 3    // encodings
	codecGzip                                 = 2
)

// types are the physical types of columns.
var types = [...]int64{ofText: typeText, ofWhole: typeWhole, ofTime: typeWhole, ofTruth: typeTruth, ofFloat: typeFloat}

// chunk is a column of a file that is written.
type chunk struct {
	at, values, whole, packed int64 // offset; values; bytes with the page's head, as they are and compressed
}

// encode makes a file of rows: one group, and in it one page of each column.
func encode(rows []outputs.Row) ([]byte, error) {
	file := []byte(magic)
	all := columns()
	chunks := make([]chunk, len(all))
	for i := range all {
		page, values := all[i].page(rows)
		packed, err := pack(page)
		if err != nil {
			return nil, fmt.Errorf("compress column %s: %w", all[i].name, err)
		}
		head := pageHead(len(page), len(packed), values)
		chunks[i] = chunk{int64(len(file)), int64(values), int64(len(head) + len(page)), int64(len(head) + len(packed))}
		file = append(append(file, head...), packed...)
	}
	foot := footer(all, chunks, len(rows))
	file = append(file, foot...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(foot))), magic...), nil
}

func pack(page []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(page); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// page is the values of a column, behind their levels if it has lists. An empty list counts as a value, which is not there.
func (c *column) page(rows []outputs.Row) (page []byte, values int) {
	if !c.lists() {
		return c.plain(rows), len(rows)
	}
	var repeats, defines []bool
	for i := range rows {
		n := 0
		if c.texts != nil {
			for _, s := range c.texts(&rows[i]) {
				page, n = appendText(page, s), n+1
			}
		} else {
			for _, v := range c.wholes(&rows[i]) {
				page, n = binary.LittleEndian.AppendUint64(page, min(v, math.MaxInt64)), n+1
			}
		}
		for k := range max(n, 1) {
			repeats, defines = append(repeats, k > 0), append(defines, n > 0)
		}
	}
	return append(appendLevels(appendLevels(nil, repeats), defines), page...), len(repeats)
}

// plain is one value of each row.
func (c *column) plain(rows []outputs.Row) (page []byte) {
	for i := range rows {
		r := &rows[i]
		switch c.of {
		case ofText:
			page = appendText(page, c.text(r))
		case ofFloat:
			page = binary.LittleEndian.AppendUint64(page, math.Float64bits(c.float(r)))
		case ofTruth: // a bit each
			if i%8 == 0 {
				page = append(page, 0)
			}
			page[i/8] |= byte(c.whole(r)) << (i % 8)
		case ofWhole, ofTime:
			page = binary.LittleEndian.AppendUint64(page, uint64(c.whole(r)))
		}
	}
	return page
}

func appendText(b []byte, s string) []byte {
	s = outputs.Text(s)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
}

// appendLevels appends levels of one bit as runs, behind their length in bytes.
func appendLevels(b []byte, all []bool) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to] == all[from] {
			to++
		}
		b = binary.AppendUvarint(b, uint64(to-from)<<1)
		if all[from] {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
		from = to
	}
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

func pageHead(whole, packed, values int) []byte {
	var t thrift
	t.member(func() {
		t.number(1, 0, thriftInt32) // a page of data
		t.number(2, int64(whole), thriftInt32)
		t.number(3, int64(packed), thriftInt32)
		t.structure(5, func() {
			t.number(1, int64(values), thriftInt32)
			t.number(2, plain, thriftInt32)
			t.number(3, levels, thriftInt32)
			t.number(4, levels, thriftInt32)
		})
	})
	return t.b
}

// footer tells of the schema and where the columns are.
func footer(all []column, chunks []chunk, rows int) []byte {
	var t thrift
	t.member(func() {
		t.number(1, 1, thriftInt32)
		nodes := 1 + len(all)
		for i := range all {
			if all[i].lists() {
				nodes += 2
			}
		}
		t.list(2, thriftStruct, nodes)
		t.member(func() {
			t.text(4, "hyperscale_rows")
			t.number(5, int64(len(all)), thriftInt32)
		})
		for i := range all {
			all[i].node(&t)
		}
		t.number(3, int64(rows), thriftInt64)
		t.list(4, thriftStruct, 1)
		t.member(func() { group(&t, all, chunks, rows) })
		t.text(6, "hyperscale")
	})
	return t.b
}

// node writes a column's part of the schema.
func (c *column) node(t *thrift) {
	name := c.name
	if c.lists() {
		t.member(func() {
			t.number(3, repeatRequired, thriftInt32)
			t.text(4, name)
			t.number(5, 1, thriftInt32)
			t.number(6, isList, thriftInt32)
		})
		t.member(func() {
			t.number(3, repeatRepeated, thriftInt32)
			t.text(4, "list")
			t.number(5, 1, thriftInt32)
		})
		name = "element"
	}
	t.member(func() {
		t.number(1, types[c.of], thriftInt32)
		t.number(3, repeatRequired, thriftInt32)
		t.text(4, name)
		switch c.of {
		case ofText:
			t.number(6, isText, thriftInt32)
		case ofTime:
			t.number(6, isTime, thriftInt32)
		case ofWhole, ofTruth, ofFloat:
		}
	})
}

// group writes the only group of rows.
func group(t *thrift, all []column, chunks []chunk, rows int) {
	t.list(1, thriftStruct, len(all))
	sum := int64(0)
	for i := range all {
		at := chunks[i]
		sum += at.whole
		t.member(func() {
			t.number(2, at.at, thriftInt64)
			t.structure(3, func() { all[i].meta(t, at) })
		})
	}
	t.number(2, sum, thriftInt64)
	t.number(3, int64(rows), thriftInt64)
}

// meta tells of a column's chunk.
func (c *column) meta(t *thrift, at chunk) {
	t.number(1, types[c.of], thriftInt32)
	t.list(2, thriftInt32, 2)
	t.b = binary.AppendVarint(binary.AppendVarint(t.b, plain), levels)
	path := []string{c.name}
	if c.lists() {
		path = append(path, "list", "element")
	}
	t.list(3, thriftBinary, len(path))
	for _, name := range path {
		t.bytes(name)
	}
	t.number(4, codecGzip, thriftInt32)
	t.number(5, at.values, thriftInt64)
	t.number(6, at.whole, thriftInt64)
	t.number(7, at.packed, thriftInt64)
	t.number(9, at.at, thriftInt64)
}
