package queue_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/gate/places"
	"hyperscale/core/gate/queue"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// sites makes datacenters of 8 cores with so many free ones each; -1: UNHEALTHY.
func sites(free map[string]int) *places.Places {
	p := places.New(places.Bounds{Datacenters: 9, Managers: 9})
	for i, name := range slices.Sorted(maps.Keys(free)) {
		d, _ := p.Know(name, 1)
		p.Register(d, node.Peer{ID: node.ID("m-" + name)}, 1).Stream = node.StreamID(i + 1)
	}
	tell(p, free)
	return p
}

// tell sets the free cores as heartbeats do; -1: no worker is left.
func tell(p *places.Places, free map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(free)) {
		h := &message.ManagerHeartbeat{Datacenter: name, Sequence: 1, CoresTotal: 8, CoresFree: uint32(max(0, free[name])), WorkerSum: 2}
		if free[name] < 0 {
			h.WorkerSum = 0
		}
		m := p.Manager(node.ID("m-" + name))
		m.Take(m.Stream, h, 1)
	}
}

// goes returns where a job of 4 cores goes that has waited for so long; empty: it waits.
func goes(p *places.Places, t *queue.Turn, waited time.Duration) string {
	q := queue.New(queue.Bounds{Timeout: time.Hour, AgeMax: time.Hour, Step: time.Hour})
	t.Since = 1
	q.Enter(t, &message.Plan{Workflows: []message.WorkflowPlan{{Test: true, VUs: 20, Cores: 4}}}, t.Since)
	var names []string
	for _, r := range q.Ready(p, t.Since.Add(waited)) {
		for _, d := range r.To {
			names = append(names, d.Name)
		}
	}
	return strings.Join(names, ",")
}

func TestWishes(t *testing.T) {
	const spill = time.Minute
	for _, c := range []struct {
		name   string
		free   map[string]int
		turn   queue.Turn
		waited time.Duration
		want   string
	}{
		{"the freest", map[string]int{"a": 5, "b": 8}, queue.Turn{}, 0, "b"},
		{"the preferred one", map[string]int{"a": 5, "b": 8}, queue.Turn{Wish: queue.Wish{Preferred: []string{"a"}}}, 0, "a"},
		{"the preferred one is full", map[string]int{"a": 3, "b": 8}, queue.Turn{Wish: queue.Wish{Preferred: []string{"a"}}}, 0, ""},
		{"a tick before the spill", map[string]int{"a": 3, "b": 8}, queue.Turn{Wish: queue.Wish{Preferred: []string{"a"}}}, spill - 1, ""},
		{"the spill", map[string]int{"a": 3, "b": 8}, queue.Turn{Wish: queue.Wish{Preferred: []string{"a"}}}, spill, "b"},
		{"a tick after it", map[string]int{"a": 3, "b": 8}, queue.Turn{Wish: queue.Wish{Preferred: []string{"a"}}}, spill + 1, "b"},
		{"after it the preferred one has room", map[string]int{"a": 4, "b": 8}, queue.Turn{Wish: queue.Wish{Preferred: []string{"a"}}}, 2 * spill, "a"},
		{"after it no other has room", map[string]int{"a": 3, "b": 3}, queue.Turn{Wish: queue.Wish{Preferred: []string{"a"}}}, 2 * spill, ""},
		{"a bound job never spills", map[string]int{"a": 3, "b": 8}, queue.Turn{Named: []string{"a"}}, 30 * spill, ""},
		{"the preferred one is UNHEALTHY", map[string]int{"a": -1, "b": 8}, queue.Turn{Wish: queue.Wish{Preferred: []string{"a"}}}, 0, "b"},
		{"three of four", map[string]int{"a": 5, "b": 8, "c": 4, "d": 7}, queue.Turn{Wish: queue.Wish{Count: 3}}, 0, "a,b,d"},
		{"three, of which one is full", map[string]int{"a": 5, "b": 8, "c": 3}, queue.Turn{Wish: queue.Wish{Count: 3}}, 0, ""},
		{"three of two that live", map[string]int{"a": 5, "b": 8, "c": -1}, queue.Turn{Wish: queue.Wish{Count: 3}}, 0, ""},
		{"two with one that is preferred", map[string]int{"a": 5, "b": 8, "c": 4}, queue.Turn{Wish: queue.Wish{Count: 2, Preferred: []string{"c"}}}, 0, "b,c"},
		{"two with one that is preferred and full", map[string]int{"a": 5, "b": 8, "c": 1}, queue.Turn{Wish: queue.Wish{Count: 2, Preferred: []string{"c"}}}, 0, ""},
		{"two that spill", map[string]int{"a": 5, "b": 8, "c": 1}, queue.Turn{Wish: queue.Wish{Count: 2, Preferred: []string{"c"}}}, spill, "a,b"},
	} {
		if got := goes(sites(c.free), &c.turn, c.waited); got != c.want {
			t.Errorf("%s: it goes to %q, want %q", c.name, got, c.want)
		}
	}
}

