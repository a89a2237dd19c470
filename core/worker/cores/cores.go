package cores

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Holder is an execution: its shard, and a unique number.
type Holder struct {
	Shard  message.ShardID
	Number uint64 // from 1
}

// Cores are the cores of one machine.
type Cores struct {
	holder []Holder // of each core; zero: it is free
	free   int
	held   map[Holder][]int           // in the order in which each got them
	owed   map[message.ShardID]credit // what the executions of a shard owe
}

// credit is how many cores a holder still gets.
type credit struct {
	to    Holder
	cores int
}

// New returns n free cores.
func New(n int) *Cores {
	return &Cores{holder: make([]Holder, n), free: n, held: map[Holder][]int{}, owed: map[message.ShardID]credit{}}
}

// Total counts all cores.
func (c *Cores) Total() int { return len(c.holder) }

// Free counts the cores without a holder.
func (c *Cores) Free() int { return c.free }

// Reserve gives a holder cores: free ones now, and later those that earlier executions of its
// shard release. It returns false if there are too few.
func (c *Cores) Reserve(h Holder, want int) bool {
	if credit := c.owed[h.Shard]; credit.cores > 0 || len(c.held[h]) > 0 || h.Number == 0 {
		node.Bug("cores: %v reserves %d, while %v is owed %d and it holds %v", h, want, credit.to, credit.cores, c.held[h])
	}
	if want < 1 || want > c.free+c.of(h.Shard) {
		return false
	}
	for i := range c.holder {
		if want > 0 && c.holder[i] == (Holder{}) {
			want--
			c.free--
			c.take(h, i)
		}
	}
	if want > 0 {
		c.owed[h.Shard] = credit{h, want}
	}
	return true
}

// of counts the cores that the executions of a shard hold.
func (c *Cores) of(s message.ShardID) (n int) {
	for _, h := range c.holder {
		if h.Number > 0 && h.Shard == s {
			n++
		}
	}
	return n
}

func (c *Cores) take(h Holder, core int) {
	c.holder[core] = h
	c.held[h] = append(c.held[h], core)
}

// Release frees the cores that a holder has, and drops those that it is owed. If its shard owes
// cores to a holder, that one gets them.
func (c *Cores) Release(h Holder) {
	if c.owed[h.Shard].to == h {
		delete(c.owed, h.Shard)
	}
	for _, core := range slices.Sorted(slices.Values(c.held[h])) {
		heir, owed := c.owed[h.Shard]
		if !owed {
			c.holder[core] = Holder{}
			c.free++
			continue
		}
		c.take(heir.to, core)
		if heir.cores--; heir.cores == 0 {
			delete(c.owed, h.Shard)
		} else {
			c.owed[h.Shard] = heir
		}
	}
	delete(c.held, h)
}

// Of returns the cores of a holder in the order in which it got them.
func (c *Cores) Of(h Holder) []int { return slices.Clone(c.held[h]) }

// Whole says that a holder is owed nothing.
func (c *Cores) Whole(h Holder) bool { return c.owed[h.Shard].to != h }

// Rests reports the taken cores and the remembered holders, which must be none.
func (c *Cores) Rests(tell node.Tell) {
	sum := 0
	//lint:orderfree a sum
	for _, held := range c.held {
		sum += len(held)
	}
	//lint:orderfree a sum
	for _, credit := range c.owed {
		sum += credit.cores
	}
	tell("worker/cores that are taken", len(c.holder)-c.free, 0)
	tell("worker/cores of executions", sum, 0)
	tell("worker/holders of cores", len(c.held)+len(c.owed), 0)
}
