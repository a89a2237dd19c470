package manager

import (
	"testing"
	"time"

	"hyperscale/core/message"
)

// A manager forgets a released register that tells of no subjob at its next sweep: it was acquired
// when a majority had forgotten it.
func TestEmptyRegistersAreForgotten(t *testing.T) {
	d := newDatacenterOf(t, 3, func(c *Config) { c.SweepInterval = time.Second })
	d.run(3 * time.Second)
	h := d.managers[0]
	m := h.machine.(*Machine)
	hollow := func() (n int) {
		m.Rests(func(what string, left, _ int) {
			if what == "lease/registers that hold nothing" {
				n = left
			}
		})
		return n
	}
	d.managers[1].Datagram(h.peer.Addr, &message.LeaseFrame{Group: m.config.Datacenter, Gens: []uint64{1, 1, 1}, Accepts: []message.LeaseAccept{{
		Job: message.JobOf("forgotten"), Token: message.LeaseToken{Epoch: 1, Ordinal: 2}, Life: message.LeaseLife{Incarnation: 1, Salt: 1},
		Seq: 1, Lease: m.config.SubjobLease, Released: true, Rest: []uint64{0, 0, 0},
	}}})
	d.run(20 * time.Millisecond)
	if n := hollow(); n != 1 {
		t.Fatalf("%d registers hold nothing, want the one that was released", n)
	}
	d.run(2 * time.Second)
	if n := hollow(); n != 0 {
		t.Errorf("m1 still has the register: %d hold nothing", n)
	}
}
