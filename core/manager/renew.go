package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/manager/roster"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// renew answers a worker's last heartbeat. What it names may run on for
// RenewalTimeout from when that was sent; for the rest, another manager speaks or
// nobody. A subjob without a gate's word renews nothing.
func (m *Machine) renew(env node.Env, w *roster.Worker) {
	if w.Stream == 0 || w.Sequence == 0 {
		return
	}
	ack := &message.HeartbeatAck{Sequence: w.Sequence}
	for _, ref := range w.Running {
		s := m.shardOf(env, ref.Shard)
		if s == nil || s.fence != ref.Fence || s.worker != w.Peer.ID || !s.live() || !s.written || !fresh(env, s.workflow.subjob) {
			continue
		}
		s.renewed = env.Now()
		ack.Shards = append(ack.Shards, ref)
	}
	env.Send(w.Stream, ack)
}

// meet goes through shards that a worker says it runs. Those that a former holder
// dispatched are adopted; what a higher fence has passed, or nobody waits for, is
// cancelled. Shards of jobs that are not held here belong to other managers.
func (m *Machine) meet(env node.Env, w *roster.Worker, running []message.ShardRef) {
	for _, ref := range running {
		p := m.owned(env, ref.Shard.Job)
		if p == nil {
			m.meetStray(env, w, ref)
			continue
		}
		if ref.Fence.SubjobEpoch > p.fence.SubjobEpoch {
			continue // under a manager that has taken over from this one
		}
		s := m.shardOf(env, ref.Shard)
		switch {
		case s == nil && p.missing > 0 && len(p.workflows) == 0:
			continue // the record is not here yet
		case s == nil:
			m.cancelStray(env, w, ref)
		case s.fence == ref.Fence && (s.result != nil || s.counting || s.losing):
		case s.fence == ref.Fence && s.worker == w.Peer.ID && s.live():
			m.becomeAccepted(env, s)
		case s.losing && m.adoptable(s, ref.Fence):
			// The next heartbeat is adopted, once a majority has the loss of the one before.
		case m.adoptable(s, ref.Fence):
			m.adopt(env, w, s, ref.Fence)
		default:
			m.cancelStray(env, w, ref)
		}
	}
}

// adoptable says whether a fence is of an attempt that a former holder may have
// dispatched and did not give up, above one that was adopted already.
func (m *Machine) adoptable(s *shard, f message.Fence) bool {
	return s.open && !s.counting && s.kept == nil && s.end == message.WorkflowNone && s.floor.Less(f) &&
		(s.state == message.WorkflowPending || s.fence.Less(f))
}

// adopt goes on with an attempt that runs. Of two the higher one stays.
func (m *Machine) adopt(env node.Env, w *roster.Worker, s *shard, f message.Fence) {
	if s.live() {
		if old := m.detach(s); old.Stands() {
			m.cancelStray(env, old, message.ShardRef{Shard: s.id, Fence: s.fence})
		}
		s.worker, s.fence = w.Peer.ID, f
		m.roster.Give(w, s.id, roster.Given{Fence: s.fence, Cores: s.cores})
	} else {
		m.take(env, w, s, f)
	}
	s.accepted, s.denials, s.progress, s.told = env.Now(), 0, nil, 0
	if s.workflow.stopping() && s.workflow.subjob.missing == 0 {
		m.sendCancel(env, s)
	}
}

// take makes a shard that was waited for one that a worker has.
func (m *Machine) take(env node.Env, w *roster.Worker, s *shard, f message.Fence) {
	s.worker, s.fence, s.written = w.Peer.ID, f, true
	s.dispatches = max(s.dispatches, 1)
	s.renewed = max(s.renewed, s.workflow.subjob.granted)
	m.roster.Give(w, s.id, roster.Given{Fence: s.fence, Cores: s.cores})
	if s.workflow.subjob.missing > 0 {
		s.state = message.WorkflowRunning // announce tells it
		return
	}
	m.becomeShard(env, s, message.WorkflowAssigned)
	m.becomeAccepted(env, s)
	if s.workflow.started == 0 {
		s.workflow.started = env.Now()
	}
}

func (m *Machine) cancelStray(env node.Env, w *roster.Worker, ref message.ShardRef) {
	if w.Stream != 0 {
		env.Send(w.Stream, &message.ShardCancel{Shard: ref.Shard, Fence: ref.Fence, State: message.WorkflowCancelled, Reason: "this attempt was given up"})
	}
}

// meetAll adopts what workers listed last, and renews it at once: their time runs
// since their former manager fell silent.
func (m *Machine) meetAll(env node.Env) {
	for _, w := range m.roster.All() {
		if w.Stream == 0 || len(w.Running) == 0 {
			continue
		}
		m.meet(env, w, w.Running)
		m.renew(env, w)
	}
}

// meetStray is about a shard of a job that is not held here: one that has ended,
// or that a majority knows nothing of, is cancelled.
func (m *Machine) meetStray(env node.Env, w *roster.Worker, ref message.ShardRef) {
	if m.subjobs[ref.Shard.Job] == nil && m.over(env, ref.Shard.Job) {
		m.cancelStray(env, w, ref)
	}
}

// over says that a job's subjob has ended for good: its register is released, or a
// majority has none.
func (m *Machine) over(env node.Env, job message.JobID) bool {
	if _, gone := m.gone[job]; gone {
		return true
	}
	sight, ok := m.leases.Seen(env.Now(), job)
	return ok && sight.Released && m.claims[job] == nil
}

// sweepStrays asks a majority about jobs whose shards workers list and that this
// manager does not hold. Only the datacenter's leader does; a holder looks after
// its own.
func (m *Machine) sweepStrays(env node.Env) {
	if !m.election.Leads(env.Now()) {
		return
	}
	asked := map[message.JobID]bool{}
	for _, w := range m.roster.All() {
		for _, ref := range w.Running {
			job := ref.Shard.Job
			if _, gone := m.gone[job]; asked[job] || gone || m.subjobs[job] != nil || m.claims[job] != nil {
				continue
			}
			if _, held := m.elsewhere(env, job); held {
				continue
			}
			if len(m.reads) >= m.config.FinishedMax {
				return // the next sweep asks about the rest
			}
			asked[job] = true
			m.readStray(env, job)
		}
	}
}

// readStray cancels what workers run of a job that a majority knows nothing of,
// or as ended.
func (m *Machine) readStray(env node.Env, job message.JobID) {
	m.read(env, job, func(env node.Env, found, released bool) {
		if found && !released || m.subjobs[job] != nil || m.claims[job] != nil {
			return
		}
		m.bury(env, job)
		env.Emit(event.Reached{What: "manager/orphan"})
		for _, w := range m.roster.All() {
			for _, ref := range w.Running {
				if ref.Shard.Job == job {
					m.cancelStray(env, w, ref)
				}
			}
		}
	})
}
