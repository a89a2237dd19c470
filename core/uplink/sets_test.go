package uplink

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// A node follows a set once a majority of the peers that count tells the very same one. Of several words of one
// peer the last counts, and a minority moves no node, whatever it tells.
func TestOnePeerMovesNoNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "peers")
		var to []node.Addr
		for i := range n {
			to = append(to, node.Addr(fmt.Sprintf("g%d:1", i)))
		}
		c := Default()
		c.Group, c.Role = 1, node.RoleGate
		l := New(c, append(to, "seed:1"))
		var of []string
		if rapid.Bool().Draw(t, "listed") {
			for _, a := range to {
				of = append(of, string(a))
			}
		} else {
			n++
		}
		told := map[node.Addr]string{}
		for range rapid.IntRange(1, 20).Draw(t, "words") {
			k := l.All()[rapid.IntRange(0, len(l.All())-1).Draw(t, "by")]
			var set []string
			version := uint64(0)
			if rapid.Bool().Draw(t, "later") {
				version = rapid.Uint64Range(1, 2).Draw(t, "version")
				set = []string{"g0:1", rapid.SampledFrom([]string{"x:1", "y:1"}).Draw(t, "new")}
			}
			told[k.Addr] = fmt.Sprint(set, version)
			same := 0
			//lint:orderfree a count
			for a, w := range told {
				if version > 0 && w == told[k.Addr] && (len(of) == 0 || slices.Contains(of, string(a))) {
					same++
				}
			}
			if got, want := l.Tells(k, of, set, version), 2*same > n; got != want {
				t.Fatalf("%d of %d tell %v: %v", same, n, told[k.Addr], got)
			}
		}
		if l.Tells(l.All()[0], nil, make([]string, setMax+1), 9) {
			t.Fatal("it follows a set without an end")
		}
	})
}
