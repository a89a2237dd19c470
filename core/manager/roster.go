package manager

import (
	"fmt"

	"hyperscale/core/event"
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
	if !m.roster.Heartbeat(w, hb) {
		env.Send(in.Stream, &message.HeartbeatAck{Sequence: hb.Sequence})
		return
	}
	m.reconcile(env, w)
	m.meet(env, w, hb.Running)
	m.renew(env, w)
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
