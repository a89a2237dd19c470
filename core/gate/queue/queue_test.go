package queue_test

import (
	"fmt"
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

// rank draws how important a job is.
func rank(t *rapid.T) message.Rank {
	return message.Rank(rapid.IntRange(0, len(message.Ranks())-1).Draw(t, "rank"))
}

// The queue keeps the order of importance, deadline and acceptance, however often jobs leave it
// and return, and each turn knows its position. A wait raises a job by one class at a time. Enter,
// Leave and Age return the turns that moved.
func TestQueuesKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := queue.New(queue.Bounds{Step: time.Minute})
		var all []*queue.Turn
		for n := range rapid.IntRange(1, 8).Draw(t, "jobs") {
			all = append(all, &queue.Turn{
				Job: message.JobID{byte(n)}, Number: uint64(n + 1), Rank: rank(t),
				Begin: node.Instant(rapid.IntRange(0, 3).Draw(t, "deadline")),
			})
		}
		var now node.Instant
		rose := map[*queue.Turn]node.Instant{} // when the queue last looked at each
		class := func(o *queue.Turn) int {
			worth := map[message.Rank]int{message.RankCritical: 0, message.RankHigh: 1, message.RankMedium: 2, message.RankLow: 3, message.RankBackground: 4}
			return max(0, worth[o.Rank]-int(rose[o].Sub(0)/time.Minute))
		}
		in := map[*queue.Turn]bool{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(rapid.SampledFrom([]time.Duration{0, 59 * time.Second, time.Minute, 61 * time.Second}).Draw(t, "wait"))
			was := map[*queue.Turn]uint32{}
			for _, turn := range all {
				was[turn] = turn.Position()
			}
			turn := rapid.SampledFrom(all).Draw(t, "job")
			var moved []*queue.Turn
			switch {
			case rapid.IntRange(0, 2).Draw(t, "ages") == 0:
				for _, o := range q.All() {
					rose[o] = now
				}
				moved = q.Age(now)
			case in[turn]:
				moved, in[turn] = q.Leave(turn), false
			default:
				rose[turn] = now
				moved, in[turn] = q.Enter(turn, &message.Plan{}, now), true
			}
			var want []*queue.Turn
			order := slices.SortedStableFunc(slices.Values(all), func(a, b *queue.Turn) int {
				switch {
				case class(a) != class(b):
					return class(a) - class(b)
				case a.Begin == b.Begin:
					return 0
				case a.Begin == 0 || b.Begin != 0 && b.Begin < a.Begin:
					return 1
				}
				return -1
			})
			for _, o := range order {
				if in[o] {
					want = append(want, o)
				} else if o.Position() != 0 {
					t.Fatalf("job %d left the queue and believes it is at %d", o.Number, o.Position())
				}
			}
			if !slices.Equal(q.All(), want) || q.Len() != len(want) {
				t.Fatalf("the queue is not in its order: %d jobs, want %d", q.Len(), len(want))
			}
			for i, o := range want {
				if o.Position() != uint32(i+1) {
					t.Fatalf("job %d is at %d and believes it is at %d", o.Number, i+1, o.Position())
				}
				if slices.Contains(moved, o) != (was[o] != o.Position()) {
					t.Fatalf("job %d went from %d to %d, and it is named: %v", o.Number, was[o], o.Position(), slices.Contains(moved, o))
				}
			}
		}
	})
}

// site is what the model knows about a datacenter.
type site struct {
	name       string
	free       int
	most       int
	grows      int // cores that scaling can reach; 0: not known
	ill, taken bool
}

