package gate_test

import (
	"testing"

	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// With several datacenters, each derives its own seed; a single one uses the plan's seed.
func TestEachDatacenterHasASeed(t *testing.T) {
	for _, in := range [][]string{{"a"}, {"a", "b"}} {
		s := newMember(gate.Default())
		var seeds []uint64
		s.world.WatchSend = func(_ node.StreamID, m node.Message) {
			if d, ok := m.(*message.JobDispatch); ok {
				seeds = append(seeds, d.Program.Seed)
			}
		}
		s.world.Start()
		for _, m := range in {
			s.world.Accept(node.Peer{ID: node.ID("m" + m), Role: node.RoleManager, Addr: node.Addr("m" + m + ":1"), Incarnation: 1})
			s.deliver("m"+m, &message.ManagerHeartbeat{Datacenter: m, Sequence: 1, CoresTotal: 8, CoresFree: 8, WorkerSum: 1})
		}
		s.world.Accept(node.Peer{ID: "c1", Role: node.RoleClient, Addr: "c1:1", Incarnation: 1})
		submit := s.submission("k", in, 4)
		submit.Program.Seed = 7
		s.deliver("c1", submit)
		switch {
		case len(seeds) != len(in):
			t.Errorf("%d datacenters: %d dispatches", len(in), len(seeds))
		case len(in) == 1 && seeds[0] != 7:
			t.Errorf("alone it draws by %d, want 7", seeds[0])
		case len(in) == 2 && seeds[0] == seeds[1]:
			t.Errorf("both draw by %d", seeds[0])
		}
	}
}
