package reference

import (
	"slices"

	"hyperscale/scenarios/stage"
)

// Worlds returns the worlds of the published figures, and those with one fault.
func Worlds() []stage.Scenario {
	return slices.Concat(reference(), directed())
}