// draw draws datacenters, and the model's view of each.
func draw(t *rapid.T) (*places.Places, []*site) {
	p := places.New(places.Bounds{Datacenters: 9, Managers: 9})
	var all []*site
	for i, name := range []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "datacenters")] {
		s := &site{name: name, free: rapid.IntRange(0, 8).Draw(t, "free"), most: 8, ill: rapid.IntRange(0, 4).Draw(t, "ill") == 0}
		s.grows = rapid.SampledFrom([]int{0, 0, 4, 10}).Draw(t, "cores_max")
		d, _ := p.Know(name, 1)
		h := &message.ManagerHeartbeat{Datacenter: name, Sequence: 1, CoresTotal: 8, CoresFree: uint32(s.free), WorkerSum: 2, CoresMax: uint32(s.grows)}
		if s.ill {
			h.WorkerSum = 0
		}
		p.Register(d, node.Peer{ID: node.ID("m-" + name)}, 1).Take(node.StreamID(i+1), h, 1)
		all = append(all, s)
	}
	return p, all
}

// want computes for each job the datacenters that it goes to. It counts cores as plain numbers,
// and visits each job once, oldest first.
func want(sites []*site, turns []*queue.Turn, wide []int) (went, waits map[uint64]string) {
	find := func(name string) *site {
		at := slices.IndexFunc(sites, func(s *site) bool { return s.name == name })
		if at < 0 {
			return nil
		}
		return sites[at]
	}
	went, waits = map[uint64]string{}, map[uint64]string{}
	for i, turn := range turns {
		needs := func(s *site) int {
			if wide[i] > max(s.most, s.grows) {
				return 1
			}
			return wide[i]
		}
		names := turn.Named
		if len(names) == 0 { // the healthiest, then the one with most free cores, then the first by name
			var best *site
			holds := func(s *site) bool { return wide[i] <= max(s.most, s.grows) }
			grown := slices.ContainsFunc(sites, func(s *site) bool { return !s.ill && s.grows > 0 && holds(s) })
			for _, s := range sites {
				if s.ill || s.taken || grown && !holds(s) {
					continue
				}
				if best == nil || (best.free == 0) && s.free > 0 || (best.free == 0) == (s.free == 0) && s.free > best.free {
					best = s
				}
			}
			if best == nil {
				reach := slices.IndexFunc(sites, func(s *site) bool { return !s.ill && holds(s) })
				small := slices.ContainsFunc(sites, func(s *site) bool { return !s.ill && !s.taken })
				if grown && small {
					waits[turn.Number] = sites[reach].name
				}
				continue
			}
			if best.free < needs(best) {
				for _, s := range sites {
					s.taken = true
				}
				continue
			}
			names = []string{best.name}
		}
		fits, ill := true, false
		for _, name := range names {
			s := find(name)
			switch sick := s == nil || s.ill; {
			case !slices.ContainsFunc(sites, func(s *site) bool { return !s.taken }): // behind all others
			case sick && !ill, !sick && !ill && fits && (s.taken || s.free < needs(s)):
				waits[turn.Number] = name
			}
			ill = ill || s == nil || s.ill
			fits = fits && s != nil && !s.taken && s.free >= needs(s)
		}
		switch {
		case ill:
		case fits:
			for _, name := range names {
				s := find(name)
				s.free -= min(s.free, wide[i])
			}
			went[turn.Number] = strings.Join(names, ",")
		default:
			for _, name := range names {
				find(name).taken = true
			}
		}
	}
	return went, waits
}

