package engine

import (
	"bytes"
	"errors"
	"slices"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/extract"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/http1"
)

// values fill requests: values of each virtual user's iteration, of the feed's row, or from
// answers. A step starts only after its dependencies, so its values exist.
type values struct {
	n    int      // of one user
	all  [][]byte // of user 0, of user 1, ...: each reuses its memory in the next iteration
	view extract.View

	filled http1.Message // the request that was filled last
	call   http1.Call    // as a call, if one was requested
	index  int32         // its slot
	serial uint32
	rest   map[int32]http1.Message // by slot: requests that the kernel has taken in part
}

func newValues(cfg Config) values {
	n := len(cfg.Workflow.Vars)
	return values{n: n, all: make([][]byte, int(cfg.VUs)*n), index: pool.None, rest: map[int32]http1.Message{}}
}

func (v *values) of(vu int32) [][]byte { return v.all[int(vu)*v.n : (int(vu)+1)*v.n] }

// set stores a copy of a value.
func (v *values) set(vu int32, i int, value []byte) {
	own := &v.of(vu)[i]
	*own = append((*own)[:0], value...)
}

// refused returns the error for a value that is illegal at its place in a request.
func refused(err error) error {
	detail := err.Error()
	var input *http1.InputError
	if errors.As(err, &input) {
		detail = input.Error()
	}
	return &http1.Error{Kind: http1.KindValue, Detail: detail}
}

// fill builds the request of a slot in a shared buffer, where it stays until the next one is
// filled.
func (q *requests) fill(index int32) error {
	n, v := q.Slots.At(index), &q.values
	v.index = pool.None
	b, head, err := n.Call.Fill(v.filled.Bytes[:0], v.of(n.VU))
	if v.filled.Bytes, v.filled.Head = b, head; err != nil {
		return refused(err)
	}
	v.filled.Inserts = n.Call.Placed(v.filled.Inserts[:0], v.of(n.VU))
	v.index, v.serial = index, n.Serial
	return nil
}

// filledCall returns the request of a slot as a call, for a redirect or for display.
func (q *requests) filledCall(n *pool.RequestSlot) *http1.Call {
	b, head, err := n.Call.Fill(nil, q.values.of(n.VU))
	if err != nil {
		return n.Call // Send ends the same way
	}
	call := n.Call.At(http1.Message{Bytes: b, Head: head, Inserts: n.Call.Placed(nil, q.values.of(n.VU))})
	return &call
}

// undressed returns the request of a slot as written, or as just filled.
func (q *requests) undressed(n *pool.RequestSlot) *http1.Call {
	if n.Call.Template == nil {
		return n.Call
	}
	q.values.call = n.Call.At(q.values.filled)
	return &q.values.call
}

// Outgoing returns what a slot sends.
func (q *requests) Outgoing(index int32) http1.Message {
	n, v := q.Slots.At(index), &q.values
	if n.Call.Template == nil {
		return n.Call.Message()
	}
	if m, ok := v.rest[index]; ok && n.Sent > 0 {
		return m
	}
	if v.index != index || v.serial != n.Serial {
		_ = q.fill(index) // send has tried: the same values fit again
	}
	return v.filled
}

// KeepRest copies a filled request of which a part is sent, because its values may change.
func (q *requests) KeepRest(index int32, m http1.Message) {
	if n := q.Slots.At(index); n.Call.Template != nil && n.Sent > 0 && n.Sent < m.Len() && &m.Bytes[0] == &q.values.filled.Bytes[0] {
		m.Bytes, m.Inserts = bytes.Clone(m.Bytes), slices.Clone(m.Inserts)
		q.values.rest[index] = m
	}
}

// forgetRest drops that copy: the request has ended.
func (q *requests) forgetRest(index int32) {
	if len(q.values.rest) > 0 {
		delete(q.values.rest, index)
	}
}

// reclaim takes back an answer's memory.
func (q *requests) reclaim(n *pool.RequestSlot) {
	if c := n.Parser.Collector(); c != nil {
		q.collectors = append(q.collectors, c)
		n.Parser.Reset(n.Call.Method)
	}
}

// judge counts a complete answer of a request step as good or bad, by its status or by what the
// step expects, and extracts its values. It returns why it failed, if the reason is not its
// status.
func (q *requests) judge(vu int32, step int16, r *extract.View, t *measure.Times) (good bool, kind http1.Kind, why string) {
	s, a := &q.g.steps[step], &q.accounts[step]
	if !s.looks || r.Status >= 400 && !s.judges {
		return a.Answered(r.Status, t), http1.KindNone, ""
	}
	from := &q.cfg.Workflow.Steps[step]
	if s.reads.body {
		kind, why = q.decodeView(s.request, r)
	}
	if kind == http1.KindNone {
		kind = http1.KindExpect
		if why = from.Judge(r); why == "" {
			why = q.extract(vu, from, r)
		}
	}
	return a.Expected(r.Status, t, kind, why), kind, why
}

// extract extracts the values of an answer, all or none.
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
