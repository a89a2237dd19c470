// Package story tells what happened to one job, from its submission to its
// end, in plain words: a line for every order, report and decision, and for
// every fault that hit a node which had to do with it.
//
// It is not a trace: what repeats itself without news (progress, heartbeats) is
// counted, and a message is told when it arrives, or when it never does. It
// judges nothing.
//
// Source: DESIGN.md, "The simulator". The words are those of the glossary.
//
// Invariants:
//
//	STORY-1 Lines are in the order in which things happened.
//	STORY-2 Every event that names the job is a line; every message that does is one,
//	        but for progress, which is counted at the end.
//	STORY-3 What is kept is bounded; what is left out is said.
//
// Example:
//
//	r := story.NewRecorder()
//	scenario.Run(scenarios.Options{Seed: 7, Observer: r})
//	r.Tell(os.Stdout, "first")
//
// Read recorder.go, tell.go, then words.go, decisions.go, faults.go.
package story
