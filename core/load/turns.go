package load

// Turns iterates over the numbers of iterations that belong to the users of one executor: its
// share of anything that is distributed like iterations.
type Turns struct {
	spread       Spread
	first, n     uint64
	number, user uint64 // the next one, of any executor
}

// NewTurns returns the turns of users [first, first+n), of at least one in vus.
func NewTurns(vus, first, n uint64) Turns {
	s := NewSpread(vus)
	first = min(first, s.vus-1)
	return Turns{spread: s, first: first, n: max(1, min(n, s.vus-first))}
}

// Next returns the next number.
func (t *Turns) Next() uint64 {
	k := t.Peek()
	t.step()
	return k
}

// Peek returns the number that Next will return.
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