// TestTurnsComeAsAModelSays: the queue dispatches the same jobs to the same datacenters as the
// model. Ready changes nothing: a second call returns the same.
func TestTurnsComeAsAModelSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, sites := draw(t)
		q := queue.New(queue.Bounds{Timeout: time.Minute, AgeMax: time.Hour, Step: time.Hour})
		var turns []*queue.Turn
		var wide []int // cores of each job
		for n := range rapid.IntRange(1, 6).Draw(t, "jobs") {
			turn := &queue.Turn{Job: message.JobID{byte(n)}, Number: uint64(n + 1)}
			turn.Named = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 2, rapid.ID).Draw(t, "named")
			cores := rapid.IntRange(1, 12).Draw(t, "cores")
			q.Enter(turn, &message.Plan{Workflows: []message.WorkflowPlan{{Test: true, VUs: 20, Cores: uint32(cores)}}}, turn.Since)
			turns, wide = append(turns, turn), append(wide, cores)
		}
		expected, waits := want(sites, turns, wide)
		for range 2 {
			got := map[uint64]string{}
			for _, r := range q.Ready(p, 0) {
				var names []string
				for _, d := range r.To {
					names = append(names, d.Name)
				}
				got[r.Turn.Number] = strings.Join(names, ",")
			}
			if fmt.Sprint(got) != fmt.Sprint(expected) {
				t.Fatalf("dispatched are %v, want %v", got, expected)
			}
		}
		p.Rests(func(what string, n, _ int) {
			if what == "gate/cores that datacenters reserve" && n > 0 {
				t.Fatalf("%d cores stay promised", n)
			}
		})
		for _, turn := range turns {
			nowhere := len(turn.Named) == 0 && !slices.ContainsFunc(sites, func(s *site) bool { return !s.ill })
			for _, name := range turn.Named {
				at := slices.IndexFunc(sites, func(s *site) bool { return s.name == name })
				nowhere = nowhere || at < 0 || sites[at].ill
			}
			//lint:orderfree each is judged by itself
			for age, verdict := range map[time.Duration]queue.Verdict{time.Second: queue.Waits, time.Minute: queue.Waits, time.Hour: queue.TooOld} {
				if nowhere && age == time.Minute {
					verdict = queue.Nowhere
				}
				if got := q.Judge(turn, p, turn.Since.Add(age)); got != verdict {
					t.Fatalf("a job that names %v is judged %v after %v, want %v", turn.Named, got, age, verdict)
				}
			}
			reason := turn.Reason(p)
			name := waits[turn.Number]
			says := strings.Contains(reason, " in "+name+":") || strings.HasPrefix(reason, "waits for "+name+":") || strings.HasPrefix(reason, "waits for "+name+",")
			if !strings.HasPrefix(reason, "waits for ") || name != "" && !says {
				t.Fatalf("a job that names %v and waits for %q says %q", turn.Named, name, reason)
			}
		}
	})
}

