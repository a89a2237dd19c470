package register

import (
	"strings"
	"testing"

	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// The checker judges an order by its sender's clock, against the sender's window.
func TestOrdersOutsideTheirWindow(t *testing.T) {
	token := message.LeaseToken{Epoch: 3, Ordinal: 1}
	granted := event.LeaseGranted{Group: GroupGates, Job: message.JobID{1}, Token: token, Until: 100}
	order := func(token message.LeaseToken) node.Event {
		return event.SubjobDispatched{Job: message.JobID{1}, Fence: message.Fence{JobEpoch: token.Packed()}, Datacenter: "dc"}
	}
	for _, v := range []struct {
		name   string
		events []history.Record
		want   string
	}{
		{"inside", []history.Record{{Local: 50, Event: granted}, {Local: 99, Event: order(token)}}, ""},
		{"after it", []history.Record{{Local: 50, Event: granted}, {Local: 100, Event: order(token)}}, "T2"},
		{"extended", []history.Record{{Local: 50, Event: granted}, {Local: 90, Event: event.LeaseExtended{Group: GroupGates, Job: message.JobID{1}, Token: token, Until: 200}}, {Local: 150, Event: order(token)}}, ""},
		{"given up", []history.Record{{Local: 50, Event: granted}, {Local: 60, Event: event.LeaseEnded{Group: GroupGates, Job: message.JobID{1}, Token: token, Reason: "transferred"}}, {Local: 70, Event: order(token)}}, "T2"},
		{"another token", []history.Record{{Local: 50, Event: granted}, {Local: 70, Event: order(message.LeaseToken{Epoch: 2, Ordinal: 1})}}, "T2"},
		{"a history without registers", []history.Record{{Local: 70, Event: order(token)}}, ""},
	} {
		log := &history.Log{}
		j := New(history.NewNodes(), log)
		for _, r := range v.events {
			r.Node, r.Incarnation = "gate-1", 1
			switch e := r.Event.(type) {
			case event.LeaseGranted:
				j.Granted(r, e)
			case event.LeaseExtended:
				j.Extended(r, e)
			case event.LeaseEnded:
				j.Ended(r, e)
			case event.SubjobDispatched:
				j.Ordered(r, e.Job, e.Fence.JobEpoch, "a subjob")
			}
		}
		got := ""
		if all := log.First(); len(all) > 0 {
			got = all[0].String()
		}
		if v.want == "" && got != "" || !strings.HasPrefix(got, v.want) {
			t.Errorf("%s: got %q, want %q", v.name, got, v.want)
		}
	}
}
