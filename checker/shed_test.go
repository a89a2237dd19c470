package checker_test

import (
	"testing"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// T10 rejects a stream that a full mailbox breaks and a critical message that it drops. It accepts
// what a protocol sends again and what a client hears of.
func TestWhatAMailboxMayShed(t *testing.T) {
	from := node.Peer{ID: "worker-1", Role: node.RoleWorker}
	for _, tc := range []struct {
		what  string
		event event.Shed
		wrong bool
	}{
		{"a dropped chunk of a file", event.ShedByLane(&message.FileChunk{}, from, false), false},
		{"a refused submission", event.ShedOf(&message.JobSubmit{}, node.RoleClient, event.ShedRefused, "submit", "full"), false},
		{"a bound that is met", event.Shed{Reason: event.ShedBound, What: "watch"}, false},
		{"a broken stream", event.ShedByLane(&message.JobAccepted{}, from, true), true},
		{"a dropped probe", event.ShedByLane(&message.SwimProbe{}, from, false), true},
	} {
		c := checker.New()
		c.Observe(checker.Record{At: time.Second, Node: "gate-1", Event: tc.event})
		if broken := c.Broken() > 0; broken != tc.wrong || broken && c.Violations()[0].Invariant != "T10" {
			t.Errorf("%s: %v, want a violation of T10: %v", tc.what, c.Violations(), tc.wrong)
		}
	}
}
