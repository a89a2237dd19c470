package gate

import (
	"slices"

	"hyperscale/core/node"
)

// onSweep forgets what is old.
func (m *Machine) onSweep(env node.Env) {
	now := env.Now()
	for len(m.ended) > 0 && now.Sub(m.ended[0].ended) >= m.config.KeyAge {
		m.forget(env, m.ended[0])
	}
	for _, j := range m.ended {
		if now.Sub(j.ended) < m.config.ResultAge {
			break
		}
		m.dropResult(env, j)
	}
	m.sweepPlaces(env, now)
	env.SetTimer(node.Key(node.PartGate, node.GateSweep), m.config.SweepInterval)
}

// sweepPlaces forgets managers that are long lost, so that they no longer count
// in a majority, and datacenters that have had none for as long as a key lives.
func (m *Machine) sweepPlaces(env node.Env, now node.Instant) {
	for _, d := range slices.Clone(m.places) {
		for _, mgr := range slices.Clone(d.managers) {
			if !mgr.live && now.Sub(mgr.heard) >= m.config.ManagerAge {
				m.forgetManager(mgr)
			}
		}
		if now.Sub(d.whole) >= m.config.ManagerAge {
			v := d.view()
			d.workers, d.cores, d.whole = v.workers, v.total, now
		}
		if len(d.managers) == 0 && now.Sub(d.silent) >= m.config.KeyAge {
			m.forgetDatacenter(d)
			m.save(env, &put{what: "forget a datacenter", extra: []node.Record{{Key: datacenterPrefix + d.name}}})
		}
	}
}

// forgetOldest makes room for one more job.
func (m *Machine) forgetOldest(env node.Env) bool {
	if len(m.ended) == 0 {
		return false
	}
	m.forget(env, m.ended[0])
	return true
}

func (m *Machine) forget(env node.Env, j *job) {
	m.dropResult(env, j)
	m.ended = slices.DeleteFunc(m.ended, func(other *job) bool { return other == j })
	m.unfollow(j)
	delete(m.jobs, j.id)
	delete(m.keys, j.key)
	m.save(env, &put{what: "forget a job", extra: []node.Record{{Key: jobPrefix + j.id.String()}}})
}

// dropResult keeps the job's state and key.
func (m *Machine) dropResult(env node.Env, j *job) {
	if j.result == nil {
		return
	}
	j.result = nil
	m.results--
	m.resultSum -= j.resultBytes
	m.save(env, &put{what: "drop a result", extra: []node.Record{{Key: resultPrefix + j.id.String()}}})
}

// boundResults drops the oldest results until the rest is within its bounds.
func (m *Machine) boundResults(env node.Env) {
	for _, j := range m.ended {
		if m.results <= m.config.ResultsMax && m.resultSum <= m.config.ResultBytesMax {
			return
		}
		m.dropResult(env, j)
	}
}
