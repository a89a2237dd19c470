package tools

import (
	_ "hyperscale/sim"
)
