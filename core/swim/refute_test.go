package swim

import (
	"testing"

	"pgregory.net/rapid"
)

// A member that lost its disk counts its incarnations from one again, and its peers accuse an
// earlier incarnation. It refutes above their accusation, not above its own count, so that they
// believe it.
func TestAMemberRefutesAboveTheAccusation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, g, _ := meeting(t, nil, "b", "c")
		highest := g.Incarnation()
		for range rapid.IntRange(1, 5).Draw(rt, "accusations") {
			n := about("a", rapid.SampledFrom([]State{Suspect, Dead}).Draw(rt, "state"), rapid.Uint64Range(1, 9).Draw(rt, "run"))
			n.Incarnation += rapid.Uint64Range(0, 3).Draw(rt, "refutations")
			n.Age = 0
			before := g.Incarnation()
			w.ReceiveDatagram(gossip(rapid.SampledFrom([]string{"b", "c"}).Draw(rt, "from"), n))
			highest = max(highest, n.Incarnation)
			switch got := g.Incarnation(); {
			case got < highest || got == n.Incarnation:
				rt.Fatalf("its incarnation is %d, it is accused of %d: nobody believes that it lives", got, highest)
			case n.Incarnation < before && got != before:
				rt.Fatalf("it raised its incarnation from %d to %d for an accusation of %d, which is over", before, got, n.Incarnation)
			}
		}
	})
}
