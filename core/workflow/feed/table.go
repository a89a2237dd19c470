package feed

import (
	"bytes"
	"fmt"
	"slices"

	"hyperscale/core/plan"
)

// Format says how rows are encoded.
type Format uint8

// The formats. JSON is one object a line, or an array of objects.
const (
	CSV Format = iota
	JSON
)

// Bounds of a table.
const (
	ColumnsMax = plan.ColumnsMax
	NameMax    = plan.ColumnMax // bytes of a column's name
	RowMax     = 1 << 20
	MarkEvery  = 4 // rows between two marks
)

// Error says which row is wrong, and why.
type Error struct {
	Row    uint64 // from 1; 0: the header, or the file as a whole
	Line   uint64 // of the row's start in the file, from 1; 0: unknown
	Column string // empty: the row as a whole
	Why    string
	Remedy string
}

func (e *Error) Error() string {
	text := "header"
	if e.Row > 0 {
		text = fmt.Sprintf("row %d", e.Row)
	}
	if e.Line > 0 {
		text += fmt.Sprintf(" (line %d)", e.Line)
	}
	if e.Column != "" {
		text += fmt.Sprintf(", column %q", e.Column)
	}
	text += ": " + e.Why
	if e.Remedy != "" {
		text += ": " + e.Remedy
	}
	return text
}

// Table is a checked set of rows. Any number of readers may share it.
type Table struct {
	Format  Format
	Columns []string
	Rows    uint64
	Marks   []uint64 // start of each fourth row
	data    []byte
}

// Open returns the table that Scan has built from the same bytes.
func Open(format Format, columns []string, rows uint64, marks []uint64, data []byte) *Table {
	return &Table{format, columns, rows, marks, data}
}

// Scan reads all rows once and rejects bytes that are no table. The table owns the bytes from
// here on.
func Scan(format Format, data []byte) (*Table, error) {
	t := &Table{Format: format, data: data}
	at := 0
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		at = 3
	}
	var err error
	if format == CSV {
		err = t.scanCSV(at)
	} else {
		err = t.scanJSON(at)
	}
	if err != nil {
		return nil, err
	}
	if t.Rows == 0 {
		return nil, &Error{Why: "there are no rows", Remedy: "a feed needs one at least"}
	}
	return t, nil
}

// mark notes the start of a row.
func (t *Table) mark(at int) {
	if t.Rows%MarkEvery == 0 {
		if n := len(t.Marks); n == cap(t.Marks) && n >= 1024 { // room for as many as the rest would need
			t.Marks = slices.Grow(t.Marks, int(uint64(n)*uint64(len(t.data)-at)/uint64(at))+n/16)
		}
		t.Marks = append(t.Marks, uint64(at))
	}
	t.Rows++
}

// lineOf returns the number of a place's line.
func (t *Table) lineOf(at int) uint64 { return 1 + uint64(bytes.Count(t.data[:at], []byte("\n"))) }

// fault returns an error in the row that begins at a place and is not counted yet.
func (t *Table) fault(at int, column, remedy, format string, args ...any) *Error {
	return &Error{Row: t.Rows + 1, Line: t.lineOf(at), Column: column, Why: fmt.Sprintf(format, args...), Remedy: remedy}
}

// setColumns sets the names of the columns.
func (t *Table) setColumns(names []string) *Error {
	switch {
	case len(names) == 0:
		return &Error{Why: "it names no column"}
	case len(names) > ColumnsMax:
		return &Error{Why: fmt.Sprintf("it has %d columns, the limit is %d", len(names), ColumnsMax)}
	}
	for i, name := range names {
		switch {
		case name == "":
			return &Error{Why: fmt.Sprintf("column %d has no name", i+1), Remedy: "the first row of a CSV file names the columns"}
		case len(name) > NameMax:
			return &Error{Why: fmt.Sprintf("the name of column %d has %d bytes, the limit is %d", i+1, len(name), NameMax), Remedy: "the first row of a CSV file names the columns"}
		case slices.Contains(names[:i], name):
			return &Error{Column: name, Why: "its name stands there twice"}
		}
	}
	t.Columns = names
	return nil
}

// Reader reads rows into reused memory.
type Reader struct {
	table   *Table
	fields  [][]byte // of the row, by column
	made    []bool   // which of them are not the table's own bytes
	scratch []byte   // for unescaped values
}

// NewReader returns a reader that has read nothing.
func NewReader(t *Table) *Reader {
	return &Reader{table: t, fields: make([][]byte, len(t.Columns)), made: make([]bool, len(t.Columns))}
}

// Table returns its table.
func (r *Reader) Table() *Table { return r.table }

// Read returns a row's values as texts, by column, valid until the next Read. A JSON number is
// its text, null is empty, a nested value is JSON.
func (r *Reader) Read(row uint64) [][]byte { return r.read(row, false) }

// Made reports that a value of the last row is not the table's own bytes, and is valid until
// the next Read.
func (r *Reader) Made(column int) bool { return r.made[column] }

// Raw returns a row's values as written: for CSV the same as Read, for JSON texts of JSON.
func (r *Reader) Raw(row uint64) [][]byte { return r.read(row, true) }

func (r *Reader) read(row uint64, raw bool) [][]byte {
	t := r.table
	at := int(t.Marks[row/MarkEvery])
	r.scratch = r.scratch[:0]
	if t.Format == CSV {
		for range row % MarkEvery {
			at = t.skipCSV(at)
		}
		r.readCSV(at)
		return r.fields
	}
	for range row % MarkEvery {
		end, _ := skipValue(t.data, at, 0)
		at = nextJSON(t.data, end)
	}
	r.readJSON(at, raw)
	return r.fields
}

// grow makes room for more bytes of scratch before slices of it are returned.
func (r *Reader) grow(n int) {
	if cap(r.scratch)-len(r.scratch) < n {
		r.scratch = make([]byte, 0, 2*(len(r.scratch)+n)) // returned slices stay where they are
	}
}
