package stats

import (
	"testing"

	"hyperscale/core/message"
)

func TestSilent(t *testing.T) {
	step := func(kind message.StepKind, ok uint64, statuses int, errors ...message.ErrorCount) message.StepStats {
		return message.StepStats{Kind: kind, OK: ok, Statuses: make([]message.StatusCount, statuses), Errors: errors}
	}
	of := func(kind string, n uint64) message.ErrorCount {
		return message.ErrorCount{Kind: kind, Count: n, Example: "to " + kind}
	}
	for _, c := range []struct {
		name  string
		steps []message.StepStats
		want  message.Silent
	}{
		{"nothing ended", []message.StepStats{step(message.StepRequest, 0, 0)}, message.Silent{}},
		{"no connection, and no answer on one", []message.StepStats{step(message.StepRequest, 0, 0, of("reset", 1), of("refused", 3))}, message.Silent{Requests: 4, Kind: "refused", Example: "to refused"}},
		{"two steps", []message.StepStats{step(message.StepRequest, 0, 0, of("dns", 2)), step(message.StepFunction, 0, 0, of("timeout", 5))}, message.Silent{Requests: 7, Kind: "timeout", Example: "to timeout"}},
		{"one answer", []message.StepStats{step(message.StepRequest, 0, 0, of("dns", 2)), step(message.StepRequest, 1, 0)}, message.Silent{}},
		{"an answer of 500", []message.StepStats{step(message.StepRequest, 0, 1, of("dns", 2), of("status", 1))}, message.Silent{}},
		{"an answer to a function that failed", []message.StepStats{step(message.StepFunction, 0, 0, of("reset", 2)), step(message.StepPart, 0, 1)}, message.Silent{}},
		{"a mistake in the test", []message.StepStats{step(message.StepFunction, 0, 0, of("reset", 2), of("script", 1))}, message.Silent{}},
		{"a check says nothing of requests", []message.StepStats{step(message.StepRequest, 0, 0, of("reset", 2)), step(message.StepCheck, 3, 0)}, message.Silent{Requests: 2, Kind: "reset", Example: "to reset"}},
	} {
		if got, is := Silent(&message.Stats{Steps: c.steps}); got != c.want || is != (c.want.Requests > 0) {
			t.Errorf("%s: got %+v (%v), want %+v", c.name, got, is, c.want)
		}
	}
}

// The sum names the first silent executors of its parts, and counts all.
func TestSilentIsSummed(t *testing.T) {
	part := func(from, n uint32) *message.Stats {
		s := &message.Stats{SilentSum: n}
		for i := range n {
			s.Silent = append(s.Silent, message.Silent{Worker: "w", Core: from + i, Requests: 1})
		}
		return s
	}
	sum, err := Sum([]*message.Stats{part(0, 10), nil, part(10, 0), part(10, 10)})
	if err != nil || sum.SilentSum != 20 || len(sum.Silent) != SilentMax || sum.Silent[SilentMax-1].Core != SilentMax-1 {
		t.Errorf("got %v of %d: %v", sum.Silent, sum.SilentSum, err)
	}
}
