package stats_test

import (
	_ "hyperscale/core/node/nodetest"
	_ "hyperscale/core/stats"
	_ "testing"
)
