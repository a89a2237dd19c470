package lease

import (
	"fmt"
	"time"

	"hyperscale/core/lease/seats"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// OutcomeKind is the kind of an Outcome.
type OutcomeKind uint8

// The outcomes that a role receives, with the fields that are set. Job always is, but for
// Ready, SetDiffers and Alarm.
const (
	// Ready: this member speaks; roles may acquire and read registers.
	Ready OutcomeKind = iota + 1
	// Granted: Token, Record, Fresh. This node owns the job. The role replaces its own copy
	// with Record, also when it owned the job already (Again). Record contains the updates that
	// were open, or they have had no effect yet; their tickets are void.
	Granted
	// Denied: Holder, Left, and Err if that is the reason. The acquisition has ended.
	Denied
	// Waiting: Err. The acquisition has not reached a majority within AttemptTimeout; it
	// continues until Abandon. It is reported once per Acquire.
	Waiting
	// Updated: Token, Ticket. A majority has that record or a later one.
	Updated
	// Rejected: Ticket, Err. An Update or Transfer did not begin.
	Rejected
	// Lost: Token, Reason. This node no longer acts for the job, and has nothing open for it
	// until it acquires again. Whether an open update took effect is unknown.
	Lost
	// Released: Token, Reason "released" (a majority knows) or "transferred" (consent is on its
	// way to the successor).
	Released
	// Read: Ticket, Found, State; or Err and perhaps Holder, which a caller can ask.
	Read
	// Vacant: Token, Holder, Record as this member's acceptor has them. Mine is set after a
	// restart if this node was the last holder, Consented if the holder asks this node to take
	// over. The role should acquire; otherwise Vacant repeats.
	Vacant
	// Closed: Token, Record. This member's disk has the release of a register that another member
	// held. So a majority has the record, because its holder released the register after that.
	Closed
	// SetDiffers: Holder (the peer), Err: the peer's configuration has another set.
	SetDiffers
	// Alarm: Reason. An operator has to act.
	Alarm
	// Moved: Set. This member's disk has a later set, and the node restarts in it after this Step.
	Moved
)

func (k OutcomeKind) String() string {
	names := [...]string{"none", "ready", "granted", "denied", "waiting", "updated", "rejected", "lost", "released", "read", "vacant", "closed", "set-differs", "alarm", "moved"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("outcome(%d)", uint8(k))
}

// Vacancy says why this node should acquire a register.
type Vacancy struct {
	Mine      bool // it held the register before it restarted
	Consented bool // the holder hands the register over
}

// Outcome is one event of a role's registers. Roles do not change its slices.
type Outcome struct {
	Kind   OutcomeKind
	Job    message.JobID
	Token  message.LeaseToken
	Record []byte
	Fresh  bool // no member had accepted anything: Record is the seed
	Again  bool // this node held the job under a lower token until now
	Ticket uint64
	Holder node.Addr
	Left   time.Duration // until the holder's lease runs out as the acceptors see it
	Vacancy
	Found  bool // of a read: a member has accepted something
	State  message.LeaseState
	Reason string
	Err    error
	Set    seats.Set
}

// Sight is this member's own acceptor's view of a register. It does not prove what a majority
// has.
type Sight struct {
	Holder   node.Addr
	Token    message.LeaseToken
	Left     time.Duration // until its lease runs out; 0 if no member holds it
	Released bool
	Copied   bool
	Heard    bool // from the holder, within its lease and since this member took its registers in
	Record   []byte
}
