package lease

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"sort"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/lease/tomb"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// acceptor holds the registers as its disk has them, and answers proposers and readers by its
// rules. It watches for leases that run out.
type acceptor struct {
	store
	registers map[message.JobID]*register
	tombs     tomb.Yard // the registers that the role has forgotten, but for those in registers
	watch     dueQueue[*register]
	sweeping  bool
	began     node.Instant // when this member took in its registers: at its start, or at the end of its join
}

func newAcceptor(c Config) *acceptor {
	s := newSeat(c)
	return &acceptor{
		store:     store{mail: mail{seat: s, out: make([]outbox, s.n)}},
		registers: map[message.JobID]*register{},
	}
}

func (r *acceptor) onPrepare(env node.Env, from int, m *message.LeasePrepare) {
	reg := r.admit(env, from, m.Job)
	if reg == nil {
		return
	}
	if reg.writing {
		r.writes.wait(request{reg: reg, from: from, prepare: m})
		return
	}
	if from != r.self && !r.reaches(reg, m.Token) {
		r.implausible(env, from, message.KindLeaseFrame, "token", m.Token.Epoch, r.held(reg))
		return
	}
	reg.seen = max(reg.seen, m.Token.Epoch)
	ruling := reg.judgePrepare(env.Now(), &r.c, m)
	switch ruling {
	case refusesOtherLife:
		reached(env, "lease/equal-token-other-life")
		fallthrough
	case refusesLow:
		r.refuse(env, from, reg, m.Token, m.Life, 0)
		return
	case refusesHeld:
		reached(env, "lease/held-refusal")
		if !m.Consent.Zero() {
			reached(env, "lease/consent-stale")
		}
		r.refuse(env, from, reg, m.Token, m.Life, reg.left(env.Now(), &r.c))
		return
	}
	ch := reg.change(from)
	ch.then = answersPromise
	ch.promised, ch.promiser = m.Token, m.Life
	if reg.accepted.Token.Zero() {
		ch.received = env.Now()
	}
	if ruling == has {
		r.commit(env, &ch)
		return
	}
	r.revive(reg)
	r.record(env, ch)
}

func (r *acceptor) onAccept(env node.Env, from int, m *message.LeaseAccept) {
	reg := r.admit(env, from, m.Job)
	if reg == nil {
		return
	}
	if reg.writing {
		r.writes.wait(request{reg: reg, from: from, accept: m})
		return
	}
	if from != r.self && !r.plausible(env, from, reg, m) {
		return
	}
	reg.seen = max(reg.seen, m.Token.Epoch)
	switch reg.judgeAccept(r.gens, m) {
	case refusesLow:
		reached(env, "lease/late-accept-refused")
		r.refuse(env, from, reg, m.Token, m.Life, 0)
	case refusesOtherLife:
		reached(env, "lease/equal-token-other-life")
		r.refuse(env, from, reg, m.Token, m.Life, 0)
	case refusesOldDisk:
		reached(env, "lease/rest-refused")
		r.refuse(env, from, reg, m.Token, m.Life, 0)
	case hasLater:
		reached(env, "lease/old-seq-kept-out")
		r.sendAccepted(env, from, message.LeaseAccepted{Job: m.Job, Token: m.Token, Life: m.Life, Seq: m.Seq})
	case has:
		r.sendAccepted(env, from, message.LeaseAccepted{Job: m.Job, Token: m.Token, Life: m.Life, Seq: m.Seq})
	case renews:
		reg.renew(env.Now(), m)
		r.sendAccepted(env, from, message.LeaseAccepted{Job: m.Job, Token: m.Token, Life: m.Life, Seq: m.Seq})
	case lacksRecord:
		reached(env, "lease/renewal-without-record") // the proposer's next send carries the record
	case takes:
		r.take(env, reg, from, m)
	}
}

// take writes an accept that changes the record.
func (r *acceptor) take(env node.Env, reg *register, from int, m *message.LeaseAccept) {
	ch := reg.change(from)
	ch.then = answersAccepted
	ch.promised, ch.promiser = m.Token, m.Life
	ch.accepted = message.LeaseState{
		Token: m.Token, Life: m.Life, Seq: m.Seq, Rev: m.Rev, Released: m.Released, Lease: m.Lease, Record: m.Record,
	}
	ch.reaped = false
	ch.received = env.Now()
	if !bytes.Equal(m.Record, reg.accepted.Record) { // a successor writes the record again that it takes over
		ch.written = env.Now()
	}
	r.revive(reg)
	r.record(env, ch)
}

