package loop

import (
	_ "hyperscale/core/node"
)
