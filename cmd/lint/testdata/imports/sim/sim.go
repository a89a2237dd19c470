package sim

import (
	_ "hyperscale/core/event"
	_ "hyperscale/core/gate"
	_ "hyperscale/netsim"
	_ "hyperscale/runtime/loop"
)
