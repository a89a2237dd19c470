package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// current returns a configured list as the operator keeps it for the next start: with the addresses that have the
// seats now.
func (s *Cluster) current(list []node.Addr) []node.Addr {
	if len(s.Heirs) == 0 {
		return list
	}
	now := slices.Clone(list)
	for i := range now {
		for to := s.Heirs[now[i]]; to != ""; to = s.Heirs[to] {
			now[i] = to
		}
	}
	return now
}

// Spares are gates and managers of the first datacenter that no set has at first, and the operator who
// gives them the seats of others, one after the other.
type Spares struct {
	*Cluster
	gates, managers spares
}

// spares are those of one set.
type spares struct {
	ids []node.ID
	set []node.Addr // as configured at the nodes that start
}

// NewSpares adds so many gates and managers to a cluster that is built. They start with the sets that
// are configured then.
func NewSpares(s *Cluster, n int) *Spares {
	x := &Spares{Cluster: s}
	for _, id := range s.Gates {
		x.gates.set = append(x.gates.set, s.World.Addr(id))
	}
	for _, id := range s.Managers[:s.topology.Managers] {
		x.managers.set = append(x.managers.set, s.World.Addr(id))
	}
	place := stage.Datacenter(0)
	for i := range n {
		x.gates.ids = append(x.gates.ids, s.addNode(sim.Spec{ID: node.ID(fmt.Sprintf("gate-%d", len(s.Gates)+i+1)), Role: node.RoleGate, Place: place, New: func() node.Machine {
			c := gate.Default()
			if s.topology.Gate != nil {
				s.topology.Gate(&c)
			}
			c.Gates = x.gates.set
			return gate.New(c)
		}}))
		x.managers.ids = append(x.managers.ids, s.addNode(sim.Spec{ID: node.ID(fmt.Sprintf("manager-%s-%d", place, s.topology.Managers+i+1)), Role: node.RoleManager, Place: place, New: func() node.Machine {
			c := manager.Default()
			if s.topology.Manage != nil {
				s.topology.Manage(&c)
			}
			c.Datacenter, c.Gates, c.Managers = place, x.gates.set, x.managers.set
			return manager.New(c)
		}}))
	}
	return x
}

// AllGates and AllManagers list those that may have seats.
func (x *Spares) AllGates() []node.ID { return slices.Concat(x.Gates, x.gates.ids) }

// AllManagers lists those of the first datacenter.
func (x *Spares) AllManagers() []node.ID {
	return slices.Concat(x.Managers[:x.topology.Managers], x.managers.ids)
}

// ReplaceGates plays an operator who replaces so many gates by spare ones, from an instant on. Each one is dead,
// or stopped, before it loses its seat, and many return afterwards. A gap lies between two changes.
func (x *Spares) ReplaceGates(n int, at time.Duration, gap func() time.Duration) {
	(&replacer{Cluster: x.Cluster, spares: &x.gates, left: x.Choose(x.Gates, n), gap: gap}).play(at)
}

// ReplaceManagers does so for managers of the first datacenter.
func (x *Spares) ReplaceManagers(n int, at time.Duration, gap func() time.Duration) {
	(&replacer{Cluster: x.Cluster, spares: &x.managers, left: x.Choose(x.Managers[:x.topology.Managers], n), gap: gap}).play(at)
}

// replacer is an operator who gives the seats of one set away.
type replacer struct {
	*Cluster
	spares *spares
	left   []node.ID // members to replace
	done   int
	gap    func() time.Duration
	joined map[node.ID]bool
	moved  map[node.Addr]uint64 // the version of the last set that a disk took
	orders int                  // that are given before the member runs again; 0: it runs
}

func (c *replacer) play(at time.Duration) {
	of := len(c.left)
	if c.Heirs == nil {
		c.Heirs = map[node.Addr]node.Addr{}
	}
	c.joined, c.moved = map[node.ID]bool{}, map[node.Addr]uint64{}
	c.Witness = append(c.Witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.GroupJoined:
			c.joined[r.Node] = true
		case event.GroupMoved:
			c.moved[c.World.Addr(r.Node)] = e.Version
		}
	})
	c.World.At(at, c.next)
	c.Verdicts = append(c.Verdicts, func() {
		if c.done < of {
			c.Checker.Violate("L", c.Record(c.Clients[0]), "%d of %d seats were given away by the end, and the operator has asked for the next one again and again", c.done, of)
		}
	})
}

// lingers is how long a member that was stopped stays away at most, and how long it runs then.
const lingers = 40 * time.Second

