package election

import (
	"hyperscale/core/node"
)

// OutcomeKind tells outcomes apart.
type OutcomeKind uint8

// What an election comes to.
const (
	Led     OutcomeKind = iota + 1 // this node leads in Term
	Deposed                        // it leads no more
	Follows                        // Leader leads in Term; empty: nobody is known
)

// Outcome is news of who leads.
type Outcome struct {
	Kind   OutcomeKind
	Term   uint64
	Leader node.Addr
	Reason string // of Deposed
}

// Election is one voter.
type Election struct {
	config   Config
	poster   Poster
	outcomes []Outcome
}

// New returns a voter that has not started.
func New(c Config, p Poster) *Election { return &Election{config: c, poster: p} }

// Start loads term and vote. Call it when the node starts.
func (e *Election) Start(env node.Env) {}

// Receive handles a message of this group, and says whether it was one.
func (e *Election) Receive(env node.Env, from node.Peer, m node.Message) bool { return false }

// Fire handles a timer of this part.
func (e *Election) Fire(env node.Env, k node.TimerKey) bool { return false }

// Stored handles a completion of the store.
func (e *Election) Stored(env node.Env, in *node.Input) {}

// SetFitness tells the own local health, 0 (best) to 8.
func (e *Election) SetFitness(env node.Env, multiplier int) {}

// Leader returns who leads, as far as this node knows.
func (e *Election) Leader() (node.Addr, uint64, bool) { return "", 0, false }

// HandOver steps down in favour of the fittest voter, and stands no more.
func (e *Election) HandOver(env node.Env) {}

// Take returns the outcomes since the last Take, in order.
func (e *Election) Take() []Outcome {
	o := e.outcomes
	e.outcomes = nil
	return o
}
