package election

import (
	"cmp"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// beatsKept bounds the age of a beat whose answer still counts.
const beatsKept = 16

// never is before the start of any clock.
const never node.Instant = -1 << 62

// ack is what a leader knows of a voter.
type ack struct {
	sent    node.Instant // the latest beat that it answered; at first, the request that it voted on
	fitness uint32
	stands  bool
}

// lead begins a term as its leader.
func (e *leadership) lead(env node.Env, began node.Instant, granted map[node.Addr]bool) {
	e.role = leader
	e.acks = map[node.Addr]ack{}
	//lint:orderfree one entry each
	for a, yes := range granted {
		if yes {
			e.acks[a] = ack{sent: began}
		}
	}
	e.silent, e.counter, e.resort = 0, 0, e.fitness > e.config.FitMax
	env.CancelTimer(node.Key(node.PartElection, node.ElectionTimeout))
	env.CancelTimer(node.Key(node.PartElection, node.ElectionStand))
	env.Emit(event.Elected{Group: e.config.Group, Term: e.term})
	e.outcomes = append(e.outcomes, Outcome{Kind: Led, Term: e.term, Leader: e.config.Self})
	e.flap(env)
	e.follow(env, node.Peer{ID: env.Self().ID, Addr: e.config.Self})
	e.watch(env)
	e.beat(env)
	e.judgeHealth(env)
}

// beat sends a heartbeat to all voters.
func (e *leadership) beat(env node.Env) {
	if e.role != leader {
		return
	}
	e.counter++
	e.sent[e.counter%beatsKept] = env.Now()
	e.tellAll(env, &message.LeaderBeat{Group: e.config.Group, Term: e.term, Counter: e.counter})
	env.SetTimer(node.Key(node.PartElection, node.ElectionBeat), e.config.Heartbeat)
}

// quorum returns when the leader sent the last beat that a majority has answered.
func (e *leadership) quorum(now node.Instant) node.Instant {
	times := append(make([]node.Instant, 0, 8), now) // for a usual group it stays on the stack
	for _, a := range e.others {
		if k, ok := e.acks[a]; ok {
			times = append(times, k.sent)
		} else {
			times = append(times, never)
		}
	}
	slices.SortFunc(times, func(x, y node.Instant) int { return cmp.Compare(y, x) })
	return times[e.majority()-1]
}

// watch sets the timer at which this leader steps down unless a majority answers.
func (e *leadership) watch(env node.Env) {
	if len(e.others) == 0 {
		return
	}
	left := e.quorum(env.Now()).Add(e.config.TimeoutMax).Sub(env.Now())
	env.SetTimer(node.Key(node.PartElection, node.ElectionQuorum), max(0, left))
}

// Leads reports whether this node may act as the leader now: no other node may (ELECTION-4). It
// ends by the clock, before this node learns of another leader or steps down.
func (e *leadership) Leads(now node.Instant) bool {
	margin := e.config.TimeoutMin * 2 / 100 // two clocks, each off by a hundredth
	return e.role == leader && now.Sub(e.quorum(now)) < e.config.TimeoutMin-margin
}

// judgeHealth ends the leadership of an unhealthy node. It hands over to a fit voter, or steps
// down unless it was elected because no voter was fit.
func (e *leadership) judgeHealth(env node.Env) {
	e.resort = e.resort && e.fitness > e.config.FitMax
	switch {
	case e.role != leader || e.fitness < e.config.HandOverAt || len(e.others) == 0:
	case e.handOver(env, "its local health is bad"):
	case e.fitness >= e.config.StepDownAt && !e.resort:
		e.stepDown(env, "its local health is too bad", true)
	}
}

// HandOver steps down in favour of the fittest voter, and stops standing: this node drains.
func (e *leadership) HandOver(env node.Env) {
	e.drain = true
	switch {
	case e.role == leader && !e.handOver(env, "it drains"):
		e.stepDown(env, "it drains, and no fit voter answers", false)
	case e.role != leader:
		e.role = follower
	}
}

// Resume ends what HandOver began: this node stands again.
func (e *leadership) Resume() { e.drain = false }

// handOver steps down and asks the fittest voter that answered of late to stand.
func (e *leadership) handOver(env node.Env, why string) bool {
	var best node.Addr
	least := uint32(e.config.FitMax) + 1
	for _, a := range e.others {
		k, ok := e.acks[a]
		if ok && k.stands && k.fitness < least && env.Now().Sub(k.sent) < e.config.TimeoutMin {
			best, least = a, k.fitness
		}
	}
	if best == "" {
		return false
	}
	term := e.term
	e.stepDown(env, "handed over to "+string(best)+": "+why, false)
	e.tell(env, best, &message.LeaderHandOver{Group: e.config.Group, Term: term})
	return true
}

// stepDown ends this node's leadership. It resets heard, so that this node votes for the next
// leader at once.
func (e *leadership) stepDown(env node.Env, why string, flaps bool) {
	e.role, e.acks, e.heard = follower, nil, env.Now().Add(-e.config.TimeoutMin)
	env.CancelTimer(node.Key(node.PartElection, node.ElectionBeat))
	env.CancelTimer(node.Key(node.PartElection, node.ElectionQuorum))
	env.Emit(event.SteppedDown{Group: e.config.Group, Term: e.term, Reason: why})
	e.outcomes = append(e.outcomes, Outcome{Kind: Deposed, Term: e.term, Reason: why})
	if flaps {
		e.flap(env)
	}
	e.follow(env, node.Peer{})
	e.wait(env)
}

// flap counts a change of this node's leadership: after too many, others should lead.
func (e *leadership) flap(env node.Env) {
	now := env.Now()
	e.changes = slices.DeleteFunc(e.changes, func(t node.Instant) bool { return now.Sub(t) >= e.config.FlapWindow })
	e.changes = append(e.changes, now)
	if len(e.changes) >= e.config.FlapLimit {
		e.calm = now.Add(e.config.FlapPause)
		e.changes = nil
		env.Emit(event.Reached{What: "election/flapping"})
	}
}
