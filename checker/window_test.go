package checker

import (
	"strings"
	"testing"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Orders are judged by the clock of who gives them, against its own window.
func TestOrdersOutsideTheirWindow(t *testing.T) {
	token := message.LeaseToken{Epoch: 3, Ordinal: 1}
	granted := event.LeaseGranted{Group: GroupGates, Job: message.JobID{1}, Token: token, Until: 100}
	order := func(token message.LeaseToken) node.Event {
		return event.SubjobDispatched{Job: message.JobID{1}, Fence: message.Fence{JobEpoch: token.Packed()}, Datacenter: "dc"}
	}
	for _, v := range []struct {
		name   string
		events []Record
		want   string
	}{
		{"inside", []Record{{Local: 50, Event: granted}, {Local: 99, Event: order(token)}}, ""},
		{"after it", []Record{{Local: 50, Event: granted}, {Local: 100, Event: order(token)}}, "T2"},
		{"extended", []Record{{Local: 50, Event: granted}, {Local: 90, Event: event.LeaseExtended{Group: GroupGates, Job: message.JobID{1}, Token: token, Until: 200}}, {Local: 150, Event: order(token)}}, ""},
		{"given up", []Record{{Local: 50, Event: granted}, {Local: 60, Event: event.LeaseEnded{Group: GroupGates, Job: message.JobID{1}, Token: token, Reason: "transferred"}}, {Local: 70, Event: order(token)}}, "T2"},
		{"another token", []Record{{Local: 50, Event: granted}, {Local: 70, Event: order(message.LeaseToken{Epoch: 2, Ordinal: 1})}}, "T2"},
		{"nothing is told of registers", []Record{{Local: 70, Event: order(token)}}, ""},
	} {
		c := New()
		for _, r := range v.events {
			r.Node, r.Incarnation = "gate-1", 1
			c.Observe(r)
		}
		got := ""
		if all := c.Violations(); len(all) > 0 {
			got = all[0].String()
		}
		if v.want == "" && got != "" || !strings.HasPrefix(got, v.want) {
			t.Errorf("%s: got %q, want %q", v.name, got, v.want)
		}
	}
}
