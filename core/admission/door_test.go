package admission

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

const ms = time.Millisecond

// loaded returns a door where requests of a class wait, each 10 ms, from sources of their own.
func loaded(class node.Priority, n int) *Door {
	d := NewDoor(Default())
	for c := node.Critical; c < node.Priorities; c++ {
		d.End(c, 10*ms)
	}
	for i := range n {
		d.waiting[class]++ // more than a door admits
		d.sources.hold(d.sources.of(0, fmt.Sprint("other", i)))
	}
	return d
}

// What each class may wait at each level, at the exact bounds. Requests that wait are 10 ms each.
func TestWaitsByClassAndLevel(t *testing.T) {
	most := Default().Waits
	for _, c := range []struct {
		class node.Priority
		level Level
		waits time.Duration
	}{
		{node.High, Calm, most[Calm]}, {node.High, Busy, most[Calm]}, {node.High, Stressed, most[Busy]}, {node.High, Emergency, most[Overloaded]},
		{node.Normal, Calm, most[Calm]}, {node.Normal, Busy, most[Busy]}, {node.Normal, Emergency, most[Emergency]},
		{node.Low, Calm, most[Stressed]}, {node.Low, Busy, most[Overloaded]}, {node.Low, Stressed, most[Emergency]}, {node.Low, Emergency, most[Emergency]},
	} {
		full := int(c.waits / (10 * ms))
		for i, want := range []Reason{Admitted, TooLong} {
			n := full + i
			d := loaded(node.High, n)
			if got := d.Admit(0, c.level, &Request{Class: c.class, Source: "mouse", Left: time.Hour}).Reason; got != want {
				t.Errorf("%v at %v behind %d ms: %v, want %v", c.class, c.level, 10*n, got, want)
			}
		}
	}
}

// A request is too late if what waits and its own handling do not fit into its deadline.
func TestDeadlines(t *testing.T) {
	for _, c := range []struct {
		about string
		left  time.Duration
		want  Reason
	}{
		{"is a nanosecond late", 110*ms - 1, TooLate},
		{"fits to the nanosecond, but waits for more than three quarters", 110 * ms, TooLong},
		{"waits for more than three quarters", 133 * ms, TooLong},
		{"waits for three quarters", 134 * ms, Admitted},
	} {
		d := loaded(node.Normal, 10)
		v := d.Admit(0, Calm, &Request{Class: node.Normal, Source: "mouse", Left: c.left})
		if v.Reason != c.want {
			t.Errorf("%s: %v, want %v", c.about, v.Reason, c.want)
		}
	}
	d := loaded(node.Normal, 0)
	v := d.Admit(0, Calm, &Request{Class: node.Normal, Left: 100 * ms})
	if d.Begin(v.Place, 10*ms-1) {
		t.Error("a request begins that cannot end in time")
	}
	v = d.Admit(0, Calm, &Request{Class: node.Normal, Left: 100 * ms})
	if !d.Begin(v.Place, 10*ms) {
		t.Error("a request that can end in time does not begin")
	}
	v = d.Admit(0, Calm, &Request{Class: node.Critical})
	if !d.Begin(v.Place, 0) {
		t.Error("a critical request does not begin")
	}
}

// RetryAfter is what waits times the mean, from 1 to 30 s.
func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		waiting int
		want    time.Duration
	}{{60, time.Second}, {100, time.Second}, {101, 1010 * ms}, {250, 2500 * ms}, {3000, 30 * time.Second}, {3001, 30 * time.Second}} {
		v := loaded(node.High, c.waiting).Admit(0, Calm, &Request{Class: node.Normal, Left: time.Hour})
		if v.Reason == Admitted || v.RetryAfter != c.want {
			t.Errorf("behind %d of 10 ms: %v, retry after %v, want %v", c.waiting, v.Reason, v.RetryAfter, c.want)
		}
	}
	d := NewDoor(Default())
	r := Request{Class: node.Normal, Operation: Submit, Source: "greedy", Left: time.Minute}
	var v Verdict
	for v.Reason == Admitted {
		if v = d.Admit(node.Instant(6*time.Second), Stressed, &r); v.Reason == Admitted {
			d.Begin(v.Place, r.Left)
		}
	}
	if v.Reason != RateLimit || v.RetryAfter != 4020*ms {
		t.Fatalf("beyond its limit: %v, retry after %v, want the next span and 1/500 of it", v.Reason, v.RetryAfter)
	}
	if v = d.Admit(node.Instant(6*time.Second), Busy, &r); v.Reason != Admitted {
		t.Errorf("a node that is not stressed limits a source: %v", v.Reason)
	}
	d.Begin(v.Place, r.Left)
	if v = d.Admit(node.Instant(10*time.Second+4*time.Second/100), Stressed, &r); v.Reason != Admitted {
		t.Errorf("a source that waited as long as it should is refused: %v", v.Reason)
	}
}

