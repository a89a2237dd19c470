package places

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// rated places are datacenters of one manager each, driven by heartbeats.
type ratedPlaces struct {
	*Places
	now   node.Instant
	draws int
}

func newRated(names ...string) *ratedPlaces {
	p := &ratedPlaces{Places: New(Bounds{Datacenters: 64, Managers: 64, Silence: time.Hour}), now: node.Instant(time.Hour)}
	for i, name := range names {
		d, _ := p.Know(name, p.now)
		p.Register(d, node.Peer{ID: node.ID("m-" + name)}, p.now).Stream = node.StreamID(i + 1)
	}
	return p
}

// beat sets the free ones of 100 cores of a datacenter, and its way; free below 0 is UNHEALTHY.
func (p *ratedPlaces) beat(name string, free int, trip time.Duration) {
	m := p.Manager(node.ID("m-" + name))
	h := &message.ManagerHeartbeat{Datacenter: name, CoresTotal: 100, CoresFree: uint32(max(0, free)), WorkerSum: 10, RoundTrip: trip}
	if free < 0 {
		h.WorkerSum = 0
	}
	m.Take(m.Stream, h, p.now)
}

// degrade makes half of the workers absent: DEGRADED, by the most that were there.
func (p *ratedPlaces) degrade(name string) {
	m := p.Manager(node.ID("m-" + name))
	m.Take(m.Stream, &message.ManagerHeartbeat{Datacenter: name, CoresTotal: 50, CoresFree: 50, WorkerSum: 5}, p.now)
}

func (p *ratedPlaces) prefer(t interface{ Helper() }, lost bool) string {
	t.Helper()
	p.Prefer(p.now, lost, func(n int) int {
		p.draws++
		return n - 1
	})
	if p.Favourite() == nil {
		return ""
	}
	return p.Favourite().Name
}

// TestJobsMoveNear: of datacenters of one health the best is near, with free cores.
func TestJobsMoveNear(t *testing.T) {
	p := newRated("far", "full", "ill", "near")
	p.beat("far", 90, 200*time.Millisecond)
	p.beat("full", 0, 0)
	p.beat("ill", -1, 0)
	p.beat("near", 80, 5*time.Millisecond)
	for _, c := range []struct{ leave, want string }{{"", "near"}, {"near", "far"}} {
		if best, _ := p.Best(p.now, func(name string) bool { return name == c.leave }); best == nil || best.Name != c.want {
			t.Errorf("beside %q the best is %v, want %s", c.leave, best, c.want)
		}
	}
}

