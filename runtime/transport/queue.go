package transport

import (
	"time"

	"hyperscale/core/node"
)

// queue holds messages that wait for the socket: one list for each priority.
type queue struct {
	lines [node.Priorities]line
	bytes int // of all lines, as they will be on the wire
}

type line struct {
	waiting []waiting
	head    int
}

type waiting struct {
	m    node.Message
	size int
}

func (q *queue) push(m node.Message, size int) {
	l := &q.lines[m.Priority()]
	if l.head > 0 && len(l.waiting) == cap(l.waiting) {
		// Move up instead of growing: a line that is never empty stays small.
		n := copy(l.waiting, l.waiting[l.head:])
		clear(l.waiting[n:])
		l.waiting, l.head = l.waiting[:n], 0
	}
	l.waiting = append(l.waiting, waiting{m, size})
	q.bytes += size
}

// take moves messages behind batch, the highest priority first, until they are
// about enough bytes.
func (q *queue) take(batch []node.Message, enough int) []node.Message {
	bytes := 0
	for p := range q.lines {
		l := &q.lines[p]
		for l.head < len(l.waiting) && bytes < enough {
			w := &l.waiting[l.head]
			batch = append(batch, w.m)
			bytes += w.size
			*w = waiting{}
			l.head++
		}
		if l.head == len(l.waiting) {
			l.waiting, l.head = l.waiting[:0], 0
		}
	}
	q.bytes -= bytes
	return batch
}

// take returns the next guest, and why it is its turn.
func (h *hall) take() (g *guest, why cause) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.turns) == 0 {
		return nil, 0
	}
	l := h.turns[0]
	g = l.waiting[0]
	l.waiting = pop(l.waiting)
	if h.turns = pop(h.turns); len(l.waiting) > 0 {
		h.turns = append(h.turns, l)
	}
	why, g.why = g.why, 0
	return g, why
}

// pop drops the first one, and keeps the memory of a queue that empties.
func pop[T any](l []*T) []*T {
	l[0] = nil
	if len(l) == 1 {
		return l[:0]
	}
	return l[1:]
}

// A hall that serves as many workers as hallMany, and no client, lets their messages gather between two looks. A
// heartbeat a second may wait that long, and so may its answer.
const (
	hallMany   = 1000
	hallGather = 2 * time.Millisecond
)

// gathers says whether the hall lets messages gather before it looks again: each look at one message costs more than
// the message.
func (h *hall) gathers() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.turns) == 0 && h.workers >= hallMany && h.workers == len(h.guests) && !h.over
}
