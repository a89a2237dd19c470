package schedule

// start is a future iteration.
type start struct {
	due int64
	vu  int32
}

// heap holds starts, the earliest first. A node has four children: half the levels, and the
// children of a node share a cache line.
type heap []start

func (s heap) nextDue() int64 {
	if len(s) == 0 {
		return Never
	}
	return s[0].due
}

func (s *heap) push(x start) {
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

func (s *heap) pop() start {
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
