package lab

import (
	"testing"
	"time"

	"hyperscale/core/admission"
	"hyperscale/core/node"
)

// outlook is what a request meets from a server on. Each answer carries it to the server before.
type outlook struct {
	wait  time.Duration
	level admission.Level
}

// outlookFor is how long an outlook counts without another.
const outlookFor = time.Second

// meanPart is that of the door.
const meanPart = 32

// chain is what a door would need in a chain of servers, which the cluster does not have: a gate
// answers a client itself. The first server knows how long later ones let requests wait. Those
// refuse what it admitted only if it would be late.
type chain struct {
	workers int
	waiting [node.Priorities]int
	mean    [node.Priorities]time.Duration // handling time, as the door has it
	holds   map[int32]int                  // requests that wait, by stream
	behind  outlook                        // of later servers, as the last answer said
	heard   node.Instant                   // when
}

func newChain(workers int) *chain { return &chain{workers: workers, holds: map[int32]int{}} }

// wait returns how long a request of a class waits that arrives now.
func (c *chain) wait(class node.Priority) time.Duration {
	sum := time.Duration(0)
	for k := range class + 1 {
		sum += time.Duration(c.waiting[k]) * c.mean[k]
	}
	return sum / time.Duration(c.workers)
}

// later returns the outlook of later servers. The wait shrinks as time passes without an answer: a
// queue that gets nothing drains, and a server that admits nothing hears no answers.
func (c *chain) later(now node.Instant) outlook {
	passed := now.Sub(c.heard)
	if passed > outlookFor {
		return outlook{}
	}
	return outlook{max(0, c.behind.wait-passed), c.behind.level}
}

// late reports whether a request cannot end in time.
func (c *chain) late(now node.Instant, r *request) bool {
	return c.wait(r.class)+c.later(now).wait+c.mean[r.class] > r.deadline.Sub(now)
}

// long reports whether later servers let a request of a class wait too long. Chains get normal
// requests alone.
func (c *chain) long(now node.Instant, level admission.Level, r *request) bool {
	later, left := c.later(now), r.deadline.Sub(now)
	if later.wait == 0 {
		return false // the door decides
	}
	most := admission.Default().Waits[max(level, later.level)]
	limit := min(most, left/2)
	patience := limit
	if c.holds[r.stream] == 0 {
		patience = min(most, left*3/4)
	}
	waiting := 0
	for k := range r.class + 1 {
		waiting += c.waiting[k]
	}
	return later.wait > limit || c.wait(r.class)+later.wait > patience && waiting >= c.workers
}

func (c *chain) hold(r *request) {
	c.waiting[r.class]++
	c.holds[r.stream]++
}

func (c *chain) release(r *request) {
	c.waiting[r.class]--
	if c.holds[r.stream]--; c.holds[r.stream] == 0 {
		delete(c.holds, r.stream)
	}
}

func (c *chain) end(class node.Priority, took time.Duration) {
	if c.mean[class] == 0 {
		c.mean[class] = took
		return
	}
	c.mean[class] += (took - c.mean[class]) / meanPart
}

// share returns how many places of the server are taken.
func (c *chain) share() admission.Share {
	return admission.ShareOf(c.waiting[node.High]+c.waiting[node.Normal]+c.waiting[node.Low], admission.Default().Places)
}

// What waits at later servers counts, drains with time, and is forgotten without answers.
func TestLaterServers(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		about string
		at    time.Duration
		level admission.Level
		left  time.Duration
		want  bool
	}{
		{"too late at once", 0, admission.Calm, 300 * ms, false},
		{"300 ms are left of 400 after 100 ms", 100 * ms, admission.Calm, 310 * ms, false},
		{"half of 590 ms is less than 300", 100 * ms, admission.Calm, 590 * ms, false},
		{"half of 600 ms is not", 100 * ms, admission.Calm, 600 * ms, true},
		{"the level of a later server counts", 100 * ms, admission.Stressed, 10 * time.Second, false},
		{"a stressed server's 125 ms are waited for", 275 * ms, admission.Stressed, 10 * time.Second, true},
		{"an outlook ends after a second", time.Second + 1, admission.Emergency, 10 * time.Second, true},
	} {
		o := newOurs(1)
		o.end(0, &request{class: node.Normal}, 0, 10*ms)
		o.hear(0, outlook{400 * ms, c.level})
		now := node.Instant(c.at)
		if got := o.admit(now, &request{class: node.Normal, deadline: now.Add(c.left)}); got != c.want {
			t.Errorf("%s: admitted: %v", c.about, got)
		}
	}
	o := newOurs(1)
	o.end(0, &request{class: node.Normal}, 0, 10*ms)
	for range 3 {
		o.chain.hold(&request{class: node.Normal})
	}
	o.hear(0, outlook{40 * ms, admission.Busy})
	if got, want := o.ahead(node.Instant(10*ms), node.Normal), (outlook{60 * ms, admission.Busy}); got != want {
		t.Errorf("ahead is %v, want %v", got, want)
	}
	for _, left := range []time.Duration{40*ms - 1, 40 * ms} {
		if got := o.admit(node.Instant(time.Minute), &request{class: node.Normal, stage: 1, deadline: node.Instant(time.Minute).Add(left)}); got != (left == 40*ms) {
			t.Errorf("a request that an earlier server admitted, with %v left: %v", left, got)
		}
	}
}
