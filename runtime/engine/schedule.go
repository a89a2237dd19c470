package engine

// start is an iteration to come.
type start struct {
	due int64
	vu  int32
}

// schedule is a heap of starts, the earliest first. Four children a node: half the levels,
// and those of one node share a line of the cache.
type schedule []start

func (s schedule) nextDue() int64 {
	if len(s) == 0 {
		return never
	}
	return s[0].due
}

func (s *schedule) push(x start) {
	*s = append(*s, x)
	h := *s
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if h[parent].due <= x.due {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = x
}

func (s *schedule) pop() start {
	h := *s
	top, x := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*s = h
	if len(h) == 0 {
		return top
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= len(h) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(h)); c++ {
			if h[c].due < h[least].due {
				least = c
			}
		}
		if h[least].due >= x.due {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = x
	return top
}

// fifo is a queue in a ring.
type fifo[T any] struct {
	ring  []T // its length is a power of two
	at    int
	count int
}

func (f *fifo[T]) len() int { return f.count }

func (f *fifo[T]) push(x T) {
	if f.count == len(f.ring) {
		grown := make([]T, max(16, 2*len(f.ring)))
		for i := range f.count {
			grown[i] = f.ring[(f.at+i)&(len(f.ring)-1)]
		}
		f.ring, f.at = grown, 0
	}
	f.ring[(f.at+f.count)&(len(f.ring)-1)] = x
	f.count++
}

// first is the one that pop would return.
func (f *fifo[T]) first() T { return f.ring[f.at] }

func (f *fifo[T]) pop() T {
	x := f.ring[f.at]
	f.at = (f.at + 1) & (len(f.ring) - 1)
	f.count--
	return x
}
