package event

import "hyperscale/core/node"

// MemberChanged: this node moved a member of its group from one state to another.
type MemberChanged struct {
	Group       string
	Member      node.ID
	Incarnation uint64
	From        string // "unknown", "alive", "suspect", "dead", "left", "removed"
	To          string
	By          node.ID // the accuser, the member itself, or this node
	Reason      string
}

// HealthChanged: this node's own level changed.
type HealthChanged struct {
	From       string // "normal", "elevated", "high", "severe", "critical"
	To         string
	Multiplier int // local health, 0 to 8
}

// Voted: this node's vote is on disk, and its answer goes out (T5).
type Voted struct {
	Group string
	Term  uint64
	For   node.ID
}

// Elected: this node leads its group in a term (T5).
type Elected struct {
	Group string
	Term  uint64
}

// SteppedDown: this node no longer leads.
type SteppedDown struct {
	Group  string
	Term   uint64
	Reason string
}

// LeaderKnown: this node learned who leads.
type LeaderKnown struct {
	Group  string
	Term   uint64
	Leader node.ID // empty: no leader is known
}

// EventName implements node.Event.
func (MemberChanged) EventName() string { return "member-changed" }

// EventName implements node.Event.
func (HealthChanged) EventName() string { return "health-changed" }

// EventName implements node.Event.
func (Voted) EventName() string { return "voted" }

// EventName implements node.Event.
func (Elected) EventName() string { return "elected" }

// EventName implements node.Event.
func (SteppedDown) EventName() string { return "stepped-down" }

// EventName implements node.Event.
func (LeaderKnown) EventName() string { return "leader-known" }
