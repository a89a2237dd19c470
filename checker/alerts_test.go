package checker_test

import (
	"testing"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
)

// R rejects a node that reports an alert twice, or the end of one that it has not raised. Each
// incarnation, each node and each alert counts by itself.
func TestAlertsAreReportedOnce(t *testing.T) {
	raised, cleared, taken, passed := event.AlertRaised, event.AlertCleared, event.AlertTaken, event.AlertPassed
	for _, tc := range []struct {
		changes []event.AlertChange
		wrong   bool
	}{
		{[]event.AlertChange{raised, cleared, raised, passed, taken, cleared}, false},
		{[]event.AlertChange{raised, raised}, true}, {[]event.AlertChange{taken, raised}, true}, {[]event.AlertChange{raised, taken}, true},
		{[]event.AlertChange{cleared}, true}, {[]event.AlertChange{passed}, true}, {[]event.AlertChange{raised, cleared, passed}, true},
	} {
		c := checker.New()
		for _, change := range tc.changes {
			c.Observe(checker.Record{At: time.Second, Node: "gate-1", Incarnation: 1, Event: event.Alert{Alert: "queue-high", Change: change}})
		}
		if broken := c.Broken() > 0; broken != tc.wrong || broken && c.Violations()[0].Invariant != "R" {
			t.Errorf("%v: %v, want a violation of R: %v", tc.changes, c.Violations(), tc.wrong)
		}
	}
	c := checker.New()
	for _, r := range []checker.Record{{Node: "gate-1", Incarnation: 1}, {Node: "gate-1", Incarnation: 2}, {Node: "gate-2", Incarnation: 1}} {
		r.Event = event.Alert{Alert: "queue-high", Change: raised}
		c.Observe(r)
		r.Event = event.Alert{Alert: "dead-letters", Change: raised}
		c.Observe(r)
	}
	if c.Broken() > 0 {
		t.Errorf("alerts of their own: %v", c.Violations())
	}
}
