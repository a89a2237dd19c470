package gate_test

import (
	"fmt"
	"testing"

	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// BenchmarkRefusedSubmit is what a submission costs that a full queue refuses, decoding included.
func BenchmarkRefusedSubmit(b *testing.B) {
	s := newMember(gate.Default())
	s.world.Discard = true
	refused := 0
	s.world.WatchSend = func(_ node.StreamID, m node.Message) {
		if r, ok := m.(*message.Refused); ok && (r.Code == message.CodeQueueFull || r.Code == message.CodeRateLimited) {
			refused++
		}
	}
	s.world.Start()
	s.world.Accept(node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient})
	s.world.Accept(node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager})
	s.deliver("m1", &message.ManagerHeartbeat{Datacenter: "a", Sequence: 1, CoresTotal: 8, WorkerSum: 2})
	s.world.Held = true
	for i := range s.config.QueueMax {
		s.deliver("c1", s.submission(fmt.Sprintf("k%d", i), nil, 2))
	}
	refused = 0
	frame, err := message.Append(nil, s.submission("refused", nil, 2))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		m, err := message.Decode(frame)
		if err != nil {
			b.Fatal(err)
		}
		s.deliver("c1", m)
	}
	if refused != b.N {
		b.Fatalf("%d of %d are refused", refused, b.N)
	}
}
