package admission

import (
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// caller sends requests of one source, each of which takes 10 ms.
type caller struct {
	*Entrance
	source string
	role   node.Role
}

func (c *caller) ask(m node.Message, at time.Duration) (int32, node.Refusal) {
	return c.Admit(m, c.role, c.source, node.Instant(at))
}

// serve handles a request after a wait, and says why it is refused.
func (c *caller) serve(m node.Message, at, waits, takes time.Duration) string {
	place, no := c.ask(m, at)
	if no.Reason == "" {
		no = c.Begin(m, place, waits, node.Instant(at+waits))
	}
	if no.Reason == "" {
		c.End(m, place, waits, takes)
	}
	return no.Reason
}

// A calm node serves a single source without a limit. While it is stressed, each source has its
// limit, by operation.
func TestEntranceLimitsSourcesUnderStress(t *testing.T) {
	greedy := &caller{NewEntrance(Default()), "greedy", node.RoleClient}
	other := &caller{greedy.Entrance, "other", node.RoleClient}
	most := Default().Limits
	for i := range 2 * most[Query] {
		if no := greedy.serve(&message.JobQuery{}, 0, 0, 0); no != "" {
			t.Fatalf("query %d at a calm node is refused: %s", i, no)
		}
	}
	for i := range 2 { // a second of samples of 600 ms: stressed
		if no := other.serve(&message.JobSubmit{}, time.Duration(i)*tickEvery, 600*ms, 0); no != "" {
			t.Fatalf("a submission is refused: %s", no)
		}
	}
	for _, row := range []struct {
		who  *caller
		what node.Message
		want string
	}{
		{greedy, &message.JobQuery{}, RateLimit.String()}, {greedy, &message.StatusQuery{}, RateLimit.String()},
		{greedy, &message.JobWatch{}, ""}, {greedy, &message.JobSubmit{}, ""}, {other, &message.JobQuery{}, ""},
	} {
		if no := row.who.serve(row.what, 2*tickEvery, 0, 0); no != row.want {
			t.Errorf("%T of %s at a stressed node: %q, want %q", row.what, row.who.source, no, row.want)
		}
	}
	if no := greedy.serve(&message.JobQuery{}, time.Minute, 0, 0); no != "" {
		t.Errorf("a minute later a query is refused: %s", no)
	}
}

// A request that has waited longer than its client does is not worth an answer.
func TestEntranceRefusesWhatIsLate(t *testing.T) {
	c := &caller{NewEntrance(Default()), "c", node.RoleClient}
	most := Default().Patience
	c.serve(&message.JobSubmit{}, 0, 0, 10*ms) // what a submission takes
	for i, want := range []string{"", TooLate.String()} {
		waits := most - 10*ms + time.Duration(i)
		if no := c.serve(&message.JobSubmit{}, 0, waits, 10*ms); no != want {
			t.Errorf("after %v: %q, want %q", waits, no, want)
		}
	}
}

// What waits bounds what is admitted, by its cost: 50 requests of 10 ms. A crash clears it.
func TestEntranceBoundsTheWait(t *testing.T) {
	e := NewEntrance(Default())
	busy := &caller{e, "busy", node.RoleClient}
	for range 1000 {
		busy.serve(&message.JobSubmit{}, 0, 0, 10*ms)
	}
	for round := range 2 {
		n := 0
		for ; ; n++ {
			c := &caller{e, string(rune('a' + n)), node.RoleClient}
			if _, no := c.ask(&message.JobSubmit{}, 0); no.Reason != "" {
				if no.Reason != TooLong.String() || no.RetryAfter != time.Second {
					t.Errorf("refused with %q, to come back after %v", no.Reason, no.RetryAfter)
				}
				break
			}
		}
		if n != 51 {
			t.Errorf("round %d: %d requests of 10 ms wait, want as many as 500 ms take and one", round, n)
		}
		e.Clear()
	}
}

// Peers are not limited: their dispatches and queries are what the cluster runs on.
func TestEntranceLetsPeersPass(t *testing.T) {
	p := &caller{NewEntrance(Default()), "", node.RoleGate}
	for range 3 * Default().Places {
		if place, no := p.ask(&message.JobDispatch{}, 0); no.Reason != "" || place != 0 {
			t.Fatalf("a peer's dispatch is refused: %+v", no)
		}
	}
}
