package queue

// Queue gives its elements back in the order in which they were pushed.
type Queue[T any] struct {
	ring  []T // its length is a power of two
	at    int
	count int
}

// Len counts what is in it.
func (f *Queue[T]) Len() int { return f.count }

// Push adds an element behind the others.
func (f *Queue[T]) Push(x T) {
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

// First is the one that Pop would return.
func (f *Queue[T]) First() T { return f.ring[f.at] }

// Pop takes the first element; there must be one.
func (f *Queue[T]) Pop() T {
	x := f.ring[f.at]
	f.at = (f.at + 1) & (len(f.ring) - 1)
	f.count--
	return x
}
