// Package scenarios holds named worlds: their nodes, their workload, what goes wrong, and
// what must hold.
//
// It holds no logic of a role and no judgement of its own: the machines are core's, sim
// runs them, checker judges the history. Package stage plays a world, and packages
// reference, gates, managers, workers, members, registers and voters hold the worlds. Package cluster builds the clusters of
// most; lifeguard compares detectors.
//
// Source: DESIGN.md, "The simulator". A scenario is data and two functions; all that
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
// Read all.go and play.go; measure.go takes times of runs, canary.go is a world that must
// fail, reach.go and docs.go list what there is. Then read package stage.
package scenarios
