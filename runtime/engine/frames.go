package engine

import (
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/http2"
)

// Framed is the slot's request in frames. Those of a step are made once, unless it has values
// in it.
func (q *requests) Framed(index int32) *http2.Call {
	n := q.Slots.At(index)
	if s := &q.g.steps[n.Step]; s.call != nil && n.Call == s.call && s.call.Template == nil {
		if s.framed == nil {
			s.framed = new(http2.Call)
			s.framed.Convert(s.call)
		}
		n.Framed = s.framed
		return n.Framed
	}
	if n.Own == nil {
		n.Own = new(pool.OwnCall)
	}
	n.Framed = &n.Own.Call
	q.Outgoing(index)
	n.Own.Convert(q.undressed(n))
	// The body is sent by and by, and where it lies is filled for others meanwhile.
	n.Own.Copy = append(n.Own.Copy[:0], n.Own.Body...)
	n.Own.Body = n.Own.Copy
	return n.Framed
}
