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

// Want is what a reservation asks for.
type Want struct {
	Cores   int // on different cores; TenancyMachine gets all
	Tenancy message.Tenancy
}

// Cores are the cores of one machine.
type Cores struct {
	slots []slot
	held  map[Holder][]int           // in the order in which each got them
	owed  map[message.ShardID]credit // what the executions of a shard owe
}

// slot is one core.
type slot struct {
	tenancy message.Tenancy // of its holders
	holders []Holder        // none: the core is free
}

// credit is how many cores a holder still gets.
type credit struct {
	to Holder
	Want
}

// New returns n free cores.
func New(n int) *Cores {
	return &Cores{slots: make([]slot, n), held: map[Holder][]int{}, owed: map[message.ShardID]credit{}}
}

// Total counts all cores.
func (c *Cores) Total() int { return len(c.slots) }

// Free counts the cores without a holder.
func (c *Cores) Free() (n int) {
	for i := range c.slots {
		if len(c.slots[i].holders) == 0 {
			n++
		}
	}
	return n
}

// Seats counts the places for light shards on cores that such shards share.
func (c *Cores) Seats() (n int) {
	for i := range c.slots {
		if s := &c.slots[i]; len(s.holders) > 0 && s.tenancy == message.TenancyLight {
			n += message.CoreSeats - len(s.holders)
		}
	}
	return n
}

// Reserve gives a holder cores: some now, and later those that earlier executions of its shard
// release. It returns false if there are too few.
func (c *Cores) Reserve(h Holder, w Want) bool {
	if w.Tenancy == message.TenancyMachine {
		w.Cores = len(c.slots)
	}
	if credit := c.owed[h.Shard]; credit.Cores > 0 || len(c.held[h]) > 0 || h.Number == 0 {
		node.Bug("cores: %v reserves %d, while %v is owed %d and it holds %v", h, w.Cores, credit.to, credit.Cores, c.held[h])
	}
	if w.Cores < 1 || w.Cores > c.room(h, w.Tenancy) {
		return false
	}
	for w.Cores > 0 {
		i := c.next(h, w.Tenancy)
		if i < 0 {
			c.owed[h.Shard] = credit{h, w}
			break
		}
		c.take(h, w.Tenancy, i)
		w.Cores--
	}
	return true
}

// room counts the cores that a holder can use now, or once the earlier executions of its shard
// have ended.
func (c *Cores) room(h Holder, t message.Tenancy) (n int) {
	for i := range c.slots {
		s := c.slots[i]
		if !s.admits(h, t) {
			s.holders = slices.DeleteFunc(slices.Clone(s.holders), func(o Holder) bool { return o.Shard == h.Shard })
		}
		if s.admits(h, t) {
			n++
		}
	}
	return n
}

// admits says that a holder can use the core now.
func (s *slot) admits(h Holder, t message.Tenancy) bool {
	switch {
	case len(s.holders) == 0:
		return true
	case s.tenancy != t || slices.Contains(s.holders, h):
		return false
	case t == message.TenancyJob:
		return s.holders[0].Shard.Job == h.Shard.Job
	}
	return t == message.TenancyLight && len(s.holders) < message.CoreSeats
}

// next returns the core that a holder gets now; below 0: none. Light shards fill the cores that
// they share, shards of a job spread over all that they can have.
func (c *Cores) next(h Holder, t message.Tenancy) int {
	best, load := -1, 0
	for i := range c.slots {
		s := &c.slots[i]
		n := len(s.holders)
		if t == message.TenancyLight && n == 0 {
			n = message.CoreSeats // after all that are shared
		}
		if s.admits(h, t) && (best < 0 || n < load) {
			best, load = i, n
		}
	}
	return best
}

func (c *Cores) take(h Holder, t message.Tenancy, core int) {
	s := &c.slots[core]
	s.tenancy, s.holders = t, append(s.holders, h)
	c.held[h] = append(c.held[h], core)
}

// Release frees the cores that a holder has, and drops those that it is owed. If its shard owes
// cores to a holder, that one gets them.
func (c *Cores) Release(h Holder) {
	if c.owed[h.Shard].to == h {
		delete(c.owed, h.Shard)
	}
	for _, core := range slices.Sorted(slices.Values(c.held[h])) {
		c.Leave(h, core)
	}
	delete(c.held, h)
}

// Leave frees one core of a holder, for the one that it is owed to or for all.
func (c *Cores) Leave(h Holder, core int) {
	at := slices.Index(c.held[h], core)
	if at < 0 {
		node.Bug("cores: %v leaves core %d, and holds %v", h, core, c.held[h])
	}
	c.held[h] = slices.Delete(c.held[h], at, at+1)
	s := &c.slots[core]
	s.holders = slices.DeleteFunc(s.holders, func(o Holder) bool { return o == h })
	heir, owed := c.owed[h.Shard]
	if !owed || !s.admits(heir.to, heir.Tenancy) {
		return
	}
	c.take(heir.to, heir.Tenancy, core)
	if heir.Cores--; heir.Cores == 0 {
		delete(c.owed, h.Shard)
	} else {
		c.owed[h.Shard] = heir
	}
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
		sum += credit.Cores
	}
	tell("worker/cores that are taken", len(c.slots)-c.Free(), 0)
	tell("worker/cores of executions", sum, 0)
	tell("worker/holders of cores", len(c.held)+len(c.owed), 0)
}
