package lease

import (
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// recovery makes one disk the truth of a new epoch. Generations of the new epoch are above all
// of the old one, so messages of the old one count nowhere. Members reject its answers by their
// sender's generation, and its accepts by the disks that they rest on. Members of the old epoch
// learn of the new one and fall silent.
type recovery struct {
	judgeAt  node.Instant // when it counts the members that are alive
	finishAt node.Instant // when collecting ends, 0 before
	set      bool         // the configured set is the one of the disk
	mark     record.Member
}

// startRecovery first waits one guard, so that a majority that only starts slowly appears, and
// leases of the old epoch run out.
func (r *membership) startRecovery(env node.Env, m record.Member, same bool) {
	if same {
		copy(r.gens, m.Generations)
	}
	r.recovery = &recovery{judgeAt: env.Now().Add(r.c.Guard()), set: same, mark: m}
	r.standing, r.target = mute, mute
}

func (r *membership) advanceRecovery(env node.Env) {
	v := r.recovery
	if v == nil || r.joining != nil && r.joining.storing {
		return
	}
	now := env.Now()
	if v.finishAt != 0 {
		if now >= v.finishAt || r.collected() {
			r.finishRecovery(env)
		}
		return
	}
	if now < v.judgeAt {
		return
	}
	alive := 1
	for i := range r.peers {
		p := &r.peers[i]
		if i == r.self || !p.known || !p.standing.speaks() {
			continue
		}
		if p.epoch > r.epoch {
			r.recovery = nil
			reached(env, "lease/fenced")
			r.becomeMute(env, "nothing is recovered: %s says that the group is at epoch %d, this disk is of epoch %d: if an operator recovered it from there, wipe this disk; if not, stop that member and start this one again", r.set[i], p.epoch, r.epoch)
			return
		}
		alive++
	}
	if alive >= r.majority && r.n > 1 {
		r.refuseRecovery(env)
		return
	}
	v.finishAt = now.Add(2 * r.c.AttemptTimeout)
	r.startJoin(env, -1)
	r.joining.setting = true
	clear(r.gens)
	r.gens[r.self] = epochGenerations(r.epoch + 1)
	r.retryJoin(env)
}

// collected reports whether every member that is alive has sent all its registers.
func (r *membership) collected() bool {
	for i := range r.peers {
		if p := &r.peers[i]; i != r.self && p.known && p.standing.speaks() && !r.joining.done.has(i) {
			return false
		}
	}
	return true
}

func (r *membership) refuseRecovery(env node.Env) {
	v := r.recovery
	r.recovery = nil
	if !v.set {
		r.becomeMute(env, "a majority of the configured set is alive: nothing is recovered, and this disk is of another set: wipe it")
		return
	}
	r.alarm(env, "a majority of the configured set is alive: nothing is recovered: remove recover", nil)
	r.becomeMember(env, standing(v.mark.Standing), "restarted")
}

func (r *membership) finishRecovery(env node.Env) {
	for _, reg := range r.sorted() {
		r.merge(env, &message.LeaseRegister{Job: reg.job, Promised: reg.promised, Life: reg.promiser, Accepted: reg.accepted, Reaped: reg.reaped})
	}
	for _, reg := range sortedOf(r.joining.merged) {
		reg.accepted.Copied = false
		if !r.recovery.set {
			// Ordinals may name other members now, so no member is the old holder.
			reg.promiser = contested()
			reg.accepted.Life.Incarnation = ^uint64(0)
		}
	}
	r.epoch++
	for i := range r.gens {
		r.gens[i] = epochGenerations(r.epoch)
	}
	r.finishJoin(env)
}