// Critical requests are always admitted, and take the places of no others.
func TestCriticalTakesNoPlaces(t *testing.T) {
	c := Default()
	d := NewDoor(c)
	for range 2 * c.Places {
		if v := d.Admit(0, Emergency, &Request{Class: node.Critical}); v.Reason != Admitted {
			t.Fatalf("a critical request is refused: %v", v.Reason)
		}
	}
	if v := d.Admit(0, Calm, &Request{Class: node.High, Left: time.Second}); v.Reason != Admitted {
		t.Errorf("a high request behind critical ones is refused: %v", v.Reason)
	}
	if d.Share() != ShareOf(1, c.Places) {
		t.Errorf("%d millionths of the places are taken, by one request", d.Share())
	}
}

// Sources that hold no place take no share of those that do.
func TestShareCountsWhoHoldsPlaces(t *testing.T) {
	d := NewDoor(Default())
	for i := range 1000 { // idle ones
		v := d.Admit(0, Calm, &Request{Class: node.Normal, Source: fmt.Sprint(i), Left: time.Second})
		d.Begin(v.Place, time.Second)
	}
	for n, want := range []int{2048, 1365, 683} { // of 4096: a half, a third, and what the first two left
		held := 0
		for d.Admit(node.Instant(n), Calm, &Request{Class: node.Normal, Source: fmt.Sprint("greedy", n), Left: time.Second}).Reason == Admitted {
			held++
		}
		if held != want {
			t.Errorf("source %d holds %d places, want %d", n, held, want)
		}
	}
}

// The table is bounded, forgets idle sources, keeps those that hold places, and gives all others
// one record.
func TestSourcesAreBounded(t *testing.T) {
	c := Default()
	c.Sources = 100
	c.Limits[Query] = 3
	d := NewDoor(c)
	ask := func(at time.Duration, source string) Verdict {
		return d.Admit(node.Instant(at), Stressed, &Request{Class: node.Normal, Operation: Query, Source: source, Left: time.Second})
	}
	held := ask(0, "holder")
	for i := range 10 * c.Sources {
		if v := ask(time.Second, fmt.Sprint(i)); v.Reason == Admitted {
			d.Begin(v.Place, time.Second)
		}
		if d.Sources() > c.Sources {
			t.Fatalf("%d sources in a table of %d", d.Sources(), c.Sources)
		}
	}
	if v := ask(time.Second, "one more"); v.Reason != RateLimit {
		t.Errorf("the shared record is %v after %d requests, want rate limit", v.Reason, 9*c.Sources)
	}
	for i := range 3 * c.Sources {
		v := ask(time.Second+c.Idle, fmt.Sprint("late", i%50))
		if v.Reason == Admitted {
			d.Begin(v.Place, time.Second)
		}
	}
	if got := d.Sources(); got > 51 {
		t.Errorf("%d sources after all but 51 were idle", got)
	}
	if d.sources.active != 1 {
		t.Errorf("%d sources hold places, want the first", d.sources.active)
	}
	d.Begin(held.Place, time.Second)
}

// The lanes and all places are bounds, whatever a request costs.
func TestLanesAreBounded(t *testing.T) {
	c := Default()
	c.Places, c.Lanes = 40, [node.Priorities]int{node.High: 40, node.Normal: 20, node.Low: 10}
	d := NewDoor(c)
	for i, row := range []struct {
		class node.Priority
		most  int
	}{{node.Low, 10}, {node.Normal, 20}, {node.High, 10}} { // high ones find ten of forty places left
		n, v := -1, Verdict{}
		for ; v.Reason == Admitted; n++ {
			v = d.Admit(0, Calm, &Request{Class: row.class, Source: fmt.Sprint(i, n), Left: time.Hour})
		}
		if n != row.most || v.Reason != LaneFull {
			t.Errorf("%v: %d are admitted, then %v: want %d, then lane full", row.class, n, v.Reason, row.most)
		}
	}
}

