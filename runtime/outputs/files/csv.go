package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"hyperscale/runtime/outputs"
)

// CSV is the row of the table of kinds. The kind csv takes the result of a run, and has another table.
func CSV() outputs.Kind {
	k := kindOf(csv())
	k.Name, k.About, k.Example, k.Schema = "csvrows", "CSV, a record for each row, appended to a file; or in a folder, whose name ends with /, a file for each batch", "rows.csv,window=5s", csvSchema()
	k.Tested = "its own reader, behind torn records and failed writes; encoding/csv of Go"
	return k
}

func csvSchema() string {
	return strings.TrimSpace(csvHead()) + `

The first record has the names of the columns. Columns may be added at the end, never renamed or moved. Records end with CR LF, as in RFC 4180.
Cells are the fields of a line of jsonl: those of run, threshold and event too. bucket_ns, bucket_count, statuses, errors and tags are JSON in a cell.
Key: kind, job, datacenter, workflow, step, step_kind, expression, sequence; from_ms and to_ms of window and lost. Of two records with one key the greater version (text order) counts.
A text that begins as a formula does (= + - @ | %), or with ', has a ' in front.
`
}

func csv() format {
	return format{ending: ".csv", head: csvHead(), row: appendRecord, parse: parseRecord, split: byRecord, whole: lastRecord}
}

// csvColumn is a column, and the field of a row's object of JSON that it has.
type csvColumn struct {
	name  string
	group string // the object within the row's that has the field; empty: the row's own
	field string
	text  bool // else a cell has JSON
}

// csvColumns are those of the head. A later version adds columns at the end.
func csvColumns() (all []csvColumn) {
	add := func(group string, text bool, names ...string) {
		for _, name := range names {
			all = append(all, csvColumn{name, group, name, text})
		}
	}
	add("", true, "kind", "job", "test", "started", "version", "datacenter", "workflow", "step", "step_kind")
	add("", false, "from_ms", "to_ms", "rebased", "tags", "begun", "ok", "failed", "timed_out", "cancelled", "dropped", "skipped", "bytes_in", "bytes_out", "active_users",
		"p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns", "min_ns", "max_ns", "sum_ns", "blunt", "statuses", "errors", "bucket_ns", "bucket_count")
	add("run", true, "ended", "outcome", "program_digest", "hyperscale_version")
	add("run", false, "saturated", "thresholds_ok", "requests", "lost_requests")
	add("threshold", true, "expression", "of")
	add("threshold", false, "value", "met", "unmeasured")
	add("event", false, "sequence")
	all = append(all, csvColumn{"event", "event", "kind", true})
	add("event", true, "subject", "detail")
	return all
}

func csvHead() string {
	var names []string
	for _, c := range csvColumns() {
		names = append(names, c.name)
	}
	return strings.Join(names, ",") + "\r\n"
}

// object is one of JSON.
type object map[string]json.RawMessage

// appendRecord appends a row.
func appendRecord(dst []byte, r *outputs.Row) []byte {
	var whole, run, threshold, event object
	_ = json.Unmarshal(outputs.AppendJSON(nil, r), &whole) // it is an object, as are those below; what is not there has no fields
	_ = json.Unmarshal(whole["run"], &run)
	_ = json.Unmarshal(whole["threshold"], &threshold)
	_ = json.Unmarshal(whole["event"], &event)
	groups := map[string]object{"": whole, "run": run, "threshold": threshold, "event": event}
	for i, c := range csvColumns() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendCell(dst, c, groups[c.group][c.field])
	}
	return append(dst, "\r\n"...)
}

// formulas begin what a spreadsheet takes for one, and ' what it takes for a text.
const formulas = "=+-@|%＝＋－＠'\t\r"

