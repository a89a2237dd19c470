// Package schedule is the file format of a run that is worth playing again. A file has the
// scenario, the seed, what was drawn, and every fault as it was played.
//
// It runs nothing: a replay passes Faults to the scenario, which then draws none.
// sim.World.Schedule judges whether the faults fit the world.
//
// Source: DESIGN.md, "The simulator"; house style 4.10 and 5.8. The file is
// JSON, one fault a line, so that a person can read it, shorten it and see what
// changed between two of them.
//
// Invariants:
//
//	SCHEDULE-1 Read(Write(f)) == f for every f that Validate accepts.
//	SCHEDULE-2 Read takes a bounded number of bytes and never panics. It rejects a file with a
//	           field that it does not know, as playing it would be another run.
//	SCHEDULE-3 A rejection names the field, its value and what to change.
//
// Example:
//
//	f, err := schedule.Read(file)
//	report := scenario.Run(scenarios.Options{Seed: f.Seed, Virtual: f.Virtual, Faults: f.Faults})
//
// Read file.go, then write.go and read.go.
package schedule
