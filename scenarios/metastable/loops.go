package metastable

import (
	"fmt"
	"time"

	"hyperscale/core/client"
	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker"
	"hyperscale/scenarios/cluster"
	"hyperscale/sim"
)

// Loop is a way in which a cluster may feed its own overload.
type Loop struct {
	Name    string
	What    string // it does
	Guards  string // that production has against it
	Timeout time.Duration
	rate    int           // requests a second at full capacity
	patient time.Duration // how long an answer counts as in time
	server  node.Role
	asks    node.Kind // the requests that reach the server
	build   func(guards bool) cluster.Topology
	ask     func(p *play, n int)
}

// Bound is the time in which a cell must recover.
func (l *Loop) Bound() time.Duration { return max(10*time.Second, 2*l.Timeout) }

// Left is a loop that has no cells, and why.
type Left struct{ Name, Why string }

// LeftOut lists the loops of the published list that this cluster does not have, or that no
// setting opens.
func LeftOut() []Left {
	return []Left{
		{"resync after a cold start", "a member fetches files in a window of 512 KiB for each other member, and no setting widens it"},
		{"re-election", "no request waits for a leader, so an election adds no load to what clients ask"},
	}
}

// Loops returns the loops, in the order of the tables.
func Loops() []Loop {
	return []Loop{
		{Name: "retry", What: "clients ask again while the gate still has their first question", Guards: "waits of AskRetry with backoff and jitter; a budget of one repeat for ten requests; an entrance and a lane of one second, which refuse with a time; a deadline",
			Timeout: questionPatience, rate: 100, patient: questionPatience, server: node.RoleGate, asks: message.KindDatacenterQuery, build: questionTopology, ask: question},
		{Name: "dead work", What: "the gate answers questions whose askers have given up", Guards: "an entrance and a lane of one second, which refuse with a time; a budget of one repeat for ten requests",
			Timeout: 3 * time.Second, rate: 100, patient: 3 * time.Second, server: node.RoleGate, asks: message.KindDatacenterQuery, build: deadTopology, ask: question},
		{Name: "re-dispatch", What: "a gate dispatches again while the manager still has its first dispatch", Guards: "no repeat on a stream that stands; no dispatch to a manager that says nothing; a throttle that follows refusals and returns; a lane of four seconds, which refuses with a time; a deadline of half the patience",
			Timeout: 10 * time.Second, rate: 5, patient: 15 * time.Second, server: node.RoleManager, asks: message.KindJobDispatch, build: dispatchTopology, ask: submission},
		{Name: "reconnect and renewal", What: "workers reconnect while their manager is behind with their renewals", Guards: "a newer heartbeat replaces an older one; silence of 5 s; reconnects with backoff and jitter; no second heartbeat while a registration has no answer",
			Timeout: 5 * time.Second, rate: 100, patient: time.Second, server: node.RoleManager, asks: message.KindWorkerHeartbeat, build: renewalTopology, ask: nil},
	}
}

func loopOf(name string) *Loop {
	for _, l := range Loops() {
		if l.Name == name {
			return &l
		}
	}
	node.Bug("metastable: no loop is called %q", name)
	return nil
}

// unbounded is a lane that no run fills.
const unbounded = 1 << 20

// lane bounds the messages of each lane below CRITICAL.
func lane(guarded bool, n int) func(*node.MailboxConfig) {
	return func(c *node.MailboxConfig) {
		if !guarded {
			n = unbounded
		}
		for p := node.High; p < node.Priorities; p++ {
			c.Lanes[p] = n
		}
		c.Stubs = max(c.Stubs, n)
	}
}

// costly makes one kind of message cost a hundredth of a second, or more.
func costly(k node.Kind, cost time.Duration) sim.Costs {
	return sim.Costs{Default: 20 * time.Microsecond, ByKind: map[node.Kind]time.Duration{k: cost}}
}

const (
	questionClients  = 20
	questionPatience = 15 * time.Second
)

