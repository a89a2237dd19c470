package linear

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// Bounds of a partition, in operations, so that a verdict never depends on time.
const (
	cutAt      = 100     // it judges at the next moment at which no operation is open
	twinMax    = 200     // the sweep alone judges longer windows
	twinOpen   = 8       // and those with more concurrent operations
	windowMax  = 4096    // operations without a moment at which none is open: undecided
	openMax    = 64      // concurrent operations: undecided
	configsMax = 1 << 14 // orders to distinguish at one time: undecided
)

// none is the number of an operation that the partition does not record.
const none = -1

// Failure says why a partition does not fit its model.
type Failure struct {
	Undecided bool // it exceeded a bound: the verdict is unknown
	Detail    string
	At        Where
}

// config is one way in which everything so far may have happened: the operations (by slot) that
// took effect without having returned, and the state.
type config[S comparable] struct {
	done  uint64
	state S
}

// Partition is the history of one object.
type Partition[S comparable, O any] struct {
	model   *Model[S, O]
	label   string
	ops     []operation[O]
	start   []config[S] // slots are the first carried operations
	carried int
	open    int
	failure *Failure
	stuck   int // the operation of the failure
}

// NewPartition returns the empty history of an object with a label.
func NewPartition[S comparable, O any](m *Model[S, O], label string) *Partition[S, O] {
	return &Partition[S, O]{model: m, label: label, start: []config[S]{{state: m.Init}}}
}

// Call begins an operation at the moment seq and returns its number, which is valid until it
// ends. A failed partition takes no more operations: it keeps its window for the picture.
func (p *Partition[S, O]) Call(seq uint64, at Where, o O) int {
	if p.failure != nil {
		return none
	}
	p.ops = append(p.ops, operation[O]{o: o, call: seq, end: forever, from: at, to: at})
	p.open++
	return len(p.ops) - 1
}

// Called returns an open operation as it was called, or false if it is not recorded.
func (p *Partition[S, O]) Called(i int) (o O, ok bool) {
	if p.failure != nil {
		return o, false
	}
	return p.ops[i].o, true
}

// Return ends an operation with its result, and judges the window if no other operation is
// open. It returns the failure if the partition fails now.
func (p *Partition[S, O]) Return(i int, seq uint64, at Where, result O) *Failure {
	if p.failure != nil {
		return nil
	}
	p.ops[i].o, p.ops[i].to = result, at
	return p.settle(i, returned, seq)
}

// Drop ends an operation that had no effect and returned nothing.
func (p *Partition[S, O]) Drop(i int) *Failure { return p.settle(i, dropped, forever) }

// Abandon ends an operation that will never return: it may take effect at any time after its
// call, or never.
func (p *Partition[S, O]) Abandon(i int) *Failure {
	if p.failure == nil && p.model.Inert(&p.ops[i].o) {
		return p.settle(i, dropped, forever)
	}
	return p.settle(i, abandoned, forever)
}

func (p *Partition[S, O]) settle(i int, f fate, seq uint64) *Failure {
	if p.failure != nil {
		return nil
	}
	p.ops[i].fate, p.ops[i].end = f, seq
	p.open--
	switch gathered := len(p.ops) - p.carried; {
	case gathered >= cutAt && p.open == 0:
		return p.cut()
	case gathered >= windowMax:
		return p.fail(i, true, fmt.Sprintf("undecided: %d operations without a quiet moment", windowMax))
	}
	return nil
}

// Point adds an operation that begins and ends at one moment.
func (p *Partition[S, O]) Point(seq uint64, at Where, o O) *Failure {
	return p.Return(p.Call(seq, at, o), seq, at, o)
}

// Finish judges the remaining operations: open ones stay open for ever.
func (p *Partition[S, O]) Finish() *Failure {
	if p.failure != nil {
		return nil
	}
	for i := 0; i < len(p.ops); i++ { // the last one may cut
		if p.ops[i].fate == pending {
			if f := p.Abandon(i); f != nil {
				return f
			}
		}
	}
	return p.cut()
}

// Failure returns what is wrong, or nil.
func (p *Partition[S, O]) Failure() *Failure { return p.failure }

// Label returns the object's name.
func (p *Partition[S, O]) Label() string { return p.model.Name + " " + p.label }

func (p *Partition[S, O]) fail(i int, undecided bool, detail string) *Failure {
	p.stuck = i
	p.failure = &Failure{Undecided: undecided, Detail: p.Label() + ": " + detail, At: p.ops[i].to}
	return p.failure
}

// cut judges the window at a moment at which no operation is open. It carries on the set of
// states in which the window may have left the object, and the abandoned operations that may
// still change something.
func (p *Partition[S, O]) cut() *Failure {
	if len(p.ops) == p.carried {
		return nil
	}
	s := newSweep(p)
	if s.run(); s.problem != "" {
		return p.fail(s.at, s.undecided, s.problem)
	}
	if p.small() && s.crowded && !p.twin() {
		return p.fail(len(p.ops)-1, true, "undecided: two judges disagree: the sweep found an order, porcupine none")
	}
	p.carry(s)
	return nil
}

// small reports that porcupine can judge the window within bounds that do not depend on luck.
func (p *Partition[S, O]) small() bool {
	if len(p.ops) > twinMax {
		return false
	}
	return mostOpen(p.ops) <= twinOpen
}

// twin asks porcupine whether the window has an order from any of its initial states.
func (p *Partition[S, O]) twin() bool {
	for _, c := range p.start {
		h, _ := history(p.ops, p.taken(c))
		m := p.model.porcupine(c.state)
		if porcupine.CheckOperations(m, h) {
			return true
		}
	}
	return false
}

// taken returns which carried operations took effect before the window.
func (p *Partition[S, O]) taken(c config[S]) func(i int) bool {
	return func(i int) bool { return i < p.carried && c.done&(1<<i) != 0 }
}

// carry begins the next window.
func (p *Partition[S, O]) carry(s *sweep[S, O]) {
	var keep []operation[O]
	var slots []int
	for slot, i := range s.slots {
		if i < 0 || p.ops[i].fate != abandoned || s.spent(slot) {
			continue
		}
		keep, slots = append(keep, p.ops[i]), append(slots, slot)
	}
	p.start = p.start[:0]
	known := map[config[S]]bool{}
	for _, c := range s.configs {
		next := config[S]{state: c.state}
		for to, from := range slots {
			next.done |= c.done >> from & 1 << to
		}
		if !known[next] {
			known[next] = true
			p.start = append(p.start, next)
		}
	}
	p.carried = len(keep)
	p.ops = append(p.ops[:0], keep...)
}