// TestFavourite plays scripts: in each line a span passes in looks of a second.
func TestFavourite(t *testing.T) {
	type line struct {
		do   func(*ratedPlaces)
		pass time.Duration
		want string
	}
	set := func(name string, free int, trip time.Duration) func(*ratedPlaces) {
		return func(p *ratedPlaces) { p.beat(name, free, trip) }
	}
	ill := func(name string) func(*ratedPlaces) { return func(p *ratedPlaces) { p.degrade(name) } }
	lose := func(name string) func(*ratedPlaces) {
		return func(p *ratedPlaces) {
			p.Manager(node.ID("m-" + name)).Lose(p.now)
			p.prefer(t, true)
		}
	}
	count := func(name string, lost bool, n int) func(*ratedPlaces) {
		return func(p *ratedPlaces) {
			for range n {
				p.Datacenter(name).Count(p.now, lost)
			}
		}
	}
	both := func(a, b func(*ratedPlaces)) func(*ratedPlaces) { return func(p *ratedPlaces) { a(p); b(p) } }
	begin := line{both(set("a", 100, time.Millisecond), set("b", 20, time.Millisecond)), time.Second, "a"}
	const s = time.Second
	for _, c := range []struct {
		name  string
		lines []line
	}{
		{"none while all are UNHEALTHY", []line{{both(set("a", -1, 0), set("b", -1, 0)), s, ""}, {set("b", 1, 0), s, "b"}}},
		{"the draw of two that are near", []line{{both(set("a", 100, 0), set("b", 90, 0)), s, "b"}}},
		{"the emptier one, after the hold-down", []line{begin, {both(set("a", 0, 0), set("b", 100, 0)), 29 * s, "a"}, {nil, 2 * s, "b"}}},
		{"the nearer one", []line{begin, {set("a", 100, 200*time.Millisecond), 29 * s, "a"}, {nil, 2 * s, "b"}}},
		{"a gain that does not last", []line{
			begin, {both(set("a", 0, 0), set("b", 100, 0)), 29 * s, "a"}, {set("a", 100, 0), s, "a"}, {set("a", 0, 0), 29 * s, "a"}, {set("a", 100, 0), 99 * s, "a"},
		}},
		{"a gain of a fifth is not reached", []line{begin, {both(set("a", 76, 0), set("b", 100, 0)), 300 * s, "a"}}},
		{"a gain of a fifth", []line{begin, {both(set("a", 75, 0), set("b", 100, 0)), 300 * s, "b"}}},
		{"two gains within a minute are one change", []line{
			begin, {both(set("a", 0, 0), set("b", 100, 0)), 33 * s, "b"}, {both(set("a", 100, 0), set("b", 0, 0)), 40 * s, "b"}, {nil, 21 * s, "a"},
		}},
		{"an ill one is left at once", []line{begin, {ill("a"), s, "b"}}},
		{"an UNHEALTHY one is left at once", []line{begin, {set("a", -1, 0), s, "b"}}},
		{"a lost one is left at once", []line{begin, {lose("a"), 0, "b"}}},
		{"one that recovers waits", []line{
			begin, {ill("a"), s, "b"}, {both(set("a", 100, 0), ill("b")), 29 * s, "b"}, {nil, 2 * s, "a"},
		}},
		{"a recovered one is better than none", []line{begin, {ill("a"), s, "b"}, {both(set("a", 100, 0), set("b", -1, 0)), s, "a"}}},
		{"one that loses subjobs", []line{begin, {both(set("b", 100, time.Millisecond), count("a", true, 2)), 29 * s, "a"}, {nil, 2 * s, "b"}}},
		{"a loss among many ends", []line{
			{both(both(set("a", 100, time.Millisecond), set("b", 20, time.Millisecond)), both(count("a", false, 30), count("a", true, 2))), s, "a"},
			{set("b", 100, time.Millisecond), 99 * s, "a"},
		}},
		{"losses are forgotten", []line{
			begin, {both(set("b", 100, time.Millisecond), count("a", true, 2)), 89 * s, "b"}, {set("b", 76, time.Millisecond), 10 * time.Minute, "b"},
			{set("b", 60, time.Millisecond), 89 * s, "a"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newRated("a", "b")
			for i, l := range c.lines {
				if l.do != nil {
					l.do(p)
				}
				got := ""
				for end := p.now.Add(l.pass); ; p.now = p.now.Add(time.Second) {
					if got = p.prefer(t, false); p.now >= end {
						break
					}
				}
				if got != l.want {
					t.Fatalf("line %d: the gate favours %q, want %q", i, got, l.want)
				}
			}
		})
	}
}

// TestFavouriteLooksOnceASecond: heartbeats of many managers cost one look a second.
func TestFavouriteLooksOnceASecond(t *testing.T) {
	p := newRated("a", "b")
	p.beat("a", 100, 0)
	p.prefer(t, false)
	p.beat("a", -1, 0)
	p.beat("b", 100, 0)
	p.now = p.now.Add(time.Second - 1)
	if got := p.prefer(t, false); got != "a" {
		t.Errorf("the gate favours %q within a second, want a", got)
	}
	p.now++
	if got := p.prefer(t, false); got != "b" {
		t.Errorf("the gate favours %q after a second, want b", got)
	}
}

// TestFavouriteProperty: noise of 15 % changes nothing; whatever comes, a change for a lower cost
// leaves a favourite that is well only a minute after the last one, the gate never favours what is
// UNHEALTHY, and never an ill one for long beside one that is well.
func TestFavouriteProperty(t *testing.T) {
	t.Run("noise", rapid.MakeCheck(func(t *rapid.T) {
		p := newRated("a", "b", "c")
		first := ""
		for range rapid.IntRange(50, 200).Draw(t, "seconds") {
			for _, name := range []string{"a", "b", "c"} {
				// The factor of the cost is from 1.00 to 1.15.
				p.beat(name, rapid.IntRange(85, 100).Draw(t, "free"), time.Millisecond)
			}
			got := p.prefer(t, false)
			if first == "" {
				first = got
			}
			if got != first {
				t.Fatalf("noise changed the favourite from %s to %s", first, got)
			}
			p.now = p.now.Add(time.Second)
		}
	}))
	t.Run("anything", rapid.MakeCheck(func(t *rapid.T) {
		p := newRated("a", "b", "c")
		names := []string{"a", "b", "c"}
		var last node.Instant
		was, alone := "", 0
		for range 300 {
			for _, name := range names {
				switch rapid.IntRange(0, 9).Draw(t, "what") {
				case 0:
					p.beat(name, -1, 0)
				case 1:
					p.degrade(name)
				case 2, 3:
					p.beat(name, rapid.IntRange(0, 100).Draw(t, "free"), time.Duration(rapid.IntRange(0, 300).Draw(t, "ms"))*time.Millisecond)
				}
			}
			sick := was == "" || p.Datacenter(was).Health() >= message.HealthDegraded
			got := p.prefer(t, false)
			if got != "" && p.Datacenter(got).Health() == message.HealthUnhealthy {
				t.Fatalf("the gate favours %s, which is UNHEALTHY", got)
			}
			if got != was && !sick && p.now.Sub(last) < coolDown {
				t.Fatalf("%s replaced %s %v after the last change", got, was, p.now.Sub(last))
			}
			if got != was {
				last = p.now
			}
			well := false
			for _, name := range names {
				well = well || p.Datacenter(name).Settled(p.now)
			}
			if alone = alone + 1; got == "" || !well || p.Datacenter(got).Health() < message.HealthDegraded {
				alone = 0
			}
			if alone > 0 {
				t.Fatalf("the gate favours %s, which is ill, beside one that is well", got)
			}
			was = got
			p.now = p.now.Add(time.Second)
		}
	}))
}
