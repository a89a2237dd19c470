package host

import (
	"log/slog"
	"strings"
	"testing"

	"hyperscale/core/alert"
	"hyperscale/core/event"
	"hyperscale/core/node"
)

// A node that owns jobs is ready once it is a member of its group, and gives the obstacle until
// then.
func TestReadyIsWhoIsAMember(t *testing.T) {
	lost := "2 of 3 gates have lost their disks"
	w := newWork(node.RoleGate, nil)
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

// A manager that a gate refuses says why, until one takes it in.
func TestReadySaysWhyItIsRefused(t *testing.T) {
	w := newWork(node.RoleManager, nil)
	w.observe(event.GroupJoined{How: "founded"})
	for _, c := range []struct {
		tell node.Event
		want string // "" for ready
	}{
		{event.PeerRefused{Peer: "w-1", Role: node.RoleWorker, Reason: "another matter"}, "no gate has taken this node in"},
		{event.PeerRefused{Peer: "gate-1", Role: node.RoleGate, Reason: "correct --gates"}, "gate-1 refuses this node: correct --gates"},
		{event.PeerRegistered{Peer: "gate-2", Role: node.RoleGate}, ""},
		{event.PeerLost{Peer: "gate-2"}, "no gate has taken this node in"},
	} {
		w.observe(c.tell)
		if ok, why := w.ready(); ok != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("after %+v: %v, %q, want %q", c.tell, ok, why, c.want)
		}
	}
}

// A node that is ready names the alerts that it reports as raised, until it clears them or another
// node reports them. Each alert has a level of the log.
func TestReadyNamesAlerts(t *testing.T) {
	w := newWork(node.RoleGate, nil)
	w.observe(event.GroupJoined{How: "founded"})
	for _, c := range []struct {
		e     event.Alert
		want  string
		level slog.Level
	}{
		{event.Alert{Alert: "queue-high", Change: event.AlertRaised, Severity: "warning", Why: "9 jobs wait"}, "9 jobs wait", slog.LevelWarn},
		{event.Alert{Alert: "queue-high", Change: event.AlertCleared, Severity: "warning"}, "", slog.LevelInfo},
		{event.Alert{Alert: "no-worker-healthy", Change: event.AlertTaken, Severity: "critical", Why: "0 are healthy"}, "0 are healthy", slog.LevelInfo},
		{event.Alert{Alert: "no-worker-healthy", Change: event.AlertPassed, Severity: "critical"}, "", slog.LevelInfo},
		{event.Alert{Alert: "circuit-open", Change: event.AlertRaised, Severity: "critical", Why: "no majority"}, "no majority", slog.LevelError},
	} {
		w.observe(c.e)
		if ok, text := w.ready(); !ok || !strings.Contains(text, c.want) || c.want == "" && text != "" {
			t.Errorf("after %+v: %v, %q, want %q", c.e, ok, text, c.want)
		}
		if got := levelOf(c.e); got != c.level {
			t.Errorf("%+v is logged at %v, want %v", c.e, got, c.level)
		}
	}
	w.retell(alert.CircuitOpen, "still no majority")
	w.retell(alert.QueueHigh, "it is not raised")
	if _, text := w.ready(); !strings.Contains(text, "(still no majority)") || strings.Contains(text, "it is not raised") {
		t.Errorf("told why an alert stands now, the node says %q", text)
	}
}
