//go:build race

package websocket_test

// Under the race detector sync.Pool drops what it holds, at random.
func init() { poolsDrop = true }
