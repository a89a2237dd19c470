package nodetest

import (
	_ "hyperscale/core/node"
	_ "testing"
)