func appendCell(dst []byte, c csvColumn, raw json.RawMessage) []byte {
	cell := string(raw)
	if c.text {
		cell = ""
		_ = json.Unmarshal(raw, &cell) // a text, or nothing
		if first, size := utf8.DecodeRuneInString(cell); size > 0 && strings.ContainsRune(formulas, first) {
			cell = "'" + cell
		}
	}
	if !strings.ContainsAny(cell, ",\"\r\n") {
		return append(dst, cell...)
	}
	return append(append(append(dst, '"'), strings.ReplaceAll(cell, `"`, `""`)...), '"')
}

// errRecord is of a record that this output did not write.
var errRecord = errors.New("it is no record of rows")

// parseRecord reads what appendRecord wrote.
func parseRecord(record []byte) (outputs.Row, error) {
	cells, err := cellsOf(record)
	columns := csvColumns()
	if err != nil || len(cells) != len(columns) {
		return outputs.Row{}, fmt.Errorf("%w: it has %d of %d cells", errRecord, len(cells), len(columns))
	}
	groups := map[string]object{"": {}, "run": {}, "threshold": {}, "event": {}}
	for i, c := range columns {
		cell := []byte(cells[i])
		switch {
		case cells[i] == "":
			continue
		case c.text:
			cell, _ = json.Marshal(strings.TrimPrefix(cells[i], "'")) // a text always can be
		case !json.Valid(cell):
			return outputs.Row{}, fmt.Errorf("%w: %s is %.40q", errRecord, c.name, cells[i])
		}
		groups[c.group][c.field] = cell
	}
	whole := groups[""]
	for name, group := range groups { //lint:orderfree each by itself
		if name != "" && len(group) > 0 {
			whole[name], _ = json.Marshal(group) // each field is JSON
		}
	}
	line, _ := json.Marshal(whole) // as above
	return outputs.ParseJSON(line)
}

// cellsOf cuts a record that ends with CR LF.
func cellsOf(record []byte) (cells []string, err error) {
	rest, whole := strings.CutSuffix(string(record), "\r\n")
	if !whole {
		return nil, errRecord
	}
	for {
		cell, more := rest, false
		if !strings.HasPrefix(rest, `"`) {
			cell, rest, more = strings.Cut(rest, ",")
			if strings.Contains(cell, `"`) {
				return cells, errRecord
			}
		} else if cell, rest, err = quoted(rest[1:]); err != nil {
			return cells, err
		} else if rest, more = strings.CutPrefix(rest, ","); !more && rest != "" {
			return cells, errRecord
		}
		if cells = append(cells, cell); !more {
			return cells, nil
		}
	}
}

// quoted is a cell up to the quote that ends it, and what follows.
func quoted(text string) (cell, rest string, err error) {
	var b strings.Builder
	for {
		before, after, has := strings.Cut(text, `"`)
		if !has {
			return "", "", errRecord
		}
		b.WriteString(before)
		if text, has = strings.CutPrefix(after, `"`); !has {
			return b.String(), after, nil
		}
		b.WriteByte('"')
	}
}

// byRecord cuts records: a line end within quotes is part of a cell.
func byRecord(data []byte, end bool) (int, []byte, error) {
	within := false
	for i, c := range data {
		switch {
		case c == '"':
			within = !within
		case c == '\n' && !within:
			return i + 1, data[:i+1], nil
		}
	}
	if end && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// lastRecord is the offset behind the last record with an end. Quotes count from the begin of the file.
func lastRecord(f io.ReaderAt, size int64) (end int64, err error) {
	buf, within := make([]byte, 64<<10), false
	for at := int64(0); at < size; {
		n := min(int64(len(buf)), size-at)
		if _, err := f.ReadAt(buf[:n], at); err != nil {
			return 0, err
		}
		for rest, from := buf[:n], at; ; {
			i := bytes.IndexAny(rest, "\"\n")
			if i < 0 {
				break
			}
			if rest[i] == '"' {
				within = !within
			} else if !within {
				end = from + int64(i) + 1
			}
			rest, from = rest[i+1:], from+int64(i)+1
		}
		at += n
	}
	return end, nil
}
