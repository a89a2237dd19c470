package engine

import (
	"bytes"
	"errors"

	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/http1"
)

// values fill requests: those of each virtual user's iteration, of the feed's row or taken from
// answers. A step only starts behind all that it waits for, so that what it needs is there.
type values struct {
	n    int      // of one user
	all  [][]byte // of user 0, of user 1, ...: each keeps its memory for the next iteration
	view workflow.View

	filled []byte     // the request that was filled last,
	head   int        // with a head of so many bytes,
	call   http1.Call // as a call, if somebody has asked,
	index  int32      // for this lane
	serial uint32
	rest   map[int32][]byte // by lane: requests of which the kernel did not take all at once
}

func newValues(cfg Config) values {
	n := len(cfg.Workflow.Vars)
	return values{n: n, all: make([][]byte, int(cfg.VUs)*n), index: none, rest: map[int32][]byte{}}
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

// fill makes the request of a lane. It stays in a buffer that all share for as long as
// nobody else's is filled.
func (l *loop) fill(index int32) error {
	n, v := l.lane(index), &l.values
	v.index = none
	b, head, err := n.call.Fill(v.filled[:0], v.of(n.vu))
	if v.filled, v.head = b, head; err != nil {
		return refused(err)
	}
	v.index, v.serial = index, n.serial
	return nil
}

// filledCall is the request of a lane for who looks into it: a redirect, a person.
func (l *loop) filledCall(n *lane) *http1.Call {
	b, head, err := n.call.Fill(nil, l.values.of(n.vu))
	if err != nil {
		return n.call // send comes to the same end
	}
	call := n.call.At(b, head)
	return &call
}

// undressed is the request of a lane as it was written, or has just been filled.
func (l *loop) undressed(n *lane) *http1.Call {
	if n.call.Template == nil {
		return n.call
	}
	l.values.call = n.call.At(l.values.filled, l.values.head)
	return &l.values.call
}

// outgoing is what a lane sends.
func (l *loop) outgoing(index int32) []byte {
	n, v := l.lane(index), &l.values
	if n.call.Template == nil {
		return n.call.Bytes
	}
	if b := v.rest[index]; b != nil && n.sent > 0 {
		return b
	}
	if v.index != index || v.serial != n.serial {
		_ = l.fill(index) // send has tried: the same values fit again
	}
	return v.filled
}

// keepRest keeps a filled request of which a part is sent: a value of it may change.
func (l *loop) keepRest(index int32, b []byte) {
	if n := l.lane(index); n.call.Template != nil && n.sent > 0 && n.sent < len(b) && &b[0] == &l.values.filled[0] {
		l.values.rest[index] = bytes.Clone(b)
	}
}

// forgetRest drops it: the request has ended.
func (l *loop) forgetRest(index int32) {
	if len(l.values.rest) > 0 {
		delete(l.values.rest, index)
	}
}

// collect makes the answer be kept that a request step looks into.
func (l *loop) collect(n *lane) {
	s := &l.g.steps[n.step]
	if (s.readsHead || s.readsBody) && n.parser.Collector() == nil {
		c := l.collector()
		c.HeadOnly = !s.readsBody
		n.parser.Collect(c)
	}
}

// reclaim takes back what an answer was kept in.
func (l *loop) reclaim(n *lane) {
	if c := n.parser.Collector(); c != nil {
		l.collectors = append(l.collectors, c)
		n.parser.Reset(n.call.Method)
	}
}

// judge counts a whole answer of a request step, by its status or as the step expects, and
// takes the values from it. It tells why it failed if that is not its status.
func (l *loop) judge(vu int32, step int16, r *workflow.View, t *measure.Times) (good bool, kind http1.Kind, why string) {
	s, a := &l.g.steps[step], &l.accounts[step]
	if !s.looks || r.Status >= 400 && !s.judges {
		return a.Answered(r.Status, t), http1.KindNone, ""
	}
	from := &l.cfg.Workflow.Steps[step]
	if s.readsBody {
		kind, why = l.decodeView(r)
	}
	if kind == http1.KindNone {
		kind = http1.KindExpect
		if why = from.Judge(r); why == "" {
			why = l.extract(vu, from, r)
		}
	}
	return a.Expected(r.Status, t, kind, why), kind, why
}

// extract takes values from an answer, all or none.
func (l *loop) extract(vu int32, s *workflow.Step, r *workflow.View) string {
	for i := range s.Extract {
		e := &s.Extract[i]
		value, ok, why := e.From(r)
		if !ok {
			return why
		}
		l.values.set(vu, e.Var, value)
		if l.script != nil {
			l.scriptOf(vu).SetVar(e.Var, value)
		}
	}
	return ""
}
