package lease

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Poster carries messages to fellows of the group: as a datagram when small, on
// a stream otherwise. It may lose, double, reorder and delay them.
type Poster interface {
	Post(env node.Env, to node.Addr, m node.Message)
}

// Registers is one member of a group: acceptor of all registers of the group,
// and proposer of those that its role wants.
type Registers struct {
	c        Config
	post     Poster
	outcomes []Outcome
}

// New returns a member that has not started.
func New(c Config, p Poster) *Registers { return &Registers{c: c, post: p} }

// Start begins an incarnation; only while InputStart is handled.
func (r *Registers) Start(env node.Env) {}

// Receive handles a message of this part and this group, however it came; false
// says that it is another's.
func (r *Registers) Receive(env node.Env, from node.Peer, m node.Message) bool { return false }

// Fire handles a timer of node.PartLease.
func (r *Registers) Fire(env node.Env, k node.TimerKey) {}

// Stored handles a completion whose token is of node.PartLease.
func (r *Registers) Stored(env node.Env, in *node.Input) {}

// Flush sends what waits. A role may call it last in its Step; without that, it
// happens in a timer's firing right after.
func (r *Registers) Flush(env node.Env) {}

// Take returns what happened since the last Take, in order. The slice is valid
// until the next call of any method.
func (r *Registers) Take() []Outcome { o := r.outcomes; r.outcomes = r.outcomes[:0]; return o }

// Speaks says whether this member is one: before that nothing can be acquired.
func (r *Registers) Speaks() bool { return false }

// Acquire tries to become the owner of a job until Granted, Denied or Abandon.
func (r *Registers) Acquire(env node.Env, job message.JobID, seed []byte) {}

// Update puts a new record in the place of the old one; only while this node
// holds the job. Otherwise nothing happens.
func (r *Registers) Update(env node.Env, job message.JobID, record []byte, ticket uint64) {}

// Release ends the lease for good. The caller has stopped acting.
func (r *Registers) Release(env node.Env, job message.JobID) {}

// Transfer hands the job to another member. The caller has stopped acting.
func (r *Registers) Transfer(env node.Env, job message.JobID, to node.Addr) {}

// Abandon ends what is under way for a job, and holding it, without telling anybody.
func (r *Registers) Abandon(env node.Env, job message.JobID) {}

// Read asks for the record that a majority has.
func (r *Registers) Read(env node.Env, job message.JobID, ticket uint64) {}

// Forget leaves a tombstone of a released register.
func (r *Registers) Forget(env node.Env, job message.JobID) {}

// Holds says under which token this node owns the job at an instant.
func (r *Registers) Holds(now node.Instant, job message.JobID) (message.LeaseToken, bool) {
	return message.LeaseToken{}, false
}

// Seen returns what this member's acceptor knows of a job.
func (r *Registers) Seen(now node.Instant, job message.JobID) (Sight, bool) { return Sight{}, false }

// Held returns the jobs that this node holds, sorted.
func (r *Registers) Held() []message.JobID { return nil }

// Known returns all jobs that this member's acceptor has accepted something of, sorted.
func (r *Registers) Known() []message.JobID { return nil }
