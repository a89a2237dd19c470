package workflow

import (
	_ "hyperscale/core/client"
	_ "hyperscale/core/node/nodetest"
	_ "hyperscale/core/stats"
	_ "testing/fstest"
)
