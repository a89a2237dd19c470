package alert

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// The list has distinct names, and a time, a condition and a remedy for each.
func TestListIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for id := range IDs {
		r := RuleOf(id)
		if seen[r.Name] || r.Name != id.String() || r.When == "" || r.Remedy == "" || r.Clear <= 0 || r.For < 0 {
			t.Errorf("alert %d is %+v", id, r)
		}
		seen[r.Name] = true
		if text := Text(r.Name, "because"); !strings.Contains(text, r.When) || !strings.Contains(text, r.Remedy) || !strings.Contains(text, "(because)") {
			t.Errorf("people read %q", text)
		}
	}
	if text := Text("of-a-newer-version", "because"); text != "alert of-a-newer-version: because" {
		t.Errorf("an unknown alert reads %q", text)
	}
}

// readings draws a course of one alert: what was read when.
type reading struct {
	at   node.Instant
	what Reading
}

func drawReadings(t *rapid.T, scale time.Duration) []reading {
	at := node.Instant(time.Hour)
	gaps := rapid.SampledFrom([]time.Duration{0, time.Millisecond, scale / 3, scale - 1, scale, scale + 1, 3 * scale})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) reading {
		at = at.Add(gaps.Draw(t, "gap"))
		return reading{at, Reading(rapid.IntRange(int(Unknown), int(Met)).Draw(t, "reading"))}
	}), 1, 60).Draw(t, "readings")
}

// expected returns the state of an alert after each reading, by looking back over all of them: it
// changes once readings that contradict it, without another between, have lasted for its time.
func expected(all []reading, r Rule) (states []bool) {
	on, from := false, 0
	for i := range all {
		against, long := Met, r.For
		if on {
			against, long = Calm, r.Clear
		}
		first := i + 1
		for first > from && all[first-1].what == against {
			first--
		}
		if first <= i && all[i].at.Sub(all[first].at) >= long {
			on, from = !on, i+1
		}
		states = append(states, on)
	}
	return states
}

// An alert about a node is reported once for each change of its condition that lasts, whatever is
// read, and however often the node judges.
func TestEachChangeIsReportedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var own []ID
		for id := range IDs {
			if !RuleOf(id).Group {
				own = append(own, id)
			}
		}
		id := rapid.SampledFrom(own).Draw(t, "alert")
		rule := RuleOf(id)
		scale := max(rule.Clear, rule.For)
		if rapid.Bool().Draw(t, "short") && rule.For > 0 {
			scale = min(rule.Clear, rule.For)
		}
		all := drawReadings(t, scale)
		want := expected(all, rule)
		b, on := &Board{}, false
		for i, r := range all {
			b.See(r.at, id, r.what)
			var changes []Change
			for range rapid.IntRange(1, 3).Draw(t, "times judged") {
				changes = append(changes, b.Judge(Duty(rapid.IntRange(0, 2).Draw(t, "duty")), 1)...)
			}
			var told []Change
			if want[i] != on {
				told = []Change{{id, event.AlertRaised}}
				if on {
					told = []Change{{id, event.AlertCleared}}
				}
			}
			on = want[i]
			if !slices.Equal(changes, told) || b.On().Has(id) != on {
				t.Fatalf("reading %d of %v: %v reports %v, want %v; raised: %v, want %v", i, all[:i+1], id, changes, told, b.On().Has(id), on)
			}
		}
	})
}

// Members of a group read the same conditions, and lead in turn. Notes reach members late, out of
// order and again, and the next leader has the latest. Then the group reports each change once, by
// the leader, and after a calm time what it has reported is what holds.
func TestAGroupReportsEachChangeOnce(t *testing.T) { playGroup(t, true) }

// A leader that lacks the latest note may repeat what its predecessor has reported, and hears of it
// later. Still each member reports a beginning and an end in turn, and in the end what holds.
func TestALeaderWithoutTheLatestNote(t *testing.T) { playGroup(t, false) }

func playGroup(t *testing.T, heard bool) {
	rapid.Check(t, func(t *rapid.T) {
		var ids []ID
		for id := range IDs {
			if RuleOf(id).Group {
				ids = append(ids, id)
			}
		}
		g := &groupOf{t: t, heard: heard, boards: make([]Board, 3), shown: make([]Set, 3), leader: -1, reported: map[ID]bool{}, holds: map[ID]bool{}, now: node.Instant(time.Hour)}
		t.Repeat(map[string]func(*rapid.T){
			"change": func(t *rapid.T) {
				id := rapid.SampledFrom(ids).Draw(t, "alert")
				g.holds[id] = !g.holds[id]
			},
			"pass": func(t *rapid.T) {
				g.pass(time.Duration(rapid.IntRange(1, 120).Draw(t, "tens of seconds")) * 10 * time.Second)
			},
			"takes over": func(t *rapid.T) { g.lead(rapid.IntRange(0, 2).Draw(t, "member")) },
			"none leads": func(*rapid.T) {
				g.duties(Follows)
				g.leader = -1
			},
			"cannot tell":    func(*rapid.T) { g.pauses = true },
			"can tell again": func(*rapid.T) { g.pauses = false },
			"hears": func(t *rapid.T) {
				if len(g.notes) > 0 {
					g.boards[rapid.IntRange(0, 2).Draw(t, "member")].Hear(rapid.SampledFrom(g.notes).Draw(t, "note"))
				}
			},
			"restarts": func(t *rapid.T) {
				if i := rapid.IntRange(0, 2).Draw(t, "member"); i != g.leader {
					g.boards[i], g.shown[i] = Board{}, 0
				}
			},
		})
		g.lead(0)
		g.pauses = false
		g.pass(time.Hour)
		g.pass(time.Hour)
		for _, id := range ids {
			if g.heard && g.reported[id] != g.holds[id] || g.boards[g.leader].On().Has(id) != g.holds[id] {
				t.Fatalf("%v holds: %v, and is reported: %v", id, g.holds[id], g.reported[id])
			}
		}
	})
}

