package gate

import (
	_ "hyperscale/core/manager"
	_ "hyperscale/core/stats"
	_ "hyperscale/netsim"
)
