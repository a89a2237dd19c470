package parquet

import (
	"encoding/hex"
	"math"

	"hyperscale/runtime/outputs"
)

// kindOf is the type of a column's values.
type kindOf uint8

const (
	ofText kindOf = iota
	ofWhole
	ofTime // milliseconds since 1970
	ofTruth
	ofFloat
)

// column is one of a file. Exactly one of its functions is set.
type column struct {
	name   string
	of     kindOf
	text   func(*outputs.Row) string
	whole  func(*outputs.Row) int64 // also of times and truths
	float  func(*outputs.Row) float64
	texts  func(*outputs.Row) []string // a list
	wholes func(*outputs.Row) []uint64 // a list
}

func (c *column) lists() bool { return c.texts != nil || c.wholes != nil }

func text(name string, of func(*outputs.Row) string) column { return column{name: name, text: of} }

func whole(name string, of func(*outputs.Row) int64) column {
	return column{name: name, of: ofWhole, whole: of}
}

func truth(name string, of func(*outputs.Row) bool) column {
	return column{name: name, of: ofTruth, whole: func(r *outputs.Row) int64 {
		if of(r) {
			return 1
		}
		return 0
	}}
}

// count is a column of figures; 0 in rows without.
func count(name string, of func(*outputs.Figures) uint64) column {
	return whole(name, func(r *outputs.Row) int64 {
		if r.Figures == nil {
			return 0
		}
		return int64(min(of(r.Figures), math.MaxInt64))
	})
}

// of are the values of a part of a row that only rows of its kind have.
func orEmpty[P, V any](part *P, of func(*P) V) (v V) {
	if part != nil {
		v = of(part)
	}
	return v
}

// columns are those of each file. Columns may be added at the end, never renamed or moved.
func columns() []column {
	all := []column{
		text("kind", func(r *outputs.Row) string { return r.Kind.String() }), text("job", func(r *outputs.Row) string { return r.Job }),
		text("test", func(r *outputs.Row) string { return r.Test }), text("datacenter", func(r *outputs.Row) string { return r.Datacenter }),
		text("workflow", func(r *outputs.Row) string { return r.Workflow }), text("step", func(r *outputs.Row) string { return r.Step }),
		text("step_kind", func(r *outputs.Row) string { return outputs.StepKindName(r.StepKind) }),
		{name: "started", of: ofTime, whole: func(r *outputs.Row) int64 { return r.Started.UnixMilli() }},
		whole("from_ms", func(r *outputs.Row) int64 { return r.From.Milliseconds() }), whole("to_ms", func(r *outputs.Row) int64 { return r.To.Milliseconds() }),
		text("version", func(r *outputs.Row) string { return hex.EncodeToString(r.Version[:]) }),
		truth("rebased", func(r *outputs.Row) bool { return r.Rebased }),
		truth("blunt", func(r *outputs.Row) bool { return r.Figures != nil && r.Figures.Blunt }),
	}
	all = append(all, figures()...)
	all = append(all,
		column{name: "tag_name", texts: func(r *outputs.Row) (all []string) {
			for _, t := range r.Tags {
				all = append(all, t.Name)
			}
			return all
		}},
		column{name: "tag_value", texts: func(r *outputs.Row) (all []string) {
			for _, t := range r.Tags {
				all = append(all, t.Value)
			}
			return all
		}},
	)
	return append(all, parts()...)
}

