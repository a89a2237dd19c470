package message_test

import (
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

func TestTheDoor(t *testing.T) {
	for _, c := range []struct {
		kind             node.Kind
		sender, receiver node.Role
		stream           node.StreamID
		want             bool
	}{
		{message.KindJobSubmit, node.RoleClient, node.RoleGate, 1, true},
		{message.KindJobSubmit, node.RoleClient, node.RoleGate, 0, false}, // a request is answered on its stream
		{message.KindJobSubmit, node.RoleWorker, node.RoleGate, 1, false},
		{message.KindLeaseFrame, node.RoleGate, node.RoleGate, 0, true},
		{message.KindLeaseFrame, node.RoleClient, node.RoleGate, 0, false},
		{message.KindLeaseFrame, node.RoleWorker, node.RoleManager, 1, false},
		{message.KindDrain, node.RoleGate, node.RoleGate, 1, true},
		{message.KindDrain, node.RoleGate, node.RoleGate, 0, false}, // a late one would undo a later order
		{message.KindExecResult, node.RoleWorker, node.RoleWorker, 1, false},
		{message.KindExecResult, node.RoleToy, node.RoleWorker, 1, false},
		{message.KindExecResult, node.RoleGate, node.RoleToy, 0, true},
	} {
		if got := message.Fits(c.kind, c.sender, c.receiver, c.stream); got != c.want {
			t.Errorf("%s of a %v to a %v on stream %d: %v, want %v", message.Name(c.kind), c.sender, c.receiver, c.stream, got, c.want)
		}
	}
	// What changes something when it arrives again is no datagram: orders, requests and results.
	for _, k := range message.Kinds() {
		m := message.New(k)
		if message.Posted(k) && (m.Full() == node.Refuse || m.Class() == node.ClassDispatch) {
			t.Errorf("%s is an order or a request, and travels as a datagram", message.Name(k))
		}
		if message.Senders(k) == 0 {
			t.Errorf("%s has no sender", message.Name(k))
		}
	}
	for _, c := range []struct {
		receiver node.Role
		want     string
	}{
		{node.RoleGate, "client or gate or manager"}, {node.RoleManager, "manager or worker"}, {node.RoleWorker, "manager or worker"}, {node.RoleClient, ""}, {node.RoleExecutor, ""},
	} {
		if got := message.Callers(c.receiver).String(); got != c.want {
			t.Errorf("%q call a %v, want %q", got, c.receiver, c.want)
		}
	}
}
