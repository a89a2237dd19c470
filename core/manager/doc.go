// Package manager runs one datacenter's parts of jobs: it keeps its workers
// known, cuts workflows into slices, dispatches them under fences, and adds up
// what came back.
//
// It does not own jobs (core/gate does) and runs nothing itself (core/worker).
//
// Source: DESIGN.md, "Jobs" and "The unit of dispatch".
//
// Invariants:
//
//	G1 A part's fence is on disk before it is accepted, and never falls until the
//	   part is reaped.
//	G2 A slice's attempt is on disk before its dispatch is sent; no attempt is
//	   used for two dispatches, across restarts too.
//	G3 A slice's result is counted once: that of the attempt that is current when
//	   it arrives, on disk before it is acknowledged. Those of given-up attempts
//	   are refused as stale; their last progress is told as lost.
//	G4 A workflow starts when all that it depends on are COMPLETED.
//	G5 A part ends once. Its result is on disk and told until its gate
//	   acknowledges it.
//
// Read config.go, machine.go, gates.go, register.go, part.go, state.go, place.go,
// dispatch.go, lost.go, result.go, finish.go, progress.go, cancel.go, store.go,
// restart.go, drain.go.
package manager
