package election

import (
	"slices"
	"time"

	"hyperscale/core/node"
)

// Poster sends a message to a fellow; it may be lost. uplink.Links is one.
type Poster interface {
	Post(env node.Env, to node.Addr, m node.Message)
}

// Registers tells what this node's registers of the same group know of its epochs:
// lease.Registers does.
type Registers interface {
	// Epoch is how often the group was recovered; false: they speak for nothing yet.
	Epoch() (epoch uint64, speaks bool)
	// First says that this member may run on the disk from which the epoch was
	// recovered: no other disk of its is known. Of the own node it is certain.
	First(a node.Addr) bool
}

// Config is one voter of one group.
type Config struct {
	Group  string
	Self   node.Addr
	Voters []node.Addr // configured, Self included
	// Registers of the group; nil for one that is never recovered.
	Registers Registers

	TimeoutMin time.Duration // a leader that is silent for so long may be replaced
	TimeoutMax time.Duration // and one that hears no majority for so long steps down
	Heartbeat  time.Duration

	FitMax     int           // local health up to which a voter stands
	HandOverAt int           // from which a leader hands over to a fit voter
	StepDownAt int           // from which it steps down, fit voter or not
	DelayStep  time.Duration // by which standing is delayed for each point of health, and rank
	Leaderless int           // timeouts without a leader after which anybody stands

	FlapLimit  int           // changes of its own leadership within FlapWindow
	FlapWindow time.Duration //
	FlapPause  time.Duration // for which it does not stand after so many
}

// rankMax bounds the delay by rank: beyond it chance decides.
const rankMax = 5

// Default returns a voter that lacks only its group.
func Default() Config {
	return Config{
		TimeoutMin: time.Second, TimeoutMax: 1500 * time.Millisecond, Heartbeat: 250 * time.Millisecond,
		FitMax: 4, HandOverAt: 6, StepDownAt: 7, DelayStep: 100 * time.Millisecond, Leaderless: 3,
		FlapLimit: 4, FlapWindow: time.Minute, FlapPause: 30 * time.Second,
	}
}

func (c Config) check() {
	if c.Group == "" || !slices.Contains(c.Voters, c.Self) {
		node.Bug("election: config %+v", c)
	}
	if c.TimeoutMax < c.TimeoutMin || c.Heartbeat <= 0 || c.TimeoutMin < 2*c.Heartbeat || c.TimeoutMax >= c.Heartbeat*beatsKept {
		node.Bug("election: timeouts of %v to %v with a heartbeat each %v", c.TimeoutMin, c.TimeoutMax, c.Heartbeat)
	}
}

// OutcomeKind tells outcomes apart.
type OutcomeKind uint8

// What an election comes to.
const (
	Led     OutcomeKind = iota + 1 // this node leads in Term
	Deposed                        // it led in Term, and leads no more
	Follows                        // Leader leads in Term; empty: nobody is known
)

func (k OutcomeKind) String() string {
	switch k {
	case Led:
		return "led"
	case Deposed:
		return "deposed"
	case Follows:
		return "follows"
	}
	return "none"
}

// Outcome is news of who leads.
type Outcome struct {
	Kind   OutcomeKind
	Term   uint64
	Leader node.Addr
	Reason string // of Deposed
}
