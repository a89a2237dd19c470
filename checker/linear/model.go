package linear

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"hyperscale/core/node"
)

// Model is the sequential object that a history is compared with: S is its state,
// O an operation with its result. All functions are pure.
type Model[S comparable, O any] struct {
	Name string
	// Init is the state at the beginning.
	Init S
	// Step says whether o could have happened in s with its result, and what
	// follows. An operation that never returned (returned is false) can always
	// happen; where it cannot take effect it changes nothing.
	Step func(s S, o *O, returned bool) (S, bool)
	// Idle says that an operation that never returned changes nothing in s nor in
	// whatever may follow s.
	Idle func(s S, o *O) bool
	// Inert says that it changes nothing ever: a read that nobody got.
	Inert func(o *O) bool
	// Operation and State describe for people.
	Operation func(o *O, returned bool) string
	State     func(s S) string
}

// Where says who did something, and when.
type Where struct {
	At          time.Duration
	Node        node.ID
	Incarnation uint64
}

// fate is what became of an operation.
type fate uint8

const (
	pending   fate = iota // it may return yet
	returned              // it did
	abandoned             // it never will: it may have taken effect, or may yet
	dropped               // it had no effect and nobody learnt anything
)

// forever is the return of what never returned.
const forever = 1 << 62

// operation is one of a partition's. Moments are numbers of events, which are
// unique: real time as the observer of all saw it.
type operation[O any] struct {
	o         O
	fate      fate
	call, end uint64
	from, to  Where
}

// porcupine returns the model for a set of states to begin with.
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

// lane is a line of a picture: a node has as many as it had operations open at once.
type lane struct {
	node node.ID
	free uint64 // when its last operation ended
}

// history returns operations as porcupine takes them, without those of skip, and
// the lanes of its picture.
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
