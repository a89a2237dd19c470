package store

import (
	_ "hyperscale/cmd/shared"
	_ "hyperscale/core"
	_ "hyperscale/runtime/loop"
)