// groupOf is a group whose members share their readings.
type groupOf struct {
	t        *rapid.T
	heard    bool  // a new leader has heard the latest note
	shown    []Set // by each member
	boards   []Board
	leader   int // -1: none
	pauses   bool
	term     uint64
	now      node.Instant
	notes    []Note
	holds    map[ID]bool // which conditions hold
	reported map[ID]bool
}

// lead makes a member the leader of a later term, once it has heard the latest note.
func (g *groupOf) lead(i int) {
	if i == g.leader {
		return
	}
	for _, n := range g.notes {
		if g.heard {
			g.boards[i].Hear(n)
		}
	}
	g.duties(Follows)
	g.leader, g.term, g.pauses = i, g.term+1, false
	g.duties(Leads)
}

// duties lets all members judge; the leader's duty is d.
func (g *groupOf) duties(d Duty) {
	for i := range g.boards {
		duty := Follows
		if i == g.leader {
			duty = d
		}
		b := &g.boards[i]
		before := b.Note()
		for _, c := range b.Judge(duty, g.term) {
			g.told(i, c, duty)
		}
		for id := range IDs {
			if duty == Follows && RuleOf(id).Group && b.On().Has(id) {
				g.t.Fatalf("member %d follows, and shows %v", i, id)
			}
		}
		if b.Note() != before {
			g.notes = append(g.notes, b.Note())
		}
	}
}

func (g *groupOf) told(i int, c Change, d Duty) {
	raised := c.Kind == event.AlertRaised || c.Kind == event.AlertTaken
	if g.shown[i].Has(c.ID) == raised {
		g.t.Fatalf("member %d reports %v %v, and showed it before: %v", i, c.ID, c.Kind, raised)
	}
	g.shown[i] = g.shown[i].with(c.ID, raised)
	if g.boards[i].On().Has(c.ID) != raised {
		g.t.Fatalf("member %d reports %v %v, and shows it: %v", i, c.ID, c.Kind, !raised)
	}
	switch c.Kind {
	case event.AlertRaised, event.AlertCleared:
		if i != g.leader || d != Leads {
			g.t.Fatalf("member %d reports %v %v in its duty %d", i, c.ID, c.Kind, d)
		}
		if g.heard && g.reported[c.ID] == raised {
			g.t.Fatalf("member %d reports %v %v a second time", i, c.ID, c.Kind)
		}
		g.reported[c.ID] = raised
	case event.AlertTaken:
		if g.heard && !g.reported[c.ID] || i != g.leader {
			g.t.Fatalf("member %d takes %v over, which was not raised", i, c.ID)
		}
	case event.AlertPassed:
		if i == g.leader && d == Leads {
			g.t.Fatalf("member %d leads, and passes %v on", i, c.ID)
		}
	}
}

// pass lets time go by, in which each member reads all conditions.
func (g *groupOf) pass(d time.Duration) {
	for range 2 {
		for i := range g.boards {
			for id := range IDs {
				if RuleOf(id).Group {
					g.boards[i].See(g.now, id, Whether(g.holds[id]))
				}
			}
		}
		if g.pauses {
			g.duties(Pauses)
		} else {
			g.duties(Leads)
		}
		g.now = g.now.Add(d)
	}
}

// Notes merge to the latest in any order.
func TestNotesMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		notes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Note {
			n := Note{Term: rapid.Uint64Range(0, 3).Draw(t, "term"), Count: rapid.Uint32Range(0, 3).Draw(t, "count")}
			n.Set = Set(n.Term*5 + uint64(n.Count)*9) // of one term and count there is one set
			return n
		}), 1, 8).Draw(t, "notes")
		a, b := &Board{}, &Board{}
		for _, n := range notes {
			a.Hear(n)
		}
		for _, i := range rapid.Permutation(indices(len(notes))).Draw(t, "order") {
			b.Hear(notes[i])
			b.Hear(notes[i])
		}
		if a.Note() != b.Note() {
			t.Fatalf("%v merge to %v and to %v", notes, a.Note(), b.Note())
		}
	})
}

