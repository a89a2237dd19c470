package manager

import (
	"slices"

	"hyperscale/core/node"
)

// onStop: no new part is taken; those under way may end and be told, for a
// while. What does not is on disk, for the next incarnation. A second stop does
// not wait.
func (m *Machine) onStop(env node.Env) {
	if m.draining {
		env.Halt("")
		return
	}
	m.draining = true
	m.beatAll(env)
	env.SetTimer(node.Key(node.PartManager, node.ManagerDrain), m.config.DrainTimeout)
	m.drained(env)
}

func (m *Machine) drained(env node.Env) {
	if m.draining && m.unfinished() == 0 {
		env.Halt("")
	}
}

// onSweep forgets finished parts: some time after their acknowledgement, the
// oldest of too many at once, and those that no gate ever acknowledged in the end.
func (m *Machine) onSweep(env node.Env) {
	env.SetTimer(node.Key(node.PartManager, node.ManagerSweep), m.config.SweepInterval)
	m.reap(env)
}

func (m *Machine) reap(env node.Env) {
	finished := 0
	for _, p := range m.order {
		if p.acked {
			finished++
		}
	}
	m.order = slices.DeleteFunc(m.order, func(p *part) bool {
		if !p.recorded || m.incoming[p.job] != nil {
			return false
		}
		age := env.Now().Sub(p.finished)
		old := p.acked && (age >= m.config.Retention || finished > m.config.FinishedMax) || age >= m.config.ResultAge
		if !old {
			return false
		}
		if p.acked {
			finished--
		}
		delete(m.parts, p.job)
		m.put(env, write{what: "removal of job " + p.job.String()}, node.Record{Key: prefixDone + p.job.String()})
		return true
	})
}
