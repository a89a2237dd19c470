// Package scenarios holds named worlds: who is in them, what they are asked to
// do, what goes wrong, and what must hold.
//
// It holds no logic of a role and no judgement of its own: the machines are
// core's, sim runs them, checker judges the history.
//
// Source: DESIGN.md, "Scenarios". A scenario is data and one function; all that
// it draws comes from its seed, so that a seed is a whole story.
//
// Invariants:
//
//	WORLD-1 Equal options give equal hashes, in any process.
//	WORLD-2 Every fault of a run is data: the same faults can be played again, in part
//	        or in whole.
//	WORLD-3 Faults end before the run does, or a core quorum is healed and the rest stays
//	        broken for ever; liveness is judged after that.
//	WORLD-4 A run that is cut short is a beginning of the whole one.
//
// Example:
//
//	s, err := scenarios.Find("gossip")
//	report := s.Run(scenarios.Options{Seed: 7})
//
// Read scenario.go, stage.go, cluster.go, workload.go, then reference.go, draw.go (what
// a swarm draws) and core.go, directed.go, late.go; shrink.go makes failures small,
// canary.go is one that must fail, reach.go and docs.go list what there is; gossip.go
// is the simulator's own load; register.go and membership.go are worlds of one part.
package scenarios
