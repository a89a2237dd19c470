package worker

import (
	"slices"

	"hyperscale/core/admission"
	"hyperscale/core/event"
	"hyperscale/core/health"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
	"hyperscale/core/worker/cores"
	"hyperscale/core/worker/fences"
	"hyperscale/core/worker/outbox"
)

// holdings are what a worker has: shards with their executions, cores and results, and its
// managers and disk.
type holdings struct {
	config   Config
	managers managers
	disk     disk
	cores    *cores.Cores
	outbox   *outbox.Outbox // ended, not acknowledged
	refusals *fences.Refusals
	resting  *fences.Resting
	shards   map[message.ShardID]*shard
	active   map[uint64]*execution // from reservation until its last executor is gone, by number
	ordered  []*execution          // the same, oldest first; callers that iterate keep the old slice
	runs     map[node.ExecID]*run
	drain    drain
	hold     hold
	stopping bool        // it ends when nothing is left to do
	pushing  bool        // the timer of progress is set
	tick     health.Tick // of that timer
	turn     uint64      // of reports
	shown    shown
	relieved node.Instant // when it last ended an executor for its machine's memory; zero: never

	last last
}

// last are the highest numbers that this worker has given.
type last struct {
	execution uint64
	exec      node.ExecID
}

// drain is an operator's order to take nothing new.
type drain struct {
	ordered   bool
	unwritten bool // the disk refused it
}

// closed says that the worker takes nothing new.
func (m *holdings) closed() bool { return m.drain.ordered || m.stopping }

func (m *holdings) begin(s *shard, f message.Fence, l *uplink.Link) *execution {
	m.last.execution++
	x := &execution{config: &m.config, number: m.last.execution, shard: s, fence: f, manager: l.Peer.ID}
	m.active[x.number], m.ordered = x, append(m.ordered, x)
	return x
}

// release frees the cores of an execution; its successor gets those that it is owed.
func (m *holdings) release(env node.Env, x *execution) {
	m.retire(x)
	m.cores.Release(x.holder())
	env.CancelTimer(node.KeyN(node.PartWorker, node.WorkerShard, x.number))
	env.CancelTimer(node.KeyN(node.PartWorker, node.WorkerKill, x.number))
	env.CancelTimer(node.KeyN(node.PartWorker, node.WorkerRenewal, x.number))
}

// retire removes an execution from those that hold or await cores.
func (m *holdings) retire(x *execution) {
	delete(m.active, x.number)
	m.ordered = slices.DeleteFunc(slices.Clone(m.ordered), func(o *execution) bool { return o == x })
}

// heartbeat describes this worker to managers.
func (m *holdings) heartbeat(env node.Env) message.WorkerHeartbeat {
	slots := m.slots(env.Now())
	m.watchSlots(env, slots)
	if slots.Used == 0 {
		slots.Max = 0
	}
	return message.WorkerHeartbeat{
		Datacenter: m.config.Datacenter,
		Draining:   m.closed(),
		CoresTotal: uint32(m.cores.Total()),
		CoresFree:  uint32(m.cores.Free()),
		SeatsFree:  uint32(m.cores.Seats()),
		Running:    m.listed(), // all managers share it, as nothing changes a sent message
		SlotsUsed:  uint32(slots.Used),
		SlotsMax:   uint32(slots.Max),
	}
}

func (m *holdings) beatAll(env node.Env) { m.managers.beatAll(env, m.heartbeat(env)) }

// listed names the shards whose fence is on disk and whose result no manager has acknowledged,
// and given-up ones that still run. Managers dispatch what it does not list elsewhere at once,
// since it has stopped.
func (m *holdings) listed() []message.ShardRef {
	var list []message.ShardRef
	for _, x := range m.ordered {
		switch s := x.shard; {
		case x.phase == storing || x.phase == closed:
		case !x.silent:
			list = append(list, message.ShardRef{Shard: s.id, Fence: x.fence})
		case s.result == nil && (s.current == nil || s.current == x):
			list = append(list, message.ShardRef{Shard: s.id, Fence: s.fence})
		}
	}
	list = append(list, m.outbox.Refs()...)
	slices.SortFunc(list, func(a, b message.ShardRef) int { return a.Shard.Compare(b.Shard) })
	return slices.Compact(list)
}

// rest starts the age of the fence of a shard that has no execution any more.
func (m *holdings) rest(env node.Env, s *shard) {
	if !s.idle() {
		return
	}
	s.since = env.Now()
	m.resting.Add(s.id, s.since)
	m.reap(env)
}

// reap forgets the fences that are due. A shard that got another dispatch since then has a
// later entry, or will have one.
func (m *holdings) reap(env node.Env) {
	for {
		r, due := m.resting.Due(env.Now())
		if !due {
			return
		}
		if s := m.shards[r.Shard]; s != nil && s.since == r.Since && s.idle() {
			delete(m.shards, s.id)
			m.disk.dropFence(env, s.id)
		}
	}
}

// forget drops a shard that has no fence and no execution.
func (m *holdings) forget(s *shard) {
	if s.fence == (message.Fence{}) && s.idle() {
		delete(m.shards, s.id)
	}
}

// slots says how much of the outbox is used by results that managers may still take. A worker with
// many of them takes no shard: each would add one, and a full outbox loses the oldest.
//
// Results of a manager that has been away since RenewalTimeout do not count. It has given their
// shards up, so they will most likely count nowhere. They wait for their day, and the oldest of
// them leaves when the outbox is full: otherwise a manager that never returns would close this
// worker for FenceAge.
//
// Executions do not count, nor do fences. Executions end with the cores that they have: one of each
// shard runs, and one waits for it. Light shards share a core by eight, and a full worker is what
// managers want. Of the fences of ended shards the oldest leave, and a worker that has run many
// short shards has as many as it remembers.
func (m *holdings) slots(now node.Instant) admission.Slots {
	used := m.outbox.Pending(m.managers.connected(), now, m.config.RenewalTimeout)
	return admission.Slots{Used: uint64(used), Max: uint64(m.config.OutboxMax)}
}

// shown is what observers know of the slots.
type shown struct {
	near bool
	used uint64
}

// slotsSetting is the setting that bounds the slots.
const slotsSetting = "worker.outbox_max"

// watchSlots reports once that the slots come near the share at which dispatches are refused, and
// once that they are far from it.
func (m *holdings) watchSlots(env node.Env, s admission.Slots) {
	if near := s.Near(m.shown.near); near != m.shown.near {
		m.shown.near = near
		env.Emit(event.BoundNear{Setting: slotsSetting, Used: s.Used, Bound: s.Max, Near: near})
	}
}

// measureSlots reports the slots from time to time, if they have changed.
func (m *holdings) measureSlots(env node.Env) {
	if s := m.slots(env.Now()); s.Used != m.shown.used {
		m.shown.used = s.Used
		env.Emit(event.BoundUsed{Setting: slotsSetting, Used: s.Used, Bound: s.Max})
	}
}
