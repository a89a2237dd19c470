package node

import (
	_ "math/rand/v2"
	_ "net/netip"
	_ "time"
)
