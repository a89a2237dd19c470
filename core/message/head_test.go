package message

import (
	"testing"

	"pgregory.net/rapid"
)

// The fast path of head must not differ from headLong, for any bytes.
func TestHeadIsHeadLong(t *testing.T) {
	for first := range 256 {
		rapid.Check(t, func(t *rapid.T) {
			b := append([]byte{byte(first)}, rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "rest")...)
			size, children, err := head(b)
			wantSize, wantChildren, wantErr := headLong(b)
			if (err == nil) != (wantErr == nil) || err == nil && (size != wantSize || children != wantChildren) {
				t.Fatalf("%x: got %d, %d, %v, want %d, %d, %v", b, size, children, err, wantSize, wantChildren, wantErr)
			}
		})
	}
}