func indices(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// A rate counts in periods of ten seconds: met above its bound, gone below half of it.
func TestRate(t *testing.T) {
	for _, c := range []struct {
		n    int
		want Reading
	}{{0, Calm}, {49, Calm}, {50, Between}, {100, Between}, {101, Met}, {1000, Met}} {
		r, now := Rate{PerSecond: 10}, node.Instant(time.Hour)
		if got := r.Read(now); got != Calm {
			t.Fatalf("at first it reads %v", got)
		}
		for range c.n {
			r.Add()
		}
		if got := r.Read(now.Add(ratePeriod - 1)); got != Calm {
			t.Errorf("%d in a period that is not over read %v", c.n, got)
		}
		if got := r.Read(now.Add(ratePeriod)); got != c.want || r.Seen() != c.n/10 {
			t.Errorf("%d in 10 s read %v, %d a second, want %v", c.n, got, r.Seen(), c.want)
		}
		if got := r.Read(now.Add(2*ratePeriod - 1)); got != c.want {
			t.Errorf("the reading of a period lasts until the next: %v, want %v", got, c.want)
		}
		if got := r.Read(now.Add(2 * ratePeriod)); got != Calm {
			t.Errorf("after a period without any it reads %v", got)
		}
	}
}

// A level rises at once, and falls by one after ten seconds below it.
func TestLoad(t *testing.T) {
	var l Load
	start := node.Instant(time.Hour)
	for _, c := range []struct {
		at               time.Duration
		warned, critical int
		want             Level
	}{
		{0, 0, 0, Normal}, {1, 1, 0, Degraded}, {2, 1, 1, Limited}, {3, 3, 2, Urgent},
		{10, 0, 0, Urgent}, {12, 2, 2, Urgent}, {21, 0, 0, Urgent}, {22, 0, 0, Limited}, {31, 0, 0, Limited}, {32, 1, 1, Limited},
		{41, 1, 0, Limited}, {42, 1, 0, Degraded}, {51, 0, 0, Degraded}, {52, 0, 0, Normal}, {100, 0, 0, Normal}, {101, 2, 2, Urgent},
	} {
		was := l.Level()
		if changed := l.Judge(start.Add(c.at*time.Second), c.warned, c.critical); l.Level() != c.want || changed != (was != c.want) {
			t.Errorf("after %d s: %v, want %v; it says that it changed: %v", c.at, l.Level(), c.want, changed)
		}
	}
	if names := fmt.Sprint(Normal, Degraded, Limited, Urgent); names != "normal degraded limited emergency" {
		t.Errorf("the levels are %s", names)
	}
}

// network has streams of which so much waits.
type network struct {
	node.Network
	waits map[node.StreamID]int
}

// Backlog implements node.Network.
func (n network) Backlog(s node.StreamID) (bytes, bound int) {
	w, ok := n.waits[s]
	if !ok {
		return 0, 0
	}
	return w, 1000 << 10
}

// Of all streams the fullest counts, and its peer is named. One that is gone counts for nothing.
func TestLines(t *testing.T) {
	all := []Line{{"a", 1}, {"b", 2}, {"gone", 3}, {"away", 0}}
	for _, c := range []struct {
		a, b int
		want Reading
		why  string
	}{
		{0, 0, Calm, "nothing waits to be written"}, {1, 249, Calm, "249 KiB wait to be written to b"}, {250, 1, Between, "250 KiB wait to be written to a"},
		{250, 500, Met, "500 KiB wait to be written to b"}, {499, 0, Between, "499 KiB wait to be written to a"},
	} {
		var l Lines
		got := l.Read(network{waits: map[node.StreamID]int{1: c.a << 10, 2: c.b << 10}}, all)
		if got != c.want || l.Why() != c.why {
			t.Errorf("%d and %d KiB wait: %v, %q; want %v, %q", c.a, c.b, got, l.Why(), c.want, c.why)
		}
	}
}

// Of the states of a mailbox since the last look the worst counts; a lost critical message counts once.
func TestPost(t *testing.T) {
	var p Post
	b, now := &Board{}, node.Instant(time.Hour)
	p.See(node.Mail{High: 95, Load: 4})
	p.See(node.Mail{Lost: 1, High: 10, Load: 1})
	if load := p.Read(b, now); load != 4 {
		t.Errorf("the load is %d, want 4", load)
	}
	if got := b.Judge(Follows, 0); !slices.Equal(got, []Change{{CriticalShed, event.AlertRaised}}) || p.Why(HighLane) != "95 % of the lane are full" {
		t.Errorf("it reports %v, %q", got, p.Why(HighLane))
	}
	p.See(node.Mail{}) // an input that did not wait knows nothing of the mailbox
	p.Read(b, now.Add(RuleOf(CriticalShed).Clear-1))
	p.See(node.Mail{Lost: 1})
	p.Read(b, now.Add(2*RuleOf(CriticalShed).Clear))
	if got := b.Judge(Follows, 0); !slices.Equal(got, []Change{{CriticalShed, event.AlertCleared}}) || p.Why(CriticalShed) != "1 critical messages have found no room since the start" {
		t.Errorf("after a calm time it reports %v, %q", got, p.Why(CriticalShed))
	}
}
