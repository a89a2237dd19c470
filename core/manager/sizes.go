package manager

import (
	"math"

	"hyperscale/core/archive"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// heldMax bounds the subjobs that are held or claimed: those of all managers, when the
// others are gone.
func (m *Machine) heldMax() int { return max(1, len(m.config.Managers)) * m.config.SubjobsMax }

// filesMax bounds files that are on their way, as those that are kept.
func filesMax() int { return archive.Default().FilesMax }

// Labor implements node.Laborer: the workers that placement has looked at.
func (m *Machine) Labor() uint64 { return m.roster.Ranking().Visits() }

// Sizes tells what this manager keeps, against its bounds.
func (m *Machine) Sizes(tell node.Tell) {
	c := &m.config
	tell("manager/parts", len(m.subjobs)+len(m.claims), m.heldMax())
	m.roster.Sizes(tell, c.WorkersMax)
	tell("manager/gates", len(m.sent), len(c.Gates)+len(c.Seeds))
	tell("manager/ended", len(m.ended), 2*c.FinishedMax)
	tell("manager/gone", len(m.gone), c.FinishedMax)
	tell("manager/reads", m.ledger.Reading(), c.FinishedMax)
	if m.group == nil {
		return // it was refused at its start
	}
	tell("manager/files on their way", m.ledger.Keeping(), 2*filesMax())
	tell("manager/files that are missed", m.ledger.Fetching(), filesMax())
	m.group.Sizes(tell)
}

// remember notes that a subjob has ended. Where too many have since the last sweep, the
// oldest goes.
func (m *Machine) remember(env node.Env, job message.JobID) {
	if _, known := m.ended[job]; !known && len(m.ended) >= 2*m.config.FinishedMax {
		m.forgetOldest(env)
	}
	m.ended[job] = env.Now()
}

// forgetOldest leaves a tombstone of the subjob that ended first.
func (m *Machine) forgetOldest(env node.Env) {
	job := oldest(m.ended)
	m.group.Leases.Forget(env, job)
	delete(m.ended, job)
}

// bury remembers that a majority knows nothing of a job any more.
func (m *Machine) bury(env node.Env, job message.JobID) {
	if _, known := m.gone[job]; !known && len(m.gone) >= m.config.FinishedMax {
		delete(m.gone, oldest(m.gone)) // a majority is asked again
	}
	m.gone[job] = env.Now()
}

// oldest is the first of a set that has one at least.
func oldest(of map[message.JobID]node.Instant) message.JobID {
	var first message.JobID
	since := node.Instant(math.MaxInt64)
	//lint:orderfree the least of a total order
	for job, at := range of {
		if at < since || at == since && job.Compare(first) < 0 {
			first, since = job, at
		}
	}
	return first
}
