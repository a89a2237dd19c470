package stats

import (
	_ "hyperscale/core/event"
	_ "hyperscale/core/message"
	_ "hyperscale/core/node"
)
