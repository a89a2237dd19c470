package manager

import (
	"hyperscale/core/discovery"
	"hyperscale/core/manager/pace"
	"hyperscale/core/node"
)

// Labor implements node.Laborer: it counts the workers that placement has looked at.
func (m *Machine) Labor() uint64 { return m.roster.Ranking().Visits() }

// Sizes reports what this manager holds, next to its bounds.
func (m *Machine) Sizes(tell node.Tell) {
	c := &m.config
	tell("manager/parts", len(m.subjobs)+len(m.claims), m.heldMax())
	m.roster.Sizes(tell, c.WorkersMax)
	tell("manager/dispatches that wait for room", m.pace.Waiting(), pace.WaitsMax)
	tell("manager/gates", len(m.sent), len(c.Gates)+len(m.names)+len(c.Seeds)+discovery.CandidatesMax*len(c.Discover))
	tell("manager/ended", len(m.ended), 2*c.FinishedMax)
	tell("manager/gone", len(m.gone), c.FinishedMax)
	tell("manager/reads", m.ledger.Reading(), c.FinishedMax)
	if m.group == nil {
		return // the manager was refused at its start
	}
	tell("manager/files on their way", m.ledger.Keeping(), 2*filesMax())
	tell("manager/files that are missed", m.ledger.Fetching(), filesMax())
	m.group.Sizes(tell)
}

// Rests reports this manager's ledgers at rest. It remembers the end of a subjob until
// Retention, and workers while they are registered.
func (m *Machine) Rests(tell node.Tell) {
	tell("manager/parts", len(m.subjobs), 0)
	tell("manager/order of subjobs", len(m.order), 0)
	tell("manager/claims", len(m.claims), 0)
	tell("manager/dispatches that wait for room", m.pace.Waiting(), 0)
	alone := 0
	if m.lone.workflow != nil {
		alone = 1
	}
	tell("manager/workflows that run alone", alone, 0)
	tell("manager/workflows that end and are added up", len(m.sums.ends), 0)
	tell("manager/reports that are added up", len(m.sums.tellers), 0)
	m.ledger.Rests(tell, "manager")
	m.restSubjobs(tell)
	m.roster.Rests(tell)
	if m.group == nil {
		return // the manager was refused at its start
	}
	tell("manager/heartbeats of gates", len(m.sent), len(m.gates.All())) // one per gate
	m.group.Rests(tell)
}