// QUEUE-7: a job waits for the datacenter that scaling can raise to its cores, though a job before keeps that one. It keeps none
// from the jobs behind it, which go where there is room.
func TestAKeptDatacenterIsWaitedFor(t *testing.T) {
	p := sites(map[string]int{"big": 8, "small": 8})
	m := p.Manager("m-big")
	m.Take(m.Stream, &message.ManagerHeartbeat{Datacenter: "big", Sequence: 2, CoresTotal: 8, CoresFree: 8, CoresMax: 40, WorkerSum: 2}, 1)
	q := queue.New(queue.Bounds{Timeout: time.Hour, AgeMax: time.Hour, Step: time.Hour})
	var turns []*queue.Turn
	for i, cores := range []uint32{12, 20, 4} {
		turn := &queue.Turn{Job: message.JobID{byte(i)}, Number: uint64(i + 1)}
		if turns = append(turns, turn); i == 0 {
			turn.Named = []string{"big"}
		}
		q.Enter(turn, &message.Plan{Workflows: []message.WorkflowPlan{{Test: true, VUs: 64, Cores: cores}}}, 0)
	}
	waitsForBig(t, p, q, turns[1])
}

// A job for two datacenters waits for the one that scaling can raise and that a job before keeps. It keeps the other one
// that it needs, and no third one.
func TestAKeptDatacenterAmongTwoIsWaitedFor(t *testing.T) {
	p := sites(map[string]int{"big": 8, "small": 8, "wide": 8})
	for _, name := range []string{"big", "wide"} {
		m := p.Manager(node.ID("m-" + name))
		m.Take(m.Stream, &message.ManagerHeartbeat{Datacenter: name, Sequence: 2, CoresTotal: 8, CoresFree: 8, CoresMax: 40, WorkerSum: 2}, 1)
	}
	q := queue.New(queue.Bounds{Timeout: time.Hour, AgeMax: time.Hour, Step: time.Hour})
	var turns []*queue.Turn
	for i, cores := range []uint32{12, 20, 4, 4} {
		turn := &queue.Turn{Job: message.JobID{byte(i)}, Number: uint64(i + 1)}
		switch turns = append(turns, turn); i {
		case 0:
			turn.Named = []string{"big"}
		case 1:
			turn.Count = 2
		case 3:
			turn.Named = []string{"wide"}
		}
		q.Enter(turn, &message.Plan{Workflows: []message.WorkflowPlan{{Test: true, VUs: 64, Cores: cores}}}, 0)
	}
	waitsForBig(t, p, q, turns[1])
}