// admit returns the register of a job for an acceptor's rule. Until revive, a new one is the
// caller's alone. It returns nil if there is no room for a new one: this acceptor then stays
// silent, and others may accept.
func (r *acceptor) admit(env node.Env, from int, job message.JobID) *register {
	if reg := r.registers[job]; reg != nil {
		return reg
	}
	if reg := r.buried(job); reg != nil {
		return reg
	}
	if len(r.registers) >= r.c.RegistersMax {
		env.Emit(event.Shed{Reason: event.ShedBound, What: "lease register", Why: ErrFull.Error()})
		return nil
	}
	return r.floor.fresh(job)
}

// known returns the register of a job, also a buried one, or nil.
func (r *acceptor) known(job message.JobID) *register {
	if reg := r.registers[job]; reg != nil {
		return reg
	}
	return r.buried(job)
}

func (r *acceptor) refuse(env node.Env, to int, reg *register, t message.LeaseToken, l message.LeaseLife, left time.Duration) {
	m := message.LeaseRefusal{Job: reg.job, Token: t, Life: l, Promised: reg.promised, Left: left}
	if left > 0 {
		m.Held = reg.accepted.Token
	}
	r.sendRefusal(env, to, m)
}

func (r *acceptor) onQuery(env node.Env, from int, m *message.LeaseQuery) {
	a := message.LeaseAnswer{Job: m.Job, Nonce: m.Nonce}
	if reg := r.known(m.Job); reg != nil && reg.told() {
		a.Accepted = reg.accepted
	}
	r.sendAnswer(env, from, a)
}

// onConsent remembers that the holder lets this member acquire the job.
func (r *acceptor) onConsent(env node.Env, from int, m *message.LeaseConsent) {
	reg := r.known(m.Job)
	if reg == nil {
		if len(r.registers) >= r.c.RegistersMax {
			return
		}
		reg = r.at(m.Job)
		reg.received = env.Now()
		r.watchOver(env, reg)
	}
	if m.Token.Less(reg.accepted.Token) {
		reached(env, "lease/consent-stale")
		return
	}
	if !reg.consent.Less(m.Token) || reg.reaped || reg.accepted.Released {
		return
	}
	reg.consent = m.Token
	if reg.own == nil {
		r.tell(Outcome{Kind: Vacant, Job: m.Job, Token: m.Token, Holder: r.set[from], Record: reg.accepted.Record, Vacancy: Vacancy{Consented: true}})
	}
}

// Seen returns what this member's acceptor has stored of a job.
func (r *acceptor) Seen(now node.Instant, job message.JobID) (Sight, bool) {
	reg := r.known(job)
	if reg == nil || !reg.told() || reg.accepted.Token.Zero() {
		return Sight{}, false
	}
	a, left := &reg.accepted, reg.left(now, &r.c)
	return Sight{
		Holder: r.Address(a.Token), Token: a.Token, Left: left,
		Released: a.Released, Copied: a.Copied, Heard: left > 0 && reg.received > r.began, Record: a.Record,
	}, true
}

// Written returns when this member received a register's record from its writer, or now if it
// does not know: a record that tells an age tells that of then.
func (r *acceptor) Written(now node.Instant, job message.JobID, record []byte) node.Instant {
	if reg := r.registers[job]; reg != nil && reg.written != 0 && bytes.Equal(reg.accepted.Record, record) {
		return reg.written
	}
	return now
}

