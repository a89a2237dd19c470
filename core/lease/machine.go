package lease

import (
	"slices"

	"hyperscale/core/event"
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
	set      []node.Addr // the members, sorted
	names    []string    // the same
	n        int         // of members
	majority int
	self     int // index of this member in set; its ordinal is one more
	life     message.LeaseLife

	standing standing
	target   standing // what it is about to become, once that is on disk
	epoch    uint64   // of the group: raised by a recovery
	gens     []uint64 // by member: highest known generation of its disk
	unsaved  bool     // gens are not on disk as they are
	peers    []peer
	joining  *joining
	recovery *recovery
	nonce    uint64 // of this incarnation's hails
	lostTold int    // lost disks of the last alarm
	sweeping bool

	strangers []node.Addr // outside of the set, refused once each

	registers map[message.JobID]*register
	writes    writes
	out       []outbox
	flushing  bool // the flush's timer is set
	proposals dueQueue[*proposal]
	retryFrom node.Instant // when retryAt was drawn
	retryAt   node.Instant
	watch     dueQueue[*register]
	reads     map[uint64]*read
	readQueue dueQueue[*read]
	calls     uint64
	outcomes  []Outcome
	taken     []Outcome
}

// register is one job's, as this member's acceptor has it on disk.
type register struct {
	job      message.JobID
	promised message.LeaseToken
	promiser message.LeaseLife
	accepted message.LeaseState // of a tombstone: released, without its record
	reaped   bool

	received  node.Instant // when accepted was; all of it anew after a restart
	seen      uint64       // highest epoch that anybody has told of
	consent   message.LeaseToken
	writing   bool                 // a change is on its way to the disk
	watched   node.Instant         // of its entry in the watch, 0 for none
	notBefore node.Instant         // others hold it until then
	over      message.LeaseToken   // under which this node released it, whether or not its own disk took that
	missed    *message.LeaseAccept // that release, where a majority has it and its own disk has not
	own       *proposal
}

// New returns a member that has not started.
func New(c Config, p Poster) *Registers {
	if err := c.Validate(); err != nil {
		node.Bug("lease: %v", err)
	}
	if p == nil {
		node.Bug("lease: no poster")
	}
	r := &Registers{c: c, post: p, set: slices.Sorted(slices.Values(c.Members)), n: len(c.Members), majority: c.Majority()}
	r.self = slices.Index(r.set, c.Self)
	for _, a := range r.set {
		r.names = append(r.names, string(a))
	}
	r.gens = make([]uint64, r.n)
	r.peers = make([]peer, r.n)
	r.out = make([]outbox, r.n)
	r.registers = map[message.JobID]*register{}
	r.reads = map[uint64]*read{}
	return r
}

// Receive handles a message of this part and this group, however it came; false
// says that it is another's.
func (r *Registers) Receive(env node.Env, from node.Peer, m node.Message) bool {
	group, mine := groupOf(m)
	if !mine {
		return false
	}
	if group != r.c.Group {
		r.ignore(env, from.ID, m, "of group "+group)
		return true
	}
	i := slices.Index(r.set, from.Addr)
	if i < 0 || i == r.self {
		if hail, ok := m.(*message.LeaseHail); ok && i < 0 {
			r.refuseSet(env, from.Addr, -1, hail)
			return true
		}
		r.ignore(env, from.ID, m, "from "+string(from.Addr)+", which is no other member")
		return true
	}
	if hail, ok := m.(*message.LeaseHail); ok {
		r.onHail(env, i, hail)
		return true
	}
	if !r.peers[i].greeted {
		r.greet(env, i)
		return true
	}
	r.receive(env, i, from.ID, m)
	return true
}

func (r *Registers) receive(env node.Env, from int, id node.ID, m node.Message) {
	switch m := m.(type) {
	case *message.LeaseFrame:
		if why := r.faultOf(m, from); why != "" {
			r.ignore(env, id, m, why)
			return
		}
		if r.standing.speaks() {
			r.onFrame(env, from, m)
		}
	case *message.LeaseJoinRead:
		r.onJoinRead(env, from, m)
	case *message.LeaseJoinKnown:
		r.onJoinKnown(env, from, m)
	case *message.LeaseJoinSet:
		r.onJoinSet(env, from, m)
	case *message.LeaseJoinState:
		r.onJoinState(env, from, m)
	}
}

