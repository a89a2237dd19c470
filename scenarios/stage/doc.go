// Package stage plays a world: it runs the simulator, feeds the checker, draws faults,
// heals them, and turns what was found into a report.
//
// It knows no role and no world. Package cluster adds gates, managers and workers;
// packages members, registers and voters add machines of one part.
//
// Source: DESIGN.md, "The simulator". A Scenario is data and one function that builds it.
// Whatever it draws comes from its seed, so that a seed is a whole story.
//
// Invariants:
//
//	STAGE-1 Draws come from Stage.Rand alone, in the order of the code that builds;
//	        the size of a crowded world comes from the seed itself (Crowd).
//	STAGE-2 A replay plays the recorded faults, and draws none.
//	STAGE-3 An observer changes nothing: with and without one a run has one hash.
//
// Example:
//
//	s := stage.Scenario{Name: "quiet", Virtual: time.Minute, Build: build}
//	report := s.Run(stage.Options{Seed: 7})
//
// Read scenario.go, run.go, stage.go (what a world holds), node.go, observe.go, then
// draw.go (what a swarm draws), rest.go, and shrink.go, which makes failures small.
package stage
