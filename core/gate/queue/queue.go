package queue

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Bounds are the settings of a gate's queue.
type Bounds struct {
	Timeout time.Duration // how long a job waits while its datacenter is UNHEALTHY
	AgeMax  time.Duration // how long any job waits
	Step    time.Duration // a wait of so long raises a job by one class of importance
}

// Queue holds the jobs that wait.
type Queue struct {
	bounds Bounds
	turns  []*Turn // in the order in which they run
}

// New returns an empty queue.
func New(b Bounds) *Queue { return &Queue{bounds: b} }

// Len counts the waiting jobs.
func (q *Queue) Len() int { return len(q.turns) }

// All lists the turns in the order in which they run.
func (q *Queue) All() []*Turn { return slices.Clone(q.turns) }

// Enter inserts a job at its place and returns the turns whose positions change, including its
// own.
func (q *Queue) Enter(t *Turn, plan *message.Plan, now node.Instant) (moved []*Turn) {
	t.plan = plan
	t.rise(now, q.bounds.Step)
	at, _ := slices.BinarySearchFunc(q.turns, t, before)
	q.turns = slices.Insert(q.turns, at, t)
	return q.renumber(at)
}

// Age raises the jobs that have waited for long, and returns the turns whose positions change.
func (q *Queue) Age(now node.Instant) (moved []*Turn) {
	for _, t := range q.turns {
		t.rise(now, q.bounds.Step)
	}
	slices.SortFunc(q.turns, before)
	return q.renumber(0)
}

// before orders turns: by class, then by the deadline, then by age.
func before(a, b *Turn) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.limit(), b.limit()), cmp.Compare(a.Number, b.Number), a.Job.Compare(b.Job))
}

// Next is how long after now the first deadline of a waiting job is, or most.
func (q *Queue) Next(now node.Instant, most time.Duration) time.Duration {
	for _, t := range q.turns {
		if t.Begin != 0 {
			most = min(most, max(0, t.Begin.Sub(now)))
		}
	}
	return most
}

// Leave removes a job, if it waits, and returns the turns whose positions change.
func (q *Queue) Leave(t *Turn) (moved []*Turn) {
	at := slices.Index(q.turns, t)
	if at < 0 {
		return nil
	}
	q.turns = slices.Delete(q.turns, at, at+1)
	t.position, t.waits, t.plan = 0, "", nil
	return q.renumber(at)
}

// renumber updates the positions from an index on.
func (q *Queue) renumber(from int) (moved []*Turn) {
	for i := from; i < len(q.turns); i++ {
		if t := q.turns[i]; t.position != uint32(i+1) {
			t.position = uint32(i + 1)
			moved = append(moved, t)
		}
	}
	return moved
}

// Verdict says what happens to a waiting job.
type Verdict uint8

// Verdicts of Judge.
const (
	Waits   Verdict = iota
	TooOld          // it has waited for AgeMax
	TooLate         // it has not begun by its deadline
	Nowhere         // it has waited for Timeout, and its datacenter is UNHEALTHY
)

// Judge returns the verdict on a job by its age. It does not judge a job that has left the
// queue: an older job's end may have freed its cores, so that the gate dispatched it.
func (q *Queue) Judge(t *Turn, in *places.Places, now node.Instant) Verdict {
	age := now.Sub(t.Since)
	switch {
	case t.position == 0:
		return Waits
	case t.Begin != 0 && now >= t.Begin:
		return TooLate
	case age >= q.bounds.AgeMax:
		return TooOld
	case age >= q.bounds.Timeout && t.nowhere(in):
		return Nowhere
	}
	return Waits
}
