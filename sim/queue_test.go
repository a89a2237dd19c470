package sim

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// pending is an event of the model: a slice, sorted again at each step.
type pending struct {
	at       time.Duration
	sequence uint64
	index    uint32
}

func TestQueueIsASortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newQueue()
		var model []pending
		now := time.Duration(0)
		spans := rapid.SampledFrom([]time.Duration{0, 1, 100, time.Microsecond, 300 * time.Microsecond, 70 * time.Millisecond, 20 * time.Second, 3 * time.Hour, 10000 * time.Hour})
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				at := now + time.Duration(rapid.Int64Range(0, int64(spans.Draw(t, "span"))).Draw(t, "after"))
				i, e := q.add(at, eventTimer)
				model = append(model, pending{at, e.sequence, i})
			},
			"cancel": func(t *rapid.T) {
				if len(model) == 0 {
					return
				}
				k := rapid.IntRange(0, len(model)-1).Draw(t, "which")
				q.cancel(model[k].index)
				model = slices.Delete(model, k, k+1)
			},
			"pop": func(t *rapid.T) {
				slices.SortFunc(model, func(a, b pending) int {
					if a.at != b.at {
						return int(max(-1, min(1, a.at-b.at)))
					}
					return int(a.sequence) - int(b.sequence)
				})
				limit := now + time.Duration(rapid.Int64Range(0, int64(spans.Draw(t, "span"))).Draw(t, "limit"))
				i, e := q.pop(limit)
				if len(model) == 0 || model[0].at > limit {
					if e != nil {
						t.Fatalf("pop up to %v returned the event at %v, want none", limit, e.at)
					}
					now = limit
					return
				}
				if e == nil || e.at != model[0].at || e.sequence != model[0].sequence {
					t.Fatalf("pop up to %v: got %v, want %v", limit, e, model[0])
				}
				now = e.at
				q.release(i)
				model = model[1:]
			},
			"": func(t *rapid.T) {
				if q.size != len(model) {
					t.Fatalf("size %d, want %d", q.size, len(model))
				}
			},
		})
	})
}

func TestTimerTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table timerTable
		model := map[node.TimerKey]uint64{}
		generation := uint64(0)
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				k := node.KeyN(node.PartPing, 1, rapid.Uint64Range(0, 40).Draw(t, "key"))
				generation++
				d := keyDigest(&k)
				p := table.find(&k, d)
				if p == nil {
					p = table.insert(d)
					p.key = k
				}
				p.generation = generation
				model[k] = generation
			},
			"remove": func(t *rapid.T) {
				k := node.KeyN(node.PartPing, 1, rapid.Uint64Range(0, 40).Draw(t, "key"))
				if g, ok := model[k]; ok {
					if p := table.fired(keyDigest(&k), g); p.key != k {
						t.Fatalf("fired %v, want %v", p.key, k)
					}
					table.remove(keyDigest(&k), g)
					delete(model, k)
				}
			},
			"": func(t *rapid.T) {
				for n := range uint64(41) {
					k := node.KeyN(node.PartPing, 1, n)
					p := table.find(&k, keyDigest(&k))
					g, ok := model[k]
					if (p != nil) != ok || ok && p.generation != g {
						t.Fatalf("key %d: got %v, want %v %d", n, p, ok, g)
					}
				}
			},
		})
	})
}

func TestClockGoesBackAndForthWithoutLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := clock{local: node.Instant(rapid.Int64Range(0, 1<<50).Draw(t, "offset")), ppm: rapid.Int64Range(-driftBound, driftBound).Draw(t, "ppm")}
		now := time.Duration(0)
		last := c.at(now)
		for range 20 {
			now += time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "passed"))
			if got := c.at(now); got < last {
				t.Fatalf("the clock jumped from %d back to %d", last, got)
			}
			last = c.at(now)
			due := last.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "timer")))
			when := c.when(due, now)
			if c.at(when) < due || when > now && c.at(when-1) >= due {
				t.Fatalf("a timer for %d is due at %d, when the clock shows %d, and a moment before %d", due, when, c.at(when), c.at(when-1))
			}
			if rapid.Bool().Draw(t, "bend") {
				c.bend(now, rapid.Int64Range(-driftBound, driftBound).Draw(t, "new ppm"))
				if got := c.at(now); got != last {
					t.Fatalf("bending moved the clock from %d to %d", last, got)
				}
			}
		}
	})
}

func BenchmarkQueue(b *testing.B) {
	b.ReportAllocs()
	q := newQueue()
	r := node.NewRand(1, "queue", node.PurposeToy)
	for range 2500 {
		q.add(r.Duration(0, time.Second), eventTimer)
	}
	for b.Loop() {
		i, e := q.pop(horizonMax)
		at := e.at
		q.release(i)
		q.add(at+r.Duration(0, time.Second), eventTimer)
	}
}
