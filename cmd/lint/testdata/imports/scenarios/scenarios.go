package scenarios

import (
	_ "hyperscale/checker"
	_ "hyperscale/core/gate"
	_ "hyperscale/netsim"
	_ "hyperscale/runtime/loop"
	_ "hyperscale/sim"
)
