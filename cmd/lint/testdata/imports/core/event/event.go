package event

import (
	_ "hyperscale/core/node"
)
