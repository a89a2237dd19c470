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
	tell("manager/reads", len(m.reads), 0)
	tell("manager/files on their way", len(m.keeps), 0)
	tell("manager/files that are missed", len(m.fetches), 0)
	tell("manager/records to write", len(m.records.changed), 0)
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
	waits, shards, attempts, rows := len(m.records.of)-len(m.subjobs), 0, 0, 0
	//lint:orderfree a sum
	for _, c := range m.records.of {
		waits += len(c.waits)
	}
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
	tell("manager/waits for a record", waits, 0)
	tell("manager/shards", shards, 0)
	tell("manager/attempts that failed", attempts, 0)
	tell("manager/leases of rows", rows, 0)
}
