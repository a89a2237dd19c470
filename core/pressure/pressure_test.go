package pressure

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

const base = 500 * time.Millisecond

func gauge() *Gauge { return &Gauge{Base: base, PerSecond: 2000} }

// The interval by number is known before the first report.
func TestManyPeersReportSeldom(t *testing.T) {
	for _, c := range []struct {
		peers int
		want  time.Duration
	}{{0, 0}, {1, 0}, {999, 0}, {1000, 0}, {1001, 500500 * time.Microsecond}, {3000, 1500 * time.Millisecond}, {10_000, Most}, {1_000_000, Most}} {
		if got := gauge().Every(node.Instant(time.Hour), c.peers); got != c.want {
			t.Errorf("%d peers: %v, want %v", c.peers, got, c.want)
		}
	}
}

// Each second of long waits doubles the interval, at once; each five calm seconds halve it.
func TestWaitsDoubleTheInterval(t *testing.T) {
	g := gauge()
	for _, c := range []struct {
		at     time.Duration
		waited time.Duration
		want   time.Duration
	}{
		{0, WaitMax, 0},                                  // not above the bound
		{1 * time.Second, WaitMax + 1, 2 * base},         // at once
		{1100 * time.Millisecond, time.Minute, 2 * base}, // once a second
		{2 * time.Second, WaitMax + 1, 4 * base},
		{3 * time.Second, WaitMax + 1, 8 * base},
		{4 * time.Second, WaitMax + 1, Most},
		{5 * time.Second, WaitMax + 1, Most},
		{8 * time.Second, 0, Most},                          // level 4
		{10900 * time.Millisecond, 0, Most},                 // not yet five calm ones
		{11 * time.Second, 0, 8 * base},                     // level 3
		{15500 * time.Millisecond, WaitMax/2 + 1, 8 * base}, // not calm, not above
		{16 * time.Second, 0, 8 * base},
		{20900 * time.Millisecond, 0, 8 * base},
		{21 * time.Second, 0, 4 * base},
		{31 * time.Second, 0, 0},
	} {
		now := node.Instant(time.Hour + c.at)
		if c.waited > 0 {
			g.Waited(now, c.waited)
		}
		if got := g.Every(now, 1); got != c.want {
			t.Errorf("at %v: %v, want %v", c.at, got, c.want)
		}
	}
}

// Whatever waits, an interval is zero or above the base and at most Most; and without waits it is that
// by number after Levels times CalmAfter seconds and one.
func TestTheIntervalIsBoundedAndCalmsDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, now, peers := gauge(), node.Instant(time.Hour), rapid.IntRange(0, 30_000).Draw(t, "peers")
		for range rapid.IntRange(0, 60).Draw(t, "reports") {
			now = now.Add(rapid.SampledFrom([]time.Duration{0, time.Millisecond, 300 * time.Millisecond, time.Second, 7 * time.Second}).Draw(t, "later"))
			g.Waited(now, time.Duration(rapid.Int64Range(0, int64(3*WaitMax)).Draw(t, "waited")))
			if e := g.Every(now, peers); e != 0 && (e <= base || e > Most) || e < gauge().Every(now, peers) {
				t.Fatalf("the interval is %v, by number %v", e, gauge().Every(now, peers))
			}
		}
		now = now.Add((Levels*CalmAfter + 1) * time.Second)
		if got, want := g.Every(now, peers), gauge().Every(now, peers); got != want || g.Behind() {
			t.Fatalf("after calm seconds it is %v, want %v", got, want)
		}
	})
}

// A word counts until it is replaced, and for Lifetime at most.
func TestAWordIsForgotten(t *testing.T) {
	var w Word
	at := node.Instant(time.Hour)
	if w.Every(at) != 0 {
		t.Error("a word that was never said counts")
	}
	w.Hear(at, 2*time.Second)
	for _, c := range []struct{ later, want time.Duration }{{0, 2 * time.Second}, {Lifetime - 1, 2 * time.Second}, {Lifetime, 0}, {time.Hour, 0}} {
		if got := w.Every(at.Add(c.later)); got != c.want {
			t.Errorf("%v later: %v, want %v", c.later, got, c.want)
		}
	}
	w.Hear(at, 0)
	if got := w.Every(at); got != 0 {
		t.Errorf("after a word of zero: %v", got)
	}
	w.Hear(at, time.Hour)
	if got := w.Every(at); got != Most {
		t.Errorf("after a word of an hour: %v, want %v", got, Most)
	}
}

// Of peers that begin at once each reports once in its number of turns, and as many report in
// each turn.
func TestPeersReportInTurn(t *testing.T) {
	for _, c := range []struct {
		every time.Duration
		want  uint64
	}{{0, 1}, {base, 1}, {base + 1, 2}, {2 * base, 2}, {Most, 10}} {
		turns := Turns(c.every, base)
		if turns != c.want {
			t.Fatalf("%v are %d turns, want %d", c.every, turns, c.want)
		}
		const peers = 100
		var last [peers]uint64
		var reports [peers]int
		for turn := uint64(1); turn <= 10*turns; turn++ {
			now := 0
			for place := range uint64(peers) {
				if Due(turn, last[place], place, turns) {
					last[place] = turn
					reports[place]++
					now++
				}
			}
			if now != peers/int(turns) {
				t.Fatalf("%d turns: %d of %d report in turn %d", turns, now, peers, turn)
			}
		}
		for place, n := range reports {
			if n != 10 {
				t.Fatalf("%d turns: peer %d reports %d times in ten rounds", turns, place, n)
			}
		}
	}
	if !Due(7, 2, 0, 5) || Due(6, 2, 0, 5) {
		t.Error("a report that its stream held back is due once it is late, and not before")
	}
}
