package api

import (
	_ "hyperscale/checker"
	_ "hyperscale/netsim"
	_ "hyperscale/scenarios"
)
