package lease

import (
	"slices"

	"hyperscale/core/lease/tomb"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Poster carries messages to peers of the group: small ones as datagrams, others on a stream.
// It may lose, double, reorder and delay them.
type Poster interface {
	Post(env node.Env, to node.Addr, m node.Message)
}

// Registers is one member of a group. It is the acceptor of all registers of the group, and the
// proposer of those that its role wants. It dispatches inputs to its layers; each layer calls
// those below it alone.
type Registers struct {
	*acceptor
	*proposer
	*reader
	*membership
}

// New returns a member that has not started.
func New(c Config, p Poster) *Registers {
	if err := c.Validate(); err != nil {
		node.Bug("lease: %v", err)
	}
	if p == nil {
		node.Bug("lease: no poster")
	}
	a := newAcceptor(c)
	a.tombs = tomb.New(c.TombsMax)
	w := &proposer{acceptor: a}
	q := &reader{acceptor: a, reads: map[uint64]*read{}}
	return &Registers{acceptor: a, proposer: w, reader: q, membership: &membership{
		proposer: w, reader: q, acceptor: a, post: p, peers: make([]peer, a.n),
	}}
}

// Receive handles a message of this part and this group, from a datagram or a stream. It
// returns false if the message belongs to another part or group.
func (r *Registers) Receive(env node.Env, from node.Peer, m node.Message) bool {
	group, mine := groupOf(m)
	if !mine {
		return false
	}
	if group != r.c.Group {
		ignore(env, from.ID, m, "of group "+group)
		return true
	}
	hail, hails := m.(*message.LeaseHail)
	if hails && len(hail.Members) == 0 {
		ignore(env, from.ID, m, "without a set")
		return true
	}
	i := slices.Index(r.set, from.Addr)
	if i < 0 || i == r.self {
		switch {
		case i < 0 && r.tellStranger(env, from.Addr, hail):
			return true
		case hails && i < 0 && r.standing < member && hail.Version > r.c.Set.Version && slices.Contains(hail.Members, string(r.c.Self)):
			r.hearLater(env, from.Addr, hail)
			return true
		case hails && i < 0:
			r.refuseSet(env, from.Addr, -1, hail)
			return true
		}
		if _, order := m.(*message.LeaseLevel); order && i < 0 {
			return false // of a gate to the managers of a datacenter
		}
		ignore(env, from.ID, m, "from "+string(from.Addr)+", which is no other member")
		return true
	}
	if (leveling{r.membership}).outdated(env, i, from) {
		return true
	}
	if hails {
		if !hail.Answer {
			r.level.Forget(i)
		}
		r.onHail(env, i, hail)
		leveling{r.membership}.keepUp(env, i)
		return true
	}
	leveling{r.membership}.keepUp(env, i)
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
			ignore(env, id, m, why)
			return
		}
		if r.standing.speaks() {
			r.onFrame(env, from, m)
		}
	case *message.LeaseLevel:
		leveling{r.membership}.hear(env, from, m)
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
	case *message.LeaseLevel:
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

// Flush sends what waits: first to this member itself, in memory; then the write that results;
// then to the others. A role may call it last in its Step. Otherwise a timer that fires right
// after the Step calls it.
func (r *Registers) Flush(env node.Env) {
	if !r.waits {
		return
	}
	for len(r.out[r.self].frames) > 0 && r.standing.speaks() {
		own := r.out[r.self].frames
		r.out[r.self] = outbox{frames: r.out[r.self].spare}
		for _, f := range own {
			f.Gens = r.gens
			r.onFrame(env, r.self, f)
		}
		r.reuse = own[0]
		clear(own)
		r.out[r.self].spare = own[:0]
	}
	r.write(env)
	for i := range r.out {
		o := &r.out[i]
		if len(o.frames) == 0 {
			continue
		}
		if r.standing.speaks() && r.peers[i].greeted {
			if !slices.Equal(r.told, r.gens) {
				r.told = slices.Clone(r.gens) // what is sent never changes
			}
			for _, f := range o.frames {
				f.Gens, f.Note, f.Floor = r.told, r.note, r.floor.own
				r.post.Post(env, r.set[i], f)
			}
		}
		clear(o.frames)
		*o = outbox{frames: o.frames[:0]}
	}
	r.waits = len(r.out[r.self].frames) > 0 || r.writes.pending()
}

// onFrame handles all entries of one member's frame. The acceptor's rules judge its requests,
// however old the frame is. Its answers count only if that member has not lost its disk since.
func (r *Registers) onFrame(env node.Env, from int, f *message.LeaseFrame) {
	if from != r.self && !r.learnGens(env, from, f) {
		return
	}
	if from != r.self {
		r.notes[from] = Note{f.Note, env.Now()}
		if !r.floor.hear(from, r.majority, f.Floor) {
			r.implausible(env, from, f.Kind(), "floor", f.Floor, r.floor.heard)
		}
	}
	for i := range f.Prepares {
		r.onPrepare(env, from, &f.Prepares[i])
	}
	for i := range f.Accepts {
		r.onAccept(env, from, &f.Accepts[i])
	}
	for i := range f.Queries {
		r.onQuery(env, from, &f.Queries[i])
	}
	for i := range f.Consents {
		r.onConsent(env, from, &f.Consents[i])
	}
	answers := len(f.Promises) + len(f.Refusals) + len(f.Accepteds) + len(f.Answers)
	if answers == 0 {
		return
	}
	if f.Gens[from] < r.gens[from] {
		reached(env, "lease/old-answer-dropped")
		return
	}
	for i := range f.Promises {
		r.onPromise(env, from, &f.Promises[i])
	}
	for i := range f.Refusals {
		r.onRefusal(env, from, &f.Refusals[i])
	}
	for i := range f.Accepteds {
		r.onAccepted(env, from, &f.Accepteds[i])
	}
	for i := range f.Answers {
		r.onAnswer(env, from, &f.Answers[i])
	}
}

// Stored handles a completion whose WriteID belongs to node.PartLease. After a failed write the
// requests have no effect and get no answer.
func (r *Registers) Stored(env node.Env, in *node.Input) {
	w := &r.writes
	if !w.busy || in.WriteID != node.WriteIDOf(node.PartLease, w.sent) {
		node.Bug("lease: store token %d completes, %d is open", in.WriteID, node.WriteIDOf(node.PartLease, w.sent))
	}
	w.busy = false
	open, then := w.open, w.opened
	w.opened = nil
	r.judgeDisk(env, in.Err)
	if in.Err != nil {
		r.unsaved = true // the mark may have been in that write
		if r.joining != nil && r.joining.storing {
			r.abandonJoin(env, in.Err)
		}
	}
	for i := range open {
		open[i].reg.writing = false
		if in.Err == nil {
			r.commit(env, &open[i])
		} else {
			r.watchFailed(env, &open[i])
		}
	}
	clear(w.open)
	w.open = w.open[:0]
	for _, t := range then {
		r.follow(env, t, in.Err)
	}
	waiting := w.waiting
	w.waiting = nil
	clear(w.places)
	for _, q := range waiting {
		if q.prepare != nil {
			r.onPrepare(env, q.from, q.prepare)
		} else {
			r.onAccept(env, q.from, q.accept)
		}
	}
	if in.Err == nil || len(w.erase) == 0 {
		r.wakeWrite(env)
	}
}

// Rests reports this member's ledgers against their rest: it owns no register and wants none.
// Released registers remain as tombstones until TombstoneAge.
func (r *Registers) Rests(tell node.Tell) {
	w := &r.writes
	tell("lease/writes", len(w.next)+len(w.open)+len(w.erase), 0)
	tell("lease/writes that wait", len(w.waiting)+len(w.places), 0)
	tell("lease/callers of writes", len(w.then)+len(w.opened), 0)
	tell("lease/keys of the start", len(w.keys), 0)
	tell("lease/reads", len(r.reads)+len(r.readQueue.entries), 0)
	tell("lease/proposals", len(r.proposals.entries), 0)
	tell("lease/watched registers", len(r.watch.entries), 0)
	tell("lease/outcomes", len(r.outcomes), 0)
	tell("lease/strangers", len(r.strangers), MembersMax)
	tell("lease/rumors of later sets", len(r.rumors), 2*r.n)
	frames, owned, updates, writing, hollow := 0, 0, 0, 0, 0
	for i := range r.out {
		frames += len(r.out[i].frames)
	}
	//lint:orderfree sums
	for _, reg := range r.registers {
		if reg.writing {
			writing++
		}
		if a := &reg.accepted; reg.own == nil && (a.Token.Zero() || a.Released && !reg.reaped && void(a)) {
			hollow++
		}
		if p := reg.own; p != nil {
			owned++
			updates += len(p.tickets)
			if p.updating != 0 || p.next != nil {
				updates++
			}
		}
	}
	tell("lease/registers that hold nothing", hollow, 0)
	tell("lease/frames", frames, 0)
	tell("lease/registers that are owned", owned, 0)
	tell("lease/open updates", updates, 0)
	tell("lease/registers that are written", writing, 0)
	merged := 0
	if r.joining != nil {
		merged = 1 + len(r.joining.merged) + len(r.joining.cursor)
	}
	if r.recovery != nil {
		merged++
	}
	tell("lease/joins", merged, 0)
}

// readsMax bounds concurrent reads of a majority.
const readsMax = 16 << 10

// Sizes reports what this member holds, against its bounds.
func (r *Registers) Sizes(tell node.Tell) {
	tell("lease/registers", len(r.registers), r.c.RegistersMax)
	tell("lease/tombstones", r.tombs.Len(), r.c.TombsMax)
	ages, most := r.tombs.Ages()
	tell("lease/ages of tombstones", ages, most)
	tell("lease/writes", len(r.writes.next)+len(r.writes.open), r.c.RegistersMax)
	tell("lease/reads", len(r.readQueue.entries), readsMax)
	tell("lease/strangers", len(r.strangers), MembersMax)
	tell("lease/rumors of later sets", len(r.rumors), 2*r.n)
}
