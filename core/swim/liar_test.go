package swim

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Whatever one member says of another, and how often: the other one says its own incarnation, as a
// node refutes what it hears, and is alive again. The liar is named.
func TestAMemberRefutesWhatALiarSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, g, _ := meeting(t, nil, "b", "c")
		named := 0
		w.WatchEvent = func(e node.Event) {
			if e, ok := e.(event.Implausible); ok && e.What == "incarnation" && e.Peer == "c" {
				named++
			}
		}
		far := false
		for range rapid.IntRange(1, 300).Draw(rt, "lies") {
			of := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "of")
			known, _ := g.Find(node.ID(of))
			n := about(of, rapid.SampledFrom([]State{Alive, Suspect, Dead, Left}).Draw(rt, "state"), 1)
			n.Incarnation = rapid.SampledFrom([]uint64{
				1<<64 - 1, 1<<63 - 1, 1 << 63, 1 << 62, 1<<53 | 1<<31, known.Incarnation + runStep<<32, known.Incarnation + refutesUp, known.Incarnation | 1<<32 - 1,
			}).Draw(rt, "incarnation")
			far = far || n.Incarnation >= 1<<62
			w.ReceiveDatagram(gossip("c", n))
		}
		if far && named == 0 {
			rt.Fatal("no member names c")
		}
		b, _ := g.Find("b")
		if self := g.Incarnation() >> 32; self > 1+runFar+1 || b.Run() > 1+aheadMax*runStep+2 {
			rt.Fatalf("the run of a is %d, that of b %d", self, b.Run())
		}
		w.Advance(5 * time.Second)
		w.ReceiveDatagram(node.Peer{ID: "b", Incarnation: 1, Role: node.RoleWorker, Addr: "b:1"}, &message.SwimGossip{Group: "dc1", Incarnation: b.Incarnation + 1})
		if b, _ := g.Find("b"); b.State != Alive {
			rt.Fatalf("b is %v after it has refuted", b.State)
		}
	})
}

// A liar drives a node's own run up slowly: one bounded step an interval of probes.
func TestALiarDrivesNoRunUp(t *testing.T) {
	w, g, _ := meeting(t, nil, "b", "c")
	for range 10_000 {
		n := about("a", Dead, 1)
		n.Incarnation = g.Incarnation() + runStep<<32
		w.ReceiveDatagram(gossip("c", n))
	}
	if run := g.Incarnation() >> 32; run > runFar+aheadMax*runStep+8 {
		t.Fatalf("the run is %d", run)
	}
}
