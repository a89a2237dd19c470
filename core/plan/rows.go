package plan

import (
	"slices"
	"strings"

	"hyperscale/core/message"
)

// Hooks are the functions beside a workflow's steps, whose requests stand apart from the load.
func Hooks() []string { return []string{"setup", "teardown", "vu_setup", "vu_teardown", "provide"} }

// RowMax bounds the name of a function's requests, behind that of its step.
const RowMax = 256

// Owned reports whether a threshold can name a row: a step, or step/name for the requests that a
// function of the step, or its condition, sends under a name.
func Owned(row string, steps []message.StepPlan) bool {
	of, name, named := strings.Cut(row, "/")
	at := slices.IndexFunc(steps, func(s message.StepPlan) bool { return s.Name == of })
	if !named {
		return at >= 0
	}
	if name == "" || len(name) > RowMax {
		return false
	}
	return at >= 0 || slices.Contains(Hooks(), of)
}
