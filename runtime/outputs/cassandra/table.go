package cassandra

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
)

// schema is the tables, as people run it in a keyspace.
func schema() string {
	return createRows("hyperscale_rows") + ";\n" + createDays("hyperscale_days") + ";\n"
}

// column is one of the table of rows: its type, and how it has a row's value; nil: the row has none, and the column stays as it is.
type column struct {
	name, of string
	from     func(*outputs.Row) []byte
}

func text(s string) []byte { return []byte(outputs.Text(s)) }

func whole(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// epochDay is 1970-01-01 as the type date has it.
const epochDay = 1 << 31

// dayOf is the day of a row's partition: of the begin of a window, and of the job's start for what stands once in a job.
func dayOf(r *outputs.Row) uint32 {
	at := r.Started
	if r.Kind.Spans() {
		at = at.Add(r.From)
	}
	return uint32(epochDay + at.Unix()/int64(24*time.Hour/time.Second))
}

func day(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// keys are the columns of the key: the first two are the partition.
func keys() []column {
	words := func(name string, of func(*outputs.Row) string) column {
		return column{name, "text", func(r *outputs.Row) []byte { return text(of(r)) }}
	}
	bound := func(name string, of func(*outputs.Row) time.Duration) column {
		return column{name, "bigint", func(r *outputs.Row) []byte {
			if !r.Kind.Spans() {
				return whole(0)
			}
			return whole(of(r).Milliseconds())
		}}
	}
	return []column{
		words("job", func(r *outputs.Row) string { return r.Job }),
		{"day", "date", func(r *outputs.Row) []byte { return day(dayOf(r)) }},
		words("kind", func(r *outputs.Row) string { return r.Kind.String() }), words("datacenter", func(r *outputs.Row) string { return r.Datacenter }),
		words("workflow", func(r *outputs.Row) string { return r.Workflow }), words("step", func(r *outputs.Row) string { return r.Step }),
		words("step_kind", func(r *outputs.Row) string { return outputs.StepKindName(r.StepKind) }),
		bound("from_ms", func(r *outputs.Row) time.Duration { return r.From }), bound("to_ms", func(r *outputs.Row) time.Duration { return r.To }),
		words("expression", func(r *outputs.Row) string {
			if r.Threshold == nil {
				return ""
			}
			return r.Threshold.Expression
		}),
		{"sequence", "bigint", func(r *outputs.Row) []byte {
			if r.Event == nil {
				return whole(0)
			}
			return whole(int64(min(r.Event.Sequence, math.MaxInt64)))
		}},
	}
}

// columns are those of the table of rows. The column row has the row whole, as jsonl does.
func columns() []column {
	count := func(name string, of func(*outputs.Figures) uint64) column {
		return column{name, "bigint", func(r *outputs.Row) []byte {
			if r.Figures == nil {
				return nil
			}
			return whole(int64(min(of(r.Figures), math.MaxInt64)))
		}}
	}
	all := append(keys(),
		column{"test", "text", func(r *outputs.Row) []byte { return text(r.Test) }},
		column{"at", "timestamp", func(r *outputs.Row) []byte { return whole(r.At().UnixMilli()) }},
		column{"version", "text", func(r *outputs.Row) []byte { return fmt.Appendf(nil, "%x", r.Version) }},
		count("begun", func(f *outputs.Figures) uint64 { return f.Begun }), count("ok", func(f *outputs.Figures) uint64 { return f.OK }),
		count("failed", func(f *outputs.Figures) uint64 { return f.Failed }), count("timed_out", func(f *outputs.Figures) uint64 { return f.TimedOut }),
		count("cancelled", func(f *outputs.Figures) uint64 { return f.Cancelled }), count("dropped", func(f *outputs.Figures) uint64 { return f.Dropped }),
		count("skipped", func(f *outputs.Figures) uint64 { return f.Skipped }), count("bytes_in", func(f *outputs.Figures) uint64 { return f.BytesIn }),
		count("bytes_out", func(f *outputs.Figures) uint64 { return f.BytesOut }), count("active_users", func(f *outputs.Figures) uint64 { return f.ActiveUsers }),
		count("min_ns", func(f *outputs.Figures) uint64 { return f.Latency.Min }), count("max_ns", func(f *outputs.Figures) uint64 { return f.Latency.Max }))
	for i, name := range []string{"p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns"} {
		all = append(all, count(name, func(f *outputs.Figures) uint64 { return f.Quantiles()[i] }))
	}
	return append(all, column{"row", "text", func(r *outputs.Row) []byte { return outputs.AppendJSON(nil, r) }})
}

// createRows makes the table of rows.
func createRows(name string) string {
	var of, clustering []string
	for _, c := range columns() {
		of = append(of, c.name+" "+c.of)
	}
	for _, c := range keys()[2:] {
		clustering = append(clustering, c.name)
	}
	return "CREATE TABLE IF NOT EXISTS " + name + " (" + strings.Join(of, ", ") + ", PRIMARY KEY ((job, day), " + strings.Join(clustering, ", ") + "))"
}

// createDays makes the table of a job's partitions.
func createDays(name string) string {
	return "CREATE TABLE IF NOT EXISTS " + name + " (job text, day date, PRIMARY KEY (job, day))"
}

// insertRow inserts a row: its values are those of columns, and the write time.
func insertRow(name string) string {
	var of, marks []string
	for _, c := range columns() {
		of, marks = append(of, c.name), append(marks, "?")
	}
	return "INSERT INTO " + name + " (" + strings.Join(of, ", ") + ") VALUES (" + strings.Join(marks, ", ") + ") USING TIMESTAMP ?"
}

// insertDay inserts a partition: its values are job, day and the write time.
func insertDay(name string) string {
	return "INSERT INTO " + name + " (job, day) VALUES (?, ?) USING TIMESTAMP ?"
}

// valuesOf are those of insertRow.
func valuesOf(r *outputs.Row) (all [][]byte) {
	for _, c := range columns() {
		all = append(all, c.from(r))
	}
	return append(all, whole(writeTime(r)))
}

// writeTime is the start of the job, in microseconds, and the revision of the row's version, which alone differs in the rows of one key:
// so a greater version counts, and a DELETE of now deletes rows that are there.
func writeTime(r *outputs.Row) int64 {
	_, revision := r.Version.Parts()
	return max(r.Started.UnixMicro(), 1) + int64(min(revision, 1<<50))
}
