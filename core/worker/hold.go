package worker

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
)

// hold is the workflow that this worker is kept for: it runs nothing else. Zero: none.
type hold struct {
	job      message.JobID
	workflow uint32
	fence    message.Fence // the highest that asked for it
	until    node.Instant
}

// of says that the hold is a workflow's.
func (h *hold) of(job message.JobID, workflow uint32) bool {
	return h.until != 0 && h.job == job && h.workflow == workflow
}

// excludes says that the hold keeps a shard out.
func (h *hold) excludes(s message.ShardID) bool { return h.until != 0 && !h.of(s.Job, s.Workflow) }

// onHold keeps this worker for a workflow, or lets the workflow go. It lasts twice RenewalTimeout: a
// manager gives a worker up within one, and what it renewed last may run for another.
func (m *orders) onHold(env node.Env, l *uplink.Link, h *message.WorkerHold) {
	mine := m.hold.of(h.Job, h.Workflow)
	switch {
	case mine && h.Fence.Less(m.hold.fence):
		env.Emit(event.Ignored{Peer: l.Peer.ID, Message: "WorkerHold", Why: "a later holder of its subjob asked under " + m.hold.fence.String()})
	case h.Release && mine:
		m.letGo(env)
	case h.Release || !mine && (m.hold.until != 0 || m.runsBeside(h)):
		// The manager learns from heartbeats what runs here.
	default:
		m.hold = hold{h.Job, h.Workflow, h.Fence, env.Now().Add(2 * m.config.RenewalTimeout)}
		env.SetTimer(node.Key(node.PartWorker, node.WorkerHold), 2*m.config.RenewalTimeout)
		if !mine {
			m.managers.hold(&message.WorkerHeld{Job: h.Job, Workflow: h.Workflow})
			m.beatAll(env)
		}
	}
}

// runsBeside says that this worker runs anything but the workflow of a hold.
func (m *orders) runsBeside(h *message.WorkerHold) bool {
	for _, x := range m.ordered {
		if s := x.shard.id; s.Job != h.Job || s.Workflow != h.Workflow {
			return true
		}
	}
	return false
}

// letGo ends the hold, and tells all managers.
func (m *orders) letGo(env node.Env) {
	m.hold = hold{}
	env.CancelTimer(node.Key(node.PartWorker, node.WorkerHold))
	m.managers.hold(&message.WorkerHeld{})
	m.beatAll(env)
	m.managers.hold(nil)
}

// hold sets what the next heartbeats tell of the hold.
func (m *managers) hold(h *message.WorkerHeld) {
	m.held = h
	//lint:orderfree each by itself
	for _, r := range m.rhythms {
		r.told, r.knows = 0, false
	}
}

// heardOf notes that a manager has answered a heartbeat. It says whether all that are connected
// know of the hold by now, and did not before.
func (m *managers) heardOf(l *uplink.Link, sequence uint64) bool {
	r := m.rhythms[l]
	if m.held == nil || r.told == 0 || sequence < r.told {
		return false
	}
	r.knows = true
	for _, other := range m.links.All() {
		if other.Stands && !m.rhythms[other].knows {
			return false
		}
	}
	return m.known(true)
}

// known sets whether all managers know of the hold, and says whether that is news.
func (m *managers) known(is bool) bool {
	if m.held == nil || m.held.Known == is {
		return false
	}
	h := *m.held
	h.Known = is
	m.held = &h
	return true
}
