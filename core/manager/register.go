package manager

import (
	"fmt"
	"maps"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/manager/place"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
)

// worker is what is known of one worker. One that a restarted manager finds in
// its records is known before it registers.
type worker struct {
	number     uint64 // of its timer
	peer       node.Peer
	stream     node.StreamID // zero while there is none
	registered bool
	draining   bool
	total      uint32
	reported   uint32 // free cores of its last heartbeat or refusal
	sequence   uint64
	suspect    bool // as the membership has it: nothing new is given to it
	running    []message.ShardRef
	listed     map[message.ShardID]message.Fence // the same, by shard
	shards     map[message.ShardID]*shard        // live attempts that it was given
}

// free is what it reported, less what it was given since.
func (w *worker) free() uint32 {
	n := w.reported
	//lint:orderfree a difference does not depend on the order of what is taken
	for id, s := range w.shards {
		if f, ok := w.listed[id]; !ok || f != s.fence {
			n -= min(n, s.cores)
		}
	}
	return n
}

// rank keeps the ranking true to what changed of a worker: one that is well, stands and
// is not being drained can be given shards.
func (m *Machine) rank(w *worker) {
	if w.registered && w.stream != 0 && !w.draining && !w.suspect {
		m.ranking.Set(place.Worker{ID: w.peer.ID, Free: w.free(), Total: w.total})
	} else {
		m.ranking.Remove(w.peer.ID)
	}
}

// give notes that a worker has a shard.
func (m *Machine) give(w *worker, s *shard) {
	w.shards[s.id] = s
	m.rank(w)
}

func (w *worker) assigned() []*shard {
	return slices.SortedFunc(maps.Values(w.shards), func(a, b *shard) int { return a.id.Compare(b.id) })
}

// known returns the worker of that name, which may not have registered yet.
func (m *Machine) known(id node.ID) *worker {
	w := m.workers[id]
	if w == nil {
		m.number++
		w = &worker{number: m.number, peer: node.Peer{ID: id, Role: node.RoleWorker}, shards: map[message.ShardID]*shard{}}
		m.workers[id] = w
	}
	return w
}

func (m *Machine) heard(env node.Env, w *worker) {
	env.SetTimer(node.KeyN(node.PartManager, node.ManagerWorker, w.number), m.config.Silence)
}

func (m *Machine) onWorkerHeartbeat(env node.Env, in *node.Input, hb *message.WorkerHeartbeat) {
	if hb.Datacenter != m.config.Datacenter {
		refuse(env, in, hb, fmt.Sprintf("its datacenter is %q, this one is %q: correct its --datacenter or its --managers", hb.Datacenter, m.config.Datacenter))
		return
	}
	w := m.streams[in.Stream]
	if w == nil {
		if w = m.register(env, in); w == nil {
			return
		}
	}
	m.heard(env, w)
	if hb.Sequence <= w.sequence {
		env.Send(in.Stream, &message.HeartbeatAck{Sequence: hb.Sequence})
		return
	}
	w.sequence = hb.Sequence
	w.draining = hb.Draining
	w.total = hb.CoresTotal
	w.reported = min(hb.CoresFree, hb.CoresTotal)
	w.running = hb.Running
	if clear(w.listed); w.listed == nil {
		w.listed = make(map[message.ShardID]message.Fence, len(hb.Running))
	}
	for _, ref := range hb.Running {
		w.listed[ref.Shard] = ref.Fence
	}
	m.rank(w)
	m.reconcile(env, w)
	m.meet(env, w, hb.Running)
	m.renew(env, w)
	m.place(env)
}

// refuse tells once a stream why a worker is not taken in. It is left without an
// answer, so that it tries again after the silence and not at once.
func refuse(env node.Env, in *node.Input, hb *message.WorkerHeartbeat, why string) {
	if hb.Sequence == 1 {
		env.Emit(event.PeerRefused{Peer: in.From.ID, Role: node.RoleWorker, Reason: why})
	}
}

