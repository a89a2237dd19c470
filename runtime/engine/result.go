package engine

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/engine/measure"
)

// snapshot copies all figures so far.
func (l *loop) snapshot(g *measure.Generator, elapsed time.Duration) message.Stats {
	d := l.iterations.schedule.Figures()
	out := message.Stats{
		Active: d.Active, Elapsed: elapsed, Generator: g.Message(d), Steps: make([]message.StepStats, 0, len(l.requests.accounts)),
		Logs: slices.Clone(l.functions.logs), Rows: l.iterations.rows.iterations(),
	}
	for i := range l.requests.accounts {
		out.Steps = append(out.Steps, l.requests.accounts[i].Stats(elapsed))
		out.Steps[i].Dropped = d.Dropped[i]
		if s := l.requests.accounts[i].Spans(); len(s.Spans) > 0 {
			out.Spans = append(out.Spans, s)
		}
	}
	return out
}
