package lease

import (
	"hyperscale/core/node"
)

// dueQueue orders items by the instant at which they are due. If an item becomes due later than
// its entry says, the queue finds that when the entry is first, and puts it back. So ten
// thousand renewals move no entry.
type dueQueue[T any] struct {
	entries  []dueEntry[T]
	sequence uint64
	armed    node.Instant // what the timer is set to; 0 when it is not
	busy     bool         // a caller visits the due entries: the queue arms its timer after that
}

type dueEntry[T any] struct {
	at       node.Instant
	sequence uint64
	item     T
}

func (q *dueQueue[T]) less(i, j int) bool {
	a, b := &q.entries[i], &q.entries[j]
	return a.at < b.at || a.at == b.at && a.sequence < b.sequence
}

func (q *dueQueue[T]) push(at node.Instant, item T) {
	q.sequence++
	q.entries = append(q.entries, dueEntry[T]{at, q.sequence, item})
	for i := len(q.entries) - 1; i > 0; {
		parent := (i - 1) / 2
		if !q.less(i, parent) {
			return
		}
		q.entries[i], q.entries[parent] = q.entries[parent], q.entries[i]
		i = parent
	}
}

// pop returns the first item whose entry is at or before now.
func (q *dueQueue[T]) pop(now node.Instant) (item T, at node.Instant, ok bool) {
	if len(q.entries) == 0 || q.entries[0].at > now {
		return item, 0, false
	}
	first := q.entries[0]
	last := len(q.entries) - 1
	q.entries[0] = q.entries[last]
	q.entries[last] = dueEntry[T]{}
	q.entries = q.entries[:last]
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < last && q.less(child, least) {
				least = child
			}
		}
		if least == i {
			return first.item, first.at, true
		}
		q.entries[i], q.entries[least] = q.entries[least], q.entries[i]
		i = least
	}
}

// arm sets the one timer of the queue to its first entry.
func (q *dueQueue[T]) arm(env node.Env, kind uint8) {
	if q.busy || len(q.entries) == 0 || q.entries[0].at == q.armed {
		return
	}
	q.armed = q.entries[0].at
	env.SetTimer(node.Key(node.PartLease, kind), max(q.armed.Sub(env.Now()), 0))
}

// fired begins a visit of the due items; the caller arms the queue afterwards.
func (q *dueQueue[T]) fired() { q.armed, q.busy = 0, true }

func (q *dueQueue[T]) rearm(env node.Env, kind uint8) {
	q.busy = false
	q.arm(env, kind)
}
