package node

import (
	_ "hyperscale/core/helm"
)
