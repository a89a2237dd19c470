package election

import (
	"slices"
	"time"

	"hyperscale/core/node"
)

// Poster sends a message to a peer, which may lose it. uplink.Links implements it.
type Poster interface {
	Post(env node.Env, to node.Addr, m node.Message)
}

// Registers reports what this node's registers of the same group know of its epochs.
// lease.Registers implements it.
type Registers interface {
	// Epoch returns how often the group was recovered; false: they are not members yet.
	Epoch() (epoch uint64, speaks bool)
	// First reports whether this member may run on the disk from which the epoch was recovered:
	// the registers know no other disk of it. For their own node they are certain.
	First(a node.Addr) bool
	// Agrees says whether a voter has the same set of voters, as far as this node knows.
	Agrees(a node.Addr) bool
}

// Config describes one voter of one group.
type Config struct {
	Group  string
	Self   node.Addr
	Voters []node.Addr // configured, Self included
	// Registers of the group; nil for a group that is never recovered.
	Registers Registers

	TimeoutMin time.Duration // a voter may replace a leader that is silent for so long
	TimeoutMax time.Duration // a leader that hears no majority for so long steps down
	Heartbeat  time.Duration

	FitMax     int           // a voter stands up to this local health
	HandOverAt int           // a leader hands over to a fit voter from this local health
	StepDownAt int           // a leader steps down from here, with or without a fit voter
	DelayStep  time.Duration // delay of a candidacy per point of health, and per rank
	Leaderless int           // after so many timeouts without a leader every voter stands

	FlapLimit  int           // changes of its own leadership within FlapWindow
	FlapWindow time.Duration //
	FlapPause  time.Duration // after so many changes it does not stand for this long
}

// rankMax bounds the delay by rank: beyond it chance decides.
const rankMax = 5

// Default returns a voter that lacks only its group and addresses.
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

// OutcomeKind is the kind of an Outcome.
type OutcomeKind uint8

// The outcomes of an election.
const (
	Led     OutcomeKind = iota + 1 // this node leads in Term
	Deposed                        // it led in Term, and no longer leads
	Follows                        // Leader leads in Term; empty: no leader is known
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

// Outcome is one change of leader.
type Outcome struct {
	Kind   OutcomeKind
	Term   uint64
	Leader node.Addr
	Reason string // of Deposed
}
