package event

import (
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// PeerRegistered: a peer's first heartbeat of an incarnation arrived.
type PeerRegistered struct {
	Peer       node.ID
	Role       node.Role
	Datacenter string
}

// PeerLost: a peer was silent for too long, or its stream broke and did not return.
type PeerLost struct {
	Peer   node.ID
	Role   node.Role
	Reason string
}

// PeerRefused: this node rejects a connected peer, or the peer rejects this node. An operator
// has to change a configuration.
type PeerRefused struct {
	Peer   node.ID
	Role   node.Role
	Reason string // with the remedy
}

// Ignored: a message made no sense in this state, or for this role.
type Ignored struct {
	Peer    node.ID
	Message string // its name in the catalogue
	Why     string
}

// Misplaced returns the event of a message that does not fit its sender's role, or a datagram:
// message.Fits.
func Misplaced(m node.Message, from node.Peer, s node.StreamID) Ignored {
	why := "a " + from.Role.String() + whyRole
	if s == 0 && message.Senders(m.Kind()).Has(from.Role) {
		why = whyDatagram
	}
	return Ignored{Peer: from.ID, Message: message.NameOf(m), Why: why}
}

const (
	whyRole     = " sends no such message"
	whyDatagram = "no such message travels as a datagram"
)

// Misplaced reports whether the event is one of Misplaced.
func (e Ignored) Misplaced() bool { return e.Why == whyDatagram || strings.HasSuffix(e.Why, whyRole) }

// Implausible: a peer says a number that no honest node can say yet, or a record that no node can
// read. This node does not act on it.
type Implausible struct {
	Peer    node.ID // that sent the message; for what members forward, not always its author
	Message string  // its name in the catalogue
	What    string  // "term", "epoch", "generation", "token", "floor", "incarnation", "fence", "lease", "record"
	Said    uint64
	Held    uint64 // what this node holds
}

// StoreFailed: the disk failed a write; the node rejects new work until one succeeds.
type StoreFailed struct {
	What string
	Err  string
}

// ReportsPaced: a manager asks its workers for figures less often than they would send them by
// themselves. It comes once a second while that lasts, and at its end.
type ReportsPaced struct {
	Every   time.Duration // zero: as often as they like
	Least   time.Duration // of what it has asked for since the last heartbeat; waits that end and begin again lie between two
	Shards  int           // that report
	Reports int           // since the last heartbeat of the manager
	Behind  bool          // reports have waited for too long of late; otherwise there are many shards
}

// Shed: a node rejected, dropped or refused something because it had no room or no use for it.
type Shed struct {
	Reason   ShedReason
	Kind     node.Kind     // of the message; zero: it is about none
	Priority node.Priority // of that message
	Role     node.Role     // of its sender
	What     string
	Why      string
}

// ShedReason is why a node has shed something. The list is closed: metrics count by it.
type ShedReason string

// The reasons.
const (
	ShedLane     ShedReason = "lane"     // the message found its lane of the mailbox full
	ShedBroken   ShedReason = "broken"   // the same, and its stream breaks
	ShedRefused  ShedReason = "refused"  // the same, and its sender gets a refusal
	ShedBound    ShedReason = "bound"    // the node keeps as many of these as its configuration allows
	ShedShare    ShedReason = "share"    // its source has its share of the places
	ShedCores    ShedReason = "cores"    // too few are free
	ShedSlots    ShedReason = "slots"    // too much that is done waits for its receivers
	ShedStore    ShedReason = "store"    // the disk refuses writes
	ShedQuorum   ShedReason = "quorum"   // majorities have failed
	ShedSize     ShedReason = "size"     // it is larger than what carries it
	ShedDraining ShedReason = "draining" // the node takes no new work
	ShedUnready  ShedReason = "unready"  // no answer has renewed the node of late
	ShedUnfit    ShedReason = "unfit"    // it makes no sense to this node
	ShedAge      ShedReason = "age"      // no peer has acknowledged it in time
	ShedVersion  ShedReason = "version"  // its receiver's version of the protocol does not know it
)

// ShedReasons lists the reasons.
func ShedReasons() []ShedReason {
	return []ShedReason{
		ShedLane, ShedBroken, ShedRefused, ShedBound, ShedShare, ShedCores, ShedSlots, ShedStore, ShedQuorum, ShedSize, ShedDraining, ShedUnready, ShedUnfit, ShedAge, ShedVersion,
	}
}

// ShedOf returns the event of a message that a node sheds.
func ShedOf(m node.Message, from node.Role, reason ShedReason, what, why string) Shed {
	return Shed{Reason: reason, Kind: m.Kind(), Priority: m.Priority(), Role: from, What: what, Why: why}
}

// ShedByLane returns the event of a message that found its lane full, and of which the machine
// learns nothing: its protocol sends it again, or its stream breaks.
func ShedByLane(m node.Message, from node.Peer, broken bool) Shed {
	reason, why := ShedLane, "its lane is full: its protocol sends it again"
	if broken {
		reason, why = ShedBroken, "its lane is full: the stream breaks"
	}
	return ShedOf(m, from.Role, reason, "message "+message.NameOf(m)+" from "+string(from.ID), why)
}

// ShedFor returns the reason of a refusal with a code.
func ShedFor(c message.Code) ShedReason {
	switch c {
	case message.CodeNoCores:
		return ShedCores
	case message.CodeStoreFull:
		return ShedStore
	case message.CodeDraining:
		return ShedDraining
	case message.CodeNotRenewed:
		return ShedUnready
	case message.CodeOverloaded:
		return ShedRefused
	case message.CodeQuorumUnavailable, message.CodeQuorumTimeout, message.CodeCircuitOpen, message.CodeNotMember:
		return ShedQuorum
	case message.CodeQueueFull:
		return ShedBound
	case message.CodeRateLimited:
		return ShedShare
	}
	return ShedUnfit
}

// BoundNear: so much of a bound is used that an operator should raise it, or, if Near is false, no
// longer. Beyond the bound a node rejects requests.
type BoundNear struct {
	Setting string
	Used    uint64
	Bound   uint64
	Near    bool
}

// BoundUsed: how much of a bound is used, from time to time.
type BoundUsed struct {
	Setting string
	Used    uint64
	Bound   uint64
}

// DispatchesPaced: a gate dispatches so many jobs a second from now on, of so many at most.
type DispatchesPaced struct {
	Rate  uint64
	Bound uint64
}

// EventName implements node.Event.
func (DispatchesPaced) EventName() string { return "dispatches-paced" }

// DatacenterFavoured: a gate sends jobs that name no datacenter to this one first, instead of the
// former one.
type DatacenterFavoured struct {
	Datacenter string
	Former     string
	Why        string
}

// EventName implements node.Event.
func (DatacenterFavoured) EventName() string { return "datacenter-favoured" }

// ManagerJudged: a gate decides differently about new subjobs for a manager: "route",
// "investigate", "drain", "hold". What the manager has remains there.
type ManagerJudged struct {
	Peer       node.ID
	Datacenter string
	From       string
	To         string
	Why        string
}

// EventName implements node.Event.
func (ManagerJudged) EventName() string { return "manager-judged" }

// LettersKept: how many dead letters a gate keeps, and the bytes of their programs, after
// they have changed.
type LettersKept struct {
	Letters uint64
	Bytes   uint64
}

// CoresWanted: how many cores of a datacenter the jobs of a gate want, those that run and those that wait, after that has
// changed.
type CoresWanted struct {
	Datacenter string
	Cores      uint64
}

// EventName implements node.Event.
func (CoresWanted) EventName() string { return "cores-wanted" }

// EventName implements node.Event.
func (LettersKept) EventName() string { return "letters-kept" }

// EventName implements node.Event.
func (PeerRegistered) EventName() string { return "peer-registered" }

// EventName implements node.Event.
func (PeerLost) EventName() string { return "peer-lost" }

// EventName implements node.Event.
func (PeerRefused) EventName() string { return "peer-refused" }

// EventName implements node.Event.
func (Ignored) EventName() string { return "ignored" }

// EventName implements node.Event.
func (StoreFailed) EventName() string { return "store-failed" }

// EventName implements node.Event.
func (Implausible) EventName() string { return "implausible" }

// EventName implements node.Event.
func (ReportsPaced) EventName() string { return "reports-paced" }

// EventName implements node.Event.
func (Shed) EventName() string { return "shed" }

// EventName implements node.Event.
func (BoundNear) EventName() string { return "bound-near" }

// EventName implements node.Event.
func (BoundUsed) EventName() string { return "bound-used" }
