package parquet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push"
)

// Kind is the row of the table of kinds.
func Kind() outputs.Kind {
	return outputs.Kind{
		Name: "parquet", Engine: "files", About: "files of Parquet in a folder: one for 5 minutes, or for 4 MiB of rows", Place: "FOLDER", Example: "results,window=60s",
		Delivery: outputs.Exact, Limits: outputs.Limits{Rows: 20_000, Bytes: 4 << 20, Age: 5 * time.Minute, Timeout: 30 * time.Second},
		Tested: "the reader of parquet-go 0.32", Schema: schema(),
		Open: func(s *outputs.Settings) (outputs.Sink, error) { return &sink{folder: s.Place}, nil },
	}
}

// schema is the columns as people read them.
func schema() string {
	names := [...]string{ofText: "string", ofWhole: "int64", ofTime: "timestamp in milliseconds, UTC", ofTruth: "boolean", ofFloat: "double"}
	all := "JOB-FROM-TO-DIGEST.parquet, with times in milliseconds of the job. No column has nulls: what a row has not is empty, 0 or NaN.\n" +
		"Of rows with one key (kind, job, datacenter, workflow, step, step_kind, from_ms, to_ms, expression, sequence) the greatest version counts.\n"
	for _, c := range columns() {
		of := names[c.of]
		if c.lists() {
			of = "list of " + of
		}
		all += fmt.Sprintf("%-18s %s\n", c.name, of)
	}
	return all
}

// sink writes a file for each batch.
type sink struct{ folder string }

// Check writes a file that has no name in the end.
func (s *sink) Check(context.Context) error {
	if at, err := os.Stat(s.folder); err != nil || !at.IsDir() {
		return errors.Join(errors.New("it is no folder: create it first"), err)
	}
	f, err := os.CreateTemp(s.folder, ".hyperscale-*")
	if err != nil {
		return fmt.Errorf("no file can be made there: choose another folder: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func (s *sink) Deliver(_ context.Context, b outputs.Batch) outputs.Outcome {
	file, err := encode(b.Rows)
	if err == nil {
		err = keep(filepath.Join(s.folder, nameOf(b.Rows)), file)
	}
	if err != nil {
		return outputs.Again(0, err.Error())
	}
	return outputs.Delivered()
}

// nameOf follows from the keys and versions of rows.
func nameOf(rows []outputs.Row) string {
	from, to := rows[0].From, rows[0].To
	for i := range rows {
		from, to = min(from, rows[i].From), max(to, rows[i].To)
	}
	return fmt.Sprintf("%s-%08d-%08d-%s.parquet", filepath.Base(rows[0].Job), from.Milliseconds(), to.Milliseconds(), push.Digest(rows))
}

// keep writes a file that appears whole, on disk.
func keep(name string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".hyperscale-*")
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
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return outputs.SyncFolder(filepath.Dir(name))
}

func (s *sink) Close() {}
