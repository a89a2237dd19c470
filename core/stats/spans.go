package stats

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/message"
)

// SpansMax bounds the spans of one step.
const SpansMax = 256

// ErrSpans is wrapped by the error of spans that overlap, or are too many.
var ErrSpans = errors.New("not parts of one workflow's time")

// Span counts exactly what ended to a step within one part of its workflow's time.
type Span struct {
	OK, Failed, TimedOut uint64

	latency, service, metric Histogram
}

// Record adds the times of one that has ended; one that was not sent has no service time.
func (s *Span) Record(latency uint64, sent bool, service uint64) {
	s.latency.Record(latency)
	if sent {
		s.service.Record(service)
	}
}

// RecordMetric adds a metric's value.
func (s *Span) RecordMetric(v uint64) { s.metric.Record(v) }

// Spans are the spans of one step. Nil ones count nothing.
type Spans struct {
	cuts  []time.Duration // ascending; span i ends before cut i
	spans []*Span         // nil: nothing ended in it
	at    int             // of the last call: most calls use it again
}

// NewSpans returns the spans between cuts, which ascend.
func NewSpans(cuts []time.Duration) *Spans {
	return &Spans{cuts: cuts, spans: make([]*Span, len(cuts)+1)}
}

// At returns the span of an instant since the start, to count in before the next call.
func (s *Spans) At(since time.Duration) *Span {
	for s.at < len(s.cuts) && since >= s.cuts[s.at] {
		s.at++
	}
	for s.at > 0 && since < s.cuts[s.at-1] {
		s.at--
	}
	if s.spans[s.at] == nil {
		s.spans[s.at] = new(Span)
	}
	return s.spans[s.at]
}

// Wire returns the spans as a message.
func (s *Spans) Wire() (out []message.Span) {
	if s == nil {
		return nil
	}
	for i, one := range s.spans {
		if one == nil {
			continue
		}
		w := message.Span{
			OK: one.OK, Failed: one.Failed, TimedOut: one.TimedOut,
			Latency: one.latency.Wire(), Service: one.service.Wire(), Metric: one.metric.Wire(),
		}
		if i > 0 {
			w.From = s.cuts[i-1]
		}
		if i < len(s.cuts) {
			w.Until = s.cuts[i]
		}
		out = append(out, w)
	}
	return out
}

// spanSums are the sums of the spans of a workflow's steps, in the order of their first
// occurrence.
type spanSums struct {
	steps []*spanSum
	spare []byte
}

type spanSum struct {
	step  string
	spans []*summedSpan // ascending
}

type summedSpan struct {
	message.Span
	latency, service, metric sparse
}

func (s *spanSums) add(part *message.StepSpans) error {
	at := slices.IndexFunc(s.steps, func(o *spanSum) bool { return o.step == part.Step })
	if at < 0 {
		if at = len(s.steps); at == StepsMax {
			return fmt.Errorf("more than %d steps: %w", StepsMax, ErrParts)
		}
		s.steps = append(s.steps, &spanSum{step: part.Step})
	}
	for i := range part.Spans {
		if err := s.steps[at].add(&part.Spans[i], &s.spare); err != nil {
			return err
		}
	}
	return nil
}

func (s *spanSum) add(part *message.Span, spare *[]byte) error {
	at, found := slices.BinarySearchFunc(s.spans, part.From, func(o *summedSpan, from time.Duration) int { return cmp.Compare(o.From, from) })
	switch {
	case found && s.spans[at].Until != part.Until:
		return fmt.Errorf("from %v it ends at %v and at %v: %w", part.From, s.spans[at].Until, part.Until, ErrSpans)
	case found:
	case part.From < 0 || part.Until != 0 && part.Until <= part.From,
		at > 0 && !ends(s.spans[at-1].Until, part.From), at < len(s.spans) && !ends(part.Until, s.spans[at].From):
		return fmt.Errorf("%v to %v overlaps another: %w", part.From, part.Until, ErrSpans)
	case len(s.spans) == SpansMax:
		return fmt.Errorf("more than %d: %w", SpansMax, ErrSpans)
	default:
		s.spans = slices.Insert(s.spans, at, &summedSpan{Span: message.Span{From: part.From, Until: part.Until}})
	}
	to := s.spans[at]
	to.OK, to.Failed, to.TimedOut = add(to.OK, part.OK), add(to.Failed, part.Failed), add(to.TimedOut, part.TimedOut)
	for _, h := range []struct {
		to   *sparse
		from message.Histogram
	}{{&to.latency, part.Latency}, {&to.service, part.Service}, {&to.metric, part.Metric}} {
		if err := h.to.merge(h.from, spare); err != nil {
			return fmt.Errorf("from %v: %w", part.From, err)
		}
	}
	return nil
}

// ends reports that a span's end, zero for none, is not behind a later one's begin.
func ends(until, from time.Duration) bool { return until != 0 && until <= from }

func (s *spanSums) result() (out []message.StepSpans) {
	for _, step := range s.steps {
		one := message.StepSpans{Step: step.step, Spans: make([]message.Span, len(step.spans))}
		for i, span := range step.spans {
			span.Latency, span.Service, span.Metric = span.latency.wire(), span.service.wire(), span.metric.wire()
			one.Spans[i] = span.Span
		}
		out = append(out, one)
	}
	return out
}

// fitSpans makes the distributions of spans coarser.
func fitSpans(s *message.Stats, most int) bool {
	if len(s.Spans) == 0 {
		return false
	}
	s.Spans = slices.Clone(s.Spans)
	for i := range s.Spans {
		s.Spans[i].Spans = slices.Clone(s.Spans[i].Spans)
	}
	for bits := 1; bits <= subBits; bits++ {
		for i := range s.Spans {
			for k := range s.Spans[i].Spans {
				one := &s.Spans[i].Spans[k]
				one.Latency, one.Service, one.Metric = coarsen(one.Latency, bits), coarsen(one.Service, bits), coarsen(one.Metric, bits)
			}
		}
		tell(s, "percentiles of thresholds over parts of the time are up to ", loss(bits))
		if SizeOf(s) <= most {
			return true
		}
	}
	return false
}
