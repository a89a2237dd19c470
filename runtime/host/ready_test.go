package host

import (
	"strings"
	"testing"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// A node that owns jobs is ready once it is a member of its group, and gives the obstacle until
// then.
func TestReadyIsWhoIsAMember(t *testing.T) {
	lost := "2 of 3 gates have lost their disks"
	w := newWork(node.RoleGate)
	for _, c := range []struct {
		tell node.Event
		want string // "" for ready
	}{
		{event.PeerRegistered{Peer: "gate-2", Role: node.RoleGate}, "no member of its group yet"},
		{event.GroupRefused{Peer: "b:1", Ours: "a:1,b:1", Theirs: "b:1,c:1"}, "b:1 is configured with the set b:1,c:1, this node with a:1,b:1: give both the same one"},
		{event.GroupAlarm{Reason: lost}, lost},
		{event.GroupJoined{How: "rejoined"}, ""},
		{event.GroupAlarm{Reason: "the disk refuses writes", Speaks: true}, ""},
		{event.GroupRefused{Peer: "x:1"}, ""},
		{event.GroupAlarm{Reason: "another member was recovered too"}, "another member was recovered too"},
	} {
		w.observe(c.tell)
		ok, why := w.ready()
		if ok != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("after %+v: %v, %q, want %q", c.tell, ok, why, c.want)
		}
	}
}
