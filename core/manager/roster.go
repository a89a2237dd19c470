package manager

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/ledger"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
)

func (m *workerSide) onWorkerHeartbeat(env node.Env, in *node.Input, hb *message.WorkerHeartbeat) {
	if hb.Datacenter != m.config.Datacenter {
		refuse(env, in, hb, fmt.Sprintf("its datacenter is %q, this one is %q: correct its --datacenter or its --managers", hb.Datacenter, m.config.Datacenter))
		return
	}
	w, _ := m.roster.On(in.Stream)
	if w == nil {
		if w = m.register(env, in, hb); w == nil {
			return
		}
	}
	m.heard(env, w)
	if w.Spared != 0 && env.Now() >= w.Spared {
		m.roster.Spare(w, 0)
	}
	m.roster.Wake(w, env.Now())
	if !m.roster.Heartbeat(w, hb) {
		env.Send(in.Stream, &message.HeartbeatAck{Sequence: hb.Sequence, Every: m.figures.every(env)})
		return
	}
	m.reconcile(env, w)
	m.meet(env, w, hb.Running)
	m.renew(env, w)
	m.keep(env, w)
	m.place(env)
}

// refuse reports once per stream why the manager does not register a worker. It sends no
// answer, so that the worker tries again after its silence and not at once.
func refuse(env node.Env, in *node.Input, hb *message.WorkerHeartbeat, why string) {
	if hb.Sequence == 1 {
		env.Emit(event.PeerRefused{Peer: in.From.ID, Role: node.RoleWorker, Reason: why})
	}
}

// register handles the first heartbeat of a stream. A worker with a later incarnation has lost
// its former shards, except those that it lists.
func (m *workerSide) register(env node.Env, in *node.Input, hb *message.WorkerHeartbeat) *roster.Worker {
	r := m.roster.Register(in.From, in.Stream, m.config.WorkersMax)
	w := r.Worker
	if w == nil {
		refuse(env, in, hb, r.Why)
		return nil
	}
	if r.Left != 0 {
		env.Close(r.Left)
	}
	if who, known := m.group.Swim.Find(w.Peer.ID); known && who.Run() == w.Peer.Incarnation {
		m.roster.Suspect(w, who.State != swim.Alive)
	}
	if r.Fresh {
		env.Emit(event.PeerRegistered{Peer: w.Peer.ID, Role: node.RoleWorker, Datacenter: m.config.Datacenter})
	}
	if r.Restarted {
		m.loseUnlisted(env, w, hb)
	}
	return w
}

func (m *workerSide) loseUnlisted(env node.Env, w *roster.Worker, hb *message.WorkerHeartbeat) {
	listed := map[message.ShardID]message.Fence{}
	for _, ref := range hb.Running {
		listed[ref.Shard] = ref.Fence
	}
	for _, s := range m.assigned(w) {
		if listed[s.ID] != s.Fence {
			m.lose(env, s, "its worker restarted", true)
		}
	}
}

// reconcile compares the manager's view of a worker with the worker's heartbeat: listed shards
// run, and shards that two heartbeats omit are lost.
func (m *workerSide) reconcile(env node.Env, w *roster.Worker) {
	for _, s := range m.assigned(w) {
		if !m.holds(env, s.Workflow.Subjob) {
			continue
		}
		fence, other := w.Lists(s.ID)
		if fence == s.Fence {
			s.Denials, s.Told = 0, w.Stream
			m.becomeAccepted(env, s)
			continue
		}
		// A heartbeat that was sent before the acceptance may arrive after it.
		if s.State != message.WorkflowRunning || s.Commit == subjob.Counting || env.Now().Sub(s.Accepted) < m.config.DenialAge {
			continue
		}
		if s.Denials++; s.Denials >= 2 {
			// Heartbeats arrive in order, but one from before the acceptance may arrive after
			// it: then the worker has not reported a stop. A worker that lists another attempt
			// of the shard has not stopped the shard either.
			m.lose(env, s, "its worker does not run it", s.Told == w.Stream && !other)
		}
	}
}

// onWorkerBroken keeps the worker: its silence decides, not its stream.
func (m *workerSide) onWorkerBroken(env node.Env, in *node.Input) {
	w := m.roster.Broken(in.Stream)
	if w == nil {
		return
	}
	for _, s := range m.assigned(w) {
		m.touch(env, s.Workflow.Subjob) // watchers see the worker's state
	}
}

func (m *workerSide) onWorkerSilence(env node.Env, number uint64) {
	w := m.roster.Numbered(number)
	if w == nil {
		return
	}
	why := "silent for " + m.config.Silence.String()
	if w.Stream == 0 {
		why = "away for " + m.config.Silence.String()
	}
	if m.group.Swim.EvictionHold() {
		m.heard(env, w) // more than half of the group fails at once: it may be the network
		return
	}
	m.dropWorker(env, w, why)
}

// dropWorker forgets a worker that is silent, or dead according to the membership. The manager
// places nothing on it, and its shards are lost.
func (m *workerSide) dropWorker(env node.Env, w *roster.Worker, why string) {
	m.lone.left = max(1, env.Now())
	lost := m.assigned(w)
	if left := m.roster.Drop(w); left != 0 {
		env.Close(left)
	}
	env.CancelTimer(node.KeyN(node.PartManager, node.ManagerWorker, w.Number))
	env.Emit(event.PeerLost{Peer: w.Peer.ID, Role: node.RoleWorker, Reason: why})
	for _, s := range lost {
		m.lose(env, s, "its worker was "+why, false)
	}
	m.place(env)
}

// closeUnmet closes the streams on which no worker registered.
func (m *workerSide) closeUnmet(env node.Env) {
	for _, s := range m.roster.Unmet(env.Now(), m.config.Silence) {
		env.Close(s)
	}
}

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
