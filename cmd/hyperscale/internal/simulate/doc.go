// Package simulate holds the commands of the simulator: list, run, replay, swarm,
// shrink, explain, lifeguard, times and vulnerable.
//
// It holds no world and no check: scenarios and checker do. A command here plays worlds, many
// of them in separate processes, and prints verdicts.
//
// Source: docs/proof.md.
//
// Invariants:
//
//	SCMD-1 The exit code is that of the worst run.
//	SCMD-2 Each failure prints the command that plays it again.
//	SCMD-3 A swarm that stops goes on from its journal and plays no seed twice.
//
// An example:
//
//	root.AddCommand(simulate.NewCommand())
//
// Read sim.go, flags.go, run.go; then swarm.go with plan.go, journal.go, fleet.go and
// runner.go; then shrink.go and explain.go.
package simulate
