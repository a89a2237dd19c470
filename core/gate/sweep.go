package gate

import (
	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onSweep forgets what is old.
func (m *Machine) onSweep(env node.Env) {
	now := env.Now()
	for m.group.Leases.Speaks() {
		j := m.history.Oldest()
		if j == nil || now.Sub(j.Ended) < m.config.KeyAge {
			break
		}
		m.forget(env, j)
	}
	m.history.Age(now, m.config.ResultAge)
	for _, name := range m.places.Sweep(now) {
		m.remember(env, datacenterPrefix+name, nil)
	}
	m.forgetPassed(now)
	if m.group.Leases.Speaks() {
		m.seeAll(env)
		inUse := m.filesInUse(env)
		m.group.Files.Mend(env, inUse)
		m.group.Files.Sweep(env, inUse)
		m.keepHouse(env)
	}
	env.SetTimer(node.Key(node.PartGate, node.GateSweep), m.config.SweepInterval)
}

// forgetOldest makes room for one more job.
func (m *Machine) forgetOldest(env node.Env) bool {
	j := m.history.Oldest()
	if j != nil {
		m.forget(env, j)
	}
	return j != nil
}

// forget leaves a tombstone of the job, so that nothing late revives it.
func (m *Machine) forget(env node.Env, j *job.Job) {
	m.evict(j)
	m.group.Leases.Forget(env, j.ID)
}

// makeRoom evicts the oldest end where one more job would be too many, and says
// whether there is room.
func (m *Machine) makeRoom() bool {
	if j := m.history.Oldest(); j != nil && len(m.jobs) >= m.config.JobsMax {
		m.evict(j)
	}
	return len(m.jobs) < m.config.JobsMax
}

// evict only makes room: the register still tells of the job.
func (m *Machine) evict(j *job.Job) {
	m.history.Remove(j)
	m.audience.Unfollow(j.ID)
	delete(m.jobs, j.ID)
}

// filesInUse lists what a record names here. The rest can go: programs of jobs that have
// ended, results that are too old, files of acquisitions that came to nothing.
func (m *Machine) filesInUse(env node.Env) map[message.FileDigest]bool {
	inUse := map[message.FileDigest]bool{}
	for _, id := range m.group.Leases.Known() {
		if j := m.jobs[id]; j != nil && j.Ready && j.Shown.Terminal() {
			inUse[j.ResultFile] = true
			continue
		}
		seen, ok := m.group.Leases.Seen(env.Now(), id)
		if !ok {
			continue
		}
		if rec, err := job.ReadRecord(id, seen.Record); err == nil {
			for _, d := range rec.Files() {
				inUse[d] = true
			}
		}
	}
	//lint:orderfree a set, and each entry goes or stays by itself
	for ticket, k := range m.kept {
		if m.jobs[k.put.job.ID] != k.put.job { // refused, or another gate's by now
			delete(m.kept, ticket)
			continue
		}
		inUse[fileOf(k.bytes)] = true
	}
	//lint:orderfree a set
	for _, j := range m.jobs {
		for _, p := range j.open {
			for _, b := range p.files {
				inUse[fileOf(b)] = true
			}
		}
	}
	return inUse
}
