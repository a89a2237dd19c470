//go:build race

package exec

func init() { raced = true }
