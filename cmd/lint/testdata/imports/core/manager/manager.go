package manager

import (
	_ "hyperscale/core/manager/queue"
)
