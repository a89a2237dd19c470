package workers

import (
	"slices"

	"hyperscale/scenarios/stage"
)

// Worlds returns the worlds of workers.
func Worlds() []stage.Scenario {
	return slices.Concat(workerWorlds(), shardWorlds(), rowWorlds(), abortWorlds(), stopWorlds(), gapWorlds(), togetherWorlds(), cleanUpWorlds(), loadWorlds(), silenceWorlds(), memoryWorlds(), herdWorlds(), nameWorlds(), farGateWorlds(), scaledWorlds())
}
