package gate

import (
	"maps"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// stopTick is how often a gate that stops looks whether its jobs have arrived.
const stopTick = 100 * time.Millisecond

// retirement is how far a gate is on its way out. Draining may be taken back; a gate that
// is stopping halts by the deadline, once all jobs of moved have arrived.
type retirement struct {
	draining bool // by an operator's order: it takes no new work
	stopping bool
	halted   bool                        // implies stopping
	deadline node.Instant                // of stopping
	moved    map[message.JobID]node.Addr // jobs on their way to another gate
}

// retiring says that no new job is to begin here.
func (r *retirement) retiring() bool { return r.draining || r.stopping }

// onStop takes no new work and hands jobs over. Alone, a gate leaves them where
// they run, and finds them again after its restart.
func (m *Machine) onStop(env node.Env) {
	if m.stopping {
		return
	}
	m.stopping, m.deadline = true, env.Now().Add(m.config.StopTimeout)
	if m.group == nil {
		env.Halt("")
		return
	}
	m.handOver(env)
}

// handOver gives each job whose writes are confirmed to the next gate of its
// order; then, if this gate is to stop, it goes as soon as all have arrived.
func (m *Machine) handOver(env node.Env) {
	if !m.retiring() { // an operator has changed her mind: only what is on its way is left
		if !m.arrived(env) {
			env.SetTimer(node.Key(node.PartGate, node.GateStop), stopTick)
		}
		return
	}
	for _, id := range m.group.Leases.Held() {
		if j := m.jobs[id]; j != nil && j.Ready && !j.State.Terminal() && len(j.open) == 0 {
			m.transfer(env, j)
		}
	}
	m.arrived(env)
	env.SetTimer(node.Key(node.PartGate, node.GateStop), stopTick)
}

// transfer stops acting for a job, then lets its successor have it.
func (m *Machine) transfer(env node.Env, j *entry) {
	to := m.successor(env, j.ID)
	if to == "" {
		return
	}
	m.disown(env, j, to)
	m.group.Leases.Transfer(env, j.ID, to)
	m.moved[j.ID] = to
}

// arrived says whether the successors own what they were given.
func (m *Machine) arrived(env node.Env) bool {
	for _, id := range slices.SortedFunc(maps.Keys(m.moved), message.JobID.Compare) {
		if seen, ok := m.group.Leases.Seen(env.Now(), id); ok && m.jobs[id] == nil && seen.Holder == env.Self().Addr && !seen.Released {
			return false
		}
		delete(m.moved, id)
	}
	return true
}

// haltIfDone ends the node once nothing of it is under way: no write, no job that
// could be another gate's, no end that is not released.
func (m *Machine) haltIfDone(env node.Env) {
	if !m.stopping || m.halted || m.group == nil {
		return
	}
	if env.Now() < m.deadline && !m.idle(env) {
		return
	}
	m.halted = true
	m.group.Leave(env)
	env.Halt("")
}

func (m *Machine) idle(env node.Env) bool {
	if m.writes > 0 || m.accepting > 0 || !m.arrived(env) {
		return false
	}
	others := m.fellowAlive()
	for _, id := range m.group.Leases.Held() {
		if j := m.jobs[id]; j != nil && (len(j.open) > 0 || others && !j.State.Terminal()) {
			return false
		}
	}
	return true
}
