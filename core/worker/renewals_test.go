package worker

import (
	"testing"
	"time"

	"hyperscale/core/node"
	"hyperscale/core/uplink"
)

// Renewals never shorten a deadline, and never revive an ended execution.
func TestRenewalsMoveOnOnly(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.Silence = time.Hour })
	x := d.dispatch(0, 0, 1, 1)
	sent := d.Now()
	d.Advance(20 * time.Second)
	late := d.m.managers.links.All()[0].Sequence
	early := d.m.managers.links.All()[1].Sequence - 10
	d.ack(0, late, ref(0, 1))
	until := x.until
	if until < sent.Add(79*time.Second) {
		t.Fatalf("renewed until %v", until)
	}
	if d.ack(1, early, ref(0, 1)); x.until != until || x.manager != "m2" {
		t.Errorf("an older renewal by another manager: until %v, want %v; told is %s", x.until, until, x.manager)
	}
}

// A deadline that has passed stays, though no timer has fired yet.
func TestWhatIsOverIsNotRenewed(t *testing.T) {
	d := newDesk(t, nil)
	x := &execution{config: &d.m.config, shard: &shard{id: shardOf(0)}, until: d.Now()}
	if x.extend(d, "m2", d.Now().Add(time.Hour)); x.until != d.Now() {
		t.Error("what is over was renewed")
	}
}

// A dispatch needs a heartbeat that is younger than the timeout: the one that its manager had heard, or the
// last answered one where it names none. An answer that overtook the dispatch allows nothing.
func TestOldHeartbeatsAllowNothing(t *testing.T) {
	const timeout = time.Minute
	l := &uplink.Link{}
	sent := []beat{{3, 5}, {4, 30}}
	for _, tc := range []struct {
		heard              uint64
		answered, now, was node.Instant
		ok                 bool
	}{
		{0, 0, 1, 0, false}, {0, 5, 5, 5, true}, {0, 5, node.Instant(5).Add(timeout - 1), 5, true}, {0, 5, node.Instant(5).Add(timeout), 0, false},
		{3, 30, node.Instant(5).Add(timeout - 1), 5, true}, {3, 30, node.Instant(5).Add(timeout), 0, false}, {4, 5, node.Instant(5).Add(timeout), 30, true},
		{2, 30, 31, 0, false}, {5, 30, 31, 0, false}, // one that it has forgotten, or never sent
	} {
		m := managers{rhythms: map[*uplink.Link]*rhythm{l: {sent: sent, answered: tc.answered}}, timeout: timeout}
		if until, ok := m.limit(tc.now, l, tc.heard); ok != tc.ok || ok && until != tc.was.Add(timeout) {
			t.Errorf("answered at %v, heard %d: at %v it may run until %v, %v; want %v", tc.answered, tc.heard, tc.now, until, ok, tc.ok)
		}
	}
}

// A heartbeat may get two answers, and an older one a late answer; each new stream starts
// again.
func TestHeartbeatsAreAnswered(t *testing.T) {
	r := &rhythm{sent: []beat{{3, 30}, {4, 40}, {5, 50}}}
	for range 2 {
		if at, ok := r.answer(4); !ok || at != 40 {
			t.Fatalf("the second heartbeat was sent at %v, %v", at, ok)
		}
	}
	r.sent = append([]beat{{3, 30}}, r.sent...)
	r.answer(3)
	if r.answered != 40 {
		t.Errorf("the newest that was answered was sent at %v", r.answered)
	}
	d := newDesk(t, nil)
	d.Advance(5 * time.Second)
	d.Break(d.to[0], "cut")
	d.Advance(5 * time.Second)
	d.to[0] = d.OpeningTo("m1:1")[0]
	d.Opened(d.to[0], node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"})
	if got := d.m.managers.rhythms[d.m.managers.links.All()[0]]; got.answered != 0 || len(got.sent) != 1 {
		t.Errorf("a new stream begins with %+v", got)
	}
}

// A heartbeat that registers the worker is not repeated within its interval while it has no answer:
// workers that reconnect to a slow manager would send it twice as much. Later ones are.
func TestARegistrationIsSentOnce(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.Silence = time.Hour })
	d.Advance(10 * time.Second)
	d.Break(d.to[0], "cut")
	for len(d.OpeningTo("m1:1")) == 0 {
		d.Advance(time.Millisecond)
	}
	d.to[0] = d.OpeningTo("m1:1")[0]
	d.Opened(d.to[0], node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"})
	to := d.m.managers.links.All()[0]
	began, most := d.Now(), d.m.config.Heartbeat
	for d.Now().Sub(began) < most-time.Millisecond {
		if d.Advance(10 * time.Millisecond); to.Sequence != 1 {
			t.Fatalf("%v after a registration without an answer the worker has sent %d heartbeats", d.Now().Sub(began), to.Sequence)
		}
	}
	for want := uint64(2); want < 5; want++ { // it goes on all the same
		if d.Advance(most); to.Sequence != want {
			t.Fatalf("%v after the registration the worker has sent %d heartbeats, want %d", d.Now().Sub(began), to.Sequence, want)
		}
	}
	if other := d.m.managers.links.All()[1].Sequence; other < 13 {
		t.Errorf("the other manager has got %d heartbeats in 13 s", other)
	}
	d.Break(d.to[0], "cut")
	for len(d.OpeningTo("m1:1")) == 0 {
		d.Advance(time.Millisecond)
	}
	d.open(0)
	if d.Advance(most); to.Sequence != 2 {
		t.Errorf("a registration was answered, and an interval later the worker has sent %d heartbeats", to.Sequence)
	}
}
