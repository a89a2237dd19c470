package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"hyperscale/runtime/outputs"
)

// JSONL is the row of the table of kinds.
func JSONL() outputs.Kind {
	k := kindOf(jsonl())
	k.Name, k.About, k.Example, k.Schema = "jsonl", "lines of JSON, appended to a file; or in a folder, whose name ends with /, a file for each batch", "rows.jsonl,window=5s", schema
	return k
}

// kindOf is what the kinds of this package share.
func kindOf(f format) outputs.Kind {
	return outputs.Kind{
		Engine: "files", Place: "FILE", Delivery: outputs.Exact, Limits: outputs.Limits{Rows: 5000, Bytes: 4 << 20},
		Tested: "its own reader, behind torn lines and failed writes",
		Open: func(s *outputs.Settings) (outputs.Sink, error) {
			if isFolder(s.Place) {
				return &Folder{Path: s.Place, Ending: f.ending, Encode: func(rows []outputs.Row) ([]byte, error) { return f.encode([]byte(f.head), rows), nil }}, nil
			}
			return &lines{format: f, name: s.Place}, nil
		},
		Alone: func(s *outputs.Settings) string {
			if isFolder(s.Place) {
				return ""
			}
			return fmt.Sprintf("address = %s is a file, to which one process appends, and a gate that takes a job over is another one: name a folder, as in address: %s/", s.Place, strings.TrimSuffix(s.Place, filepath.Ext(s.Place)))
		},
		ReadBack: func(s *outputs.Settings, job string) ([]outputs.Row, error) { return f.read(s.Place, job) },
	}
}

func isFolder(place string) bool { return strings.HasSuffix(place, "/") }

// format is how a file has rows.
type format struct {
	ending string                                               // of the names of files in a folder, with its dot
	head   string                                               // the first line, with its end; empty: rows begin at once
	row    func(dst []byte, r *outputs.Row) []byte              // appends a row, with its end
	parse  func(line []byte) (outputs.Row, error)               // reads what row wrote
	split  bufio.SplitFunc                                      // cuts rows, with their ends
	whole  func(f io.ReaderAt, size int64) (end int64, e error) // behind the last whole row
}

func jsonl() format {
	row := func(dst []byte, r *outputs.Row) []byte { return append(outputs.AppendJSON(dst, r), '\n') }
	return format{ending: ".jsonl", row: row, parse: outputs.ParseJSON, split: byLine, whole: lastLine}
}

// encode appends rows.
func (f *format) encode(dst []byte, rows []outputs.Row) []byte {
	for i := range rows {
		dst = f.row(dst, &rows[i])
	}
	return dst
}

// begins says that a line is the first one of a file of this format.
func (f *format) begins(line []byte) bool {
	if f.head != "" {
		return string(line) == f.head
	}
	r, err := f.parse(line)
	return err == nil && r.Job != "" && bytes.HasSuffix(line, []byte("\n"))
}

const schema = `One object a line, without a line end in it. Fields may be added, never renamed.
kind: run, window, lost, result, threshold, check, event. Key: kind, job, datacenter, workflow, step, step_kind, expression, sequence; from_ms and to_ms of window and lost.
Of two lines with one key the greater version (text order) counts. Empty fields are left out.
No output makes rows of kind event, rebased or tags yet.
`

// lineMax bounds a line that is read.
const lineMax = 4 << 20

type lines struct {
	format
	name  string
	out   *os.File // nil: not open
	fresh bool     // there was no such file
	end   int64    // of the last whole batch
	torn  bool     // a part of a line stands behind it
	buf   []byte
}

func (l *lines) Check(context.Context) error { return l.open() }

// open opens and locks the file, and changes nothing in it.
func (l *lines) open() error {
	if l.out != nil {
		return nil
	}
	if folder := filepath.Dir(l.name); folder != "." {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("folder %s does not exist: create it first", folder)
		}
	}
	at, err := os.Stat(l.name)
	if err == nil && at.IsDir() {
		return errors.New("is a folder: end its name with /, for a file for each batch")
	}
	l.fresh = errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(l.name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("cannot be written: choose another file: %w", err)
	}
	if l.end, l.torn, err = l.judge(f); err != nil {
		return errors.Join(err, f.Close())
	}
	l.out = f
	return nil
}

