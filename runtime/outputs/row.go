package outputs

import "hyperscale/core/output"

// What sinks get is what core/output makes: a gate makes the same rows as a command does.
type (
	Row       = output.Row
	RowKind   = output.RowKind
	Version   = output.Version
	Figures   = output.Figures
	Run       = output.Run
	Threshold = output.Threshold
	Event     = output.Event
)

// The kinds of rows.
const (
	RowNone      = output.RowNone
	RowRun       = output.RowRun
	RowWindow    = output.RowWindow
	RowLost      = output.RowLost
	RowResult    = output.RowResult
	RowThreshold = output.RowThreshold
	RowCheck     = output.RowCheck
	RowEvent     = output.RowEvent
)
