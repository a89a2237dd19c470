package swim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// legal is a random configuration around one of the presets.
func legal(t *rapid.T) Config {
	c := rapid.SampledFrom([]func() Config{Default, Paper, Plain}).Draw(t, "preset")()
	span := func(name string, low, high time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(int64(low), int64(high)).Draw(t, name))
	}
	c.Group = rapid.StringMatching(`[a-z]{1,64}`).Draw(t, "group")
	c.ProbeTimeout = span("timeout", 1, time.Minute)
	c.ProbeInterval = c.ProbeTimeout + span("more", 1, time.Minute)
	c.IndirectCount, c.GossipFanout = rapid.IntRange(0, indirectMax).Draw(t, "indirect"), rapid.IntRange(0, 9).Draw(t, "fanout")
	c.GossipInterval, c.GossipMax, c.GossipFactor = span("gossip", 1, time.Minute), rapid.IntRange(1, 9999).Draw(t, "waiting"), rapid.IntRange(1, 9).Draw(t, "factor")
	c.Confirmations, c.MultiplierMax = rapid.IntRange(0, confirmationsMax).Draw(t, "confirmations"), rapid.IntRange(0, 64).Draw(t, "multiplier")
	return c
}

// Each preset and each legal configuration validates. With one value beyond its bound Validate
// reports one fault, with that value.
func TestValidateNamesTheValueThatIsWrong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := legal(t)
		if err := c.Validate(); err != nil {
			t.Fatalf("%+v is legal: %v", c, err)
		}
		negative := rapid.SampledFrom([]time.Duration{-1, -time.Second}).Draw(t, "negative")
		none := rapid.SampledFrom([]time.Duration{0, -1, -time.Second}).Draw(t, "not positive")
		below := rapid.SampledFrom([]int{0, -1, -99}).Draw(t, "below one")
		minus := rapid.SampledFrom([]int{-1, -99}).Draw(t, "below none")
		span := func(v *time.Duration, bad time.Duration) func() string {
			return func() string { *v = bad; return fmt.Sprint(bad) }
		}
		count := func(v *int, bad int) func() string {
			return func() string { *v = bad; return fmt.Sprint(bad) }
		}
		wrong := rapid.SampledFrom([]struct {
			what   string
			change func() string
		}{
			{"group", func() string { c.Group = ""; return `""` }}, {"group", func() string { c.Group += strings.Repeat("g", groupMax); return c.Group }},
			{"probe timeout", span(&c.ProbeTimeout, none)}, {"probe timeout", span(&c.ProbeTimeout, c.ProbeInterval)}, {"interval", span(&c.ProbeInterval, none)},
			{"indirect_count", count(&c.IndirectCount, minus)}, {"indirect_count", count(&c.IndirectCount, indirectMax+1)},
			{"gossip", span(&c.GossipInterval, none)}, {"gossip", count(&c.GossipFanout, minus)}, {"waiting", count(&c.GossipMax, below)}, {"factor", count(&c.GossipFactor, below)},
			{"suspicion factor", count(&c.SuspicionFactor, below)}, {"spread", count(&c.SuspicionSpread, below)}, {"cap", span(&c.SuspicionCap, negative)},
			{"confirmations", count(&c.Confirmations, minus)}, {"confirmations", count(&c.Confirmations, confirmationsMax+1)},
			{"multiplier max", count(&c.MultiplierMax, minus)}, {"multiplier max", count(&c.MultiplierMax, 65)}, {"lag bound", span(&c.LagBound, negative)},
			{"intervals", span(&c.PushPullInterval, none)}, {"intervals", span(&c.SeedInterval, none)}, {"intervals", span(&c.JoinInterval, none)},
			{"reap", span(&c.ReapAge, none)}, {"hold", span(&c.HoldMax, negative)}, {"members", count(&c.MembersMax, below)},
		}).Draw(t, "wrong")
		value := wrong.change()
		err := c.Validate()
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), wrong.what) || !strings.Contains(err.Error(), value) {
			t.Fatalf("%s = %s: got %v", wrong.what, value, err)
		}
	})
}

// Local health never shortens a timeout, and changes none if the configuration disables it. A
// suspicion's shortest time is at most its longest, and the cap bounds it.
func TestTimesOfLocalHealth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := legal(t)
		g := New(c)
		g.live = rapid.IntRange(1, 20_000).Draw(t, "live")
		d := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "time"))
		best, leastAtBest, _ := g.scaled(d), time.Duration(0), 0
		leastAtBest, _ = g.bounds(g.live)
		g.SetLag(time.Duration(rapid.Int64Range(0, 5000).Draw(t, "lag")) * time.Millisecond)
		for range rapid.IntRange(0, 9).Draw(t, "failures") {
			g.bump(1)
		}
		worse := g.scaled(d)
		if best != d || worse < best || !c.HealthProbe && worse != d || c.HealthProbe && c.Scaling == ScalePaper && worse != d*time.Duration(1+g.Multiplier()) {
			t.Fatalf("%v is scaled to %v, and at multiplier %d and lag %v to %v", d, best, g.Multiplier(), g.lag, worse)
		}
		low, high := g.bounds(g.live)
		if low > high || low < leastAtBest || !c.HealthStretch && low != leastAtBest || !c.HealthSuspicion && high != low {
			t.Fatalf("a suspicion lasts from %v to %v, in good health from %v", low, high, leastAtBest)
		}
		if c.SuspicionCap > 0 && high > max(low, c.SuspicionCap) {
			t.Fatalf("a suspicion lasts to %v beyond its least %v and the cap %v", high, low, c.SuspicionCap)
		}
	})
}
