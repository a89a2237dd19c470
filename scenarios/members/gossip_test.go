package members_test

import (
	"fmt"
	"testing"
	"time"

	"hyperscale/scenarios/members"
)

// The simulator's own speed: events a second on one core, with the hash on.
func BenchmarkGossip(b *testing.B) {
	for _, wire := range []bool{false, true} {
		b.Run(fmt.Sprintf("wire=%v", wire), func(b *testing.B) {
			b.ReportAllocs()
			w := members.NewGossip(members.GossipConfig{Seed: 7, Members: 1000, Wire: wire})
			w.RunUntil(2 * time.Second)
			before := w.Events()
			for b.Loop() {
				w.Step(time.Hour * 1000)
			}
			b.ReportMetric(float64(w.Events()-before)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func TestGossipIsTheSameInBothModes(t *testing.T) {
	play := func(seed uint64, wire bool) (hash, events uint64) {
		w := members.NewGossip(members.GossipConfig{Seed: seed, Members: 50, Wire: wire})
		w.RunUntil(10 * time.Second)
		return w.Hash(), w.Events()
	}
	hash, events := play(1, false)
	if wireHash, wireEvents := play(1, true); wireHash != hash || wireEvents != events {
		t.Errorf("encoded: hash %x after %d events, plain %x after %d", wireHash, wireEvents, hash, events)
	}
	if other, _ := play(2, false); other == hash {
		t.Errorf("seeds 1 and 2 have one hash %x", hash)
	}
	// A member handles 23 inputs a second: 15 pieces of news, 5 + 1 timers, a ping,
	// an ack, of which one in a hundred is lost.
	if want := uint64(50 * 10 * 23); events < want*95/100 || events > want {
		t.Errorf("%d events, want a little less than %d", events, want)
	}
}
