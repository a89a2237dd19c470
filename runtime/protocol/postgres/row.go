package postgres

import (
	"bytes"
	"encoding/binary"

	"hyperscale/runtime/protocol/http1"
)

// walk is how far a row is checked.
type walk struct {
	head  [4]byte // of the count of columns, or of a value's length, as far as it came
	had   int
	begun bool // the count of columns is known
	left  int  // columns to come
	value int  // bytes of the value under way to come
}

// feed checks bytes of a row.
func (w *walk) feed(in *intake, b []byte) *http1.Error {
	for len(b) > 0 {
		if w.value > 0 {
			n := min(w.value, len(b))
			w.value, b = w.value-n, b[n:]
			continue
		}
		if w.begun && w.left == 0 {
			return errRow
		}
		need := 4
		if !w.begun {
			need = 2
		}
		n := copy(w.head[w.had:need], b)
		if w.had, b = w.had+n, b[n:]; w.had < need {
			return nil
		}
		w.had = 0
		if !w.begun {
			w.begun, w.left = true, int(binary.BigEndian.Uint16(w.head[:]))
			if err := in.counts(w.left); err != nil {
				return err
			}
			continue
		}
		w.left--
		length := int32(binary.BigEndian.Uint32(w.head[:]))
		if length < -1 {
			return breach("a value says that it has %d bytes", length)
		}
		w.value = int(max(length, 0))
	}
	return nil
}

// end judges a row that is over.
func (w *walk) end() *http1.Error {
	if !w.begun || w.left > 0 || w.value > 0 || w.had > 0 {
		return errRow
	}
	return nil
}

// counts compares a row's columns with what is known of them.
func (t *intake) counts(columns int) *http1.Error {
	switch {
	case columns > columnsMost:
		return errColumns
	case t.columns < 0:
		t.columns = columns
	case t.columns != columns:
		return breach("a row has %d columns, and %d are described", columns, t.columns)
	}
	return nil
}

// table describes the rows under way.
type table struct {
	names   []byte // each as JSON, with its colon
	columns []column
}

type column struct {
	end    int // of its name
	format format
}

// format is how JSON shows a value.
type format uint8

const (
	formatText format = iota
	formatNumber
	formatBool
	formatJSON
)

// formats are those of types by their number; the others are texts.
var formats = map[uint32]format{
	16: formatBool,
	20: formatNumber, 21: formatNumber, 23: formatNumber, 26: formatNumber, 700: formatNumber, 701: formatNumber, 1700: formatNumber,
	114: formatJSON, 3802: formatJSON,
}

// describes takes the description of rows, and keeps it if they are read. A result begins.
func (c *Conn) describes(b []byte, keeps bool) *http1.Error {
	in := &c.in
	if len(b) < 2 {
		return errTable
	}
	n := int(binary.BigEndian.Uint16(b))
	b = b[2:]
	in.columns = -1
	if err := in.counts(n); err != nil {
		return err
	}
	if keeps {
		if in.table == nil {
			in.table = c.pool.table()
		}
		in.table.names, in.table.columns = in.table.names[:0], in.table.columns[:0]
		if in.view == nil {
			in.view = c.pool.buffer()
		}
		in.view = append(in.view[:0], '[')
	}
	const behind = 18 // bytes that follow a name
	for ; n > 0; n-- {
		end := bytes.IndexByte(b, 0)
		if end < 0 || len(b)-end-1 < behind {
			return errTable
		}
		if keeps {
			t := in.table
			t.names = append(appendQuoted(t.names, b[:end]), ':')
			t.columns = append(t.columns, column{len(t.names), formats[binary.BigEndian.Uint32(b[end+1+6:])]})
		}
		b = b[end+1+behind:]
	}
	if len(b) > 0 {
		return errTable
	}
	return nil
}
