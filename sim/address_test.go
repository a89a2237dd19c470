package sim

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// An address names the node of its number, and no other text names a node.
func TestAddressesAreNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[0-9]{7}|[0-9a:/ü]{7}|.{1,8}`).Draw(t, "digits")
		if len(digits) != addressDigits {
			return
		}
		want, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || strings.ContainsAny(digits, "+_") {
			want = math.MaxUint64
		}
		if got := number(addressPrefix + node.Addr(digits)); got != want {
			t.Fatalf("number of %q is %d, want %d", digits, got, want)
		}
	})
	w := &World{roster: roster{nodes: make([]*process, 1200)}}
	for i := range w.nodes {
		w.nodes[i] = &process{index: uint32(i)}
	}
	for i, p := range w.nodes {
		if got, ok := w.at(w.addresses.of(uint32(i))); !ok || got != p.index || w.addresses.of(uint32(i)) != address(uint32(i)) {
			t.Fatalf("%s is not node %d", address(uint32(i)), i)
		}
	}
	for _, a := range []node.Addr{address(1200), "sim-00000001", "", "gate-0000001"} {
		if _, ok := w.at(a); ok {
			t.Errorf("a node has the address %q, which the world gave to none", a)
		}
	}
}
