package gates

import (
	"slices"

	"hyperscale/scenarios/stage"
)

// Worlds returns the worlds of gates.
func Worlds() []stage.Scenario {
	return slices.Concat(loadWorlds(), gateWorlds(), clientWorlds(), edgeWorlds(), fileWorlds(), recoverWorlds(), operatedWorlds(), queuedWorlds(), listedWorlds(), workflowEndWorlds(), chosenWorlds(), letterWorlds(), overloadWorlds(), bestEffortWorlds(), alertWorlds(), strainedWorlds(), alertLoadWorlds())
}
