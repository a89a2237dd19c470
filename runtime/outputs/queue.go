package outputs

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// queue holds rows that no try has.
type queue struct {
	rows  []Row
	bytes int
	since time.Time // when the oldest row came
}

func (q *queue) len() int { return len(q.rows) }

// add takes a row. A full queue makes wider windows of the oldest ones; what has no neighbour is lost.
func (q *queue) add(r Row, told *Report) {
	if len(q.rows) == 0 {
		q.since = time.Now()
	}
	q.rows, q.bytes = append(q.rows, r), q.bytes+r.Size()
	if q.bytes <= QueueMax {
		return
	}
	before := len(q.rows)
	q.widen()
	told.Merged += uint64(before - len(q.rows))
	// A widening that frees less than an eighth is not worth one for each row to come.
	for q.bytes > QueueMax-QueueMax/8 && len(q.rows) > 1 {
		told.lose(&q.rows[0])
		q.bytes -= q.rows[0].Size()
		q.rows = q.rows[1:]
	}
}

// widen makes one row of each two windows of a step that follow each other. Where there is none between them, nothing
// happened.
func (q *queue) widen() {
	type key struct {
		job, datacenter, workflow, step string
		kind                            message.StepKind
	}
	open := map[key]int{} // index of a row in kept that has no second half yet
	var kept []Row
	for _, r := range q.rows {
		if r.Kind != RowWindow {
			kept = append(kept, r)
			continue
		}
		k := key{r.Job, r.Datacenter, r.Workflow, r.Step, r.StepKind}
		if at, has := open[k]; has {
			if sum, ok := joined(&kept[at], &r); ok {
				kept[at] = sum
				delete(open, k)
				continue
			}
		}
		open[k] = len(kept)
		kept = append(kept, r)
	}
	q.rows, q.bytes = kept, 0
	for i := range kept {
		q.bytes += kept[i].Size()
	}
}

// joined is the window over two that follow each other.
func joined(a, b *Row) (Row, bool) {
	if a.To > b.From {
		return Row{}, false
	}
	latency, ok := sum(a.Figures.Latency, b.Figures.Latency)
	service, fits := sum(a.Figures.Service, b.Figures.Service)
	if !ok || !fits {
		return Row{}, false
	}
	out, f, g := *b, *a.Figures, b.Figures
	out.From = a.From
	f.Begun, f.OK, f.Failed, f.TimedOut, f.Cancelled = f.Begun+g.Begun, f.OK+g.OK, f.Failed+g.Failed, f.TimedOut+g.TimedOut, f.Cancelled+g.Cancelled
	f.Dropped, f.Skipped, f.BytesIn, f.BytesOut = f.Dropped+g.Dropped, f.Skipped+g.Skipped, f.BytesIn+g.BytesIn, f.BytesOut+g.BytesOut
	f.ActiveUsers, f.Latency, f.Service = g.ActiveUsers, latency, service
	if f.Blunt = f.Blunt || g.Blunt; f.Blunt {
		f.Latency, f.Service = message.Histogram{}, message.Histogram{}
	}
	f.Statuses, f.Errors = slices.Clone(f.Statuses), slices.Clone(f.Errors)
	for _, c := range g.Statuses {
		f.Statuses = stats.AddStatus(f.Statuses, c)
	}
	for _, c := range g.Errors {
		f.Errors = stats.AddError(f.Errors, c)
	}
	out.Figures = &f
	return out, true
}

func sum(a, b message.Histogram) (message.Histogram, bool) {
	x, err := stats.FromWire(a)
	if err != nil {
		return message.Histogram{}, false
	}
	y, err := stats.FromWire(b)
	if err != nil {
		return message.Histogram{}, false
	}
	x.Merge(y)
	return x.Wire(), true
}

// age returns how long the rows may still wait for others, and whether a batch is full.
func (q *queue) age(now time.Time, l Limits) (wait time.Duration, full bool) {
	if len(q.rows) == 0 {
		return time.Hour, false
	}
	return q.since.Add(l.Age).Sub(now), len(q.rows) >= l.Rows || q.bytes >= l.Bytes
}

// take returns the next batch's rows, at least one.
func (q *queue) take(l Limits) (rows []Row) {
	n, bytes := fit(q.rows, l)
	rows, q.rows, q.bytes = slices.Clone(q.rows[:n]), q.rows[n:], q.bytes-bytes
	q.since = time.Now()
	return rows
}

// fit is how many of some rows make a batch, at least one, and their size.
func fit(rows []Row, l Limits) (n, bytes int) {
	for n < len(rows) && n < l.Rows {
		size := rows[n].Size()
		if n > 0 && bytes+size > l.Bytes {
			break
		}
		n, bytes = n+1, bytes+size
	}
	return n, bytes
}
