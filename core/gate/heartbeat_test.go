package gate_test

import (
	"testing"

	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Each stream numbers its heartbeats anew: the first on a new stream is newer than all before,
// and late ones on the old stream do not count.
func TestHeartbeatsOfAFormerStream(t *testing.T) {
	s := newMember(gate.Default())
	answered, answers := map[node.StreamID]uint64{}, 0
	s.world.WatchSend = func(id node.StreamID, m node.Message) {
		if ack, ok := m.(*message.HeartbeatAck); ok {
			answered[id] = ack.Sequence
			answers++
		}
	}
	s.world.Start()
	m1 := node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"}
	beat := func(on node.StreamID, sequence uint64, free uint32) {
		s.world.Receive(on, &message.ManagerHeartbeat{Datacenter: "a", Sequence: sequence, CoresTotal: 8, CoresFree: free, WorkerSum: 2})
	}
	first := s.world.Accept(m1)
	beat(first, 7, 8)
	second := s.world.Accept(m1)
	beat(second, 1, 3)
	beat(first, 8, 8)
	if answered[first] != 7 || answered[second] != 1 {
		t.Errorf("answered %d on the former stream and %d on the new one, want 7 and 1", answered[first], answered[second])
	}
	beat(second, 2, 4)
	beat(second, 2, 5)
	if answered[second] != 2 || answers != 3 {
		t.Errorf("answered %d on the new stream, want 2, and %d of 3 in all", answered[second], answers)
	}
}
