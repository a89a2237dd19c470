// Package story writes what happened to one job, from its submission to its end, in plain
// words. It has a line for every order, report and decision, and for every fault that hit a
// node of the job.
//
// It is not a trace: it counts what repeats without news (progress, heartbeats). A message has
// its line when it arrives, or when it never does. It judges nothing.
//
// Source: DESIGN.md, "The simulator". The words are those of the glossary.
//
// Invariants:
//
//	STORY-1 Lines are in the order in which things happened.
//	STORY-2 Every event that names the job is a line. So is every message that does, except
//	        progress, which is counted at the end.
//	STORY-3 What it keeps is bounded, and it says what it left out.
//
// Example:
//
//	r := story.NewRecorder()
//	scenario.Run(scenarios.Options{Seed: 7, Observer: r})
//	r.Tell(os.Stdout, "first")
//
// Read recorder.go, tell.go, then words.go, decisions.go, faults.go.
package story
