package transport

import (
	"io"
	"strings"
	"testing"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// as gives a node a role.
func as(role node.Role) func(*Config) { return func(c *Config) { c.Self.Role = role } }

// TestWhatARoleDoesNotSend breaks its stream, and is no datagram.
func TestWhatARoleDoesNotSend(t *testing.T) {
	events := make(chan node.Event, 10)
	gate := serve(t, "g", func(c *Config) {
		c.Self.Role, c.Observe = node.RoleGate, func(e node.Event) { events <- e }
	})
	client := serve(t, "c", as(node.RoleClient))
	s := client.Open(gate.addr())
	client.ear.want(t, "opened 1 g#1")
	gate.ear.want(t, "opened 1 c#1")
	client.Send(s, &message.ClusterQuery{Request: message.RequestID{Counter: 1}})
	gate.ear.want(t, "ClusterQuery")
	client.Send(s, &message.LeaseHail{Group: "gates"})
	gate.ear.want(t, "broken 1 the peer sent a LeaseHail, and a client sends none")
	client.ear.want(t, "broken 1")
	client.Datagram(gate.addr(), &message.ClusterQuery{Request: message.RequestID{Counter: 1}})
	for _, want := range []event.Ignored{
		{Peer: "c", Message: "LeaseHail", Why: "a client sends no such message"},
		{Peer: "c", Message: "ClusterQuery", Why: "no such message travels as a datagram"},
	} {
		if got := <-events; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if got := gate.Stats().Unfit.Misplaced; got != 2 {
		t.Errorf("%d misplaced messages were counted", got)
	}
}

// TestWhoCalls: a node that calls a role which has no use for it learns that at once.
func TestWhoCalls(t *testing.T) {
	gate, worker := serve(t, "g", as(node.RoleGate)), serve(t, "w", as(node.RoleWorker))
	worker.Open(gate.addr())
	worker.ear.want(t, "broken 1 greet "+string(gate.addr())+`: the peer's role is "gate", this node wants one that a worker calls: correct --managers or --seed: the gate g has this address`)
	conn := dial(t, gate)
	said := hello("x")
	said.Role = uint8(node.RoleExecutor)
	if _, err := conn.Write(frame(t, said)); err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(conn)
	if !strings.Contains(string(text), "as those call a gate") {
		t.Errorf("an executor that calls a gate gets %q", text)
	}
	if len(gate.ear.news) != 0 {
		t.Errorf("heard %s", <-gate.ear.news)
	}
}
