package admission

import (
	"testing"
	"time"

	"pgregory.net/rapid"

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

// Each request that a burst left over comes back at a time of its own, as fast as the node serves.
func TestEntranceAppoints(t *testing.T) {
	full := func() *Entrance {
		e := NewEntrance(Default())
		busy := &caller{e, "busy", node.RoleClient}
		for range 1000 {
			busy.serve(&message.JobSubmit{}, 0, 0, 10*ms)
		}
		for n := 0; ; n++ {
			c := &caller{e, "full-" + string(rune('a'+n)), node.RoleClient}
			if _, no := c.ask(&message.JobSubmit{}, 0); no.Reason != "" {
				return e
			}
		}
	}
	again := func(e *Entrance, source string, at time.Duration) time.Duration {
		_, no := e.Admit(&message.JobSubmit{}, node.RoleClient, source, node.Instant(at))
		return no.RetryAfter
	}
	t.Run("one after the other", func(t *testing.T) {
		e := full()
		for i := 1; i < 100; i++ { // the first one came with the one that found no room
			if got, want := again(e, "c-"+string(rune(0x100+i)), 0), time.Second+time.Duration(i)*10*ms; got != want {
				t.Fatalf("request %d comes back after %v, want %v", i, got, want)
			}
		}
	})
	t.Run("a greedy source moves no other", func(t *testing.T) {
		e := full()
		last := time.Duration(0)
		for range 100 {
			last = again(e, "greedy", 0)
		}
		if last != retryMax {
			t.Errorf("the hundredth request of one source comes back after %v, want %v: it has one of 52 shares", last, retryMax)
		}
		if got, want := again(e, "other", 0), time.Second+20*ms; got != want {
			t.Errorf("the first request of another source comes back after %v, want %v", got, want)
		}
	})
	t.Run("what has passed is free", func(t *testing.T) {
		e := full()
		again(e, "greedy", 0)
		if got := again(e, "greedy", 20*time.Second); got != time.Second {
			t.Errorf("20 s later it comes back after %v, want 1s", got)
		}
	})
	t.Run("a crash", func(t *testing.T) {
		e := full()
		for range 100 {
			again(e, "greedy", 0)
		}
		e.Clear()
		if got := e.door.Appoint(0, node.High, "greedy"); got != time.Second {
			t.Errorf("after a crash the first one comes back after %v, want 1s", got)
		}
	})
}

// Whatever comes, an appointment is within its bounds, and those of a source follow each other.
func TestAppointmentsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := NewDoor(Default())
		d.End(node.High, time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms"))*ms)
		now, last := node.Instant(time.Hour), map[string]node.Instant{}
		for range rapid.IntRange(1, 200).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "pause")) * ms)
			source := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "source")
			after := d.Appoint(now, node.High, source)
			if after < retryMin || after > retryMax {
				t.Fatalf("an appointment after %v, want %v to %v", after, retryMin, retryMax)
			}
			if at := now.Add(after); at < last[source] {
				t.Fatalf("%s comes back at %v, before its last appointment at %v", source, at, last[source])
			}
			last[source] = now.Add(after)
		}
	})
}

// The load is the level of the last requests, and falls without further ones.
func TestLoadOfAnEntrance(t *testing.T) {
	c := &caller{NewEntrance(Default()), "c", node.RoleClient}
	for i := range 2 {
		c.serve(&message.JobSubmit{}, time.Duration(i)*tickEvery, 600*ms, 0)
	}
	c.serve(&message.JobSubmit{}, 2*tickEvery, 0, 0)
	for _, row := range []struct {
		ticks time.Duration
		want  Level
	}{{2, Stressed}, {11, Stressed}, {12, Busy}, {22, Calm}, {1000, Calm}} {
		if got := Level(c.Load(node.Instant(row.ticks * tickEvery))); got != row.want {
			t.Errorf("after %d ticks: %v, want %v", row.ticks, got, row.want)
		}
	}
}
