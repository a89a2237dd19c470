package store

import (
	_ "hyperscale/cmd/shared"
	_ "hyperscale/core"
	_ "hyperscale/core/message/toy"
	_ "hyperscale/runtime/loop"
)
