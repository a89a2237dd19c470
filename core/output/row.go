package output

import (
	"encoding/binary"
	"fmt"
	"net/url"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// RowKind says what a row tells.
type RowKind uint8

// The kinds of rows.
const (
	RowNone      RowKind = iota
	RowRun               // the job: at its begin, and again at its end
	RowWindow            // what happened between two boundaries
	RowLost              // what attempts that count nowhere had reported
	RowResult            // the end of a step
	RowThreshold         // a verdict
	RowCheck             // passes and failures of a check
	RowEvent             // something that happened to the job
)

func rowKinds() []string {
	return []string{"none", "run", "window", "lost", "result", "threshold", "check", "event"}
}

// String is the kind as formats write it.
func (k RowKind) String() string { all := rowKinds(); return all[min(int(k), len(all)-1)] }

// RowKindOf is the kind of a name that String returns; RowNone of others.
func RowKindOf(name string) RowKind { return RowKind(max(0, slices.Index(rowKinds(), name))) }

// Counts says that rows of a kind have figures.
func (k RowKind) Counts() bool {
	return k == RowWindow || k == RowLost || k == RowResult || k == RowCheck
}

// Spans says that the bounds of rows of a kind are part of their key: a job has several of each step.
func (k RowKind) Spans() bool { return k == RowWindow || k == RowLost }

// Version orders the rows of one key: the fence under which a row was made, then its revision. A place that can
// replace keeps the greatest one. Bytes of a version compare as versions do.
type Version [32]byte

// Set sets the first and the last part of a version: the epoch of the job's owner, and the revision.
func (v *Version) Set(epoch, revision uint64) {
	binary.BigEndian.PutUint64(v[:8], epoch)
	binary.BigEndian.PutUint64(v[24:], revision)
}

// Parts are what Set was given.
func (v *Version) Parts() (epoch, revision uint64) {
	return binary.BigEndian.Uint64(v[:8]), binary.BigEndian.Uint64(v[24:])
}

// Row is one row of a job. The key is (Kind, Job, Datacenter, Workflow, Step, StepKind) with From and To of windows and lost
// rows, Expression of thresholds, and Sequence of events. No name of a row is safe to paste into a format: escape it.
type Row struct {
	Kind       RowKind
	Job        string // its id
	Test       string // the file's name
	Datacenter string // empty: the whole job
	Workflow   string
	Step       string
	StepKind   message.StepKind // of rows with a step
	Started    time.Time        // of the job, UTC; the row's own time is Started + From
	From, To   time.Duration    // of windows: their boundaries
	Version    Version
	Rebased    bool // its boundary differs from what a predecessor cut
	Tags       []message.Tag

	Figures   *Figures   // of window, lost, result, check
	Sum       *Figures   // of window, lost: all that its step has counted up to To; nil: Ledger.Sum was not asked
	Run       *Run       // of run
	Threshold *Threshold // of threshold
	Event     *Event     // of event
}

// At is the end of what the row is about.
func (r *Row) At() time.Time { return r.Started.Add(r.To) }

// Figures are counts and distributions.
type Figures struct {
	Begun, OK, Failed, TimedOut, Cancelled, Dropped, Skipped uint64
	BytesIn, BytesOut                                        uint64
	ActiveUsers                                              uint64 // at the end of the window
	Statuses                                                 []message.StatusCount
	Errors                                                   []message.ErrorCount // without examples
	Blunt                                                    bool                 // its distributions are unknown: reports had lost precision
	Latency, Service                                         message.Histogram    // ns; min and max of a window are those of its buckets
}

// Run is a job as a whole.
type Run struct {
	Ended         time.Time // zero: it runs
	Outcome       string    // empty: it runs
	ProgramDigest string
	Version       string // of hyperscale
	Saturated     bool
	ThresholdsOK  bool
	Requests      uint64
	LostRequests  uint64
}

// Threshold is a verdict.
type Threshold struct {
	Expression string
	Value      float64 // in the unit of Of
	Of         string  // the figure that it judges, as in the result file
	Met        bool
	Unmeasured bool // Value is no figure
}

// Event is something that happened to the job.
type Event struct {
	Sequence uint64
	Kind     string
	Subject  string
	Detail   string
}

// StepKindName is a kind of step as formats write it; empty if it has none.
func StepKindName(k message.StepKind) string {
	switch k {
	case message.StepRequest:
		return "request"
	case message.StepFunction:
		return "function"
	case message.StepCheck:
		return "check"
	case message.StepPart:
		return "part"
	case message.StepBeside:
		return "beside"
	}
	return ""
}

// Key names the row among all rows, for places that have one column for it. Its names are escaped as in a path of a URL,
// so that a slash of one parts nothing. What stands once in a job has one key whenever it ends: its bounds there are 0.
func (r *Row) Key() string {
	from, to := r.From, r.To
	if !r.Kind.Spans() {
		from, to = 0, 0
	}
	k := fmt.Sprintf("%s/%s/%s/%s/%s/%s/%d/%d", r.Kind, r.Job, url.PathEscape(r.Datacenter), url.PathEscape(r.Workflow), url.PathEscape(r.Step), StepKindName(r.StepKind),
		from.Milliseconds(), to.Milliseconds())
	switch {
	case r.Threshold != nil:
		k += "/" + r.Threshold.Expression
	case r.Event != nil:
		k += fmt.Sprintf("/%d", r.Event.Sequence)
	}
	return k
}

// Size is about how many bytes a row has in memory and in most formats.
func (r *Row) Size() int {
	n := 256 + len(r.Job) + len(r.Test) + len(r.Datacenter) + len(r.Workflow) + len(r.Step)
	n += r.Figures.size() + r.Sum.size()
	if r.Threshold != nil {
		n += len(r.Threshold.Expression)
	}
	if r.Event != nil {
		n += len(r.Event.Subject) + len(r.Event.Detail)
	}
	return n
}

func (f *Figures) size() (n int) {
	if f == nil {
		return 0
	}
	n = 256 + 3*len(f.Latency.Buckets) + len(f.Service.Buckets) + 24*len(f.Statuses)
	for i := range f.Errors {
		n += 24 + len(f.Errors[i].Kind)
	}
	return n
}

// quantiles are those that formats show beside the distribution, in parts per million.
func quantiles() [5]uint32 { return [5]uint32{500_000, 900_000, 950_000, 990_000, 999_000} }

// Quantiles are p50, p90, p95, p99 and p999 of the latency, in nanoseconds; zeros if there is none.
func (f *Figures) Quantiles() (q [5]uint64) {
	for i, ppm := range quantiles() {
		q[i], _ = stats.Quantile(f.Latency, ppm) // the shell offers only what was read
	}
	return q
}

// Buckets are the exact pairs of the latency: the largest value that a bucket can hold, in nanoseconds, and its count.
// A bucket has the same bound in each row, so counts add up by bound.
func (f *Figures) Buckets() (bounds, counts []uint64) {
	h, err := stats.FromWire(f.Latency)
	if err != nil {
		return nil, nil
	}
	h.Each(func(largest, n uint64) {
		bounds, counts = append(bounds, stats.BucketBound(largest)), append(counts, n)
	})
	return bounds, counts
}
