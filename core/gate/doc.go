// Package gate accepts jobs, sends a part of each to the managers of its
// datacenters, and makes one result of what they send back.
//
// It does not place anything on workers (core/manager does) and runs nothing. A
// job belongs to the gate that accepted it.
//
// Source: DESIGN.md, "Jobs" and "Ownership"; core/job holds the law of states.
//
// Invariants:
//
//	G1 A job is acknowledged, a state is told, a dispatch is sent only after the
//	   record that says so is on disk; JobChanged is emitted at that moment.
//	G2 A manager epoch of a (job, datacenter) is never used for two managers.
//	G3 A datacenter's result counts once; what comes under an older fence is
//	   refused by its fence.
//	G4 A terminal state stays: what comes later is logged and not counted.
//	G5 Jobs, queue, keys, results, watchers, managers and datacenters are
//	   bounded; beyond the bounds requests are refused with RetryAfter.
//
// A restarted gate tells the last transition of each job once more, as it cannot
// know whether anybody heard of it; a job's time stands still while it is down.
//
// Read config.go, machine.go, job.go; submit.go, check.go, queue.go, dispatch.go,
// lost.go; result.go, finish.go, merge.go, fit.go; cancel.go, timeout.go;
// manager.go, datacenter.go; watch.go, query.go; store.go, record.go, start.go,
// sweep.go.
package gate