// A job waits for the cores that its first layer names, or for the least share of its priority,
// unless the datacenter never had so many. Light workflows need seats of cores that others share.
func TestFirstLayersAreWaitedFor(t *testing.T) {
	light := message.WorkflowPlan{Test: true, VUs: 9, Rate: 100_000, Steps: []message.StepPlan{{Kind: message.StepRequest}}}
	priority := func(p message.Importance) message.WorkflowPlan {
		return message.WorkflowPlan{Test: true, VUs: 9, Priority: p}
	}
	for _, x := range []struct {
		workflows   []message.WorkflowPlan
		free, seats uint32
		ready       bool
		wants       places.Room
	}{
		{[]message.WorkflowPlan{{Test: true, VUs: 6, Cores: 4}}, 3, 0, false, places.Room{Cores: 3}},
		{[]message.WorkflowPlan{{Test: true, VUs: 6, Cores: 4}}, 4, 0, true, places.Room{Cores: 4}},
		{[]message.WorkflowPlan{{Test: true, VUs: 2, Cores: 4}}, 2, 0, true, places.Room{Cores: 2}},
		{[]message.WorkflowPlan{{Test: true, VUs: 9}}, 1, 0, true, places.Room{Cores: 1}},
		{[]message.WorkflowPlan{{Test: true, VUs: 9}}, 5, 0, true, places.Room{Cores: 5}},
		{[]message.WorkflowPlan{{}, {Test: true, VUs: 9}}, 1, 0, false, places.Room{Cores: 1}},
		{[]message.WorkflowPlan{{}, {Test: true, VUs: 9, Layer: 1}}, 1, 0, true, places.Room{Cores: 1}},
		{[]message.WorkflowPlan{{Test: true, VUs: 99, Cores: 9}}, 1, 0, true, places.Room{Cores: 1}}, // it never had 9
		{[]message.WorkflowPlan{priority(message.PriorityLow)}, 1, 0, true, places.Room{Cores: 1}},
		{[]message.WorkflowPlan{priority(message.PriorityNormal)}, 1, 0, false, places.Room{Cores: 1}},
		{[]message.WorkflowPlan{priority(message.PriorityNormal)}, 2, 0, true, places.Room{Cores: 2}},
		{[]message.WorkflowPlan{priority(message.PriorityHigh)}, 5, 0, false, places.Room{Cores: 5}},
		{[]message.WorkflowPlan{priority(message.PriorityHigh)}, 6, 0, true, places.Room{Cores: 6}},
		{[]message.WorkflowPlan{priority(message.PriorityHigh), priority(message.PriorityHigh)}, 7, 0, false, places.Room{Cores: 7}},
		{[]message.WorkflowPlan{priority(message.PriorityHigh), priority(message.PriorityHigh)}, 8, 0, true, places.Room{Cores: 8}},
		{[]message.WorkflowPlan{{Test: true, VUs: 2, Priority: message.PriorityExclusive}}, 7, 0, false, places.Room{Cores: 2}},
		{[]message.WorkflowPlan{{Test: true, VUs: 2, Priority: message.PriorityExclusive}}, 8, 0, true, places.Room{Cores: 2}},
		{[]message.WorkflowPlan{light}, 0, 0, false, places.Room{Seats: -7}},
		{[]message.WorkflowPlan{light}, 1, 0, true, places.Room{Cores: 1, Seats: -7}},
		{[]message.WorkflowPlan{light}, 0, 1, true, places.Room{Seats: 1}},
		{[]message.WorkflowPlan{light, light, light}, 1, 2, true, places.Room{Cores: 1, Seats: -5}},
		{[]message.WorkflowPlan{light, light, light}, 0, 2, false, places.Room{Seats: -5}},
	} {
		p := places.New(places.Bounds{Datacenters: 1, Managers: 1})
		d, _ := p.Know("a", 1)
		p.Register(d, node.Peer{ID: "m"}, 1).Take(1, &message.ManagerHeartbeat{Sequence: 1, CoresTotal: 8, CoresFree: x.free, SeatsFree: x.seats, WorkerSum: 1}, 1)
		q := queue.New(queue.Bounds{Step: time.Minute})
		plan := &message.Plan{Workflows: x.workflows}
		q.Enter(&queue.Turn{Number: 1}, plan, 0)
		if got := len(q.Ready(p, 0)) == 1; got != x.ready {
			t.Errorf("%+v with %d free cores and %d seats is ready: %v", x.workflows, x.free, x.seats, got)
		}
		if got := queue.Wants(plan, d); got != x.wants {
			t.Errorf("%+v takes %+v of %d free cores and %d seats, want %+v", x.workflows, got, x.free, x.seats, x.wants)
		}
	}
}

// The end of an older job frees the cores of a younger one in the same pass. The younger one
// has left the queue, so its age does not end it.
func TestOnlyJobsInTheQueueAreJudged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := draw(t)
		q := queue.New(queue.Bounds{Timeout: time.Minute, AgeMax: time.Hour, Step: time.Hour})
		turn := &queue.Turn{Number: 1, Named: rapid.SampledFrom([][]string{nil, {"a"}, {"gone"}}).Draw(t, "named")}
		q.Enter(turn, &message.Plan{}, turn.Since)
		now := turn.Since.Add(rapid.SampledFrom([]time.Duration{time.Hour, 2 * time.Hour}).Draw(t, "age"))
		if got := q.Judge(turn, p, now); got != queue.TooOld {
			t.Fatalf("in the queue it is judged %v", got)
		}
		q.Leave(turn)
		if got := q.Judge(turn, p, now); got != queue.Waits {
			t.Fatalf("a job that left the queue is judged %v", got)
		}
	})
}

