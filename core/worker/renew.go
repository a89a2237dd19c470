package worker

import (
	"fmt"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
)

// renewStep is how far a deadline moves at least, a tenth of the timeout: an
// answered heartbeat that brings less is not worth telling every executor.
func (c Config) renewStep() time.Duration { return c.RenewalTimeout / 10 }

// limit returns until when a dispatch that a manager sends now may run: the
// RenewalTimeout of the last heartbeat that it answered, since the dispatch may
// have been held for long. The manager answered before it sent, and counts from
// there.
func (m *Machine) limit(env node.Env, l *uplink.Link) (until node.Instant, ok bool) {
	answered := m.rhythms[l].answered
	until = answered.Add(m.config.RenewalTimeout)
	return until, answered != 0 && until > env.Now()
}

// renew lets go on what a manager named in its answer to a heartbeat that was
// sent at an instant.
func (m *Machine) renew(env node.Env, l *uplink.Link, at node.Instant, named []message.ShardRef) {
	for _, ref := range named {
		s := m.shards[ref.Shard]
		if s == nil || s.current == nil || s.current.fence != ref.Fence {
			continue
		}
		x := s.current
		if x.phase != ended {
			m.extend(env, x, l.Peer.ID, at.Add(m.config.RenewalTimeout))
		} else {
			x.owner(l.Peer.ID)
		}
	}
}

// extend moves the deadline of an execution. One that has come stands, whether
// or not it was noticed: the executors have stopped by it.
func (m *Machine) extend(env node.Env, x *execution, by node.ID, until node.Instant) {
	if x.until == 0 || env.Now() >= x.until {
		return
	}
	renewed := x.manager != by
	x.owner(by)
	if until <= x.until || !renewed && until.Sub(x.until) < m.config.renewStep() {
		return
	}
	x.until = until
	m.enforce(env, x)
}

// owner says who is told of an execution, and first of its result.
func (x *execution) owner(id node.ID) {
	if x.manager != id {
		x.manager, x.tries = id, 0
	}
}

// enforce makes the deadline of an execution hold, here and in its executors,
// which keep it by themselves while this worker is suspended.
func (m *Machine) enforce(env node.Env, x *execution) {
	env.SetTimer(node.KeyN(node.PartWorker, node.WorkerRenewal, x.number), max(0, x.until.Sub(env.Now())))
	if x.phase != running && x.phase != ending {
		return
	}
	for _, r := range x.runs {
		if !r.gone {
			env.Exec().Extend(r.id, x.until)
		}
	}
	env.Emit(event.ShardRenewed{Shard: x.shard.id, Fence: x.fence, Until: x.until})
}

// lapse gives up an execution that no manager has renewed in time: it sends no
// more load, its result counts nowhere, and it is not listed once it is gone, so
// that a manager may dispatch the shard elsewhere. Its fence stays.
func (m *Machine) lapse(env node.Env, x *execution) {
	if x == nil || x.lapsed || env.Now() < x.until {
		return
	}
	switch {
	case x.phase == storing && x.stop == message.WorkflowNone:
		x.lapsed = true // onFenceStored goes on
	case x.phase == waiting && x.stop == message.WorkflowNone:
		m.unrenewed(env, x)
	case (x.phase == running || x.phase == ending) && !x.told():
		m.giveUp(env, x)
	}
}

// giveUp kills what runs. There is no time to ask: the executors are about to end
// by themselves.
func (m *Machine) giveUp(env node.Env, x *execution) {
	x.lapsed = true
	if x.stop == message.WorkflowNone && x.failure == "" {
		x.stop, x.why = message.WorkflowCancelled, m.silence()
	}
	if x.phase == running {
		x.become(ending)
	}
	m.hush(x)
	for _, r := range x.runs {
		if !r.gone {
			env.Exec().Kill(r.id)
		}
	}
}

// hush makes the end of an execution nobody's business.
func (m *Machine) hush(x *execution) {
	if !x.silent {
		x.silent = true
		x.shard.leaving++
	}
}

// silence is why an execution was given up, in words.
func (m *Machine) silence() string {
	return fmt.Sprintf("its manager was silent for %v", m.config.RenewalTimeout)
}

// told says that all executors have sent their results or are gone.
func (x *execution) told() bool {
	for _, r := range x.runs {
		if r.result == nil && !r.gone {
			return false
		}
	}
	return true
}

// unrenewed ends an execution that never started: whoever dispatched it hears so,
// if it is back.
func (m *Machine) unrenewed(env node.Env, x *execution) {
	s := x.shard
	x.lapsed = true
	x.become(closed)
	m.release(env, x)
	s.current = nil
	if l := m.links.Peer(x.manager); l != nil && x.dispatch != nil {
		m.refuse(env, l, x.dispatch, message.CodeNotRenewed, m.silence()+" before it could start")
	}
	m.rest(env, s)
}
