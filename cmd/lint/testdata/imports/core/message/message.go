package message

import (
	_ "hyperscale/core/event"
	_ "hyperscale/core/node"
)
