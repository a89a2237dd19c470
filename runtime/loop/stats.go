package loop

import (
	"sync/atomic"
	"time"

	"hyperscale/core/node"
)

// inputKinds is the number of kinds of node.Input, InputNone included.
const inputKinds = int(node.InputCommandEnd) + 1

// StepBounds are the upper bounds of the buckets of Stats.Steps. A handler should take
// microseconds, which is the first bucket. A node in the last bucket but one looks dead to its
// peers.
func StepBounds() [8]time.Duration {
	return [8]time.Duration{
		10 * time.Microsecond, 50 * time.Microsecond, 200 * time.Microsecond, time.Millisecond,
		5 * time.Millisecond, 25 * time.Millisecond, 250 * time.Millisecond, time.Second,
	}
}

// Stats counts what a loop has done so far, and what waits.
type Stats struct {
	Handled  [inputKinds][node.Priorities]uint64
	Dropped  [node.Priorities]uint64 // messages and commands that found their lane full
	Replaced [node.Priorities]uint64 // messages that a newer one replaced while they waited
	Waiting  [node.Priorities]int
	Steps    [9]uint64     // by StepBounds, the last is what took longer
	StepTime time.Duration // of all steps together
	Running  time.Duration // since the step that runs now began; zero between steps
	Answers  uint64        // answers of telemetry that a slow session did not get
	Streams  int
	Sessions int
}

type counters struct {
	handled  [inputKinds][node.Priorities]atomic.Uint64
	steps    [9]atomic.Uint64
	stepTime atomic.Int64
	began    atomic.Int64 // Instant at which the running step began, 0 between steps
	skipped  atomic.Uint64
}

func (c *counters) add(in *node.Input, took time.Duration) {
	lane := in.Lane()
	c.handled[in.Kind][lane].Add(1)
	c.stepTime.Add(int64(took))
	bounds := StepBounds()
	at := 0
	for at < len(bounds) && took > bounds[at] {
		at++
	}
	c.steps[at].Add(1)
}

// Stats may be called from any goroutine.
func (l *Loop) Stats() Stats {
	var s Stats
	for k := range s.Handled {
		for p := range s.Handled[k] {
			s.Handled[k][p] = l.counters.handled[k][p].Load()
		}
	}
	for i := range s.Steps {
		s.Steps[i] = l.counters.steps[i].Load()
	}
	s.StepTime = time.Duration(l.counters.stepTime.Load())
	if began := l.counters.began.Load(); began != 0 {
		s.Running = l.source.now().Sub(node.Instant(began))
	}
	s.Answers = l.counters.skipped.Load()
	l.inbox.mu.Lock()
	for p := range s.Waiting {
		s.Waiting[p] = l.inbox.box.Waiting(node.Priority(p))
		s.Dropped[p] = l.inbox.box.Dropped(node.Priority(p))
		s.Replaced[p] = l.inbox.box.Counted(node.Priority(p), node.FateReplaced)
	}
	s.Streams = len(l.inbox.streams)
	l.inbox.mu.Unlock()
	l.sessions.mu.Lock()
	s.Sessions = len(l.sessions.open)
	l.sessions.mu.Unlock()
	return s
}
