package cluster

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

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

// ReplaceGates plays an operator who replaces so many gates by spare ones, from an instant on. Where dies
// says so, half of them are dead before they lose their seats. A gap lies between two changes.
func (x *Spares) ReplaceGates(n int, at time.Duration, dies bool, gap func() time.Duration) {
	(&seats{Cluster: x.Cluster, spares: &x.gates, left: x.Choose(x.Gates, n), gap: gap, dies: dies}).play(at)
}

// ReplaceManagers does so for managers of the first datacenter.
func (x *Spares) ReplaceManagers(n int, at time.Duration, dies bool, gap func() time.Duration) {
	(&seats{Cluster: x.Cluster, spares: &x.managers, left: x.Choose(x.Managers[:x.topology.Managers], n), gap: gap, dies: dies}).play(at)
}

// seats is an operator who gives the seats of one set away.
type seats struct {
	*Cluster
	spares *spares
	left   []node.ID // members to replace
	done   int
	gap    func() time.Duration
	dies   bool
}

func (c *seats) play(at time.Duration) {
	of := len(c.left)
	c.World.At(at, c.next)
	c.Verdicts = append(c.Verdicts, func() {
		if c.done < of {
			c.Checker.Violate("L", c.Record(c.Clients[0]), "%d of %d seats were given away by the end, and the operator has asked for the next one again and again", c.done, of)
		}
	})
}

// joins is how long a new member takes to join at most, while others fail briefly.
const joins = 40 * time.Second

// next replaces the next member. It stops some time after it has lost its seat, or is dead before: but
// not while the member before it may still join, as a majority of the disks would be lost.
func (c *seats) next() {
	if len(c.left) == 0 {
		return
	}
	dead := c.dies && c.Rand.Chance(1, 2)
	if !dead {
		c.replace(false)
		return
	}
	c.World.At(c.World.Now()+joins, func() {
		c.World.Crash(c.left[0])
		c.replace(true)
	})
}

func (c *seats) replace(dead bool) {
	old, spare := c.left[0], c.spares.ids[c.done]
	c.ask(old, spare, func() {
		c.done++
		c.left = c.left[1:]
		set := slices.Clone(c.spares.set)
		set[slices.Index(set, c.World.Addr(old))] = c.World.Addr(spare)
		c.spares.set = set
		if !dead {
			c.World.At(c.World.Now()+c.Rand.Duration(0, 40*time.Second), func() { c.World.Stop(old) })
		}
		c.World.At(c.World.Now()+c.Rand.Duration(0, 5*time.Second), func() { c.World.Start(spare) })
		c.World.At(c.World.Now()+c.gap(), c.next)
	})
}

// askAgain lies between two orders, if the client that gave the first one is gone.
const askAgain = time.Minute

// ask gives the order again and again until a member has obeyed.
func (c *seats) ask(old, spare node.ID, f func()) {
	who, asked := c.Clients[c.Rand.Int(len(c.Clients))], true
	again := func(after time.Duration) {
		c.World.At(c.World.Now()+after, func() {
			if asked {
				asked = false
				c.ask(old, spare, f)
			}
		})
	}
	again(askAgain)
	c.World.Command(who, &message.SeatReplace{Old: string(c.World.Addr(old)), New: string(c.World.Addr(spare))}, func(answer node.Message) {
		switch _, ok := answer.(*message.SeatReplaced); {
		case !asked:
		case ok:
			asked = false
			f()
		default:
			again(2 * time.Second)
		}
	})
}