// judge locks a file, and returns the end of its last whole row, and whether a part of a row follows.
func (l *lines) judge(f *os.File) (end int64, torn bool, err error) {
	at, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	if !at.Mode().IsRegular() {
		return 0, false, errors.New("is no regular file: name one")
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return 0, false, fmt.Errorf("another process appends to it: name another file: %w", err)
	}
	if at.Size() == 0 {
		return 0, false, nil
	}
	if in := l.scanner(f); !in.Scan() || !l.begins(in.Bytes()) {
		return 0, false, errors.Join(errOther, in.Err())
	}
	end, err = l.whole(f, at.Size())
	return end, end < at.Size(), err
}

// errOther is of a file whose first line is no row: the output neither appends to it nor cuts it.
var errOther = errors.New("has other lines than rows: name another file")

// scanner reads rows with their ends, of lineMax bytes at most.
func (f *format) scanner(from io.Reader) *bufio.Scanner {
	in := bufio.NewScanner(from)
	in.Buffer(nil, lineMax)
	in.Split(f.split)
	return in
}

// byLine cuts lines.
func byLine(data []byte, end bool) (int, []byte, error) {
	if at := bytes.IndexByte(data, '\n'); at >= 0 {
		return at + 1, data[:at+1], nil
	}
	if end && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// lastLine is the offset behind the last line end.
func lastLine(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end := size; end > 0; {
		n := min(int64(len(buf)), end)
		if _, err := f.ReadAt(buf[:n], end-n); err != nil {
			return 0, err
		}
		if at := bytes.LastIndexByte(buf[:n], '\n'); at >= 0 {
			return end - n + int64(at) + 1, nil
		}
		end -= n
	}
	return 0, nil
}

func (l *lines) Deliver(_ context.Context, b outputs.Batch) outputs.Outcome {
	if err := l.open(); err != nil {
		return outputs.Again(0, err.Error())
	}
	l.buf = l.buf[:0]
	if l.end == 0 {
		l.buf = append(l.buf, l.head...)
	}
	l.buf = l.encode(l.buf, b.Rows)
	if l.torn {
		if err := l.out.Truncate(l.end); err != nil {
			return outputs.Again(0, err.Error())
		}
		l.torn = false
	}
	_, err := l.out.WriteAt(l.buf, l.end)
	if err == nil {
		err = l.out.Sync()
	}
	if err == nil && l.fresh && l.end == 0 {
		err = outputs.SyncFolder(filepath.Dir(l.name))
	}
	if err != nil {
		_ = l.out.Truncate(l.end) // the next batch begins there anyway
		return outputs.Again(0, err.Error())
	}
	l.end += int64(len(l.buf))
	return outputs.Delivered()
}

func (l *lines) Close() {
	if l.out == nil {
		return
	}
	_ = l.out.Close() // each batch is on disk
	if l.out = nil; l.fresh && l.end == 0 {
		_ = os.Remove(l.name) // it was only checked
	}
}

// Read returns the rows of a job in a file of lines of JSON, or in those of a folder; all jobs' if none is named. Of rows with one key it returns each.
// Behind a crash the last line may be torn: then it returns the rows before it, and outputs.ErrTorn.
func Read(name, job string) (rows []outputs.Row, err error) {
	f := jsonl()
	return f.read(name, job)
}

// torn says that a row has no end.
func (f *format) torn(row []byte) bool {
	end, err := f.whole(bytes.NewReader(row), int64(len(row)))
	return err == nil && end < int64(len(row))
}

func (f *format) read(name, job string) (rows []outputs.Row, err error) {
	if at, err := os.Stat(name); err == nil && at.IsDir() {
		return f.readFolder(name, job)
	}
	return f.readFile(name, job)
}

func (f *format) readFile(name, job string) (rows []outputs.Row, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	in := f.scanner(file)
	for n := 1; in.Scan(); n++ {
		if n == 1 && f.head != "" {
			if !f.begins(in.Bytes()) {
				return nil, fmt.Errorf("%s: %w", name, errOther)
			}
			continue
		}
		r, err := f.parse(in.Bytes())
		if err != nil && n > 1 && f.torn(in.Bytes()) {
			return rows, fmt.Errorf("%s: line %d: %w", name, n, outputs.ErrTorn)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, n, err)
		}
		if job == "" || r.Job == job {
			rows = append(rows, r)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}
