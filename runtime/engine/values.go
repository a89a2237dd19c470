package engine

import (
	"bytes"
	"errors"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/extract"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/http1"
)

// values fill requests: those of each virtual user's iteration, of the feed's row or taken from
// answers. A step only starts behind all that it waits for, so that what it needs is there.
type values struct {
	n    int      // of one user
	all  [][]byte // of user 0, of user 1, ...: each keeps its memory for the next iteration
	view extract.View

	filled []byte     // the request that was filled last,
	head   int        // with a head of so many bytes,
	call   http1.Call // as a call, if it was asked for,
	index  int32      // for this slot
	serial uint32
	rest   map[int32][]byte // by slot: requests of which the kernel did not take all at once
}

func newValues(cfg Config) values {
	n := len(cfg.Workflow.Vars)
	return values{n: n, all: make([][]byte, int(cfg.VUs)*n), index: pool.None, rest: map[int32][]byte{}}
}

func (v *values) of(vu int32) [][]byte { return v.all[int(vu)*v.n : (int(vu)+1)*v.n] }

// set keeps a copy of a value.
func (v *values) set(vu int32, i int, value []byte) {
	own := &v.of(vu)[i]
	*own = append((*own)[:0], value...)
}

// refused is a value that cannot stand where a request wants it.
func refused(err error) error {
	detail := err.Error()
	var input *http1.InputError
	if errors.As(err, &input) {
		detail = input.Error()
	}
	return &http1.Error{Kind: http1.KindValue, Detail: detail}
}

// fill makes the request of a slot. It stays in a buffer that all share until
// another one is filled.
func (q *requests) fill(index int32) error {
	n, v := q.Slots.At(index), &q.values
	v.index = pool.None
	b, head, err := n.Call.Fill(v.filled[:0], v.of(n.VU))
	if v.filled, v.head = b, head; err != nil {
		return refused(err)
	}
	v.index, v.serial = index, n.Serial
	return nil
}

// filledCall is the request of a slot for who looks into it: a redirect, a person.
func (q *requests) filledCall(n *pool.RequestSlot) *http1.Call {
	b, head, err := n.Call.Fill(nil, q.values.of(n.VU))
	if err != nil {
		return n.Call // Send ends the same way
	}
	call := n.Call.At(b, head)
	return &call
}

// undressed is the request of a slot as it was written, or has just been filled.
func (q *requests) undressed(n *pool.RequestSlot) *http1.Call {
	if n.Call.Template == nil {
		return n.Call
	}
	q.values.call = n.Call.At(q.values.filled, q.values.head)
	return &q.values.call
}

// Outgoing is what a slot sends.
func (q *requests) Outgoing(index int32) []byte {
	n, v := q.Slots.At(index), &q.values
	if n.Call.Template == nil {
		return n.Call.Bytes
	}
	if b := v.rest[index]; b != nil && n.Sent > 0 {
		return b
	}
	if v.index != index || v.serial != n.Serial {
		_ = q.fill(index) // send has tried: the same values fit again
	}
	return v.filled
}

// KeepRest keeps a filled request of which a part is sent: a value of it may change.
func (q *requests) KeepRest(index int32, b []byte) {
	if n := q.Slots.At(index); n.Call.Template != nil && n.Sent > 0 && n.Sent < len(b) && &b[0] == &q.values.filled[0] {
		q.values.rest[index] = bytes.Clone(b)
	}
}

// forgetRest drops it: the request has ended.
func (q *requests) forgetRest(index int32) {
	if len(q.values.rest) > 0 {
		delete(q.values.rest, index)
	}
}

// reclaim takes back what an answer was kept in.
func (q *requests) reclaim(n *pool.RequestSlot) {
	if c := n.Parser.Collector(); c != nil {
		q.collectors = append(q.collectors, c)
		n.Parser.Reset(n.Call.Method)
	}
}

// judge counts a whole answer of a request step, by its status or as the step expects, and
// takes the values from it. It tells why it failed if that is not its status.
func (q *requests) judge(vu int32, step int16, r *extract.View, t *measure.Times) (good bool, kind http1.Kind, why string) {
	s, a := &q.g.steps[step], &q.accounts[step]
	if !s.looks || r.Status >= 400 && !s.judges {
		return a.Answered(r.Status, t), http1.KindNone, ""
	}
	from := &q.cfg.Workflow.Steps[step]
	if s.reads.body {
		kind, why = q.decodeView(r)
	}
	if kind == http1.KindNone {
		kind = http1.KindExpect
		if why = from.Judge(r); why == "" {
			why = q.extract(vu, from, r)
		}
	}
	return a.Expected(r.Status, t, kind, why), kind, why
}

// extract takes values from an answer, all or none.
func (q *requests) extract(vu int32, s *workflow.Step, r *extract.View) string {
	for i := range s.Extract {
		e := &s.Extract[i]
		value, ok, why := e.From(r)
		if !ok {
			return why
		}
		q.values.set(vu, e.Var, value)
		if q.functions.script != nil {
			q.functions.scriptOf(vu).SetVar(e.Var, value)
		}
	}
	return ""
}
