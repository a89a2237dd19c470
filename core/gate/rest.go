package gate

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/output"
)

// Sizes reports how much this gate holds, next to its bounds. A gate may own all jobs of the
// group while the other gates are down.
func (m *Machine) Sizes(tell node.Tell) {
	c := &m.config
	tell("gate/jobs", len(m.jobs), c.JobsMax)
	tell("gate/queue", m.queue.Len(), c.JobsMax)
	tell("gate/sources", m.crowd.Len(), 2*c.JobsMax) // each job has a source, and a subject there
	tell("gate/active", len(m.active), c.JobsMax)
	m.history.Sizes(tell, c.JobsMax)
	tell("gate/accepting", m.accepting, c.places(message.RankCritical))
	tell("gate/programs", m.specBytes, max(1, len(c.Gates))*c.SpecBytesMax)
	m.lookups.Sizes(tell)
	m.relay.Sizes(tell)
	m.places.Sizes(tell)
	m.audience.Sizes(tell)
	tell("gate/moved", len(m.moved), c.JobsMax)
	tell("gate/deliveries", len(m.deliveries), c.JobsMax*output.SinksMax)
	if m.group == nil {
		return // the gate was refused at its start
	}
	tell("gate/files on their way", m.ledger.Keeping(), c.FilesMax)
	tell("gate/files that are missed", m.ledger.Fetching(), c.FilesMax)
	m.group.Sizes(tell)
}

// Rests compares this gate's ledgers with their values at rest. Ended jobs, their keys and
// their results remain until KeyAge and ResultAge. Managers and datacenters remain while the
// gate knows them.
func (m *Machine) Rests(tell node.Tell) {
	tell("gate/jobs that have not ended", node.Leak(len(m.jobs), m.history.Len()), 0)
	tell("gate/queue", m.queue.Len(), 0)
	tell("gate/sources", m.crowd.Len(), 0)
	tell("gate/active", len(m.active), 0)
	tell("gate/accepting", m.accepting, 0)
	tell("gate/programs", m.specBytes, 0)
	tell("gate/lookups", m.lookups.Len(), 0)
	tell("gate/forwarded", m.relay.Len(), 0)
	m.ledger.Rests(tell, "gate")
	tell("gate/writes", m.writes, 0)
	tell("gate/moved", len(m.moved), 0)
	tell("gate/deliveries", len(m.deliveries), 0)
	m.audience.Rests(tell)
	tell("gate/vacant", len(m.vacant), 0)
	tell("gate/failed majorities", m.circuit.Failures(), majorityFuse().Failures)
	m.restJobs(tell)
	m.places.Rests(tell)
	if m.group == nil {
		return // the gate was refused at its start
	}
	tell("gate/reasons", len(m.reasons), m.group.Swim.Size())
	m.group.Rests(tell)
}

// restJobs reports what jobs hold. All jobs have ended, so each sum is 0, except that of
// results.
func (m *Machine) restJobs(tell node.Tell) {
	var waiters, untold, specs, loading, watches, figures, reserved int
	results, bytes := 0, 0
	//lint:orderfree sums
	for _, j := range m.jobs {
		waiters += j.waiting.Len()
		untold += j.Pending()
		loading += j.Loading
		watches += j.Watching()
		if j.Spec != nil {
			specs++
		}
		if j.ResultFile != (message.FileDigest{}) {
			results, bytes = results+1, bytes+j.ResultBytes
		}
		for _, p := range j.Subjobs {
			reserved += int(p.Reserved.Cores) + int(p.Reserved.Seats)
			figures += len(p.RefusedBy)
			if p.Progress != nil {
				figures++
			}
		}
	}
	tell("gate/waiters", waiters, 0)
	tell("gate/transitions that nobody was told", untold, 0)
	tell("gate/jobs that load files", loading, 0)
	tell("gate/programs of jobs", specs, 0)
	tell("gate/watched conditions", watches, 0)
	tell("gate/figures of subjobs", figures, 0)
	tell("gate/cores that subjobs reserve", reserved, 0)
	m.history.Rests(tell, results, bytes)
}
