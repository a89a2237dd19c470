package feed

import "bytes"

// line returns the end of the line that begins at a place, without its line break, and the
// start of the next line.
func line(data []byte, at int) (end, next int) {
	i := bytes.IndexByte(data[at:], '\n')
	if i < 0 {
		end, next = len(data), len(data)
	} else {
		end, next = at+i, at+i+1
	}
	if end > at && data[end-1] == '\r' {
		end--
	}
	return end, next
}

// blank returns the first place from at where a row of CSV begins, or the end.
func blank(data []byte, at int) int {
	for at < len(data) {
		end, next := line(data, at)
		if end > at {
			return at
		}
		at = next
	}
	return at
}

// scanCSV checks all rows and marks them.
func (t *Table) scanCSV(at int) error {
	at = blank(t.data, at)
	if at == len(t.data) {
		return &Error{Why: "the file is empty", Remedy: "its first row names the columns"}
	}
	// Errors of the header itself are those of row 0.
	count, next, bad := t.checkCSV(at)
	if bad != nil {
		bad.Row = 0
		return bad
	}
	if count > ColumnsMax {
		return t.setColumns(make([]string, count))
	}
	r := Reader{table: t, fields: make([][]byte, count), made: make([]bool, count)}
	r.readCSV(at)
	names := make([]string, count)
	for i, f := range r.fields {
		names[i] = string(f)
	}
	if bad := t.setColumns(names); bad != nil {
		return bad
	}
	for at = blank(t.data, next); at < len(t.data); at = blank(t.data, next) {
		if count, next, bad = t.checkCSV(at); bad != nil {
			return bad
		}
		if count != len(names) {
			return t.fault(at, "", "", "it has %d fields, the header has %d", count, len(names))
		}
		if next-at > RowMax {
			return t.fault(at, "", "", "it has %d bytes, the limit is %d", next-at, RowMax)
		}
		t.mark(at)
	}
	return nil
}

// checkCSV counts the fields of a row and returns the start of the next one.
func (t *Table) checkCSV(at int) (count, next int, bad *Error) {
	end, next := line(t.data, at)
	if bytes.IndexByte(t.data[at:end], '"') < 0 {
		return 1 + bytes.Count(t.data[at:end], []byte{','}), next, nil
	}
	for from := at; ; count++ {
		if from == len(t.data) || t.data[from] != '"' {
			end, next = line(t.data, from)
			if comma := bytes.IndexByte(t.data[from:end], ','); comma >= 0 {
				end = from + comma
			}
			if bytes.IndexByte(t.data[from:end], '"') >= 0 {
				return 0, 0, t.fault(at, t.column(count), "put the whole field in quotes, and write each quote in it twice", "a quote stands in a field that does not begin with one")
			}
			if end < len(t.data) && t.data[end] == ',' {
				from = end + 1
				continue
			}
			return count + 1, next, nil
		}
		close := t.closing(from)
		if close < 0 {
			return 0, 0, t.fault(at, t.column(count), "is a quote missing, or one in the text not written twice?", "its quote is never closed")
		}
		rest, after := line(t.data, close+1)
		switch {
		case close+1 < len(t.data) && t.data[close+1] == ',':
			from = close + 2
		case rest == close+1:
			return count + 1, after, nil
		default:
			return 0, 0, t.fault(at, t.column(count), "write a quote in the text twice", "behind its closing quote there is more")
		}
	}
}

func (t *Table) column(i int) string {
	if i < len(t.Columns) {
		return t.Columns[i]
	}
	return ""
}

// closing returns the place of the quote that closes the field opened at a place, or -1.
func (t *Table) closing(open int) int {
	for at := open + 1; ; at += 2 {
		i := bytes.IndexByte(t.data[at:], '"')
		if i < 0 {
			return -1
		}
		at += i
		if at+1 == len(t.data) || t.data[at+1] != '"' {
			return at
		}
	}
}

// skipCSV returns the start of the row after the one at a place. Both were checked.
func (t *Table) skipCSV(at int) int {
	end, next := line(t.data, at)
	if bytes.IndexByte(t.data[at:end], '"') >= 0 {
		_, next, _ = t.checkCSV(at)
	}
	return blank(t.data, next)
}

// readCSV reads the checked row at a place.
func (r *Reader) readCSV(at int) {
	data := r.table.data
	for i := range r.fields {
		if at < len(data) && data[at] == '"' {
			close := r.table.closing(at)
			r.fields[i], r.made[i] = r.unquote(data[at+1 : close])
			at = close + 2
			continue
		}
		end, _ := line(data, at)
		if comma := bytes.IndexByte(data[at:end], ','); comma >= 0 {
			end = at + comma
		}
		r.fields[i], r.made[i] = data[at:end], false
		at = end + 1
	}
}

// unquote replaces doubled quotes and CRLF.
func (r *Reader) unquote(field []byte) (_ []byte, made bool) {
	if bytes.IndexByte(field, '"') < 0 && bytes.IndexByte(field, '\r') < 0 {
		return field, false
	}
	r.grow(len(field))
	from := len(r.scratch)
	for i := 0; i < len(field); i++ {
		c := field[i]
		if c == '\r' && i+1 < len(field) && field[i+1] == '\n' {
			continue
		}
		if c == '"' {
			i++
		}
		r.scratch = append(r.scratch, c)
	}
	return r.scratch[from:], true
}
