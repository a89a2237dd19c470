package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/ledger"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// meet handles the shards that a worker lists. It adopts those that a former holder dispatched.
// It cancels those below a higher fence and those that no subjob needs. Shards of other jobs
// belong to other managers.
func (m *workerSide) meet(env node.Env, w *roster.Worker, running []message.ShardRef) {
	for _, ref := range running {
		p := m.owned(env, ref.Shard.Job)
		if p == nil {
			m.meetStray(env, w, ref)
			continue
		}
		if ref.Fence.SubjobEpoch > p.Fence.SubjobEpoch {
			continue // under a manager that has taken over from this one
		}
		s := m.shardOf(env, ref.Shard)
		switch {
		case s == nil && p.Missing > 0 && len(p.Workflows) == 0:
			continue // the record is not here yet
		case s == nil:
			m.cancelStray(env, w, ref)
		case s.Fence == ref.Fence && (s.Result != nil || s.Commit != subjob.Settled):
		case s.Fence == ref.Fence && s.Worker == w.Peer.ID && s.Live():
			m.becomeAccepted(env, s)
		case s.Commit == subjob.Losing && s.Adoptable(ref.Fence):
			// A later heartbeat gets it adopted, once a majority has the loss.
		case s.Adoptable(ref.Fence):
			m.adopt(env, w, s, ref.Fence)
		default:
			m.cancelStray(env, w, ref)
		}
	}
}

// meetAll adopts the shards that workers listed last, and renews them at once: their time has
// run since their former manager fell silent.
func (m *workerSide) meetAll(env node.Env) {
	for _, w := range m.roster.All() {
		if w.Stream == 0 || len(w.Running) == 0 {
			continue
		}
		m.meet(env, w, w.Running)
		m.renew(env, w)
	}
}

// meetStray handles a shard of a job that this manager does not hold. It cancels the shard if
// the job has ended or no majority knows the job.
func (m *workerSide) meetStray(env node.Env, w *roster.Worker, ref message.ShardRef) {
	if m.subjobs[ref.Shard.Job] == nil && m.over(env, ref.Shard.Job) {
		m.cancelStray(env, w, ref)
	}
}

// sweepStrays asks a majority about listed jobs that this manager does not hold. Only the
// datacenter's leader does so; a holder handles its own.
func (m *workerSide) sweepStrays(env node.Env) {
	if !m.group.Election.Leads(env.Now()) {
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
			if m.ledger.Reading() >= m.config.FinishedMax {
				return // the next sweep asks about the rest
			}
			asked[job] = true
			m.ledger.Read(env, job, tag{step: strayRead})
		}
	}
}

// onStrayRead cancels the shards of a job that a majority does not know, or knows as ended.
func (m *workerSide) onStrayRead(env node.Env, o *ledger.Outcome[tag]) {
	if o.Err != nil || o.Found && !o.State.Released || m.subjobs[o.Job] != nil || m.claims[o.Job] != nil {
		return
	}
	m.bury(env, o.Job)
	env.Emit(event.Reached{What: "manager/orphan"})
	for _, w := range m.roster.All() {
		for _, ref := range w.Running {
			if ref.Shard.Job == o.Job {
				m.cancelStray(env, w, ref)
			}
		}
	}
}
