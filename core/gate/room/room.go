package room

import "fmt"

// Of a bound these shares, in percent, make it near and far again.
const (
	nearPercent = 80
	farPercent  = 75
)

// Bound is how much of a setting is used. Beyond Limit the node rejects requests.
type Bound struct {
	Setting string
	Used    int
	Limit   int
}

// near says whether the bound is near, given whether it was before.
func (b Bound) near(was bool) bool {
	percent := nearPercent
	if was {
		percent = farPercent
	}
	return b.Used >= b.Limit || b.Used*100 >= b.Limit*percent
}

func (b Bound) String() string {
	return fmt.Sprintf("%s = %d is near, %d are used: raise it, beyond it submissions are rejected", b.Setting, b.Limit, b.Used)
}

// Watch remembers which bounds are near, by their index in a fixed list of at most 64.
type Watch struct{ bounds uint64 }

// Near says whether a bound was near when Look last saw it.
func (w *Watch) Near(i int) bool { return w.bounds&(1<<i) != 0 }

// Look judges a bound and says whether that has changed.
func (w *Watch) Look(i int, b Bound) (changed bool) {
	was := w.Near(i)
	if b.near(was) == was {
		return false
	}
	w.bounds ^= 1 << i
	return true
}
