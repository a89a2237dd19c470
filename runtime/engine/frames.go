package engine

import (
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
)

// Framed is the slot's request as the run's protocol sends it. Those of a step are made once, unless it has values
// in it.
func (q *requests) Framed(index int32) *codec.Operation {
	n := q.Slots.At(index)
	if s := &q.g.steps[n.Step]; s.call != nil && n.Call == s.call && s.call.Template == nil {
		if s.framed == nil {
			s.framed = new(codec.Operation)
			q.g.protocol.Compile(s.framed, s.call)
		}
		n.Framed = s.framed
		return n.Framed
	}
	if n.Own == nil {
		n.Own = new(pool.OwnOperation)
	}
	n.Framed = &n.Own.Operation
	q.Outgoing(index)
	q.g.protocol.Compile(&n.Own.Operation, q.undressed(n))
	// The body is sent by and by, and where it lies is filled for others meanwhile.
	n.Own.Copy = append(n.Own.Copy[:0], n.Own.Body...)
	n.Own.Body = n.Own.Copy
	return n.Framed
}
