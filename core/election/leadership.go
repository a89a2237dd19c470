package election

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

type role uint8

const (
	follower role = iota
	preCandidate
	candidate // since it put its own vote
	leader
)

// leadership is who leads, as far as this voter knows: itself or another.
type leadership struct {
	admissions
	role     role
	known    node.Addr // leader of term, empty if unknown
	knownID  node.ID
	heard    node.Instant // of the leader, of a vote, or of the start
	counter  uint64       // of the leader's last beat
	silent   int          // timeouts without a leader
	outcomes []Outcome

	acks   map[node.Addr]ack // of a leader
	sent   [beatsKept]node.Instant
	resort bool // it was elected although it is unfit
	drain  bool

	fitness int
	changes []node.Instant // of its own leadership, within FlapWindow
	calm    node.Instant   // it does not stand before, unless no peer leads or one hands over
}

// Take returns the outcomes since the last Take, in order.
func (e *leadership) Take() []Outcome {
	o := e.outcomes
	e.outcomes = nil
	return o
}

// Leader returns the leader and its term, as far as this node knows. Before acting as the
// leader ask Leads.
func (e *leadership) Leader() (a node.Addr, term uint64, known bool) {
	return e.known, e.term, e.known != ""
}

// Term returns the highest term that this node knows of.
func (e *leadership) Term() uint64 { return e.term }

// SetFitness sets this node's local health, 0 (best) to 8.
func (e *leadership) SetFitness(env node.Env, multiplier int) {
	e.fitness = multiplier
	if e.role == leader {
		e.judgeHealth(env)
	}
}

// follow changes the known leader; the empty peer means none.
func (e *leadership) follow(env node.Env, p node.Peer) {
	if e.known == p.Addr && e.knownID == p.ID {
		return
	}
	e.known, e.knownID = p.Addr, p.ID
	env.Emit(event.LeaderKnown{Group: e.config.Group, Term: e.term, Leader: p.ID})
	if p.Addr != e.config.Self {
		e.outcomes = append(e.outcomes, Outcome{Kind: Follows, Term: e.term, Leader: p.Addr})
	}
}

// raise adopts a higher term. This node's role in the old term ends.
func (e *leadership) raise(env node.Env, term uint64, why string) {
	if term <= e.term {
		return
	}
	if e.role == leader {
		e.stepDown(env, why, true)
	}
	wasStanding := e.role != follower
	e.role = follower
	e.term, e.vote, e.state, e.counter = term, "", cast, 0
	e.follow(env, node.Peer{})
	if wasStanding {
		e.wait(env)
	}
}

// stands reports whether this node would lead.
func (e *leadership) stands(now node.Instant) bool {
	if e.drain || e.blank() || !e.within(e.term+1) {
		return false
	}
	return e.silent >= e.config.Leaderless || e.fitness <= e.config.FitMax && now >= e.calm
}

// wait sets the timer at which this node considers the leader dead. A random delay, fitness and
// rank keep candidates apart.
func (e *leadership) wait(env node.Env) {
	d := env.Rand(node.PurposeElection).Duration(e.config.TimeoutMin, e.config.TimeoutMax)
	env.SetTimer(node.Key(node.PartElection, node.ElectionTimeout), d+time.Duration(e.fitness+e.rank)*e.config.DelayStep)
}

// loyal reports whether the known leader, the candidate of this node's vote, or this node
// itself may still lead.
func (e *leadership) loyal(now node.Instant) bool {
	if e.role == leader {
		return e.Leads(now)
	}
	return now.Sub(e.heard) < e.config.TimeoutMin
}
