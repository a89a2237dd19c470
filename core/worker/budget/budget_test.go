package budget

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

const mega = 1_000_000

func look(g *Gauge, now node.Instant, percent uint64) Level {
	return g.Look(now, &message.ExecUsage{Memory: percent * mega, MemoryMax: 100 * mega})
}

// dumb is a gauge that remembers everything and counts in thousandths.
type dumb struct {
	looks   []uint64
	levels  []Level
	at      []node.Instant
	passes  []time.Duration // awake, of those behind the last look that was the first over
	counted uint32
}

func (d *dumb) look(now node.Instant, percent uint64) {
	before := Within
	if n := len(d.levels); n > 0 {
		before = d.levels[n-1]
	}
	level := Within
	for _, b := range []struct {
		level       Level
		begin, stay uint64
	}{{Pressed, 70, 65}, {Throttled, 85, 80}, {Over, 100, 100}} {
		if percent >= b.begin || before >= b.level && percent >= b.stay {
			level = b.level
		}
	}
	if level < Over || before < Over {
		d.passes = nil
	}
	if level >= Throttled && before < Throttled {
		d.counted++
	}
	d.looks, d.levels, d.at = append(d.looks, percent), append(d.levels, level), append(d.at, now)
}

// over is the awake time of all but the first pass since it came over.
func (d *dumb) over() (sum time.Duration) {
	for i, p := range d.passes {
		if i > 0 {
			sum += p
		}
	}
	return sum
}

func (d *dumb) throttled(now node.Instant) (sum time.Duration) {
	for i, l := range d.levels {
		until := now
		if i+1 < len(d.at) {
			until = d.at[i+1]
		}
		if l >= Throttled {
			sum += until.Sub(d.at[i])
		}
	}
	return sum
}

// TestGaugeAgainstAModel: levels, the time over the budget, throttles and their time are those of a
// model that keeps each look, whatever the executor does and for how long its worker sleeps.
func TestGaugeAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, d, now := New(0), &dumb{}, node.Instant(1)
		most := uint64(0)
		t.Repeat(map[string]func(*rapid.T){
			"look": func(t *rapid.T) {
				p := rapid.OneOf(rapid.Uint64Range(60, 112), rapid.SampledFrom([]uint64{64, 65, 69, 70, 79, 80, 84, 85, 99, 100, 109, 110})).Draw(t, "percent")
				most = max(most, p)
				look(&g, now, p)
				d.look(now, p)
			},
			"pass": func(t *rapid.T) {
				gone := time.Duration(rapid.IntRange(1, 4).Draw(t, "halves")) * 500 * time.Millisecond
				now = now.Add(gone)
				if rapid.Bool().Draw(t, "asleep") {
					gone = 0
				}
				g.Pass(gone)
				d.passes = append(d.passes, gone)
			},
			"": func(t *rapid.T) {
				n := len(d.levels)
				if n == 0 {
					return
				}
				if g.Level() != d.levels[n-1] {
					t.Fatalf("after %v %% it is %v, want %v", d.looks, g.Level(), d.levels[n-1])
				}
				last := d.looks[n-1]
				want := last >= 110 || last >= 100 && d.over() >= 5*time.Second
				if got := g.Spent() != nil; got != want {
					t.Fatalf("at %d %%, over for %v: spent %v", last, d.over(), got)
				}
				u := g.Usage(now)
				if u.Throttles != d.counted || u.Throttled != d.throttled(now) || u.Memory != most*mega || u.Pressed != (most >= 70) {
					t.Fatalf("usage %+v, want %d throttles for %v, at most %d %%", u, d.counted, d.throttled(now), most)
				}
			},
		})
	})
}

// TestASwingBelowTheHysteresisChangesOnce: BUDGET-1, at each level.
func TestASwingBelowTheHysteresisChangesOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		middle := rapid.Uint64Range(60, 95).Draw(t, "middle")
		g := New(0)
		changes, before := 0, look(&g, 1, middle)
		for _, swing := range rapid.SliceOfN(rapid.Uint64Range(0, 4), 1, 50).Draw(t, "swings") {
			if now := look(&g, 1, middle+swing); now != before {
				changes, before = changes+1, now
			}
		}
		if changes > 1 {
			t.Errorf("from %d %% to %d %%: %d changes", middle, middle+4, changes)
		}
	})
}

func TestTheLesserBudgetCounts(t *testing.T) {
	for _, c := range []struct {
		what                   string
		declared, most, counts uint64
		remedy                 string
	}{
		{"the workflow declares less than its worker lets it have", 50 * mega, 100 * mega, 50 * mega, `raise its memory = "..."`},
		{"it declares more", 200 * mega, 100 * mega, 100 * mega, "exec.memory_max"},
		{"it declares nothing", 0, 100 * mega, 100 * mega, "exec.memory_max"},
		{"its worker does not say", 50 * mega, 0, 50 * mega, `raise its memory = "..."`},
	} {
		g := New(c.declared)
		g.Look(1, &message.ExecUsage{Memory: 2 * c.counts, MemoryMax: c.most})
		var over *OverError
		if err := g.Spent(); g.Budget() != c.counts || !errors.As(err, &over) || !strings.Contains(err.Error(), c.remedy) || !strings.Contains(err.Error(), "200 %") {
			t.Errorf("%s: budget %d, %v; want %d and %q", c.what, g.Budget(), g.Spent(), c.counts, c.remedy)
		}
	}
	if g := New(0); g.Look(1, &message.ExecUsage{Memory: 1 << 40}) != Within || g.Spent() != nil {
		t.Error("without any budget, it is judged")
	}
}

// TestAShortMachineAsksForItsLargestExecutor: BUDGET-4, on each side of the bound.
func TestAShortMachineAsksForItsLargestExecutor(t *testing.T) {
	for _, c := range []struct {
		memory, left, machine uint64
		short, relieves       bool
	}{
		{600, 500, 10_000, false, false},
		{600, 499, 10_000, true, true},
		{500, 499, 10_000, true, true},
		{499, 499, 10_000, true, false},
		{500, 0, 0, false, false},
	} {
		u := &message.ExecUsage{Memory: c.memory, Left: c.left, Machine: c.machine}
		if Short(u) != c.short || Relieves(u) != c.relieves {
			t.Errorf("%+v: short %v, relieves %v", *u, Short(u), Relieves(u))
		}
	}
}

func TestSizesForPeople(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		want string
	}{
		{0, "0 B"}, {1023, "1023 B"}, {1 << 10, "1 KiB"}, {1536, "1.5 KiB"}, {100<<20 + 600<<10, "100 MiB"},
		{2 << 30, "2 GiB"}, {2<<30 + 1<<29, "2.5 GiB"}, {1<<64 - 1, "17179869183 GiB"},
	} {
		if got := size(c.n); got != c.want {
			t.Errorf("%d is %q, want %q", c.n, got, c.want)
		}
	}
}
