package lease

import (
	"slices"

	"hyperscale/core/lease/copies"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// joining is rule 5 for a member that has lost its disk. It learns how many disks it has lost
// before, makes the others know of the new one, and takes over their registers. A majority of
// all members carries each step.
type joining struct {
	only    int  // the member whose disk is the truth of a new epoch, -1 for a majority
	setting bool // the generation is chosen: the join requests registers
	storing bool
	nonce   uint64
	others  []uint64 // by member: the highest generation that any other member says of its disk
	known   []uint64 // by member: the highest generation of this member's disk that it knows
	read    members
	done    members
	floors  []uint64        // by member: its floor
	cursor  []message.JobID // by member: the last register of the page before
	merged  map[message.JobID]*register
	told    map[message.JobID]members // that have told of a register
}

func (r *membership) startJoin(env node.Env, only int) {
	r.joining = &joining{only: only, nonce: env.Rand(node.PurposeLease).Uint64() | 1, merged: map[message.JobID]*register{}, told: map[message.JobID]members{}}
	r.joining.cursor, r.joining.floors = make([]message.JobID, r.n), make([]uint64, r.n)
	r.joining.known, r.joining.others = make([]uint64, r.n), make([]uint64, r.n)
	r.retryJoin(env)
}

// enough reports whether a set of others carries a step of the join, and their epoch: members of
// different epochs are no majority.
func (r *membership) enough(s members) (epoch uint64, enough bool) {
	if only := r.joining.only; only >= 0 {
		return r.peers[only].epoch, s.has(only)
	}
	for i := range r.peers {
		count := 0
		for k := range r.peers {
			if s.has(i) && s.has(k) && r.peers[k].epoch == r.peers[i].epoch {
				count++
			}
		}
		if count >= r.majority {
			return r.peers[i].epoch, true
		}
	}
	return 0, false
}

// retryJoin repeats the request to the members that have not answered.
func (r *membership) retryJoin(env node.Env) {
	j := r.joining
	if j == nil || j.storing {
		return
	}
	for i := range r.peers {
		if i == r.self || !r.peers[i].greeted || j.only >= 0 && i != j.only {
			continue
		}
		switch {
		case !j.setting && !j.read.has(i):
			r.post.Post(env, r.set[i], &message.LeaseJoinRead{Group: r.c.Group, Nonce: j.nonce})
		case j.setting && !j.done.has(i):
			r.askPage(env, i)
		}
	}
	if only := j.only; only >= 0 && !r.peers[only].standing.speaks() {
		r.joining = nil
	}
}

func (r *membership) askPage(env node.Env, from int) {
	j := r.joining
	r.post.Post(env, r.set[from], &message.LeaseJoinSet{Group: r.c.Group, Nonce: j.nonce, Generation: r.gens[r.self], After: j.cursor[from]})
}

func (r *membership) onJoinRead(env node.Env, from int, m *message.LeaseJoinRead) {
	if r.standing.speaks() {
		r.post.Post(env, r.set[from], &message.LeaseJoinKnown{Group: r.c.Group, Nonce: m.Nonce, Known: r.gens[from], Gens: slices.Clone(r.gens)})
	}
}

func (r *membership) onJoinKnown(env node.Env, from int, m *message.LeaseJoinKnown) {
	j := r.joining
	if j == nil || j.storing || m.Nonce != j.nonce || len(m.Gens) != r.n || !validGens(m.Gens) || m.Known >= 1<<62 {
		return
	}
	if j.setting {
		if m.Known > r.gens[r.self] && r.recovery == nil && !r.restarted.has(from) {
			if m.Known > r.gens[r.self]+generationStep {
				r.implausible(env, from, m.Kind(), "generation", m.Known, r.gens[r.self])
				return
			}
			r.restarted.add(from)
			r.gens[r.self] = m.Known // an earlier run got as far, and lost its disk again
			r.startJoin(env, j.only)
		}
		return
	}
	r.hearGens(from, m.Gens)
	j.known[from] = max(m.Known, 1)
	j.read.add(from)
	if _, enough := r.enough(j.read); !enough {
		return
	}
	j.setting = true
	j.nonce = env.Rand(node.PurposeLease).Uint64() | 1
	r.gens[r.self] = max(r.gens[r.self], r.highest(env, m.Kind(), j.known), 1) + 1
	r.recordMark(env, tag{then: generated, nonce: j.nonce})
}

// hearGens takes the generation of a member's disk from that member, and notes what it says of others.
func (r *membership) hearGens(from int, gens []uint64) {
	most := epochGenerations(r.peers[from].epoch+1) + generationStep
	for i, g := range gens {
		switch {
		case g > most:
		case i == from:
			r.gens[i] = max(r.gens[i], g)
		case i != r.self:
			r.joining.others[i] = max(r.joining.others[i], g)
		}
	}
}

// highest returns the largest of the numbers that members say, but for one that is a step above all
// others: its member lies, or no other one has heard of it.
func (r *membership) highest(env node.Env, k node.Kind, said []uint64) uint64 {
	top, next := 0, uint64(0)
	for i, n := range said {
		if n > said[top] {
			top = i
		}
	}
	for i, n := range said {
		if i != top {
			next = max(next, n)
		}
	}
	if next > 0 && said[top] > next+generationStep {
		r.implausible(env, top, k, "generation", said[top], next)
		return next
	}
	return said[top]
}

// onJoinSet makes the new generation durable, then sends a page. No member that knows of this
// disk counts an answer of the old one any more.
func (r *membership) onJoinSet(env node.Env, from int, m *message.LeaseJoinSet) {
	if !r.standing.speaks() || m.Generation >= 1<<62 {
		return
	}
	if m.Generation < r.gens[from] {
		r.onJoinRead(env, from, &message.LeaseJoinRead{Group: r.c.Group, Nonce: m.Nonce})
		return
	}
	if !r.reachable(from, m.Generation) {
		r.implausible(env, from, m.Kind(), "generation", m.Generation, r.gens[from])
		return
	}
	if m.Generation > r.gens[from] {
		r.gens[from] = m.Generation
		var raised members
		raised.add(from)
		r.forgetAnswers(raised)
		r.unsaved = true
	} else if m.After != (message.JobID{}) {
		r.tellPage(env, from, m.Nonce, m.After)
		return
	}
	r.recordMark(env, tag{then: heard, peer: from, nonce: m.Nonce, after: m.After})
}

func (r *membership) tellPage(env node.Env, to int, nonce uint64, after message.JobID) {
	page := &message.LeaseJoinState{Group: r.c.Group, Nonce: nonce, Gens: slices.Clone(r.gens), Floor: r.floor.own}
	page.Registers, page.More = r.Page(after, r.c.PageRegisters, frameBytes)
	r.post.Post(env, r.set[to], page)
}

// Page returns this member's registers after one, in the order of their jobs, and whether more
// follow.
func (r *acceptor) Page(after message.JobID, most, bytes int) (page []message.LeaseRegister, more bool) {
	size := 0
	for reg := range r.following(after) {
		if reg.promised.Epoch <= r.floor.own && reg.accepted.Token.Zero() {
			continue // the floor says it
		}
		size += entryBytes + len(reg.accepted.Record)
		if len(page) == most || len(page) > 0 && size > bytes {
			return page, true
		}
		page = append(page, message.LeaseRegister{
			Job: reg.job, Promised: reg.promised, Life: reg.promiser, Accepted: reg.accepted, Reaped: reg.reaped,
		})
	}
	return page, false
}

func (r *membership) onJoinState(env node.Env, from int, m *message.LeaseJoinState) {
	j := r.joining
	if j == nil || !j.setting || j.storing || m.Nonce != j.nonce || len(m.Gens) != r.n || !validGens(m.Gens) || m.Floor > floorMax || j.done.has(from) {
		return
	}
	last := j.cursor[from]
	for i := range m.Registers {
		s := &m.Registers[i]
		if s.Job.Compare(last) <= 0 {
			return // a page that arrived before, or a broken one
		}
		last = s.Job
		if !s.Reaped && !r.readable(env, from, m.Kind(), s.Job, s.Accepted.Token, s.Accepted.Record) {
			return
		}
		if !r.valid(s.Promised) || !s.Reaped && !r.validState(&s.Accepted) || s.Reaped && !r.valid(s.Accepted.Token) {
			ignore(env, node.ID(r.set[from]), m, "a register is out of range")
			return
		}
	}
	r.hearGens(from, m.Gens)
	for i := range m.Registers {
		r.merge(env, &m.Registers[i])
	}
	j.hear(from, m)
	j.cursor[from] = last
	if m.More && len(m.Registers) > 0 {
		r.askPage(env, from)
		return
	}
	j.done.add(from)
	if _, enough := r.enough(j.done); enough && r.recovery == nil {
		r.finishJoin(env)
	}
}

// hear notes of which registers a member has told, and its floor: that binds for all others.
func (j *joining) hear(from int, m *message.LeaseJoinState) {
	for i := range m.Registers {
		told := j.told[m.Registers[i].Job]
		told.add(from)
		j.told[m.Registers[i].Job] = told
	}
	j.floors[from] = max(j.floors[from], m.Floor)
}

// merge keeps the highest promise and the latest accept. A copy proves no majority, because
// this disk did not promise it. The registers of a new epoch's founder are no copies but the
// truth.
func (r *membership) merge(env node.Env, s *message.LeaseRegister) {
	j := r.joining
	reg := j.merged[s.Job]
	if reg == nil {
		reg = &register{job: s.Job}
		j.merged[s.Job] = reg
	}
	switch c := reg.promised.Compare(s.Promised); {
	case c < 0:
		reg.promised, reg.promiser = s.Promised, s.Life
	case c == 0 && reg.promiser != s.Life:
		reg.promiser = contested()
	}
	if copies.Later(&s.Accepted, s.Reaped, &reg.accepted, reg.reaped) {
		reg.accepted, reg.reaped = s.Accepted, s.Reaped
		reg.accepted.Copied = !s.Reaped && !s.Accepted.Token.Zero() && j.only < 0
	}
	reg.received, reg.written = env.Now(), 0
	reg.seen = max(reg.seen, reg.promised.Epoch, reg.accepted.Token.Epoch)
}

// finishJoin writes all registers and then the mark, so that a crash in between leaves a blank
// disk.
func (r *membership) finishJoin(env node.Env) {
	j := r.joining
	j.storing = true
	to := member
	for i, g := range j.others { // a member that answered has said its own
		if !j.read.has(i) && !j.done.has(i) {
			r.gens[i] = max(r.gens[i], g)
		}
	}
	if r.recovery == nil {
		epoch, _ := r.enough(j.done)
		r.epoch = max(r.epoch, epoch)
	}
	if r.recovery != nil {
		to = recovered
	}
	r.boundFloors(env)
	for _, floor := range j.floors {
		r.floor.raise(floor)
	}
	for _, reg := range sortedOf(j.merged) {
		for i, floor := range j.floors {
			if told := j.told[reg.job]; j.done.has(i) && !told.has(i) {
				reg.bind(floor) // that member may have promised it away, and forgotten so
			}
		}
		r.registers[reg.job] = reg
		r.record(env, reg.change(r.self))
	}
	r.target = to
	r.recordMark(env, tag{then: joined, to: to})
}

// boundFloors keeps the floor of one member within a step of all others'.
func (r *membership) boundFloors(env node.Env) {
	j := r.joining
	for i := range j.floors {
		others := uint64(0)
		for k, floor := range j.floors {
			if k != i {
				others = max(others, floor)
			}
		}
		if j.only < 0 && j.floors[i] > others+tokenStep {
			r.implausible(env, i, message.KindLeaseJoinState, "floor", j.floors[i], others)
			j.floors[i] = others
		}
	}
}

// onTakenOver ends a join or a recovery.
func (r *membership) onTakenOver(env node.Env, to standing, err error) {
	r.joining = nil
	if err != nil {
		r.target = r.standing
		return
	}
	r.recovery = nil
	how := "rejoined"
	if to == recovered {
		how = "recovered"
	}
	reached(env, "lease/"+how)
	r.becomeMember(env, to, how)
	for i := range r.peers {
		r.peers[i].known = false
	}
	r.hailAll(env)
}

// abandonJoin undoes a join after a failed write.
func (r *membership) abandonJoin(env node.Env, err error) {
	w := &r.writes
	for i := range w.next {
		w.next[i].reg.writing = false
	}
	clear(w.next)
	w.next, w.mark = w.next[:0], false
	then := w.then
	w.then = nil
	for _, t := range then {
		r.follow(env, t, err)
	}
	r.forgetAll()
	r.joining = nil
	r.target = r.standing
	if r.recovery != nil {
		r.recovery = nil
		r.becomeMute(env, "the disk refuses writes while it is recovered: free space and start again: %v", err)
	}
}

// follow continues what waited for a Put, whether it succeeded or failed.
func (r *membership) follow(env node.Env, t tag, err error) {
	switch t.then {
	case stood:
		r.onStood(env, t, err)
	case generated:
		if j := r.joining; j != nil && j.nonce == t.nonce && err == nil {
			r.retryJoin(env)
		} else if j != nil && j.nonce == t.nonce {
			r.joining = nil
		}
	case heard:
		if err == nil && r.standing.speaks() {
			r.tellPage(env, t.peer, t.nonce, t.after)
		}
	case joined:
		r.onTakenOver(env, t.to, err)
	case raised:
		leveling{r}.onRaised(env, t, err)
	case moved:
		r.onMoved(env, err)
	case erased:
		if err == nil {
			r.writes.erase = r.writes.erase[t.count:]
			return
		}
		env.SetTimer(node.Key(node.PartLease, node.LeaseHail), r.retryIn(env))
	}
}
