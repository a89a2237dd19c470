package members

import (
	"slices"

	"hyperscale/scenarios/stage"
)

// Worlds returns the worlds of members of a group.
func Worlds() []stage.Scenario {
	return slices.Concat(gossips(), memberships(), swimWorlds(), memberWorlds())
}
