package checker_test

import (
	"testing"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
)

// E: best effort leaves out what is late, not what is early; of what it leaves out nothing counts, and
// enough others complete. What a client stops is not judged.
func TestBestEffortIsJudged(t *testing.T) {
	job := message.JobOf("k")
	second := func(n int) checker.Record { return checker.Record{At: time.Duration(n) * time.Second, Node: "g1"} }
	with := func(r checker.Record, e any) checker.Record {
		switch v := e.(type) {
		case event.JobChanged:
			r.Event = v
		case event.SubjobGivenUp:
			r.Event = v
		case event.SubjobCounted:
			r.Event = v
		case event.WorkflowAborted:
			r.Event = v
		}
		return r
	}
	dispatched := func(c *checker.Checker) {
		c.Observe(with(second(1), event.JobChanged{Job: job, From: message.JobQueued, To: message.JobDispatching}))
	}
	late := event.SubjobGivenUp{Job: job, Datacenter: "c", State: message.JobCancelled}
	//lint:orderfree each row is judged by itself
	for name, row := range map[string]struct {
		wants bool
		play  func(c *checker.Checker)
		fails bool
	}{
		"in time": {true, func(c *checker.Checker) { dispatched(c); c.Observe(with(second(11), late)) }, false},
		"by a slow clock": {true, func(c *checker.Checker) {
			dispatched(c)
			c.Observe(with(checker.Record{At: 10800 * time.Millisecond, Node: "g1"}, late))
		}, false},
		"too early":           {true, func(c *checker.Checker) { dispatched(c); c.Observe(with(second(10), late)) }, true},
		"before any dispatch": {true, func(c *checker.Checker) { c.Observe(with(second(20), late)) }, true},
		"failed is not late": {true, func(c *checker.Checker) {
			dispatched(c)
			f := late
			f.State = message.JobFailed
			c.Observe(with(second(2), f))
		}, false},
		"its starts count": {true, func(c *checker.Checker) { dispatched(c); f := late; f.Started = 3; c.Observe(with(second(11), f)) }, true},
		"its late result": {true, func(c *checker.Checker) {
			dispatched(c)
			c.Observe(with(second(11), late))
			c.Observe(with(second(12), event.SubjobCounted{Job: job, Datacenter: "c", State: message.JobCompleted}))
		}, true},
		"a condition stopped it": {true, func(c *checker.Checker) {
			dispatched(c)
			c.Observe(with(second(2), event.WorkflowAborted{Job: job}))
			c.Observe(with(second(3), late))
		}, false},
		"too few": {true, func(c *checker.Checker) {
			c.Delivered(second(20), checker.Delivery{Job: job, State: message.JobCompleted, Subjobs: 1, Missing: 2})
		}, true},
		"no submission allowed it": {false, func(c *checker.Checker) {
			c.Delivered(second(20), checker.Delivery{Job: job, State: message.JobCompleted, Subjobs: 2, Missing: 1})
		}, true},
		"another one's job": {false, func(c *checker.Checker) { c.Observe(with(second(20), late)) }, false},
	} {
		c := checker.New()
		if row.wants {
			c.Effort(job, checker.Effort{Least: 2, After: 10 * time.Second})
		}
		row.play(c)
		found := false
		for _, v := range c.Violations() {
			found = found || v.Invariant == "E"
		}
		if found != row.fails {
			t.Errorf("%s: E broken %v, want %v: %v", name, found, row.fails, c.Violations())
		}
	}
}
