// Package plan bounds what a plan may declare, and checks one. It reports all faults at
// once, each with its key, its value, the bound and a remedy.
//
// It loads no file and runs nothing. The language (core/workflow) checks what it has built,
// a gate what a client submits, a manager what a gate dispatches. All of them call Check,
// so each accepts what the others accept.
//
// Source: docs/workflows.md, "Limits of a plan", which a test compares with bounds.go.
//
// Invariants:
//
//	PLAN-1 Check never panics and reports at most FaultsMax faults, whatever the plan is.
//	PLAN-2 Indices and layers of a plan without faults point backwards: its reader meets no
//	       circle and no index out of range.
//	PLAN-3 A plan without faults fits a frame beside the largest program, and the
//	       verdicts on its thresholds fit one result.
//	PLAN-4 Equal plans have equal digests, everywhere.
//
// Read bounds.go, fault.go, check.go, measures.go, steps.go, load.go, cuts.go, feed.go, program.go, layers.go, cleanup.go,
// digest.go.
package plan
