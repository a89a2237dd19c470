package checker_test

import (
	"testing"
	"time"

	"hyperscale/checker"
	"hyperscale/core/node"
)

// A register that goes from hand to hand does not come to rest, however properly it
// does so; what it went through before everything was healed does not count.
func TestRegistersComeToRest(t *testing.T) {
	const every = 31 // seconds: a lease and one more
	for _, c := range []struct {
		name   string
		grants int
		healed time.Duration // before the end
		lame   bool          // the one who is granted it is never healed
		broken int
	}{
		{"seven times", 7, time.Hour, false, 0},
		{"eight times", 8, time.Hour, false, 1},
		{"eight times, most of them before", 8, time.Minute, false, 0},
		{"eight times, to one who loses what it has", 8, time.Hour, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := watch(checker.Assumptions{Lame: func(id node.ID) bool { return c.lame && id == "a" }})
			for i := range c.grants {
				w.grant(i*every, "a", uint64(i+1), 1, i*every)
			}
			w.Finish(time.Duration(c.grants*every)*time.Second, c.healed)
			if got := len(w.Violations()); got != c.broken {
				t.Errorf("%d violations, want %d: %v", got, c.broken, w.Violations())
			}
		})
	}
}
