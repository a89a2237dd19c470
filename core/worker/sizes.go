package worker

import (
	"hyperscale/core/admission"
	"hyperscale/core/event"
	"hyperscale/core/node"
)

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

// occupied bounds the executions that dispatches alone can make. Each holds a core, waits for
// the cores of one that it supersedes, or waits for a write.
func (m *holdings) occupied() int { return 3 * m.cores.Total() }

// crowded says that too much waits for the disk or for managers.
func (m *holdings) crowded() bool {
	return m.outbox.Full() || m.outbox.Len()+len(m.active) >= m.config.OutboxMax+m.occupied()
}

// Sizes reports what this worker holds, next to its bounds.
func (m *Machine) Sizes(tell node.Tell) {
	executions := m.config.OutboxMax + 2*m.occupied()
	shards := m.config.FencesMax + executions
	tell("worker/executions", len(m.active)+m.outbox.Len(), executions)
	tell("worker/shards", len(m.shards), shards)
	tell("worker/fences", m.resting.Len(), m.config.FencesMax)
	tell("worker/refused", m.refusals.Len(), m.config.FencesMax)
	tell("worker/runs", len(m.runs), executions*m.cores.Total())
	tell("worker/writes", len(m.disk.writes), 2*shards)
	tell("worker/streams", len(m.managers.rhythms), len(m.config.Managers))
	//lint:orderfree each is judged by itself
	for _, r := range m.managers.rhythms {
		tell("worker/heartbeats", len(r.sent), beatsMax)
	}
	m.group.Sizes(tell)
}
