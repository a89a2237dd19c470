package engine

import (
	"slices"

	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
)

// Framed returns the slot's request in the form of the run's protocol. That of a step is built
// once, unless it contains values.
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
	// The body is sent in pieces, and its buffer is reused meanwhile.
	n.Own.Copy = append(n.Own.Copy[:0], n.Own.Body...)
	n.Own.Inserts = slices.Clone(n.Own.Inserts)
	n.Own.Body = n.Own.Copy
	return n.Framed
}