// register takes the first heartbeat of a stream. A worker of a later incarnation
// has lost what the earlier one ran, but for what it lists.
func (m *Machine) register(env node.Env, in *node.Input) *worker {
	if m.workers[in.From.ID] == nil && len(m.workers) >= m.config.WorkersMax {
		refuse(env, in, in.Message.(*message.WorkerHeartbeat), fmt.Sprintf("%d workers are registered, which is the bound: raise manager.workers_max, or split the datacenter", len(m.workers)))
		return nil
	}
	w := m.known(in.From.ID)
	older := in.From.Incarnation < w.peer.Incarnation
	if w.registered && (older || in.From.Incarnation == w.peer.Incarnation && in.From.Addr != w.peer.Addr) {
		refuse(env, in, in.Message.(*message.WorkerHeartbeat), fmt.Sprintf("the worker at %s has this name: give the one at %s an --id of its own", w.peer.Addr, in.From.Addr))
		return nil
	}
	if w.stream != 0 {
		env.Close(w.stream)
		delete(m.streams, w.stream)
	}
	fresh := !w.registered || w.peer.Incarnation != in.From.Incarnation
	restarted := w.registered && w.peer.Incarnation != in.From.Incarnation
	w.peer, w.stream, w.registered, w.sequence = in.From, in.Stream, true, 0
	m.streams[in.Stream] = w
	delete(m.unmet, in.Stream)
	if who, known := m.swim.Find(w.peer.ID); known && who.Run() == w.peer.Incarnation {
		w.suspect = who.State != swim.Alive
	}
	m.rank(w)
	if fresh {
		env.Emit(event.PeerRegistered{Peer: w.peer.ID, Role: node.RoleWorker, Datacenter: m.config.Datacenter})
	}
	if restarted {
		listed := map[message.ShardID]message.Fence{}
		for _, ref := range in.Message.(*message.WorkerHeartbeat).Running {
			listed[ref.Shard] = ref.Fence
		}
		for _, s := range w.assigned() {
			if listed[s.id] != s.fence {
				m.lose(env, s, "its worker restarted", true)
			}
		}
	}
	return w
}

// reconcile compares what this manager believes of a worker with what the worker
// says: what it lists runs, what it denies twice is lost.
func (m *Machine) reconcile(env node.Env, w *worker) {
	for _, s := range w.assigned() {
		if !m.holds(env, s.workflow.subjob) {
			continue
		}
		if w.listed[s.id] == s.fence {
			s.denials, s.told = 0, w.stream
			m.becomeAccepted(env, s)
			continue
		}
		// A heartbeat that was sent before the acceptance may arrive after it.
		if s.state != message.WorkflowRunning || s.counting || env.Now().Sub(s.accepted) < m.config.DenialAge {
			continue
		}
		if s.denials++; s.denials >= 2 {
			// Heartbeats come in their order, but one that was sent before the
			// acceptance may come after it: then nobody has said that it stopped.
			// A worker that lists another attempt of the shard has not stopped the shard.
			_, other := w.listed[s.id]
			m.lose(env, s, "its worker does not run it", s.told == w.stream && !other)
		}
	}
}

// onWorkerBroken keeps the worker: its silence decides, not its stream.
func (m *Machine) onWorkerBroken(env node.Env, in *node.Input) {
	w, ok := m.streams[in.Stream]
	delete(m.streams, in.Stream)
	delete(m.unmet, in.Stream)
	if !ok || w == nil || w.stream != in.Stream {
		return
	}
	w.stream = 0
	m.rank(w)
	for _, s := range w.assigned() {
		m.touch(env, s.workflow.subjob) // whoever watches it is told
	}
}

func (m *Machine) onWorkerSilence(env node.Env, number uint64) {
	for _, id := range slices.Sorted(maps.Keys(m.workers)) {
		if w := m.workers[id]; w.number == number {
			why := "silent for " + m.config.Silence.String()
			if w.stream == 0 {
				why = "away for " + m.config.Silence.String()
			}
			if m.swim.EvictionHold() {
				m.heard(env, w) // more than half of the group fails at once: it may be the network
				return
			}
			m.dropWorker(env, w, why)
			return
		}
	}
}

// dropWorker forgets a worker whose silence, or death as the membership has it,
// is known: nothing is placed on it, and its shards are lost.
func (m *Machine) dropWorker(env node.Env, w *worker, why string) {
	if w.stream != 0 {
		env.Close(w.stream)
		delete(m.streams, w.stream)
	}
	env.CancelTimer(node.KeyN(node.PartManager, node.ManagerWorker, w.number))
	delete(m.workers, w.peer.ID)
	if w.registered {
		m.ranking.Remove(w.peer.ID)
		env.Emit(event.PeerLost{Peer: w.peer.ID, Role: node.RoleWorker, Reason: why})
	}
	for _, s := range w.assigned() {
		m.lose(env, s, "its worker was "+why, false)
	}
	m.place(env)
}
