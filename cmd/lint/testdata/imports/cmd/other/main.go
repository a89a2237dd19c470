package main

import (
	_ "hyperscale/cmd/shared"
	_ "hyperscale/runtime/loop"
	_ "hyperscale/sim"
)

func main() {}