// next replaces the next member. It is stopped once the others say that nothing but the member itself is in the way.
func (c *replacer) next() {
	if len(c.left) > 0 {
		c.ask(c.Rand.Chance(1, 2))
	}
}

// stop stops a member, if it runs: a fault may have ended since.
func (c *replacer) stop(id node.ID, pause bool) {
	switch {
	case !c.World.Alive(id) || c.World.Paused(id):
	case pause:
		c.World.Pause(id)
	default:
		c.World.Crash(id)
	}
}

// run lets a member that was stopped run again, with its disk and the set that it was configured with.
func (c *replacer) run(id node.ID) {
	if c.World.Paused(id) {
		c.World.Resume(id)
	} else if !c.World.Alive(id) {
		c.World.Start(id)
	}
}

// replaced starts the next member in the seat of one that has lost it. Where a majority has the set on disk, the old member
// may return at once; else only once the new one has joined, as another may still be in the old one's set.
func (c *replacer) replaced(known bool) {
	old, spare := c.left[0], c.spares.ids[c.done]
	c.done++
	c.left = c.left[1:]
	was, is := c.World.Addr(old), c.World.Addr(spare)
	set := slices.Clone(c.spares.set)
	set[slices.Index(set, was)] = is
	c.spares.set, c.Heirs[was] = set, is
	c.World.At(c.World.Now()+c.Rand.Duration(0, 5*time.Second), func() { c.World.Start(spare) })
	away, returns := c.Rand.Duration(0, lingers), c.Rand.Chance(2, 3)
	if back := func() { c.linger(old, c.World.Now()+away, returns) }; known {
		back()
	} else {
		c.once(old, spare, back)
	}
	c.World.At(c.World.Now()+c.gap(), c.next)
}

// once waits until a new member has joined. Meanwhile the operator keeps the old one stopped, also where a fault starts
// it again: a member that hears it stays in the old set.
func (c *replacer) once(old, spare node.ID, f func()) {
	if c.joined[spare] {
		f()
		return
	}
	c.stop(old, false)
	c.World.At(c.World.Now()+time.Second, func() { c.once(old, spare, f) })
}

// linger lets a member that has lost its seat run for a while, with its disk and its old set, and stops it for good.
func (c *replacer) linger(old node.ID, at time.Duration, returns bool) {
	if !returns {
		c.World.At(at, func() { c.World.Crash(old) })
		return
	}
	c.World.At(at, func() { c.run(old) })
	c.World.At(at+c.Rand.Duration(0, lingers), func() { c.World.Crash(old) })
}

const (
	// askAgain lies between two orders, if the client that gave the first one is gone.
	askAgain = time.Minute
	// silence lies between two orders: the others still hear a member that was stopped, and keep their word to a gate that asked.
	silence = 6 * time.Second
	// ordersMax bounds the orders while the member is stopped: others may need it before they can lose its disk.
	ordersMax = 8
)

// counts judges an answer that a majority has the set: so many disks have taken it, or a later one.
func (c *replacer) counts(done *message.SeatReplaced) {
	have := 0
	for _, a := range done.Set {
		if c.moved[node.Addr(a)] >= done.Version {
			have++
		}
	}
	if done.Majority() && 2*have <= len(done.Set) {
		c.Checker.Violate("L", c.Record(c.Clients[0]), "the operator hears that a majority has set %d of %s, and %d of %d disks have taken it", done.Version, done.Group, have, len(done.Set))
	}
}

// ask gives the order again and again until a member has obeyed.
func (c *replacer) ask(pause bool) {
	who, asked, old := c.Clients[c.Rand.Int(len(c.Clients))], true, c.left[0]
	again := func(after time.Duration) {
		c.World.At(c.World.Now()+after, func() {
			if asked {
				asked = false
				c.ask(pause)
			}
		})
	}
	again(askAgain)
	c.World.Command(who, &message.SeatReplace{Old: string(c.World.Addr(old)), New: string(c.World.Addr(c.spares.ids[c.done]))}, func(answer node.Message) {
		refused, _ := answer.(*message.Refused)
		switch done, ok := answer.(*message.SeatReplaced); {
		case !asked:
			return
		case ok:
			asked = false
			c.counts(done)
			c.replaced(done.Majority())
			return
		case refused != nil && strings.Contains(refused.Detail, "stop that node"): // all else is ready
			c.orders = ordersMax
			c.stop(old, pause)
		case c.orders > 0:
			if c.orders--; c.orders == 0 {
				c.run(old)
			}
		}
		again(silence)
	})
}