// Known returns, sorted, all jobs of which this member's acceptor has accepted something, but
// for those that its role has forgotten.
func (r *acceptor) Known() []message.JobID {
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

// forgetAll forgets all registers, the buried ones too.
func (r *acceptor) forgetAll() {
	clear(r.registers)
	r.tombs.Clear()
}

// following lists the registers whose jobs come after one, buried ones too, in the order of their
// jobs.
func (r *acceptor) following(job message.JobID) iter.Seq[*register] {
	return func(yield func(*register) bool) {
		regs := r.sorted()
		regs = regs[sort.Search(len(regs), func(i int) bool { return regs[i].job.Compare(job) > 0 }):]
		t, ok := r.tombs.After(job)
		for ok || len(regs) > 0 {
			var next *register
			if ok && (len(regs) == 0 || t.Job.Compare(regs[0].job) < 0) {
				next = r.risen(&t)
				t, ok = r.tombs.After(t.Job)
			} else {
				next, regs = regs[0], regs[1:]
			}
			if !yield(next) {
				return
			}
		}
	}
}

// sorted returns all registers in the order of their jobs.
func (r *acceptor) sorted() []*register { return sortedOf(r.registers) }

// at returns the register of a job, and creates it if there is none.
func (r *acceptor) at(job message.JobID) *register {
	reg := r.registers[job]
	if reg == nil {
		reg = r.floor.fresh(job)
		r.registers[job] = reg
	}
	return reg
}

// commit makes a change the register's state and answers the member that requested it.
func (r *acceptor) commit(env node.Env, ch *change) {
	reg := ch.reg
	if ch.then == forgets {
		r.drop(reg)
		return
	}
	closed := ch.then == answersAccepted && ch.from != r.self && ch.accepted.Released && !reg.accepted.Released
	reg.promised, reg.promiser, reg.accepted = ch.promised, ch.promiser, ch.accepted
	reg.reaped, reg.received, reg.written = ch.reaped, ch.received, ch.written
	if reg.accepted.Released {
		reg.missed = nil
	}
	if closed {
		r.tell(Outcome{Kind: Closed, Job: reg.job, Token: reg.accepted.Token, Record: reg.accepted.Record})
	}
	r.watchOver(env, reg)
	if ch.then == answersNone {
		if reg.reaped {
			r.inter(reg)
		}
		return
	}
	env.Emit(event.AcceptorWrote{Group: r.c.Group, Job: reg.job, Promised: reg.promised, Token: reg.accepted.Token, Seq: reg.accepted.Seq})
	if ch.then == answersPromise {
		r.sendPromise(env, ch.from, message.LeasePromise{Job: reg.job, Token: ch.promised, Life: ch.promiser, Accepted: reg.accepted})
		return
	}
	r.sendAccepted(env, ch.from, message.LeaseAccepted{Job: reg.job, Token: ch.promised, Life: ch.promiser, Seq: ch.accepted.Seq})
}

// load reads the disk. After an error the member does not trust its disk. Tombstones are many:
// it reads a part of the keys at a time.
func (r *acceptor) load(env node.Env) (m record.Member, found bool, err error) {
	r.began = env.Now()
	for _, rec := range env.Store().Load(r.key("member")) {
		found = true
		if err = record.Read(rec.Value, &m); err != nil {
			return m, found, fmt.Errorf("read the mark of %s: %w", r.c.Group, err)
		}
	}
	for _, first := range message.JobLetters {
		for _, rec := range env.Store().Load(r.key("register/" + string(first))) {
			if err := r.restore(env, rec); err != nil {
				return m, found, err
			}
		}
	}
	return m, found, nil
}

// restore takes one register in from the disk.
func (r *acceptor) restore(env node.Env, rec node.Record) error {
	var s message.LeaseRegister
	if rest, err := s.UnmarshalMsg(rec.Value); err != nil || len(rest) != 0 || r.keyOf(s.Job) != rec.Key {
		return fmt.Errorf("read %s: %d bytes left over, %w", rec.Key, len(rest), err)
	}
	reg := r.at(s.Job)
	reg.promised, reg.promiser, reg.accepted, reg.reaped = s.Promised, s.Life, s.Accepted, s.Reaped
	reg.received = env.Now()
	reg.seen = max(s.Promised.Epoch, s.Accepted.Token.Epoch)
	if reg.reaped {
		r.inter(reg)
	}
	return nil
}

// keysOnDisk lists the keys of all that this member has on its disk.
func (r *acceptor) keysOnDisk(env node.Env) (keys []string) {
	for _, rec := range env.Store().Load(r.key("")) {
		keys = append(keys, rec.Key)
	}
	return keys
}
