package reference

import (
	"slices"

	"hyperscale/scenarios/stage"
)

// Worlds are the worlds that figures are quoted of, and those with one thing wrong.
func Worlds() []stage.Scenario {
	return slices.Concat(reference(), directed())
}
