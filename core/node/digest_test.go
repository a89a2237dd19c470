package node_test

import (
	"testing"

	"hyperscale/core/node"
)

// A string and its bytes have one digest, whatever the length.
func TestMixStringIsMixBytes(t *testing.T) {
	text := ""
	for i := range 40 {
		if s, b := node.MixString(7, text), node.MixBytes(7, []byte(text)); s != b {
			t.Errorf("%d bytes: %x as a string, %x as bytes", len(text), s, b)
		}
		text += string(rune('a' + i*37%26))
	}
}
