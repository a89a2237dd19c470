package event

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// LeaseGranted: a majority accepted this node's acquisition. It acts from now on while its own
// clock reads less than Until (T1, T2).
type LeaseGranted struct {
	Group string
	Job   message.JobID
	Token message.LeaseToken
	Life  message.LeaseLife
	Until node.Instant
	// Began is when the attempt began, on this node's clock. Beyond the drift bound only
	// attempts that began after a grant must get a higher token.
	Began node.Instant
}

// LeaseExtended: a majority accepted a renewal or an update.
type LeaseExtended struct {
	Group string
	Job   message.JobID
	Token message.LeaseToken
	Until node.Instant
}

// LeaseEnded: this node no longer acts for the job under that token.
type LeaseEnded struct {
	Group  string
	Job    message.JobID
	Token  message.LeaseToken
	Reason string // "expired", "released", "transferred", "superseded"
}

// LeaseCalled: an operation on a register began (T4). Value is the digest of a record's bytes,
// 0 for none.
type LeaseCalled struct {
	Group string
	Job   message.JobID
	Call  uint64 // unique within the node's incarnation
	What  string // "acquire", "update", "release", "read" of a majority, "read-held" by the holder alone
	Token message.LeaseToken
	Value uint64 // of an update
}

// LeaseReturned: the operation ended. One that never returns may have taken effect, or may
// still do.
type LeaseReturned struct {
	Group string
	Job   message.JobID
	Call  uint64
	OK    bool               // false: it had no effect and will have none
	Token message.LeaseToken // the token that it got, wrote under, or read
	Value uint64             // of that record
}

// AcceptorWrote: an acceptor's promise or accept is on its disk, and its answer goes out.
type AcceptorWrote struct {
	Group    string
	Job      message.JobID
	Promised message.LeaseToken
	Token    message.LeaseToken // accepted
	Seq      uint64
}

// GroupJoined: a member of a group of registers answers from now on.
type GroupJoined struct {
	Group      string
	Generation uint64
	How        string // "founded", "restarted", "rejoined"
}

// GroupLevel: this member has a higher level of its group on disk.
type GroupLevel struct {
	Group string
	Level uint16
}

// GroupRefused: another node has another configured set.
type GroupRefused struct {
	Group  string
	Peer   node.Addr
	Ours   string
	Theirs string
}

// GroupMoved: this member's disk has a later set of its group than the configured one was. At the
// change the node starts again in it, and each start reports it.
type GroupMoved struct {
	Group      string
	Version    uint64
	Set        string // by seat
	Configured bool   // the configuration has these addresses
}

// GroupAlarm: an operator has to act on this member of a group.
type GroupAlarm struct {
	Group  string
	Reason string
	Speaks bool // it continues as a member; else it answers nothing
}

// ClockSuspect: this node's clock and a peer's drift apart faster than the bound,
// or one of them has jumped.
type ClockSuspect struct {
	Peer node.ID
	PPM  int64 // parts per million that the peer's clock is faster, as measured
	Jump bool
}

// Reached counts visits of a rare state: "lease/promise-against-holder".
type Reached struct {
	What string
}

// EventName implements node.Event.
func (LeaseGranted) EventName() string { return "lease-granted" }

// EventName implements node.Event.
func (LeaseExtended) EventName() string { return "lease-extended" }

// EventName implements node.Event.
func (LeaseEnded) EventName() string { return "lease-ended" }

// EventName implements node.Event.
func (LeaseCalled) EventName() string { return "lease-called" }

// EventName implements node.Event.
func (LeaseReturned) EventName() string { return "lease-returned" }

// EventName implements node.Event.
func (AcceptorWrote) EventName() string { return "acceptor-wrote" }

// EventName implements node.Event.
func (GroupJoined) EventName() string { return "group-joined" }

// EventName implements node.Event.
func (GroupLevel) EventName() string { return "group-level" }

// EventName implements node.Event.
func (GroupRefused) EventName() string { return "group-refused" }

// EventName implements node.Event.
func (GroupMoved) EventName() string { return "group-moved" }

// EventName implements node.Event.
func (GroupAlarm) EventName() string { return "group-alarm" }

// EventName implements node.Event.
func (ClockSuspect) EventName() string { return "clock-suspect" }

// EventName implements node.Event.
func (Reached) EventName() string { return "reached" }