// figures are the columns of counts and distributions.
func figures() []column {
	all := []column{
		count("begun", func(f *outputs.Figures) uint64 { return f.Begun }), count("ok", func(f *outputs.Figures) uint64 { return f.OK }),
		count("failed", func(f *outputs.Figures) uint64 { return f.Failed }), count("timed_out", func(f *outputs.Figures) uint64 { return f.TimedOut }),
		count("cancelled", func(f *outputs.Figures) uint64 { return f.Cancelled }), count("dropped", func(f *outputs.Figures) uint64 { return f.Dropped }),
		count("skipped", func(f *outputs.Figures) uint64 { return f.Skipped }), count("bytes_in", func(f *outputs.Figures) uint64 { return f.BytesIn }),
		count("bytes_out", func(f *outputs.Figures) uint64 { return f.BytesOut }), count("active_users", func(f *outputs.Figures) uint64 { return f.ActiveUsers }),
	}
	for i, name := range []string{"p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns"} {
		all = append(all, count(name, func(f *outputs.Figures) uint64 { return f.Quantiles()[i] }))
	}
	wholes := func(name string, of func(*outputs.Figures) []uint64) column {
		return column{name: name, of: ofWhole, wholes: func(r *outputs.Row) []uint64 { return orEmpty(r.Figures, of) }}
	}
	texts := func(name string, of func(*outputs.Figures) []string) column {
		return column{name: name, texts: func(r *outputs.Row) []string { return orEmpty(r.Figures, of) }}
	}
	return append(all,
		count("min_ns", func(f *outputs.Figures) uint64 { return f.Latency.Min }), count("max_ns", func(f *outputs.Figures) uint64 { return f.Latency.Max }),
		count("sum_ns", func(f *outputs.Figures) uint64 { return f.Latency.Sum }),
		wholes("bucket_ns", func(f *outputs.Figures) []uint64 { b, _ := f.Buckets(); return b }),
		wholes("bucket_count", func(f *outputs.Figures) []uint64 { _, c := f.Buckets(); return c }),
		texts("status_name", func(f *outputs.Figures) (all []string) {
			for _, s := range f.Statuses {
				all = append(all, outputs.StatusName(s.Status))
			}
			return all
		}),
		wholes("status_count", func(f *outputs.Figures) (all []uint64) {
			for _, s := range f.Statuses {
				all = append(all, s.Count)
			}
			return all
		}),
		texts("error_name", func(f *outputs.Figures) (all []string) {
			for _, e := range f.Errors {
				all = append(all, e.Kind)
			}
			return all
		}),
		wholes("error_count", func(f *outputs.Figures) (all []uint64) {
			for _, e := range f.Errors {
				all = append(all, e.Count)
			}
			return all
		}),
	)
}

// parts are the columns of thresholds, events and runs.
func parts() []column {
	verdict := func(name string, of func(*outputs.Threshold) string) column {
		return text(name, func(r *outputs.Row) string { return orEmpty(r.Threshold, of) })
	}
	event := func(name string, of func(*outputs.Event) string) column {
		return text(name, func(r *outputs.Row) string { return orEmpty(r.Event, of) })
	}
	run := func(name string, of func(*outputs.Run) string) column {
		return text(name, func(r *outputs.Row) string { return orEmpty(r.Run, of) })
	}
	runs := func(name string, of func(*outputs.Run) uint64) column {
		return whole(name, func(r *outputs.Row) int64 { return int64(min(orEmpty(r.Run, of), math.MaxInt64)) })
	}
	return []column{
		verdict("expression", func(t *outputs.Threshold) string { return t.Expression }), verdict("of", func(t *outputs.Threshold) string { return t.Of }),
		{name: "value", of: ofFloat, float: func(r *outputs.Row) float64 {
			if r.Threshold == nil || r.Threshold.Unmeasured {
				return math.NaN()
			}
			return r.Threshold.Value
		}},
		truth("met", func(r *outputs.Row) bool { return r.Threshold != nil && r.Threshold.Met }),
		whole("sequence", func(r *outputs.Row) int64 {
			return int64(min(orEmpty(r.Event, func(e *outputs.Event) uint64 { return e.Sequence }), math.MaxInt64))
		}),
		event("event", func(e *outputs.Event) string { return e.Kind }), event("subject", func(e *outputs.Event) string { return e.Subject }), event("detail", func(e *outputs.Event) string { return e.Detail }),
		{name: "ended", of: ofTime, whole: func(r *outputs.Row) int64 {
			if r.Run == nil || r.Run.Ended.IsZero() {
				return 0
			}
			return r.Run.Ended.UnixMilli()
		}},
		run("outcome", func(u *outputs.Run) string { return u.Outcome }), run("program_digest", func(u *outputs.Run) string { return u.ProgramDigest }),
		run("hyperscale_version", func(u *outputs.Run) string { return u.Version }),
		truth("saturated", func(r *outputs.Row) bool { return r.Run != nil && r.Run.Saturated }), truth("thresholds_ok", func(r *outputs.Row) bool { return r.Run != nil && r.Run.ThresholdsOK }),
		runs("requests", func(u *outputs.Run) uint64 { return u.Requests }), runs("lost_requests", func(u *outputs.Run) uint64 { return u.LostRequests }),
	}
}
