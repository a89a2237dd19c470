package register

import (
	"testing"
	"time"

	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A register that goes from hand to hand is a violation, however properly it does so.
// Grants from before everything was healed do not count.
func TestRegistersKeepTheirHolders(t *testing.T) {
	const every = 31 // seconds: a lease and one more
	for _, c := range []struct {
		name       string
		grants     int
		healed     time.Duration // before the end
		quiet      time.Duration // before the end, too: what a real run knows of it
		broken     bool          // the node that is granted it is never healed
		violations int
	}{
		{"seven times", 7, time.Hour, 0, false, 0},
		{"eight times", 8, time.Hour, 0, false, 1},
		{"eight times, most of them before", 8, time.Minute, 0, false, 0},
		{"eight times, most of them before the last fault ended", 8, time.Hour, time.Minute, false, 0},
		{"eight times, long after it", 8, time.Hour, 2 * time.Hour, false, 1},
		{"eight times, to one who loses what it has", 8, time.Hour, 0, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			nodes, log := history.NewNodes(), &history.Log{}
			nodes.Assume.Quiet = c.quiet
			nodes.Assume.NeverHealed = func(id node.ID) bool { return c.broken && id == "a" }
			j := New(nodes, log)
			for i := range c.grants {
				at := time.Duration(i*every) * time.Second
				until := node.Instant(at).Add(30 * time.Second)
				j.Granted(history.Record{At: at, Node: "a", Incarnation: 1, Local: node.Instant(at)}, event.LeaseGranted{
					Group: GroupGates, Job: message.JobID{1}, Token: message.LeaseToken{Epoch: uint64(i + 1), Ordinal: 1}, Until: until, Began: node.Instant(at),
				})
			}
			j.KeepsHands(time.Duration(c.grants*every)*time.Second, c.healed)
			if got := log.Count(); got != c.violations {
				t.Errorf("%d violations, want %d: %v", got, c.violations, log.First())
			}
		})
	}
}
