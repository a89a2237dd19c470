package gate_test

import (
	"testing"
	"time"

	"hyperscale/core/gate"
	"hyperscale/core/message"
)

// A gate forgets a released register that tells of no job: it was acquired when a majority had
// forgotten it.
func TestEmptyRegistersAreForgotten(t *testing.T) {
	c := shortLease()
	c.SweepInterval = time.Second
	w := newCluster(t, 3, c)
	g := w.gates[0]
	hollow := func() (n int) {
		g.world.Machine().(*gate.Machine).Rests(func(what string, left, _ int) {
			if what == "lease/registers that hold nothing" {
				n = left
			}
		})
		return n
	}
	g.world.ReceiveDatagram(w.gates[1].world.Self(), &message.LeaseFrame{Group: "gates", Gens: []uint64{1, 1, 1}, Accepts: []message.LeaseAccept{{
		Job: message.JobOf("forgotten"), Token: message.LeaseToken{Epoch: 1, Ordinal: 2}, Life: message.LeaseLife{Incarnation: 1, Salt: 1},
		Seq: 1, Lease: c.Lease, Released: true, Rest: []uint64{0, 0, 0},
	}}})
	w.pump()
	if n := hollow(); n != 1 {
		t.Fatalf("%d registers hold nothing, want the one that was released", n)
	}
	w.time(2*c.SweepInterval, nil)
	if n := hollow(); n != 0 {
		t.Errorf("g1 still has the register: %d hold nothing", n)
	}
}
