package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import "time"

// ClusterListed bounds each list of a ClusterStatus.
const ClusterListed = 1000

// ClusterQuery asks a gate who is alive, who leads, and who owns which job, as it
// sees it.
//
//catalogue:message kind=136 class=control priority=normal
type ClusterQuery struct {
	Request RequestID `msg:"request"`
}

// MemberInfo is one member of the gates' group.
type MemberInfo struct {
	Node        string        `msg:"node"` // empty when it was never heard
	Addr        string        `msg:"addr" require:"true"`
	Role        uint8         `msg:"role"`
	Incarnation uint64        `msg:"incarnation"`
	State       string        `msg:"state"` // "unknown", "alive", "suspect", "dead", "left"
	By          string        `msg:"by"`    // who raised it
	Reason      string        `msg:"reason"`
	Since       time.Duration `msg:"since"`
	Draining    bool          `msg:"draining"` // takes no new work, as it says of itself
}

// LeaseInfo is one register as this gate's own acceptor knows it.
type LeaseInfo struct {
	Job      JobID         `msg:"job" require:"true"`
	Name     string        `msg:"name"`
	State    JobState      `msg:"state"`  // as its record says
	Holder   string        `msg:"holder"` // address, empty for none
	Token    LeaseToken    `msg:"token"`
	Left     time.Duration `msg:"left"`
	Released bool          `msg:"released"`
	Missing  uint32        `msg:"missing"` // files that its record names and this gate's disk lacks
}

// ClusterStatus answers a ClusterQuery. Lists are bounded by ClusterListed; the
// sums count all.
//
//catalogue:message kind=137 class=control priority=normal
type ClusterStatus struct {
	Request   RequestID    `msg:"request"`
	Gate      string       `msg:"gate" require:"true"` // who answers
	Standing  string       `msg:"standing"`            // "founding", "joining", "member"
	Draining  bool         `msg:"draining"`
	Leader    string       `msg:"leader"` // address, empty when none is known
	Term      uint64       `msg:"term"`
	Gates     []string     `msg:"gates"`   // the configured set
	Members   []MemberInfo `msg:"members"` // by address
	MemberSum uint32       `msg:"member_sum"`
	Leases    []LeaseInfo  `msg:"leases"` // those that are held first, by job
	LeaseSum  uint32       `msg:"lease_sum"`
	Alarms    uint32       `msg:"alarms"` // of clocks, since this gate started
	Alarm     string       `msg:"alarm"`  // the newest
	Warnings  []string     `msg:"warnings"`
}

// DrainRequest asks a gate to have a node take no new work and hand over what it
// owns; with Undo, to take work again.
//
//catalogue:message kind=138 class=control priority=high
type DrainRequest struct {
	Request RequestID `msg:"request"`
	Node    string    `msg:"node" require:"true"`
	Undo    bool      `msg:"undo"`
}

// DrainAck says that the order was given, and by whom it goes.
//
//catalogue:message kind=139 class=control priority=high
type DrainAck struct {
	Request RequestID `msg:"request"`
	Node    string    `msg:"node" require:"true"`
	Via     string    `msg:"via"` // the node that passes it on, empty when it was obeyed here
}

// Drain orders the named node to take no new work and hand over what it owns, or
// to take work again. Who has another name passes it to the one it knows.
//
//catalogue:message kind=140 class=control priority=high
type Drain struct {
	Node string `msg:"node" require:"true"`
	Undo bool   `msg:"undo"`
}
