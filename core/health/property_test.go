package health

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// A worse lag or multiplier never lowers the level; a worse level never shortens a
// timeout, and never keeps an optional probe that a better one leaves out.
func TestLevelsOnlyRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		multiplier := rapid.IntRange(0, 8)
		lag := rapid.OneOf(rapid.SampledFrom([]int64{0, 499, 500, 999, 1000, 1999, 2000, 3999, 4000}), rapid.Int64Range(0, 10_000))
		m1, m2 := multiplier.Draw(t, "multiplier"), multiplier.Draw(t, "another")
		l1, l2 := time.Duration(lag.Draw(t, "lag"))*time.Millisecond, time.Duration(lag.Draw(t, "another lag"))*time.Millisecond
		worse, better := Of(max(m1, m2), max(l1, l2)), Of(min(m1, m2), min(l1, l2))
		if worse < better || Of(m1, l1) != max(Of(m1, 0), Of(0, l1)) {
			t.Fatalf("multipliers %d, %d and lags %v, %v are %v and %v", m1, m2, l1, l2, better, worse)
		}
		if worse != better && worse.String() == better.String() {
			t.Fatalf("levels %d and %d are both %v", better, worse, worse)
		}
	})
}

// lateness is when a lag was measured.
type lateness struct {
	at  node.Instant
	lag time.Duration
}

// A lag counts for at least one window after its measurement, and at most for two and one
// interval, whatever else was late. The monitor reports each change of the level once.
func TestLagIsTheWorstOfLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &host{New(Default()), NewClocks(DefaultClock())}
		w := nodetest.New(nodetest.Config{
			Self: node.Peer{ID: "a", Incarnation: 1, Role: node.RoleManager, Addr: "a:1"},
			New:  func() node.Machine { return h },
		})
		told := Normal.String()
		w.WatchEvent = func(e node.Event) {
			if c, ok := e.(event.HealthChanged); ok {
				if c.From == c.To || c.From != told {
					t.Fatalf("the level was told to be %v: %+v", told, c)
				}
				told = c.To
			}
		}
		w.Start()
		if h.monitor.Fire(w, node.Key(node.PartSwim, node.SwimProbe)) {
			t.Fatal("a timer of the membership is the monitor's")
		}
		c := Default()
		var late []lateness
		multiplier := 0
		for range rapid.IntRange(1, 60).Draw(t, "timers") {
			lag := time.Duration(0)
			if rapid.IntRange(0, 5).Draw(t, "is late") == 0 {
				lag = time.Duration(rapid.Int64Range(1, 5000).Draw(t, "lag")) * time.Millisecond
				h.monitor.due = h.monitor.due.Add(-lag)
			}
			if rapid.IntRange(0, 9).Draw(t, "fails") == 0 {
				multiplier = rapid.IntRange(0, 8).Draw(t, "multiplier")
				h.monitor.SetMultiplier(w, multiplier)
			}
			w.Advance(c.Interval)
			late = append(late, lateness{w.Now(), lag})
			var least, most time.Duration
			for _, l := range late {
				age := w.Now().Sub(l.at)
				if age < c.Window {
					least = max(least, l.lag)
				}
				if age < 2*c.Window+c.Interval {
					most = max(most, l.lag)
				}
			}
			if got := h.monitor.Lag(); got < least || got > most {
				t.Fatalf("the lag is %v, want %v to %v of %v", got, least, most, late)
			}
			if got := h.monitor.Level(); got != Of(multiplier, h.monitor.Lag()) || told != got.String() {
				t.Fatalf("the level is %v and told as %v at lag %v and multiplier %d", got, told, h.monitor.Lag(), multiplier)
			}
		}
	})
}

// Clocks holds one incarnation of at most PeersMax peers. An impossible sample, a peer above
// PeersMax, and the first sample of an incarnation find nothing, whatever their values.
func TestClocksRememberKnownPeers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := DefaultClock()
		config.PeersMax = rapid.IntRange(1, 3).Draw(t, "peers max")
		c := NewClocks(config)
		w := nodetest.New(nodetest.Config{Self: node.Peer{ID: "a", Incarnation: 1, Role: node.RoleToy, Addr: "a:1"}, New: func() node.Machine { return nil }})
		w.Discard = true
		runs := map[node.ID]uint64{} // the model: the peers that it compares
		now := node.Instant(1 << 40)
		for range rapid.IntRange(1, 40).Draw(t, "samples") {
			id := rapid.SampledFrom([]node.ID{"b", "c", "d", "e"}).Draw(t, "peer")
			if rapid.IntRange(0, 9).Draw(t, "forget") == 0 {
				c.Forget(id)
				delete(runs, id)
			}
			now = now.Add(time.Duration(rapid.Int64Range(0, 10e9).Draw(t, "wait")))
			run := rapid.Uint64Range(1, 2).Draw(t, "run")
			s := Sample{now, now.Add(time.Duration(rapid.Int64Range(-1, 3).Draw(t, "round trip"))), time.Duration(rapid.Int64Range(-1, 1<<62).Draw(t, "uptime"))}
			_, found := c.Observe(w, id, run, s)
			_, known := runs[id]
			possible := s.Received >= s.Sent && s.Uptime >= 0 && (known || len(runs) < config.PeersMax)
			if found && (!possible || runs[id] != run) {
				t.Fatalf("peer %s in run %d was found by %+v, of the known %v", id, run, s, runs)
			}
			if possible {
				runs[id] = run
			}
			c.Sizes(func(what string, n, most int) {
				if n != len(runs) || most != config.PeersMax {
					t.Fatalf("%s has %d of %d, want %d of %d", what, n, most, len(runs), config.PeersMax)
				}
			})
		}
	})
}

// The rate is that of exact numbers, up to a millionth and a thousandth of it. It is none if no
// time of ours has passed.
func TestRateOfExactNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, 1<<55))
		a := Sample{Sent: node.Instant(span.Draw(t, "sent")), Uptime: time.Duration(span.Draw(t, "uptime"))}
		a.Received = a.Sent.Add(time.Duration(span.Draw(t, "round trip")))
		ours := rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(million, 1<<55)).Draw(t, "ours")
		b := Sample{a.Sent.Add(time.Duration(ours)), a.Received.Add(time.Duration(ours)), time.Duration(span.Draw(t, "uptime then"))}
		got := rate(a, b)
		if ours == 0 {
			if got != 0 {
				t.Fatalf("without time of ours the rate is %d", got)
			}
			return
		}
		want := new(big.Int).Mul(big.NewInt(int64(b.Uptime-a.Uptime)-ours), big.NewInt(million))
		want.Quo(want, big.NewInt(ours))
		// ours is truncated to whole millionths if the product would not fit: an error of one
		// in ours/million.
		slack := new(big.Int).Quo(new(big.Int).Abs(want), big.NewInt(max(1, ours/million)))
		if ours < million {
			return // hours of theirs in a millisecond of ours: the rate may be any huge number
		}
		slack.Add(slack, big.NewInt(2))
		if off := new(big.Int).Sub(want, big.NewInt(got)); off.CmpAbs(slack) > 0 {
			t.Fatalf("rate of %+v to %+v is %d, want %v", a, b, got, want)
		}
	})
}
