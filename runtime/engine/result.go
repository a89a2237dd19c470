package engine

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/http1"
)

// snapshot copies all figures so far.
func (l *loop) snapshot(g *measure.Generator, elapsed time.Duration) message.Stats {
	d := l.iterations.schedule.Figures()
	out := message.Stats{
		Active: d.Active, Elapsed: elapsed, Gap: time.Duration(l.course.joined), Generator: g.Message(d), Steps: make([]message.StepStats, 0, len(l.requests.accounts)),
		Rows: l.iterations.rows.iterations(), Activity: l.activity.Wire(), Barriers: l.gates.stats(), Counters: l.counters.stats(),
	}
	stats.SetLines(&out, append(slices.Clone(l.functions.told), l.requests.names.AllFull()...), l.functions.logs)
	l.requests.passOn()
	for i := range l.requests.accounts {
		out.Steps = append(out.Steps, l.requests.accounts[i].Stats(elapsed))
		out.Steps[i].Dropped = d.Dropped[i]
		if s := l.requests.accounts[i].Spans(); len(s.Spans) > 0 {
			out.Spans = append(out.Spans, s)
		}
	}
	l.requests.named(&out, elapsed)
	stats.Delay(&out, l.course.late)
	return out
}

// passesOn reports whether the figures of a step hold what its function sends. Those of a request
// hold the request alone, not what its condition sends.
func (q *requests) passesOn(owner int) bool {
	return owner < len(q.g.steps) && q.g.steps[owner].plan.Kind != message.StepRequest
}

// passOn adds what functions sent to the figures of their steps.
func (q *requests) passOn() {
	for i := range q.names.Owners() {
		if q.passesOn(i) {
			for _, a := range q.names.Of(i) {
				a.PassOn(&q.accounts[i])
			}
		}
	}
}

// named appends the figures of functions' requests, by owner and name.
func (q *requests) named(out *message.Stats, elapsed time.Duration) {
	for i := range q.names.Owners() {
		for _, a := range q.names.Of(i) {
			out.Steps = append(out.Steps, a.Stats(elapsed))
			if s := a.Spans(); len(s.Spans) > 0 {
				out.Spans = append(out.Spans, s)
			}
		}
	}
}

// Status is that of the answer that opened the session.
func (s *session) Status() int {
	switch {
	case s.answer != nil:
		return s.answer.Status
	case s.talk != nil:
		return int(s.talk.Status())
	}
	return 200
}

// Over is why the session failed.
func (s *session) Over() (kind, why string) {
	switch {
	case s.answer == nil:
		return "", ""
	case s.answer.Kind != "":
		return s.answer.Kind, s.answer.Error
	case s.answer.Wrong != "":
		return s.answer.Wrong, s.answer.Why
	case s.answer.Status >= 400:
		return measure.StatusKind(s.answer.Status), ""
	}
	return "", ""
}

// Response is that of the whole.
func (s *session) Response() *workflow.Response {
	if s.answer == nil {
		return &workflow.Response{Kind: string(http1.KindCancelled), Error: "the run is over"}
	}
	return s.answer
}
