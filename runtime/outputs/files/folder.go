package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push"
)

// Folder is a sink that writes a file for each batch. A file appears whole or not at all, and the same rows have the same
// name: who delivers a batch again replaces its file by an equal one.
type Folder struct {
	Path   string
	Ending string // of names, with its dot
	Encode func(rows []outputs.Row) ([]byte, error)
}

// Check writes a file that has no name in the end, and removes unfinished ones of processes that were killed.
func (f *Folder) Check(context.Context) error {
	if at, err := os.Stat(f.Path); err != nil || !at.IsDir() {
		return errors.Join(fmt.Errorf("%s is no folder: create it first", f.Path), err)
	}
	t, err := os.CreateTemp(f.Path, unfinished+"*")
	if err != nil {
		return fmt.Errorf("no file can be made there: choose another folder: %w", err)
	}
	outputs.RemoveUnfinished(f.Path, time.Now(), func(name string) (string, bool) { return strings.CutPrefix(name, unfinished) })
	return errors.Join(t.Close(), os.Remove(t.Name()))
}

// Deliver implements outputs.Sink.
func (f *Folder) Deliver(_ context.Context, b outputs.Batch) outputs.Outcome {
	file, err := f.Encode(b.Rows)
	if err == nil {
		err = keep(filepath.Join(f.Path, nameOf(b.Rows)+f.Ending), file)
	}
	if err != nil {
		return outputs.Again(0, err.Error())
	}
	return outputs.Delivered()
}

// Close implements outputs.Sink.
func (f *Folder) Close() {}

// unfinished begins the names of files that are not whole.
const unfinished = ".hyperscale-"

// nameOf follows from the keys and versions of rows: JOB-FROM-TO-DIGEST, in milliseconds of the job. Names sort by time up
// to 27 hours.
func nameOf(rows []outputs.Row) string {
	from, to := rows[0].From, rows[0].To
	for i := range rows {
		from, to = min(from, rows[i].From), max(to, rows[i].To)
	}
	return fmt.Sprintf("%s-%08d-%08d-%s", filepath.Base(rows[0].Job), from.Milliseconds(), to.Milliseconds(), push.Digest(rows))
}

// keep writes a file that appears whole. File and name are on disk behind it.
func keep(name string, b []byte) error {
	folder := filepath.Dir(name)
	f, err := os.CreateTemp(folder, unfinished+"*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it has its name if all went well
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return err
	}
	return outputs.SyncFolder(folder)
}

// readFolder returns the rows of a job in the files of a folder, in the order of their names; all jobs' if none is named. With
// outputs.ErrTorn it returns the rows that are whole.
func (f *format) readFolder(folder, job string) (rows []outputs.Row, err error) {
	all, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var torn error
	for _, file := range all {
		name := file.Name()
		if !strings.HasSuffix(name, f.ending) || job != "" && !strings.HasPrefix(name, job+"-") {
			continue
		}
		more, err := f.readFile(filepath.Join(folder, name), job)
		if err != nil && !errors.Is(err, outputs.ErrTorn) {
			return nil, err
		}
		rows, torn = append(rows, more...), errors.Join(torn, err)
	}
	return rows, torn
}