// A job that has not begun by its deadline ends, one tick earlier it does not. The queue wakes its
// owner for the first deadline.
func TestDeadlinesEndTheWait(t *testing.T) {
	p := places.New(places.Bounds{Datacenters: 1, Managers: 1})
	q := queue.New(queue.Bounds{Timeout: time.Hour, AgeMax: time.Hour, Step: time.Minute})
	turn := &queue.Turn{Number: 1, Begin: node.Instant(10 * time.Second)}
	q.Enter(turn, &message.Plan{}, 0)
	q.Enter(&queue.Turn{Number: 2}, &message.Plan{}, 0)
	for _, x := range []struct {
		now  time.Duration
		want queue.Verdict
		next time.Duration
	}{
		{0, queue.Waits, 5 * time.Second},
		{8 * time.Second, queue.Waits, 2 * time.Second},
		{10*time.Second - 1, queue.Waits, 1},
		{10 * time.Second, queue.TooLate, 0},
		{11 * time.Second, queue.TooLate, 0},
	} {
		now := node.Instant(x.now)
		if got, next := q.Judge(turn, p, now), q.Next(now, 5*time.Second); got != x.want || next != x.next {
			t.Errorf("after %v it is judged %v and looked at after %v, want %v and %v", x.now, got, next, x.want, x.next)
		}
	}
}

// No source takes more than its part of the places, whatever it asks for. What leaves is
// forgotten.
func TestNoSourceTakesAllPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(10, 40).Draw(t, "places")
		c, held := queue.NewCrowd(), map[string]int{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			source := rapid.SampledFrom([]string{"", "a", "b", "c", "d"}).Draw(t, "source")
			all, n := 0, 0
			//lint:orderfree sums
			for name, k := range held {
				if all += k; name != "" && k > 0 {
					n++
				}
			}
			if held[source] > 0 && rapid.Bool().Draw(t, "leaves") {
				held[source]--
				c.Leave(queue.Holder{Source: source})
				continue
			}
			share := places
			if source != "" {
				if held[source] == 0 {
					n++
				}
				share = max(1, places/(n+1))
			}
			if got := c.Share(queue.Holder{Source: source}, places); got != share {
				t.Fatalf("with %v the share of %q is %d, want %d", held, source, got, share)
			}
			if got := c.Held(queue.Holder{Source: source}); source != "" && got != held[source] {
				t.Fatalf("%q holds %d, want %d", source, got, held[source])
			}
			if all < places && held[source] < share {
				held[source]++
				c.Enter(queue.Holder{Source: source})
			}
		}
		//lint:orderfree each is given back
		for name, k := range held {
			for range k {
				c.Leave(queue.Holder{Source: name})
			}
		}
		if n := c.Len(); n != 0 {
			t.Fatalf("%d sources are remembered that hold nothing", n)
		}
	})
}

// No subject takes more than its part of its source's places, and subjects of one source cost another one none.
func TestNoSubjectTakesItsSource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(10, 80).Draw(t, "places")
		c, held := queue.NewCrowd(), map[queue.Holder]int{}
		sum := func(source string) (all, subjects int) {
			//lint:orderfree sums
			for h, k := range held {
				if h.Source == source && k > 0 {
					all += k
					subjects++
				}
			}
			return all, subjects
		}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			h := queue.Holder{Source: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "source"), Subject: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "subject")}
			if held[h] > 0 && rapid.Bool().Draw(t, "leaves") {
				held[h]--
				c.Leave(h)
				continue
			}
			all, subjects := sum(h.Source)
			if held[h] == 0 {
				subjects++
			}
			of := c.Share(queue.Holder{Source: h.Source}, places)
			if got, want := c.Share(h, places), max(1, of/(subjects+1)); got != want {
				t.Fatalf("with %v the share of %v is %d, want %d of %d", held, h, got, want, of)
			}
			if got := c.Held(h); got != held[h] {
				t.Fatalf("%v holds %d, want %d", h, got, held[h])
			}
			if got := c.Held(queue.Holder{Source: h.Source}); got != all {
				t.Fatalf("%s holds %d, want %d", h.Source, got, all)
			}
			held[h]++
			c.Enter(h)
		}
		//lint:orderfree each is given back
		for h, k := range held {
			for range k {
				c.Leave(h)
			}
		}
		if n := c.Len(); n != 0 {
			t.Fatalf("%d holders are remembered that hold nothing", n)
		}
	})
}
