package linear

import (
	"cmp"
	"fmt"
	"slices"
)

// sweep finds all ways in which a window may have happened, in one pass over its calls and
// returns. When an operation returns, it must have taken effect, after any of those that were
// open beside it (just-in-time linearization, Lowe 2017). The pass knows every operation's
// result in advance, so it is exact.
type sweep[S comparable, O any] struct {
	p       *Partition[S, O]
	slots   []int // operation by slot, -1 for none
	configs []config[S]
	known   map[config[S]]bool // of the current step
	work    []config[S]
	left    []config[S]
	crowded bool // two were open at once

	at        int // operation of the problem
	problem   string
	undecided bool
}

// moment is a call or a return.
type moment struct {
	seq uint64
	op  int
	end bool
}

func newSweep[S comparable, O any](p *Partition[S, O]) *sweep[S, O] {
	s := &sweep[S, O]{p: p, configs: slices.Clone(p.start), known: map[config[S]]bool{}}
	for i := range p.carried {
		s.slots = append(s.slots, i)
	}
	return s
}

func (s *sweep[S, O]) run() {
	for _, m := range moments(s.p.ops, s.p.carried) {
		switch {
		case !m.end:
			s.call(m.op)
		case s.lone(m.op):
			s.alone(m.op)
		default:
			s.crowded = true
			s.end(m.op)
		}
		if s.problem != "" {
			return
		}
	}
}

// moments returns calls and returns in the order of real time. At one moment calls
// come first: intervals are closed.
func moments[O any](ops []operation[O], carried int) []moment {
	all := make([]moment, 0, 2*len(ops))
	for i := range ops {
		if ops[i].fate == dropped {
			continue
		}
		if i >= carried {
			all = append(all, moment{ops[i].call, i, false})
		}
		if ops[i].fate == returned {
			all = append(all, moment{ops[i].end, i, true})
		}
	}
	slices.SortFunc(all, func(a, b moment) int {
		switch {
		case a.seq != b.seq:
			return cmp.Compare(a.seq, b.seq)
		case a.end != b.end && b.end:
			return -1
		case a.end != b.end:
			return 1
		}
		return cmp.Compare(a.op, b.op)
	})
	return all
}

// mostOpen returns the largest number of concurrent operations.
func mostOpen[O any](ops []operation[O]) int {
	now, most := 0, 0
	for _, m := range moments(ops, 0) {
		if m.end {
			now--
			continue
		}
		now++
		most = max(most, now)
	}
	return most
}

func (s *sweep[S, O]) call(i int) {
	slot := slices.Index(s.slots, -1)
	if slot < 0 {
		if len(s.slots) == openMax && !s.prune() {
			s.give(i, fmt.Sprintf("more than %d operations are open at once", openMax))
			return
		}
		if slot = slices.Index(s.slots, -1); slot < 0 {
			slot, s.slots = len(s.slots), append(s.slots, -1)
		}
	}
	s.slots[slot] = i
}

// prune frees the slots of abandoned operations that can no longer change anything.
func (s *sweep[S, O]) prune() (freed bool) {
	for slot, i := range s.slots {
		if i >= 0 && s.p.ops[i].fate == abandoned && s.spent(slot) {
			s.free(slot)
			freed = true
		}
	}
	return freed
}

// spent reports that the abandoned operation of a slot has happened or become idle, in every
// configuration.
func (s *sweep[S, O]) spent(slot int) bool {
	o := &s.p.ops[s.slots[slot]].o
	for _, c := range s.configs {
		if c.done&(1<<slot) == 0 && !s.p.model.Idle(c.state, o) {
			return false
		}
	}
	return true
}

func (s *sweep[S, O]) free(slot int) {
	s.slots[slot] = -1
	for i := range s.configs {
		s.configs[i].done &^= 1 << slot
	}
}

// lone reports that no other operation is open.
func (s *sweep[S, O]) lone(i int) bool {
	for _, other := range s.slots {
		if other >= 0 && other != i {
			return false
		}
	}
	return true
}

// alone is end for the usual case that no other operation is open, without a search.
func (s *sweep[S, O]) alone(i int) {
	o, left := &s.p.ops[i].o, s.configs[:0]
	before := s.configs[0].state
	for _, c := range s.configs {
		if c.done != 0 { // it took effect while others were open
			left = append(left, config[S]{state: c.state})
		} else if next, ok := s.p.model.Step(c.state, o, true); ok {
			left = append(left, config[S]{state: next})
		}
	}
	if s.slots[slices.Index(s.slots, i)] = -1; len(left) == 0 {
		s.impossible(i, before)
		return
	}
	s.configs = left
	s.merge()
}

// end makes the operation take effect in every possible way.
func (s *sweep[S, O]) end(i int) {
	slot := slices.Index(s.slots, i)
	s.work, s.left = append(s.work[:0], s.configs...), s.left[:0]
	clear(s.known)
	for len(s.work) > 0 {
		c := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		if s.known[c] {
			continue
		}
		s.known[c] = true
		if len(s.known) > configsMax {
			s.give(i, fmt.Sprintf("more than %d orders are possible", configsMax))
			return
		}
		if c.done&(1<<slot) != 0 {
			s.left = append(s.left, c)
			continue
		}
		s.spread(c)
	}
	if len(s.left) == 0 {
		s.impossible(i, s.configs[0].state)
		return
	}
	s.configs, s.left = s.left, s.configs
	s.free(slot)
	s.prune()
	s.merge()
}

// spread makes each open operation that has not taken effect in c do so next.
func (s *sweep[S, O]) spread(c config[S]) {
	for slot, i := range s.slots {
		if i < 0 || c.done&(1<<slot) != 0 {
			continue
		}
		o := &s.p.ops[i]
		next, ok := s.p.model.Step(c.state, &o.o, o.fate == returned)
		if !ok || o.fate == abandoned && next == c.state {
			continue
		}
		s.work = append(s.work, s.settled(config[S]{c.done | 1<<slot, next}))
	}
}

// settled marks abandoned operations that can no longer change anything as done. Of n failed
// tries, each under a higher token, only the highest matters, and not which of the 2^n subsets
// of the others came before it.
func (s *sweep[S, O]) settled(c config[S]) config[S] {
	for slot, i := range s.slots {
		if i >= 0 && c.done&(1<<slot) == 0 && s.p.ops[i].fate == abandoned && s.p.model.Idle(c.state, &s.p.ops[i].o) {
			c.done |= 1 << slot
		}
	}
	return c
}

// merge drops configurations that have become equal.
func (s *sweep[S, O]) merge() {
	if len(s.configs) == 1 {
		return
	}
	clear(s.known)
	s.configs = slices.DeleteFunc(s.configs, func(c config[S]) bool {
		twice := s.known[c]
		s.known[c] = true
		return twice
	})
}

func (s *sweep[S, O]) impossible(i int, state S) {
	o := &s.p.ops[i]
	s.at = i
	s.problem = fmt.Sprintf("%s by %s from %v to %v fits into no order of what happened (the state may have been %s)",
		s.p.model.Operation(&o.o, true), o.from.Node, o.from.At, o.to.At, s.p.model.State(state))
}

func (s *sweep[S, O]) give(i int, why string) {
	s.at, s.problem, s.undecided = i, "undecided: "+why, true
}
