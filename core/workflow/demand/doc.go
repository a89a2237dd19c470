// Package demand reads what a workflow demands: rates, stages, pauses and thresholds,
// and what flags override of it.
//
// It schedules nothing: core/load says when an iteration begins.
//
// Source: docs/workflows.md.
//
// Invariants:
//
//	DEMAND-1 Numbers are integers of a fixed unit: thousandths, nanoseconds, millionths.
//	DEMAND-2 An override keeps the shape of stages: their ratios of users and of time.
//
// An example:
//
//	thousandths, per, err := demand.ParseRate("500/s")
//
// Read rate.go, threshold.go, measure.go, override.go.
package demand
