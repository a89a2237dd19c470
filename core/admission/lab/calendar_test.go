package lab

import "hyperscale/core/node"

// kind is what an event does.
type kind uint8

const (
	arrives kind = iota // the next request of stream n
	reaches             // request n reaches the server of its stage
	ends                // the server of its stage has handled request n
	ticks               // of server n
)

type event struct {
	at   node.Instant
	seq  uint32 // events of one instant keep their order
	n    int32
	kind kind
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// calendar is a binary heap of events.
type calendar struct {
	heap []event
	seq  uint32
}

func (c *calendar) push(at node.Instant, k kind, n int32) {
	c.seq++
	c.heap = append(c.heap, event{at: at, seq: c.seq, kind: k, n: n})
	h := c.heap
	i := len(h) - 1
	e := h[i]
	for i > 0 && e.before(&h[(i-1)/2]) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = e
}

func (c *calendar) pop() event {
	h := c.heap
	first, e := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	c.heap = h
	i := 0
	for child := 1; child < len(h); child = 2*i + 1 {
		if child+1 < len(h) && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&e) {
			break
		}
		h[i] = h[child]
		i = child
	}
	if len(h) > 0 {
		h[i] = e
	}
	return first
}
