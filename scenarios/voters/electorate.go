package voters

import (
	"fmt"
	"time"

	"hyperscale/checker"
	"hyperscale/core/election"
	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

const (
	electorates = "voters" // name of the group
	// electionBound is how soon all know one leader after a change for the better. After one
	// for the worse, no voter that must not lead does so beyond it.
	electionBound = 5 * time.Second
	ElectionNext  = 3 * time.Second        // from the death of a leader to the next, 99 times in 100
	electionHand  = 500 * time.Millisecond // from the stop of a leader
)

// electorate is a world of voters, and judges which of them act as the leader.
type electorate struct {
	*stage.Stage
	ids    []node.ID
	voters map[node.ID]*election.Election // of voters that run, or ran last
	term   uint64                         // the highest term in which a leader acted
	by     node.ID
	unwell map[node.ID]int // local health of the unhealthy voters
	led    []time.Duration // when a voter began to lead
	times  []time.Duration // measured times of transitions
}

// electors builds n voters in one place or several, and starts them.
func electors(s *stage.Stage, n, places int) *electorate {
	w := &electorate{Stage: s, voters: map[node.ID]*election.Election{}, unwell: map[node.ID]int{}}
	c := election.Default()
	c.Group = electorates
	for i := range n {
		id := node.ID(fmt.Sprintf("voter-%d", i+1))
		s.World.Add(sim.Spec{ID: id, Role: node.RoleToy, Place: stage.Datacenter(i % places), New: func() node.Machine {
			own := c
			own.Self = s.World.Addr(id)
			w.voters[id] = election.New(own, stage.Datagrams{})
			return &elector{world: w, id: id, Election: w.voters[id]}
		}})
		w.ids = append(w.ids, id)
	}
	for _, id := range w.ids {
		c.Voters = append(c.Voters, s.World.Addr(id))
	}
	s.Nodes = append(s.Nodes, w.ids...)
	for _, id := range w.ids {
		s.World.Start(id)
	}
	s.World.At(s.Heal+electionBound, func() {
		if !w.agreed() {
			w.violate("T11", "", "all has been well for %v, and there is no leader that all know: %s", electionBound, w.views())
		}
	})
	return w
}

func (w *electorate) violate(invariant string, id node.ID, format string, args ...any) {
	w.Checker.Violate(invariant, checker.Record{At: w.World.Now(), Node: id}, format, args...)
}

// acts judges that no voter acts as the leader after another one has in a later term.
func (w *electorate) acts(id node.ID, term uint64) {
	if term < w.term || term == w.term && id != w.by {
		w.violate("T5", id, "it acts as the leader of term %d after %s did in term %d", term, w.by, w.term)
		return
	}
	w.term, w.by = term, id
}

// leads reports whether a voter runs and may act as the leader.
func (w *electorate) leads(id node.ID) bool {
	return w.World.Alive(id) && w.voters[id].Leads(w.Local(id))
}

// leader returns the voter that may act as the leader; empty: none.
func (w *electorate) leader() node.ID {
	for _, id := range w.ids {
		if w.leads(id) {
			return id
		}
	}
	return ""
}

// agreed reports whether all running voters know one leader, which leads.
func (w *electorate) agreed() bool {
	id := w.leader()
	for _, at := range w.ids {
		if !w.World.Alive(at) {
			continue
		}
		if a, _, known := w.voters[at].Leader(); id == "" || !known || a != w.World.Addr(id) {
			return false
		}
	}
	return true
}

func (w *electorate) views() string {
	text := ""
	for _, id := range w.ids {
		a, term, _ := w.voters[id].Leader()
		text += fmt.Sprintf("%s: %q in term %d, runs %v; ", id, a, term, w.World.Alive(id))
	}
	return text
}

// holds judges at a time before the healing what the drawn faults imply.
func (w *electorate) holds(at time.Duration, what string, true func() bool) {
	if at >= w.Heal {
		return
	}
	w.Judge(at, func() {
		if !true() {
			w.violate("T11", "", "it should be that %s: %s", what, w.views())
		}
	})
}

// noneLeads returns whether none of these leads, or still believes that it does.
func (w *electorate) noneLeads(ids ...node.ID) func() bool {
	return func() bool {
		for _, id := range ids {
			if a, _, _ := w.voters[id].Leader(); w.World.Alive(id) && (w.leads(id) || a == w.World.Addr(id)) {
				return false
			}
		}
		return true
	}
}

func (w *electorate) oneLeads() bool { return w.leader() != "" }

// befall draws a fault of the one of these that leads by then: only a leader sends beats.
func (w *electorate) befall(ids []node.ID, at time.Duration, kind string, length time.Duration) {
	w.Fault(sim.Fault{At: at, For: length, Kind: kind, Nodes: stage.Names(ids), Aim: fmt.Sprintf("timer:%d.%d", node.PartElection, node.ElectionBeat)})
}

// follows measures the time from the loss of the leader to the next leader. The trigger of the
// loss fires within a heartbeat.
func (w *electorate) follows(at, bound time.Duration) {
	var lost node.ID
	var look func()
	look = func() {
		now := w.World.Now()
		switch id := w.leader(); {
		case lost == "" || id == lost && now-at < time.Second: // not yet
			lost = max(lost, id)
		case id != "":
			if w.Options.Faults == nil {
				w.times = append(w.times, now-at)
			}
			return
		}
		if now-at > bound && w.Options.Faults == nil {
			w.violate("T11", "", "%v after %s was lost no voter leads: %s", bound, lost, w.views())
			return
		}
		w.World.At(now+5*time.Millisecond, look)
	}
	w.World.At(at, look)
}

// elector is a role that only votes, and acts when it leads.
type elector struct {
	world *electorate
	id    node.ID
	*election.Election
	unwell int // as the world last set it
}

// Timer kinds of the toy.
const (
	electorAct uint8 = iota + 1
	electorEnd
)

const electorPace = 7 * time.Millisecond

// Step implements node.Machine.
func (m *elector) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		m.Start(env)
	case node.InputMessage:
		m.Receive(env, in.From, in.Message)
	case node.InputStored:
		m.Stored(env, in)
	case node.InputTimer:
		if !m.Fire(env, in.Timer) {
			m.onTimer(env, in.Timer.Kind)
		}
	case node.InputStop:
		m.HandOver(env)
		env.SetTimer(node.Key(node.PartGossip, electorEnd), 100*time.Millisecond)
	}
	if n := m.world.unwell[m.id]; n != m.unwell {
		m.unwell = n
		m.SetFitness(env, n)
	}
	for _, o := range m.Take() {
		if o.Kind == election.Led {
			m.world.led = append(m.world.led, m.world.World.Now())
			env.SetTimer(node.Key(node.PartGossip, electorAct), electorPace)
		}
	}
	if m.Leads(env.Now()) {
		m.world.acts(m.id, m.Term())
	}
}

func (m *elector) onTimer(env node.Env, kind uint8) {
	switch kind {
	case electorAct:
		if a, _, _ := m.Leader(); a == env.Self().Addr {
			env.SetTimer(node.Key(node.PartGossip, electorAct), electorPace)
		}
	case electorEnd:
		env.Halt("")
	}
}
