package node

import (
	_ "math/rand"
)
