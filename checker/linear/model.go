package linear

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"hyperscale/core/node"
)

// Model is the sequential object to compare a history with: S is its state, O an operation with
// its result. All functions are pure.
type Model[S comparable, O any] struct {
	Name string
	// Init is the state at the beginning.
	Init S
	// Step reports whether o could have happened in s with its result, and the state after it.
	// An operation that never returned (returned is false) can always happen; if it cannot take
	// effect, it changes nothing.
	Step func(s S, o *O, returned bool) (S, bool)
	// Idle reports that an operation that never returned changes nothing in s, nor in any state
	// that may follow s.
	Idle func(s S, o *O) bool
	// Inert reports that it never changes anything: a read whose result reached no caller.
	Inert func(o *O) bool
	// Operation and State describe them for readers.
	Operation func(o *O, returned bool) string
	State     func(s S) string
}

// Where says which node did something, and when.
type Where struct {
	At          time.Duration
	Node        node.ID
	Incarnation uint64
}

// fate is what happened to an operation.
type fate uint8

const (
	pending   fate = iota // it may still return
	returned              // it did
	abandoned             // it never will: it may have taken effect, or may still
	dropped               // it had no effect, and its caller learnt nothing
)

// forever is the return time of an operation that never returned.
const forever = 1 << 62

// operation is one operation of a partition. Moments are numbers of events, which are unique:
// real time as the observer of all nodes saw it.
type operation[O any] struct {
	o         O
	fate      fate
	call, end uint64
	from, to  Where
}

// porcupine returns the model with a given initial state.
func (m *Model[S, O]) porcupine(from S) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return from },
		Step: func(state, input, output any) (bool, any) {
			next, ok := m.Step(state.(S), input.(*O), output.(bool))
			return ok, next
		},
		DescribeOperation: func(input, output any) string { return m.Operation(input.(*O), output.(bool)) },
		DescribeState:     func(state any) string { return m.State(state.(S)) },
	}
}

// lane is a line of a picture: a node has as many as it had concurrent operations.
type lane struct {
	node node.ID
	free uint64 // when its last operation ended
}

// history returns operations in porcupine's form, without those of skip, and the lanes of its
// picture.
func history[O any](ops []operation[O], skip func(i int) bool) (h []porcupine.Operation, lanes []lane) {
	for i := range ops {
		o := &ops[i]
		if o.fate == dropped || skip(i) {
			continue
		}
		n := slices.IndexFunc(lanes, func(l lane) bool { return l.node == o.from.Node && l.free < o.call })
		if n < 0 {
			n, lanes = len(lanes), append(lanes, lane{node: o.from.Node})
		}
		lanes[n].free = o.end
		h = append(h, porcupine.Operation{
			ClientId: n, Input: &o.o, Output: o.fate == returned, Call: int64(o.call), Return: int64(o.end),
		})
	}
	return h, lanes
}