// Random requests keep every bound, and the door's sums are those of a list.
func TestDoorKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Default()
		c.Places, c.Lanes = 40, [node.Priorities]int{0, 30, 20, 10}
		c.Sources, c.Limits = 5, [Operations]int{4, 4, 4}
		d := NewDoor(c)
		for class := node.Critical; class < node.Priorities; class++ {
			d.End(class, time.Duration(rapid.SampledFrom([]time.Duration{0, ms, 20 * ms}).Draw(t, "mean")))
		}
		type held struct {
			v Verdict
			r Request
		}
		var waiting []held
		now := node.Instant(0)
		t.Repeat(map[string]func(*rapid.T){
			"admit": func(t *rapid.T) {
				level := Level(rapid.IntRange(0, int(Emergency)).Draw(t, "level"))
				class := rapid.IntRange(0, 3).Draw(t, "class")
				for range rapid.IntRange(1, 30).Draw(t, "requests") {
					r := Request{
						Class: node.Priority(class), Operation: Operation(rapid.IntRange(0, 2).Draw(t, "operation")),
						Source: rapid.SampledFrom([]string{"a", "a", "a", "b", "c", "d", "e", "f", "g"}).Draw(t, "source"),
						Left:   time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "left")),
					}
					v := d.Admit(now, level, &r)
					switch {
					case v.Reason == Admitted:
						waiting = append(waiting, held{v, r})
					case r.Class == node.Critical:
						t.Fatalf("a critical request is refused: %v", v.Reason)
					case v.RetryAfter < retryMin || v.RetryAfter > retryMax:
						t.Fatalf("%v: retry after %v", v.Reason, v.RetryAfter)
					case v.Reason == ShareUsed && d.sources.all[v.Place.source].places == 0:
						t.Fatal("a source without places has used its share")
					}
				}
			},
			"begin": func(t *rapid.T) {
				if len(waiting) == 0 {
					t.Skip("none waits")
				}
				i := rapid.IntRange(0, len(waiting)-1).Draw(t, "which")
				d.Begin(waiting[i].v.Place, waiting[i].r.Left)
				waiting = append(waiting[:i], waiting[i+1:]...)
			},
			"end": func(t *rapid.T) {
				d.End(node.Priority(rapid.IntRange(0, 3).Draw(t, "class")), time.Duration(rapid.Int64Range(0, int64(20*ms)).Draw(t, "took")))
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(10*time.Minute)).Draw(t, "pause")))
			},
			"": func(t *rapid.T) {
				var count [node.Priorities]int
				sources := map[int32]int{}
				for _, h := range waiting {
					count[h.r.Class]++
					if h.r.Class != node.Critical {
						sources[h.v.Place.source]++
					}
				}
				if count != d.waiting || len(sources) != d.sources.active || d.Sources() > c.Sources {
					t.Fatalf("waiting %v, %d active of %d, the list has %v, %d", d.waiting, d.sources.active, d.Sources(), count, len(sources))
				}
			},
		})
	})
}

// A request of a known source costs no allocation.
func TestHotPathAllocatesNothing(t *testing.T) {
	d, l := NewDoor(Default()), &Detector{}
	r := &Request{Class: node.Normal, Operation: Query, Source: "known", Left: time.Second}
	now := node.Instant(0)
	one := func() {
		now = now.Add(20 * ms)
		if v := d.Admit(now, l.Level(), r); v.Reason == Admitted {
			d.Begin(v.Place, r.Left)
			d.End(r.Class, ms)
		}
		l.Observe(ms)
		l.Tick(d.Share())
	}
	one()
	if n := testing.AllocsPerRun(100, one); n > 0 {
		t.Errorf("%v allocations a request", n)
	}
}

func BenchmarkDoor(b *testing.B) {
	d, l := NewDoor(Default()), &Detector{}
	r := &Request{Class: node.Normal, Operation: Query, Source: "192.0.2.1", Left: time.Second}
	now := node.Instant(0)
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(20 * ms)
		v := d.Admit(now, l.Level(), r)
		if v.Reason == Admitted {
			d.Begin(v.Place, r.Left)
			d.End(r.Class, ms)
		}
		l.Observe(ms)
	}
}
