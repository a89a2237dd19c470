package transport

import (
	"bytes"
	"errors"
	"testing"

	"hyperscale/core/message"
)

// A datagram's node name has any length that a byte says. One that ends too early is no header.
func TestLengthsOfNamesInDatagrams(t *testing.T) {
	ours := hello("a")
	begin := append(bytes.Clone(appendHeader(nil, hello("b"))[:headerFixed]), 1) // its incarnation
	for length := range 256 {
		whole := append(append(bytes.Clone(begin), byte(length)), make([]byte, length+1)...) // and no address
		if _, err := readHeader(ours, whole[:len(whole)-2]); !errors.Is(err, message.ErrFrame) {
			t.Errorf("%d bytes, cut short: %v", length, err)
		}
		if h, err := readHeader(ours, whole); err == nil && len(h.peer.ID) != length {
			t.Errorf("a name of %d bytes is read as one of %d", length, len(h.peer.ID))
		}
	}
}
