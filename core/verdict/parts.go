package verdict

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// ErrSpans is wrapped by the error of spans that a threshold's windows would cut.
var ErrSpans = errors.New("spans do not fit the threshold")

const forever = time.Duration(1<<63 - 1)

// judgeParts judges a threshold on the parts of the time that it looks at: all of its windows
// must hold, and the worst one gives the value.
func judgeParts(t *message.Threshold, s *message.Stats, long Length, q Quantile) (worst Judgement, err error) {
	happened := false
	for _, w := range windows(t, long) {
		part, err := during(s, w)
		if err != nil {
			return Judgement{}, fmt.Errorf("threshold %q: %w", t.Expr, err)
		}
		f, err := compute(t, part, min(w.until, long.Elapsed)-w.from, q)
		if err != nil {
			return Judgement{}, err
		}
		happened = happened || f.over != 0
		if f.over == 0 && t.Of == message.OfRate {
			f = fraction{0, 1, 1} // time passed, and nothing ended in it
		}
		if f.over == 0 {
			continue
		}
		j := f.judged(t)
		if !worst.Measured || worse(t.Op, j, worst) {
			worst = j
			if t.Over > 0 {
				worst.From, worst.Until = w.from, min(w.until, long.Elapsed)
			}
		}
	}
	if !happened {
		return Judgement{}, nil
	}
	return worst, nil
}

// worse compares judgements of two windows.
func worse(op message.ThresholdOp, a, b Judgement) bool {
	switch {
	case a.OK != b.OK:
		return !a.OK
	case op == message.OpBelow || op == message.OpAtMost:
		return a.Value > b.Value
	}
	return a.Value < b.Value
}

// window is a part of the time; one that reaches the end ends at forever, and has what ended
// after the workflow's time.
type window struct{ from, until time.Duration }

// windows returns the parts of the time that a threshold looks at. Each begins in the middle of
// the one before. The last one reaches the end: it is at least half as long as the others.
func windows(t *message.Threshold, long Length) []window {
	until := forever
	if t.Until > 0 && t.Until < long.Elapsed {
		until = t.Until
	}
	end := min(until, long.Elapsed)
	if t.From >= end {
		return nil
	}
	hop := plan.Hop(t.Over)
	if hop == 0 {
		return []window{{t.From, until}}
	}
	end = min(end, long.Planned) // what ends behind it belongs to the last window
	var all []window
	for from := t.From; ; from += hop {
		if from+2*hop >= end || len(all) > plan.CutsMax {
			return append(all, window{from, until})
		}
		all = append(all, window{from, from + 2*hop})
	}
}

// during returns the figures of a part of the time, as statistics.
func during(s *message.Stats, w window) (*message.Stats, error) {
	out := &message.Stats{}
	for i := range s.Steps {
		step := &s.Steps[i]
		one := message.StepStats{Name: step.Name, Kind: step.Kind}
		var latency, service, metric []message.Histogram
		for _, p := range spansOf(s, step.Name) {
			until := p.Until
			if until == 0 {
				until = forever
			}
			if until <= w.from || p.From >= w.until {
				continue
			}
			if p.From < w.from || until > w.until {
				return nil, fmt.Errorf("%v to %v of the span from %v: %w", w.from, w.until, p.From, ErrSpans)
			}
			one.OK, one.Failed, one.TimedOut = one.OK+p.OK, one.Failed+p.Failed, one.TimedOut+p.TimedOut
			latency, service, metric = append(latency, p.Latency), append(service, p.Service), append(metric, p.Metric)
		}
		var err error
		for _, h := range []struct {
			to   *message.Histogram
			from []message.Histogram
		}{{&one.Latency, latency}, {&one.Service, service}, {&one.Metric, metric}} {
			if *h.to, err = merge(h.from); err != nil {
				return nil, err
			}
		}
		out.Steps = append(out.Steps, one)
	}
	return out, nil
}

func spansOf(s *message.Stats, step string) []message.Span {
	for i := range s.Spans {
		if s.Spans[i].Step == step {
			return s.Spans[i].Spans
		}
	}
	return nil
}
