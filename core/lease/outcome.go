package lease

import (
	"fmt"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// OutcomeKind says what an Outcome tells.
type OutcomeKind uint8

// What a role is told, with the fields that are set. Job always is, but for
// Ready, SetDiffers and Alarm.
const (
	// Ready: this member speaks; registers may be acquired and read.
	Ready OutcomeKind = iota + 1
	// Granted: Token, Record, Fresh. This node owns the job and must take Record in
	// place of whatever it remembers, also when it owned the job already (Again):
	// updates that were open are in it, or have had no effect yet; their tickets are void.
	Granted
	// Denied: Holder, Left, and Err when that is the reason. The acquisition has ended.
	Denied
	// Waiting: Err. The acquisition has not reached a majority within
	// AttemptTimeout; it goes on until Abandon. Told once for an Acquire.
	Waiting
	// Updated: Token, Ticket. That record or a later one is on a majority.
	Updated
	// Rejected: Ticket, Err. An Update or Transfer was not begun.
	Rejected
	// Lost: Token, Reason. This node acts for the job no more, and nothing of this
	// job is under way until it is acquired again. What an open update did is unknown.
	Lost
	// Released: Token, Reason "released" (a majority knows) or "transferred"
	// (consent is on its way to the successor).
	Released
	// Read: Ticket, Found, State; or Err and perhaps Holder, who can be asked.
	Read
	// Vacant: Token, Holder, Record as this member's acceptor has them, and Mine
	// after a restart when the last holder was this node; Consented when its holder
	// asks this node to take over. Whoever gets it should acquire, or will be told again.
	Vacant
	// SetDiffers: Holder (the peer), Err: it is configured with another set.
	SetDiffers
	// Alarm: Reason. An operator has to act.
	Alarm
)

func (k OutcomeKind) String() string {
	names := [...]string{"none", "ready", "granted", "denied", "waiting", "updated", "rejected", "lost", "released", "read", "vacant", "set-differs", "alarm"}
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

// Outcome is one thing that happened to a role's registers. Its slices are values: no role changes
// them.
type Outcome struct {
	Kind   OutcomeKind
	Job    message.JobID
	Token  message.LeaseToken
	Record []byte
	Fresh  bool // nobody had accepted anything: Record is the seed
	Again  bool // this node held the job under a lower token until now
	Ticket uint64
	Holder node.Addr
	Left   time.Duration // until the holder's lease runs out as the acceptors see it
	Vacancy
	Found  bool // of a read: somebody accepted something
	State  message.LeaseState
	Reason string
	Err    error
}

// Sight is what this member's own acceptor knows of a register. It is no
// evidence of what a majority has.
type Sight struct {
	Holder   node.Addr
	Token    message.LeaseToken
	Left     time.Duration // until it is not held any more; 0 when it is not
	Released bool
	Copied   bool
	Record   []byte
}
