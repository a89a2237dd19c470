package remotewrite

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/export"
	"hyperscale/runtime/outputs"
)

// moment is what rows say of one time.
type moment struct {
	at      time.Time
	counted set   // of steps
	shared  set   // gauges that rows of several steps have: a later batch may have an older time of them
	rows    []int // by their places in the batch
	bare    []int // rows without the sums that samples are made of
}

// set is samples of one time, one of each series.
type set struct {
	samples []export.Sample
	index   map[string]int // by their labels
}

// momentsOf are the samples of rows, the oldest first. Of two values of a series at one time the later row's counts. Rows of
// the end, which have no time of their own, have the latest one of their batch.
func momentsOf(rows []outputs.Row, prefix string) []*moment {
	end := time.Time{}
	for i := range rows {
		at := rows[i].At()
		if u := rows[i].Run; u != nil && u.Ended.After(at) {
			at = u.Ended
		}
		if at.After(end) {
			end = at
		}
	}
	all := map[int64]*moment{}
	for i := range rows {
		r := &rows[i]
		at := end
		if r.Kind == outputs.RowWindow || r.Kind == outputs.RowLost {
			at = r.At()
		}
		m := all[at.UnixMilli()]
		if m == nil {
			m = &moment{at: at, counted: set{index: map[string]int{}}, shared: set{index: map[string]int{}}}
			all[at.UnixMilli()] = m
		}
		m.rows = append(m.rows, i)
		w := &writer{moment: m, prefix: prefix, row: r}
		w.write()
	}
	out := make([]*moment, 0, len(all))
	for _, m := range all { //lint:orderfree they are sorted
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *moment) int { return a.at.Compare(b.at) })
	return out
}

// writer writes the samples of a row.
type writer struct {
	*moment
	prefix string
	row    *outputs.Row
}

type label = [2]string

// add appends a sample of a step, or of the end.
func (w *writer) add(name string, v float64, of ...label) { w.put(&w.counted, name, v, of) }

// put appends a sample to a set, or replaces that of the same series.
func (w *writer) put(to *set, name string, v float64, of []label) {
	all := make([]label, 0, len(of)+3+len(w.row.Tags))
	all = append(all, label{"__name__", w.prefix + name}, label{"run", outputs.Text(w.row.Job)}, label{"test", outputs.Text(w.row.Test)})
	for _, l := range of {
		all = append(all, label{l[0], outputs.Text(l[1])})
	}
	for _, t := range w.row.Tags {
		all = append(all, label{"tag_" + labelName(t.Name), outputs.Text(t.Value)})
	}
	all = slices.DeleteFunc(all, func(l label) bool { return l[1] == "" }) // as good as absent, and rejected
	slices.SortStableFunc(all, func(a, b label) int { return cmp.Compare(a[0], b[0]) })
	all = slices.CompactFunc(all, func(a, b label) bool { return a[0] == b[0] })
	var key strings.Builder
	for _, l := range all {
		key.WriteString(l[0] + "\x00" + l[1] + "\x00")
	}
	if at, has := to.index[key.String()]; has {
		to.samples[at].Value = v
		return
	}
	to.index[key.String()] = len(to.samples)
	to.samples = append(to.samples, export.Sample{Labels: all, Value: v})
}

// labelName makes a name one that a label may have.
func labelName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, s)
}

