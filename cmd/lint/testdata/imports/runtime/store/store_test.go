package store_test

import (
	_ "hyperscale/netsim"
)
