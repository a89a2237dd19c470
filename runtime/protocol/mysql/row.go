package mysql

import (
	"encoding/binary"

	"hyperscale/runtime/protocol/http1"
)

// table describes the rows under way.
type table struct {
	typed   bool   // values come in the form of their types, and else as texts
	keeps   bool   // names are kept
	names   []byte // each as JSON, with its colon
	columns []column
	nulls   []byte // of a typed row
}

type column struct {
	end      int // of its name
	kind     byte
	decimals byte
	unsigned bool
	binary   bool // its texts are bytes
}

func (t *table) reset() { t.names, t.columns, t.nulls = t.names[:0], t.columns[:0], t.nulls[:0] }

// columnTail is how many bytes follow the texts of a column's description.
const columnTail = 13

// columnName reads a column's description up to its name, and returns what follows the texts.
func columnName(b []byte) (name, rest []byte, wrong *http1.Error) {
	for i := range 6 {
		text, behind, ok := readText(b)
		if !ok {
			return nil, nil, errTable
		}
		if b = behind; i == 4 {
			name = text
		}
	}
	if len(b) < columnTail || b[0] != columnTail-1 {
		return nil, nil, errTable
	}
	return name, b, nil
}

func checkColumn(b []byte) *http1.Error {
	_, _, err := columnName(b)
	return err
}

// describe takes the description of a column.
func (t *table) describe(b []byte) *http1.Error {
	name, b, err := columnName(b)
	if err != nil {
		return err
	}
	k := column{
		kind: b[7], decimals: b[10], unsigned: binary.LittleEndian.Uint16(b[8:])&flagUnsigned != 0,
		binary: binary.LittleEndian.Uint16(b[1:]) == charsetBinary,
	}
	if t.keeps {
		t.names = append(appendQuoted(t.names, name), ':')
		k.end = len(t.names)
	}
	if t.typed && width(k.kind) == widthUnknown {
		return breach("a column has the type %d, which is none of MySQL's", k.kind)
	}
	t.columns = append(t.columns, k)
	return nil
}

// The widths of values that are no count of bytes.
const (
	widthUnknown = -1 - iota
	widthText    // a length stands before it
	widthDate    // its length is a byte: 0, 4, 7 or 11
	widthTime    // the same: 0, 8 or 12
)

// width is how many bytes a typed value has.
func width(kind byte) int {
	switch kind {
	case typeTiny:
		return 1
	case typeShort, typeYear:
		return 2
	case typeLong, typeInt24, typeFloat:
		return 4
	case typeLongLong, typeDouble:
		return 8
	case typeDate, typeDatetime, typeTimestamp:
		return widthDate
	case typeTime:
		return widthTime
	case typeNull:
		return 0
	case typeDecimal, typeVarchar, typeBit:
		return widthText
	}
	if kind >= typeJSON {
		return widthText
	}
	return widthUnknown
}

// walk is how far a row is checked.
type walk struct {
	head   [9]byte // of a value's length, as far as it came
	had    int
	begun  bool // a typed row: its first byte has come
	column int
	left   uint64 // bytes of the value under way to come
}

// feed checks bytes of a row.
func (w *walk) feed(t *table, b []byte) *http1.Error {
	if t.typed {
		if !w.begun && len(b) > 0 {
			if b[0] != headOK {
				return breach("a row begins with %d", b[0])
			}
			w.begun, b = true, b[1:]
			t.nulls = t.nulls[:0]
		}
		n := min((len(t.columns)+9)/8-len(t.nulls), len(b))
		t.nulls = append(t.nulls, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		if w.left > 0 {
			n := min(w.left, uint64(len(b)))
			w.left, b = w.left-n, b[n:]
			continue
		}
		w.pass(t)
		if w.column == len(t.columns) {
			return errRow
		}
		wide := widthText
		if t.typed {
			wide = width(t.columns[w.column].kind)
		}
		if wide >= 0 {
			w.left = uint64(wide)
			w.column++
			continue
		}
		if w.had == 0 && wide == widthText && !t.typed && b[0] == headNull {
			w.column++
			b = b[1:]
			continue
		}
		if w.had == 0 {
			w.head[0], w.had, b = b[0], 1, b[1:]
		}
		more := 0
		switch n := w.head[0]; {
		case wide == widthText:
			if more = lengthSize(n); more < 0 {
				return breach("a value says that its length begins with %d", n)
			}
		case wide == widthDate && n != 0 && n != 4 && n != 7 && n != 11, wide == widthTime && n != 0 && n != 8 && n != 12:
			return breach("a time has %d bytes", n)
		}
		n := copy(w.head[w.had:1+more], b)
		if w.had, b = w.had+n, b[n:]; w.had < 1+more {
			return nil
		}
		w.left = lengthOf(w.head[:w.had])
		w.had = 0
		w.column++
	}
	return nil
}

// pass passes the columns of a typed row that are NULL, or have no bytes.
func (w *walk) pass(t *table) {
	for t.typed && w.column < len(t.columns) && (t.null(w.column) || t.columns[w.column].kind == typeNull) {
		w.column++
	}
}

// null reports whether a column of a typed row is NULL.
func (t *table) null(column int) bool {
	const first = 2 // bits that stand before
	return t.nulls[(column+first)/8]&(1<<((column+first)%8)) != 0
}

// end judges a row that is over.
func (w *walk) end(t *table) *http1.Error {
	if t.typed && (!w.begun || len(t.nulls) < (len(t.columns)+9)/8) {
		return errRow
	}
	if w.pass(t); w.column < len(t.columns) || w.left > 0 || w.had > 0 {
		return errRow
	}
	return nil
}
