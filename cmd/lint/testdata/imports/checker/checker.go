package checker

import (
	_ "hyperscale/core/gate"
	_ "hyperscale/sim"
)