func groupOf(m node.Message) (string, bool) {
	switch m := m.(type) {
	case *message.LeaseFrame:
		return m.Group, true
	case *message.LeaseHail:
		return m.Group, true
	case *message.LeaseJoinRead:
		return m.Group, true
	case *message.LeaseJoinKnown:
		return m.Group, true
	case *message.LeaseJoinSet:
		return m.Group, true
	case *message.LeaseJoinState:
		return m.Group, true
	}
	return "", false
}

func (r *Registers) ignore(env node.Env, peer node.ID, m node.Message, why string) {
	env.Emit(event.Ignored{Peer: peer, Message: message.Name(m.Kind()), Why: why})
}

// Fire handles a timer of node.PartLease.
func (r *Registers) Fire(env node.Env, k node.TimerKey) {
	switch k.Kind {
	case node.LeaseFlush:
		r.flushing = false
		r.Flush(env)
	case node.LeaseHail:
		r.onHailTimer(env)
	case node.LeaseRenew:
		r.onProposals(env)
	case node.LeaseExpire:
		r.onWatch(env)
	case node.LeaseRead:
		r.onReads(env)
	case node.LeaseSweep:
		r.onSweep(env)
	}
}

// Take returns what happened since the last Take, in order. The shard is valid
// until the Take after it.
func (r *Registers) Take() []Outcome {
	clear(r.taken)
	r.taken, r.outcomes = r.outcomes, r.taken[:0]
	return r.taken
}

func (r *Registers) tell(o Outcome) { r.outcomes = append(r.outcomes, o) }

// Speaks says whether this member is one: before that nothing can be acquired.
func (r *Registers) Speaks() bool { return r.standing.speaks() }

// Holds says under which token this node owns the job at an instant.
func (r *Registers) Holds(now node.Instant, job message.JobID) (message.LeaseToken, bool) {
	reg := r.registers[job]
	if reg == nil || reg.own == nil || !reg.own.acts(now) {
		return message.LeaseToken{}, false
	}
	return reg.own.held, true
}

// Seen returns what this member's acceptor knows of a job.
func (r *Registers) Seen(now node.Instant, job message.JobID) (Sight, bool) {
	reg := r.registers[job]
	if reg == nil || reg.reaped || reg.accepted.Token.Zero() {
		return Sight{}, false
	}
	a := &reg.accepted
	return Sight{
		Holder: r.addrOf(a.Token), Token: a.Token, Left: reg.left(now, &r.c),
		Released: a.Released, Copied: a.Copied, Record: a.Record,
	}, true
}

// Releasing says that this node is giving a register up: it acts for it no more, and no
// majority may know so yet.
func (r *Registers) Releasing(job message.JobID) bool {
	reg := r.registers[job]
	return reg != nil && reg.own != nil && (reg.own.release || reg.own.phase == releasing)
}

// addrOf returns the member that chose a token.
func (r *Registers) addrOf(t message.LeaseToken) node.Addr {
	if t.Ordinal < 1 || int(t.Ordinal) > r.n {
		return ""
	}
	return r.set[t.Ordinal-1]
}

// Held returns the jobs that this node holds, sorted.
func (r *Registers) Held() []message.JobID {
	var jobs []message.JobID
	//lint:orderfree they are sorted below
	for job, reg := range r.registers {
		if reg.own != nil && !reg.own.held.Zero() && !reg.own.stopped {
			jobs = append(jobs, job)
		}
	}
	slices.SortFunc(jobs, message.JobID.Compare)
	return jobs
}

// Known returns all jobs that this member's acceptor has accepted something of,
// sorted.
func (r *Registers) Known() []message.JobID {
	var jobs []message.JobID
	//lint:orderfree they are sorted below
	for job, reg := range r.registers {
		if !reg.reaped && !reg.accepted.Token.Zero() {
			jobs = append(jobs, job)
		}
	}
	slices.SortFunc(jobs, message.JobID.Compare)
	return jobs
}

// sorted returns all registers in the order of their jobs.
func (r *Registers) sorted() []*register { return sortedOf(r.registers) }

// at returns the register of a job, a new one when there is none.
func (r *Registers) at(job message.JobID) *register {
	reg := r.registers[job]
	if reg == nil {
		reg = &register{job: job}
		r.registers[job] = reg
	}
	return reg
}

func reached(env node.Env, what string) { env.Emit(event.Reached{What: what}) }
