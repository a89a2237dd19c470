package scenarios

import "hyperscale/scenarios/stage"

// Package stage plays worlds; these are its names for callers that only choose a world and read
// a report.
type (
	Scenario = stage.Scenario
	Options  = stage.Options
	Report   = stage.Report
	Outcome  = stage.Outcome
	Shrunk   = stage.Shrunk
)

// The outcomes of a run.
const (
	OK        = stage.OK
	Violation = stage.Violation
	Stuck     = stage.Stuck
	Panicked  = stage.Panicked
	Diverged  = stage.Diverged
)
