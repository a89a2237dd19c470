package load

// Turns are the numbers of iterations that belong to the users of one executor, one after
// the other: what it takes of something that is dealt as iterations are.
type Turns struct {
	spread       Spread
	first, n     uint64
	number, user uint64 // the next one, whoever has it
}

// NewTurns returns those of users [first, first+n), one of vus at least.
func NewTurns(vus, first, n uint64) Turns {
	s := NewSpread(vus)
	first = min(first, s.vus-1)
	return Turns{spread: s, first: first, n: max(1, min(n, s.vus-first))}
}

// Next is the next number.
func (t *Turns) Next() uint64 {
	k := t.Peek()
	t.step()
	return k
}

// Peek is what Next will be.
func (t *Turns) Peek() uint64 {
	for t.user-t.first >= t.n {
		t.step()
	}
	return t.number
}

func (t *Turns) step() {
	t.number++
	if t.user += t.spread.stride; t.user >= t.spread.vus {
		t.user -= t.spread.vus
	}
}
