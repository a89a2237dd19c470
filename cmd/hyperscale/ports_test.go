package main

import (
	"fmt"

	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// freeAddress is hostiletest.FreeAddress for scripts.
func freeAddress() (string, error) {
	port, err := hostiletest.Free()
	return fmt.Sprintf("127.0.0.1:%d", port), err
}