// questionTopology is a gate that clients ask: a question costs a hundredth of a second.
func questionTopology(guards bool) cluster.Topology {
	return cluster.Topology{
		Gates: 1, Datacenters: 1, Managers: 1, Workers: 1, Cores: 1, Clients: questionClients,
		Costs: map[node.Role]sim.Costs{node.RoleGate: costly(message.KindDatacenterQuery, 10*time.Millisecond)},
		Boxes: map[node.Role]func(*node.MailboxConfig){node.RoleGate: lane(guards, 100)},
		Open:  !guards,
		Ask: func(c *client.Config) {
			c.AskTimeout, c.ReachTimeout = questionPatience, questionPatience
			if !guards {
				c.Retries.Least = unbounded
				c.AskRetry, c.RetryMin, c.RetryMax = 500*time.Millisecond, time.Millisecond, time.Millisecond
			}
		},
	}
}

// deadTopology has clients that ask once and give up after three seconds.
func deadTopology(guards bool) cluster.Topology {
	t := questionTopology(guards)
	t.Ask = func(c *client.Config) {
		c.AskTimeout, c.ReachTimeout = 3*time.Second, 3*time.Second
		if !guards {
			c.Retries.Least = unbounded
		}
	}
	return t
}

// dispatchTopology is a manager that gets jobs: a dispatch costs a fifth of a second.
func dispatchTopology(guards bool) cluster.Topology {
	return cluster.Topology{
		Gates: 1, Datacenters: 1, Managers: 1, Workers: 4, Cores: 16, Clients: 4,
		Costs: map[node.Role]sim.Costs{node.RoleManager: costly(message.KindJobDispatch, 200*time.Millisecond)},
		Boxes: map[node.Role]func(*node.MailboxConfig){node.RoleManager: lane(guards, 20)},
		Gate: func(c *gate.Config) {
			if !guards { // a dispatch is repeated after four times AnswerTimeout, though its stream stands
				c.DispatchRetry, c.AnswerTimeout = 75*time.Millisecond, 75*time.Millisecond
				c.DispatchRateMax, c.DispatchTarget = 10_000, time.Hour
			}
		},
	}
}

// renewalTopology is a manager of many workers: a renewal costs a hundredth of a second.
func renewalTopology(guards bool) cluster.Topology {
	return cluster.Topology{
		Gates: 1, Datacenters: 1, Managers: 1, Workers: 90, Cores: 1, Clients: 1,
		Costs: map[node.Role]sim.Costs{node.RoleManager: costly(message.KindWorkerHeartbeat, 10*time.Millisecond)},
		Manage: func(c *manager.Config) {
			if !guards {
				c.Silence = 2 * time.Second
			}
		},
		Work: func(c *worker.Config) {
			if !guards {
				c.Silence, c.ReconnectMin, c.ReconnectMax = 2*time.Second, 5*time.Millisecond, 5*time.Millisecond
			}
		},
	}
}

// question asks for the list of datacenters.
func question(p *play, n int) {
	id := p.Clients[n%len(p.Clients)]
	p.World.Command(id, &message.DatacenterQuery{}, func(answer node.Message) {
		if _, ok := answer.(*message.DatacenterList); ok {
			p.answered(n)
		}
	})
}

// submission submits a job of a fifth of a second, again if it is refused with a time.
func submission(p *play, n int) {
	o := &cluster.Order{Key: fmt.Sprintf("job-%d", n), Client: p.Clients[n%len(p.Clients)]}
	m := p.Submission(o, cluster.Load{Vus: 1, Cores: 1, Duration: 200 * time.Millisecond}, n+1)
	if p.cell.Guards {
		m.Deadline = p.loop.patient / 2 // what waits for longer is late anyway
	}
	p.Orders = append(p.Orders, o)
	o.Judge = func(r *message.Result) {
		if r.State == message.JobCompleted {
			p.answered(n)
		}
	}
	o.Refused = func(r *message.Refused) {
		if r.RetryAfter > 0 {
			p.World.At(p.World.Now()+r.RetryAfter, func() { p.Submit(o, m, 0) })
		}
	}
	p.Submit(o, m, 0)
}
