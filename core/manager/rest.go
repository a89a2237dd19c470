package manager

import (
	"hyperscale/core/node"
)

// Rests tells this manager's ledgers against their rest. That a subjob has ended is
// remembered until Retention; workers remain while they are registered.
func (m *Machine) Rests(tell node.Tell) {
	tell("manager/parts", len(m.subjobs), 0)
	tell("manager/order of subjobs", len(m.order), 0)
	tell("manager/claims", len(m.claims), 0)
	m.ledger.Rests(tell, "manager")
	m.restSubjobs(tell)
	m.roster.Rests(tell)
	if m.group == nil {
		return // it was refused at its start
	}
	tell("manager/heartbeats of gates", len(m.sent), len(m.gates.All())) // one per configured gate
	m.group.Rests(tell)
}

// restParts tells what subjobs hold: there are none.
func (m *Machine) restSubjobs(tell node.Tell) {
	shards, attempts, rows := 0, 0, 0
	//lint:orderfree sums
	for _, p := range m.subjobs {
		for _, f := range p.Workflows {
			shards += len(f.Shards)
			for _, s := range f.Shards {
				attempts += len(s.Failed) + len(s.Lost)
				rows += len(s.Rows)
			}
		}
	}
	tell("manager/shards", shards, 0)
	tell("manager/attempts that failed", attempts, 0)
	tell("manager/leases of rows", rows, 0)
}
