package output

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// Sum adds to each window and lost row what its step has counted since the job's begin, up to that row: what places keep
// that store sums instead of differences. The rows must be the newest of the ledger. A sum falls by what a lost row takes
// back, and the last sum of a step is its result. A sum whose distribution no report tells is Blunt, and so are those before it in the batch.
func (l *Ledger) Sum(rows []Row) {
	behind := map[part]map[stepKey]*total{}
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		if r.Kind != RowWindow && r.Kind != RowLost || r.Figures == nil {
			continue
		}
		p, key := part{r.Datacenter, r.Workflow}, stepKey{r.Step, r.StepKind}
		t := behind[p][key]
		if t == nil {
			if t = l.total(p, key); t == nil {
				continue
			}
			if behind[p] == nil {
				behind[p] = map[stepKey]*total{}
			}
			behind[p][key] = t
		}
		r.Sum = t.figures()
		t.undo(r)
	}
}

// total is what a step has counted, before the rows behind some row.
type total struct {
	counts          message.StepStats // without distributions
	latency, served *stats.Histogram  // nil: not known
}

// total is what the ledger has told of a step; nil: nothing.
func (l *Ledger) total(p part, key stepKey) *total {
	f := l.parts[p]
	if f == nil || f.steps[key] == nil {
		return nil
	}
	base := &f.steps[key].base
	t := &total{counts: bare(base, true)}
	t.counts.Statuses, t.counts.Errors = slices.Clone(base.Statuses), slices.Clone(base.Errors)
	if !l.blunt {
		t.latency, t.served = histogramOf(base.Latency), histogramOf(base.Service)
	}
	return t
}

func histogramOf(in message.Histogram) *stats.Histogram {
	h, err := stats.FromWire(in)
	if err != nil {
		return nil
	}
	return h
}

func (t *total) figures() *Figures {
	f := figuresOf(&t.counts, &message.StepStats{})
	if f.Blunt = t.latency == nil || t.served == nil; !f.Blunt {
		f.Latency, f.Service = t.latency.Wire(), t.served.Wire()
	}
	return f
}

// undo goes back before a row.
func (t *total) undo(r *Row) {
	f, c := r.Figures, &t.counts
	row := message.StepStats{
		Started: f.Begun, OK: f.OK, Failed: f.Failed, TimedOut: f.TimedOut, Cancelled: f.Cancelled, Dropped: f.Dropped, Skipped: f.Skipped,
		BytesIn: f.BytesIn, BytesOut: f.BytesOut, Statuses: f.Statuses, Errors: f.Errors,
	}
	if f.Blunt {
		t.latency, t.served = nil, nil
	}
	n, of := counts(c), counts(&row)
	for i := range n {
		if r.Kind == RowWindow {
			n[i] -= min(n[i], of[i])
		} else {
			n[i] += of[i]
		}
	}
	c.Started, c.OK, c.Failed, c.TimedOut, c.Cancelled, c.Dropped, c.Skipped, c.BytesIn, c.BytesOut = n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]
	if r.Kind == RowWindow {
		c.Statuses, c.Errors = statuses(c, &row), failures(c, &row)
	} else {
		for _, s := range f.Statuses {
			c.Statuses = stats.AddStatus(c.Statuses, s)
		}
		for _, e := range f.Errors {
			c.Errors = stats.AddError(c.Errors, e)
		}
	}
	t.latency, t.served = before(t.latency, f.Latency, r.Kind), before(t.served, f.Service, r.Kind)
}

// before is a distribution without what a row added, or with what it took back. Nil stays nil.
func before(h *stats.Histogram, row message.Histogram, kind RowKind) *stats.Histogram {
	if h == nil || row.Count == 0 {
		return h
	}
	of := histogramOf(row)
	switch {
	case of == nil:
		return nil
	case kind == RowWindow:
		return h.Sub(of)
	}
	h.Merge(of)
	return h
}