func (w *writer) write() {
	r := w.row
	switch r.Kind {
	case outputs.RowWindow, outputs.RowLost:
		w.figures()
	case outputs.RowCheck:
		if r.Datacenter == "" && r.Figures != nil {
			w.counts("checks_total", []label{{"workflow", r.Workflow}, {"check", r.Step}}, "result", "passed", r.Figures.OK, "failed", r.Figures.Failed+r.Figures.TimedOut, "skipped", r.Figures.Skipped)
		}
	case outputs.RowThreshold:
		if t := r.Threshold; t != nil {
			of := []label{{"workflow", r.Workflow}, {"threshold", t.Expression}}
			w.add("threshold_met", truth(t.Met), of...)
			if !t.Unmeasured {
				w.add("threshold_value", export.BaseValue(t.Of, t.Value), of...)
			}
		}
	case outputs.RowRun:
		if u := r.Run; u != nil && !u.Ended.IsZero() {
			w.add("job_state", 1, label{"state", u.Outcome})
			w.add("job_duration_seconds", u.Ended.Sub(r.Started).Seconds())
		}
	case outputs.RowNone, outputs.RowResult, outputs.RowEvent: // sums of windows are a result's counts
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// counts adds a sample for each name and count, with the name as a label.
func (w *writer) counts(metric string, of []label, by string, pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		w.add(metric, float64(pairs[i+1].(uint64)), append(slices.Clip(of), label{by, pairs[i].(string)})...)
	}
}

// figures writes what a step has counted.
func (w *writer) figures() {
	r, f := w.row, w.row.Sum
	if f == nil {
		w.bare = append(w.bare, w.rows[len(w.rows)-1])
		return
	}
	w.put(&w.shared, "job_start_timestamp_seconds", float64(r.Started.UnixMilli())/1000, nil)
	of := []label{{"workflow", r.Workflow}, {"step", r.Step}}
	if r.StepKind == message.StepPart || r.StepKind == message.StepBeside {
		step, request, _ := strings.Cut(r.Step, "/")
		of = []label{{"workflow", r.Workflow}, {"step", step}, {"request", cmp.Or(request, step)}}
		if r.StepKind == message.StepBeside { // a step may have the name of a moment
			of = append(of, label{"kind", "beside"})
		}
		if r.Datacenter != "" {
			return
		}
	}
	metric := "requests_total"
	if r.Datacenter != "" {
		metric, of = "datacenter_requests_total", append(of, label{"datacenter", r.Datacenter})
	}
	w.counts(metric, of, "result", "ok", f.OK, "failed", f.Failed, "timed_out", f.TimedOut, "cancelled", f.Cancelled)
	if r.Datacenter != "" {
		return
	}
	for _, n := range []struct {
		name string
		n    uint64
	}{{"requests_started_total", f.Begun}, {"requests_dropped_total", f.Dropped}, {"requests_skipped_total", f.Skipped}, {"received_bytes_total", f.BytesIn}, {"sent_bytes_total", f.BytesOut}} {
		w.add(n.name, float64(n.n), of...)
	}
	for _, s := range f.Statuses {
		w.counts("responses_total", of, "status", outputs.StatusName(s.Status), s.Count)
	}
	for _, e := range f.Errors {
		w.counts("errors_total", of, "kind", e.Kind, e.Count)
	}
	w.duration(of, f)
	if r.Kind == outputs.RowWindow {
		w.put(&w.shared, "active_vus", float64(r.Figures.ActiveUsers), []label{{"workflow", r.Workflow}})
	}
}

// duration writes the latencies in wide buckets. The fine bucket that a bound falls into goes to the next wide one.
func (w *writer) duration(of []label, f *outputs.Figures) {
	fine, err := stats.FromWire(f.Latency)
	if f.Blunt || err != nil {
		return
	}
	limits := export.DurationBounds()
	counts := make([]uint64, len(limits)+1)
	fine.Each(func(largest, n uint64) {
		at, _ := slices.BinarySearch(limits, largest)
		counts[at] += n
	})
	const name = "request_duration_seconds"
	sum := uint64(0)
	for i, limit := range limits {
		sum += counts[i]
		w.add(name+"_bucket", float64(sum), append(slices.Clip(of), label{"le", export.Bound(limit)})...)
	}
	w.add(name+"_bucket", float64(fine.Count()), append(slices.Clip(of), label{"le", "+Inf"})...)
	w.add(name+"_sum", float64(fine.Sum())/1e9, of...)
	w.add(name+"_count", float64(fine.Count()), of...)
}
