package transport

import "hyperscale/core/node"

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
