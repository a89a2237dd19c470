package gate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/output"
)

// warnings are what a gate says of sinks, as status --cluster prints it.
func (m *member) warnings() (of []string) {
	client := m.world.Accept(node.Peer{ID: "operator", Incarnation: 1, Role: node.RoleClient})
	seen := m.world.WatchSend
	m.world.WatchSend = func(s node.StreamID, msg node.Message) {
		if c, ok := msg.(*message.ClusterStatus); ok {
			of = slices.DeleteFunc(slices.Clone(c.Warnings), func(w string) bool { return !strings.HasPrefix(w, "outputs: ") })
		}
		seen(s, msg)
	}
	m.world.Receive(client, &message.ClusterQuery{Request: message.RequestID{Counter: 1}})
	m.world.WatchSend = seen
	return of
}

// Gates gossip which sinks they have. Each warns of living others whose sinks are not its own, and of no others.
func TestGatesWarnOfOtherSinks(t *testing.T) {
	gatesWarn(t, nil)
	gatesWarn(t, []output.Sink{{Name: "lake", Window: time.Second}, {Name: "pond", Window: time.Second}})
}

func gatesWarn(t *testing.T, sinks []output.Sink) {
	c := gate.Default()
	c.SinkDigest, c.Sinks = "own", sinks
	w := newCluster(t, 3, c)
	w.time(5*time.Second, nil)
	for _, m := range w.gates {
		if got := m.warnings(); got != nil {
			t.Errorf("%s warns of gates that agree: %q", m.name, got)
		}
	}
	again := func(digest string) {
		other := w.gates[2]
		other.config.SinkDigest = digest
		w.depart(other)
		other.world.Crash()
		other.world.Start()
		w.pump()
		w.time(20*time.Second, nil)
	}
	remedy := " by name, kind or window: give all gates the same section outputs, and start them again one by one"
	for _, digest := range []string{"different", ""} {
		again(digest)
		for at, want := range []string{"outputs: the sinks of g3 are not those of g1" + remedy, "outputs: the sinks of g3 are not those of g2" + remedy, "outputs: the sinks of g1, g2 are not those of g3" + remedy} {
			if got := w.gates[at].warnings(); !slices.Equal(got, []string{want}) {
				t.Errorf("with %q: got %q, want %q", digest, got, want)
			}
		}
	}
	again("own")
	if got := w.gates[0].warnings(); got != nil {
		t.Errorf("g1 warns of gates that agree again: %q", got)
	}
	again("different")
	w.depart(w.gates[2])
	w.gates[2].world.Crash()
	w.time(2*time.Minute, nil)
	if got := w.gates[0].warnings(); got != nil {
		t.Errorf("g1 warns of a gate that is gone: %q", got)
	}
}
