package gate

import (
	"cmp"
	"fmt"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onManagerLost raises the epoch of a part and gives it to another manager. When
// the job is being stopped nothing starts again: the part is waited for within
// its bound.
func (m *Machine) onManagerLost(env node.Env, j *job, p *part) {
	if p.phase == partDone || p.phase == partWaiting {
		return
	}
	m.release(p)
	if j.state == message.JobCancelling || j.expired {
		m.endStopped(env, j)
		m.arm(env, j)
		return
	}
	if p.phase != partSaving {
		p.losses++
	}
	if p.losses > m.config.RedispatchMax {
		m.endPart(env, j, p, message.JobFailed, fmt.Sprintf("%d managers were lost with it, the last was %s", p.losses, p.manager))
		return
	}
	m.dispatchAfterLoss(env, j, p)
}

// dispatchAfterLoss leaves fence and manager as they are while nobody can take
// the part: if the lost manager comes back first, it goes on.
func (m *Machine) dispatchAfterLoss(env node.Env, j *job, p *part) {
	if m.assign(env, j, p) {
		m.saveDispatch(env, j)
		return
	}
	p.become(env.Now(), partWaiting)
	if j.state == message.JobDispatching && !slices.ContainsFunc(j.parts, wasSent) {
		m.requeue(env, j)
		return
	}
	m.arm(env, j)
}

// wasSent says that some manager may have the part. Then the job does not go
// back to the queue, from where another datacenter could be chosen.
func wasSent(p *part) bool { return p.ever || p.phase == partSent }

// compare looks at what a manager says it has against what it should have.
func (m *Machine) compare(env node.Env, mgr *manager, listed []message.PartRef) {
	for _, ref := range listed {
		m.onListed(env, mgr, ref)
	}
	for _, j := range slices.Clone(m.active) {
		p := j.part(mgr.place.name)
		if p == nil || p.manager != mgr.id || p.phase == partDone {
			continue
		}
		if p.beats > 0 {
			if p.beats--; p.beats == 0 {
				m.release(p)
			}
		}
		if p.phase != partRunning {
			continue
		}
		if slices.ContainsFunc(listed, func(r message.PartRef) bool { return r.Job == j.id && r.Fence == p.fence }) {
			p.missed = 0
		} else if p.missed++; p.missed > m.config.MissedMax {
			p.missed = 0
			m.onManagerLost(env, j, p)
		}
	}
}

// onListed adopts a part that runs under the current fence, and stops what
// nobody waits for any more.
func (m *Machine) onListed(env node.Env, mgr *manager, ref message.PartRef) {
	j := m.jobs[ref.Job]
	if j == nil || j.state.Terminal() && j.shown == j.state {
		m.stopOrphan(env, mgr, ref, "its job has ended")
		return
	}
	p := j.part(mgr.place.name)
	if p == nil {
		if cmp.Compare(ref.Fence.Manager, j.epochs[mgr.place.name]) <= 0 {
			m.stopOrphan(env, mgr, ref, "its job is queued again")
		}
		return
	}
	switch c := ref.Fence.Compare(p.fence); {
	case c < 0:
		m.stale(env, j, p, ref.Fence, "heartbeat")
		m.stopOrphan(env, mgr, ref, "a newer dispatch replaced it")
	case c == 0 && p.manager == mgr.id && (p.phase == partAdopting || p.phase == partSent || p.phase == partWaiting):
		m.takenUp(env, j, p)
		m.sendCancel(env, j, p)
	}
}

func (m *Machine) stopOrphan(env node.Env, mgr *manager, ref message.PartRef, reason string) {
	env.Send(mgr.stream, &message.PartCancel{Job: ref.Job, Fence: ref.Fence, State: message.JobCancelled, Reason: reason})
}