// waitsForBig fails the test unless the third job alone is dispatched, to small, and the second one says that it waits for big.
func waitsForBig(t *testing.T, p *places.Places, q *queue.Queue, second *queue.Turn) {
	t.Helper()
	var went []string
	for _, r := range q.Ready(p, 0) {
		for _, d := range r.To {
			went = append(went, fmt.Sprintf("%d %s", r.Turn.Number, d.Name))
		}
	}
	if want := []string{"3 small"}; !slices.Equal(went, want) {
		t.Errorf("dispatched are %v, want %v", went, want)
	}
	if got, want := second.Reason(p), "waits for 20 free cores in big: 8 of 8 free, and scaling can raise them to 40, 1 job before it"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// A job that waits for cores that have been there says that, and does not promise that scaling raises them.
func TestAJobWaitsForWorkersThatAreAway(t *testing.T) {
	p := sites(map[string]int{"a": 8})
	m := p.Manager("m-a")
	m.Take(m.Stream, &message.ManagerHeartbeat{Datacenter: "a", Sequence: 2, CoresTotal: 4, CoresFree: 4, CoresMax: 5, WorkerSum: 1}, 1)
	turn := &queue.Turn{Number: 1, Named: []string{"a"}}
	q := queue.New(queue.Bounds{Timeout: time.Hour, AgeMax: time.Hour, Step: time.Hour})
	q.Enter(turn, &message.Plan{Workflows: []message.WorkflowPlan{{Test: true, VUs: 64, Cores: 8}}}, 0)
	if n := len(q.Ready(p, 0)); n > 0 {
		t.Fatalf("%d jobs are dispatched: want none", n)
	}
	if got, want := turn.Reason(p), "waits for 8 free cores in a: 4 of 4 free, and there were 8 before"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// TestSpillsAreNear: a job for which the favourite has no room goes to a near datacenter with room
// before a far one with a few more free cores, and not to a near one that is almost full.
func TestSpillsAreNear(t *testing.T) {
	for _, c := range []struct {
		name string
		free map[string]int
		trip map[string]time.Duration
		want string
	}{
		{"as near as the other", map[string]int{"a": 3, "b": 7, "c": 6}, nil, "b"},
		{"the near one", map[string]int{"a": 3, "b": 7, "c": 6}, map[string]time.Duration{"b": 200 * time.Millisecond, "c": 5 * time.Millisecond}, "c"},
		{"of equals the near one", map[string]int{"a": 3, "b": 8, "c": 8}, map[string]time.Duration{"b": 6 * time.Millisecond, "c": 5 * time.Millisecond}, "c"},
		{"a little nearer, and almost full", map[string]int{"a": 3, "b": 8, "c": 4}, map[string]time.Duration{"b": 6 * time.Millisecond, "c": 5 * time.Millisecond}, "b"},
		{"the near one is full", map[string]int{"a": 3, "b": 7, "c": 3}, map[string]time.Duration{"b": 200 * time.Millisecond, "c": 5 * time.Millisecond}, "b"},
	} {
		p := sites(map[string]int{"a": 8, "b": 4, "c": 4})
		_, _, _ = p.Prefer(1, true, func(n int) int { return 0 })
		if f := p.Favourite(); f == nil || f.Name != "a" {
			t.Fatalf("%s: the gate favours %v", c.name, f)
		}
		//lint:orderfree each datacenter is set alone
		for name, free := range c.free {
			m := p.Manager(node.ID("m-" + name))
			m.Take(m.Stream, &message.ManagerHeartbeat{Datacenter: name, Sequence: 2, CoresTotal: 8, CoresFree: uint32(free), WorkerSum: 2, RoundTrip: c.trip[name]}, 1)
		}
		if got := goes(p, &queue.Turn{}, 0); got != c.want {
			t.Errorf("%s: it goes to %q, want %q", c.name, got, c.want)
		}
	}
}

// TestFavourites: a job that names no datacenter goes to the favourite if that has room, and to one
// that is well before one that has recovered of late.
func TestFavourites(t *testing.T) {
	const now = node.Instant(1)
	for _, c := range []struct {
		name  string
		free  map[string]int
		likes string // drawn of those that are near to each other
		then  map[string]int
		turn  queue.Turn
		want  string
	}{
		{name: "the favourite, not the freest", free: map[string]int{"a": 8, "b": 8}, likes: "b", then: map[string]int{"a": 8, "b": 5}, want: "b"},
		{name: "the favourite is full", free: map[string]int{"a": 8, "b": 8}, likes: "b", then: map[string]int{"a": 4, "b": 3}, want: "a"},
		{name: "a wish comes before it", free: map[string]int{"a": 8, "b": 8}, likes: "b", turn: queue.Turn{Wish: queue.Wish{Preferred: []string{"a"}}}, want: "a"},
		{name: "a bound job", free: map[string]int{"a": 8, "b": 8}, likes: "b", turn: queue.Turn{Named: []string{"a"}}, want: "a"},
		{name: "of two the favourite is one", free: map[string]int{"a": 8, "b": 8, "c": 8}, likes: "b", then: map[string]int{"a": 7, "b": 5, "c": 8}, turn: queue.Turn{Wish: queue.Wish{Count: 2}}, want: "b,c"},
		{name: "what is well before what has recovered", free: map[string]int{"a": -1, "b": 8}, likes: "b", then: map[string]int{"a": 8, "b": 5}, want: "b"},
		{name: "what has recovered if it has room alone", free: map[string]int{"a": -1, "b": 8}, likes: "b", then: map[string]int{"a": 8, "b": 3}, want: "a"},
	} {
		p := sites(c.free)
		_, _, _ = p.Prefer(now, true, func(n int) int { return n - 1 })
		if f := p.Favourite(); f == nil || f.Name != c.likes {
			t.Fatalf("%s: the gate favours %v, want %s", c.name, f, c.likes)
		}
		tell(p, c.then)
		_, _, _ = p.Prefer(now+1, true, func(n int) int { return 0 })
		if got := goes(p, &c.turn, 0); got != c.want {
			t.Errorf("%s: it goes to %q, want %q", c.name, got, c.want)
		}
	}
}

// TestChosenSetsAreWhole: a job goes to as many datacenters as it asks for, each with room, or to
// none. It leaves a preferred one out only if that is UNHEALTHY, if it has enough others that are
// preferred, or after the wait.
func TestChosenSetsAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		free := map[string]int{}
		names := []string{"a", "b", "c", "d"}[:rapid.IntRange(1, 4).Draw(t, "datacenters")]
		for _, name := range names {
			free[name] = rapid.IntRange(-1, 8).Draw(t, "free")
		}
		turn := queue.Turn{Wish: queue.Wish{
			Count:     uint32(rapid.IntRange(0, 4).Draw(t, "count")),
			Preferred: rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, len(names), rapid.ID).Draw(t, "preferred"),
		}}
		waited := rapid.SampledFrom([]time.Duration{0, time.Minute - 1, time.Minute}).Draw(t, "waited")
		to := goes(sites(free), &turn, waited)
		if to == "" {
			return
		}
		went := strings.Split(to, ",")
		if want := int(max(1, turn.Count)); len(went) != want || !slices.IsSorted(went) || len(slices.Compact(slices.Clone(went))) != want {
			t.Fatalf("a job for %d datacenters goes to %v", want, went)
		}
		others := slices.ContainsFunc(went, func(name string) bool { return !slices.Contains(turn.Preferred, name) })
		for _, name := range went {
			if free[name] < 4 {
				t.Fatalf("%s has %d free cores", name, free[name])
			}
		}
		for _, name := range turn.Preferred {
			if waited < time.Minute && free[name] >= 0 && others && !slices.Contains(went, name) {
				t.Fatalf("it goes to %v after %v, and %s lives: %s", went, waited, name, fmt.Sprint(free))
			}
		}
	})
}

