package feed

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// space returns the first place from at without white space.
func space(data []byte, at int) int {
	for at < len(data) && (data[at] == ' ' || data[at] == '\n' || data[at] == '\t' || data[at] == '\r') {
		at++
	}
	return at
}

// nextJSON returns the start of the row after one that ended at a place.
func nextJSON(data []byte, end int) int {
	at := space(data, end)
	if at < len(data) && data[at] == ',' {
		at = space(data, at+1)
	}
	return at
}

// scanJSON checks all rows and marks them: an array of objects, or consecutive objects, as on
// their own lines.
func (t *Table) scanJSON(at int) error {
	at = space(t.data, at)
	array := at < len(t.data) && t.data[at] == '['
	if array {
		at = space(t.data, at+1)
		if at < len(t.data) && t.data[at] == ']' {
			return t.closed(at)
		}
	}
	for at < len(t.data) {
		end, bad := t.checkObject(at)
		if bad != nil {
			return bad
		}
		if end-at > RowMax {
			return t.fault(at, "", "", "it has %d bytes, the limit is %d", end-at, RowMax)
		}
		t.mark(at)
		from := at
		at = space(t.data, end)
		switch {
		case !array:
		case at < len(t.data) && t.data[at] == ',':
			at = space(t.data, at+1)
		case at < len(t.data) && t.data[at] == ']':
			return t.closed(at)
		default:
			t.Rows-- // the error is at the end of this row
			return t.fault(from, "", "rows of an array stand between [ and ], with a comma between two", "behind it there is neither a comma nor the end of the array")
		}
	}
	if array {
		return &Error{Row: t.Rows + 1, Why: "the array is never closed", Remedy: "write ] behind the last row"}
	}
	return nil
}

// closed checks that nothing follows the end of the array.
func (t *Table) closed(at int) error {
	if rest := space(t.data, at+1); rest != len(t.data) {
		return &Error{Row: t.Rows, Line: t.lineOf(rest), Why: "behind the end of the array there is more"}
	}
	return nil
}

// checkObject checks that a row is an object with the columns of the first.
func (t *Table) checkObject(at int) (end int, bad *Error) {
	if t.data[at] != '{' {
		return 0, t.fault(at, "", "write {\"name\": value, ...}", "it is no object")
	}
	end, ok := skipValue(t.data, at, 0)
	if !ok {
		return 0, t.fault(at, "", "", "it is not JSON")
	}
	var names []string
	seen := 0
	var twice string
	members(t.data, at, func(name []byte, value, _ int) {
		if t.Columns == nil {
			names = append(names, text(name))
			return
		}
		i := t.find(name)
		if i < 0 {
			twice = text(name)
		}
		seen++
	})
	switch {
	case t.Columns == nil:
		if bad := t.setColumns(names); bad != nil {
			bad.Row, bad.Line = 1, t.lineOf(at)
			return 0, bad
		}
		return end, nil
	case twice != "":
		return 0, t.fault(at, twice, "all rows have the same fields: write null where there is no value", "row 1 has no such field")
	}
	return end, t.allThere(at, seen)
}

// allThere checks that the row at a place has each column once.
func (t *Table) allThere(at, seen int) *Error {
	for _, c := range t.Columns {
		n := 0
		members(t.data, at, func(name []byte, _, _ int) {
			if same(name, c) {
				n++
			}
		})
		if n == 0 {
			return t.fault(at, c, "all rows have the same fields: write null where there is no value", "it is missing")
		}
		if n > 1 {
			return t.fault(at, c, "", "it stands there twice")
		}
		if seen == len(t.Columns) && len(t.Columns) == 1 {
			break
		}
	}
	return nil
}

// find returns the column of a written name, or -1.
func (t *Table) find(name []byte) int {
	return slices.IndexFunc(t.Columns, func(c string) bool { return same(name, c) })
}

// same compares a written name with a column.
func same(name []byte, column string) bool {
	if bytes.IndexByte(name, '\\') < 0 {
		return string(name) == column
	}
	return text(name) == column
}

func text(written []byte) string { return string(appendString(nil, written)) }

// members iterates over the members of a checked object: the name without quotes, and the
// bounds of the value.
func members(data []byte, at int, each func(name []byte, value, end int)) {
	for at = space(data, at+1); data[at] != '}'; {
		close, _ := skipString(data, at)
		value := space(data, space(data, close)+1)
		end, _ := skipValue(data, value, 1)
		each(data[at+1:close-1], value, end)
		at = space(data, end)
		if data[at] == ',' {
			at = space(data, at+1)
		}
	}
}

// readJSON reads the checked row at a place.
func (r *Reader) readJSON(at int, raw bool) {
	data := r.table.data
	next := 0 // columns usually keep their order
	for at = space(data, at+1); data[at] != '}'; {
		close, _ := skipString(data, at)
		name := data[at+1 : close-1]
		value := space(data, space(data, close)+1)
		end, _ := skipValue(data, value, 1)
		if next >= len(r.fields) || !same(name, r.table.Columns[next]) {
			next = r.table.find(name)
		}
		r.fields[next], r.made[next] = data[value:end], false
		if !raw {
			r.fields[next], r.made[next] = r.plain(data[value:end])
		}
		next++
		at = space(data, end)
		if data[at] == ',' {
			at = space(data, at+1)
		}
	}
}

// plain returns a value of JSON as a text.
func (r *Reader) plain(value []byte) (_ []byte, made bool) {
	switch value[0] {
	case 'n':
		return value[:0], false
	case '"':
		inside := value[1 : len(value)-1]
		if bytes.IndexByte(inside, '\\') < 0 {
			return inside, false
		}
		r.grow(len(inside) * utf8.UTFMax)
		from := len(r.scratch)
		r.scratch = appendString(r.scratch, inside)
		return r.scratch[from:], true
	}
	return value, false
}
