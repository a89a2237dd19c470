package managers

import (
	"slices"

	"hyperscale/scenarios/stage"
)

// Worlds are the worlds of managers.
func Worlds() []stage.Scenario {
	return slices.Concat(managerWorlds(), majorityWorlds(), memoryWorlds(), boundWorlds(), budgetWorlds(), loadWorlds(), peerWorlds(), fileWorlds(), ableWorlds())
}
