//go:build race

package compile

func init() { raced = true }