// TestBestEffortsLeaveSomeOut: a best effort names at least one datacenter, fewer than the job has, and
// a time.
func TestBestEffortsLeaveSomeOut(t *testing.T) {
	for _, c := range []struct {
		in    []string
		count uint32
		least uint32
		after time.Duration
		want  string
	}{
		{[]string{"a", "b"}, 0, 0, 0, ""},
		{[]string{"a", "b"}, 0, 1, time.Minute, ""},
		{nil, 3, 2, 1, ""},
		{[]string{"a", "b"}, 0, 2, time.Minute, "best_effort.least"},
		{nil, 0, 1, time.Minute, "best_effort.least"},
		{nil, 3, 3, time.Minute, "best_effort.least"},
		{nil, 3, 0, time.Minute, "best_effort.least"},
		{nil, 3, 2, 0, "best_effort.after"},
		{nil, 3, 2, -1, "best_effort.after"},
	} {
		s := &message.JobSubmit{Datacenters: c.in, Count: c.count, BestEffort: message.BestEffort{Least: c.least, After: c.after}}
		faults := queue.CheckWish(s, 10)
		if got := len(faults); got > 1 || (got == 1) != (c.want != "") || got == 1 && faults[0].Key != c.want {
			t.Errorf("%+v: %v", c, faults)
		}
	}
}
