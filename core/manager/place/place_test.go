package place

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/plan"
)

// twin ranks workers by sorting all of them for each question.
type twin map[node.ID]Worker

func (m twin) ranked() (all []Worker) {
	//lint:orderfree it is sorted
	for _, w := range m {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b Worker) int {
		if a.Free != b.Free {
			return int(b.Free) - int(a.Free)
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
	return all
}

// pick draws one of the better half, without workers that have no free cores.
func (m twin) pick(draw *node.Rand, ranked []Worker) int {
	half := (len(ranked) + 1) / 2
	for half > 1 && ranked[half-1].Free == 0 {
		half--
	}
	if half == 1 {
		return 0
	}
	return min(draw.Int(half), draw.Int(half))
}

func (m twin) again(draw *node.Rand, cores uint32, failed []node.ID, waited bool) (node.ID, bool) {
	var all, fit, others []Worker
	for _, w := range m.ranked() {
		bad := slices.Contains(failed, w.ID)
		if !bad {
			others = append(others, w)
		}
		if w.Free >= cores {
			all = append(all, w)
			if !bad {
				fit = append(fit, w)
			}
		}
	}
	if len(fit) == 0 && (waited || len(others) == 0) {
		fit = all
	}
	if len(fit) == 0 {
		return "", false
	}
	return fit[m.pick(draw, fit)].ID, true
}

func (m twin) cut(draw *node.Rand, cores, users uint64) (cut []Shard) {
	ranked := m.ranked()
	next := uint64(0)
	for left := cores; left > 0; {
		i := m.pick(draw, ranked)
		w := ranked[i]
		ranked = slices.Delete(ranked, i, i+1)
		n := min(left, uint64(w.Free))
		left -= n
		s := Shard{Worker: w.ID, Cores: uint32(n), First: next, VUs: users/cores*n + users%cores*n/cores}
		if left == 0 {
			s.VUs = users - next
		}
		next += s.VUs
		cut = append(cut, s)
	}
	return cut
}

func name(i int) node.ID { return node.ID(fmt.Sprintf("w%02d", i)) }

// A ranking gives the same answers, with as many draws, as one that sorts all workers each
// time, whatever workers come, go and change.
func TestRankingIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Ranking
		m := twin{}
		one, two := node.NewRand(1, "m1", node.PurposePlacement), node.NewRand(1, "m1", node.PurposePlacement)
		worker := func(t *rapid.T) node.ID { return name(rapid.IntRange(0, 20).Draw(t, "worker")) }
		set := func(t *rapid.T) {
			w := Worker{ID: worker(t), Free: rapid.Uint32Range(0, 5).Draw(t, "free"), Total: 5}
			r.Set(w)
			m[w.ID] = w
		}
		t.Repeat(map[string]func(*rapid.T){
			"set":      set,
			"setOther": set,
			"remove": func(t *rapid.T) {
				id := worker(t)
				r.Remove(id)
				delete(m, id)
			},
			"again": func(t *rapid.T) {
				cores, waited := rapid.Uint32Range(1, 5).Draw(t, "cores"), rapid.Bool().Draw(t, "waited")
				failed := rapid.SliceOfN(rapid.Custom(worker), 0, 6).Draw(t, "failed")
				if rapid.IntRange(0, 4).Draw(t, "all failed") == 4 {
					failed = nil
					for _, w := range m.ranked() {
						failed = append(failed, w.ID)
					}
				}
				got, ok := r.Again(one, cores, failed, waited)
				if want, could := m.again(two, cores, failed, waited); got != want || ok != could {
					t.Fatalf("a shard of %d cores that %v failed goes to %q, want %q", cores, failed, got, want)
				}
			},
			"cut": func(t *rapid.T) {
				free, _ := r.Cores()
				if free == 0 {
					t.Skip("no core is free")
				}
				cores := rapid.Uint64Range(1, free).Draw(t, "cores")
				users := cores + rapid.Uint64Range(0, 30).Draw(t, "more users")
				if diff := cmp.Diff(m.cut(two, cores, users), r.Cut(one, cores, users)); diff != "" {
					t.Fatalf("the cut of %d cores for %d users (-want +got):\n%s", cores, users, diff)
				}
			},
			"": func(t *rapid.T) {
				var got []Worker
				for i := range r.Len() {
					got = append(got, r.root.at(i, &r.visits))
				}
				if diff := cmp.Diff(m.ranked(), got); diff != "" {
					t.Fatalf("the ranking (-want +got):\n%s", diff)
				}
				var sum, sumTotal uint64
				for _, w := range got {
					sum, sumTotal = sum+uint64(w.Free), sumTotal+uint64(w.Total)
				}
				if free, total := r.Cores(); free != sum || total != sumTotal {
					t.Fatalf("%d of %d cores are free, want %d of %d", free, total, sum, sumTotal)
				}
			},
		})
	})
}

// drawRanking draws up to six workers of four cores each.
func drawRanking(t *rapid.T) (*Ranking, twin) {
	r, m := &Ranking{}, twin{}
	for i := range rapid.SampledFrom([]int{4, 3, 6, 5, 2, 1, 0}).Draw(t, "workers") {
		w := Worker{ID: name(i), Free: rapid.SampledFrom([]uint32{4, 3, 2, 1, 0}).Draw(t, "free"), Total: 4}
		r.Set(w)
		m[w.ID] = w
	}
	return r, m
}

// A repeated shard goes to a worker with enough cores that has not failed it. It goes to any
// worker if there is no other or after a wait, and always to one of the better half.
func TestAnotherWorkerIsChosen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, m := drawRanking(t)
		cores, waited := rapid.Uint32Range(1, 4).Draw(t, "cores"), rapid.Bool().Draw(t, "waited")
		allFailed := rapid.IntRange(0, 5).Draw(t, "all failed") == 5
		var failed, fresh, any []node.ID
		for _, w := range m.ranked() {
			bad := allFailed || rapid.Bool().Draw(t, "failed")
			if bad {
				failed = append(failed, w.ID)
			}
			if w.Free >= cores {
				any = append(any, w.ID)
				if !bad {
					fresh = append(fresh, w.ID)
				}
			}
		}
		want := fresh
		if len(fresh) == 0 && (len(failed) == len(m) || waited) {
			want = any
		}
		draw := node.NewRand(rapid.Uint64().Draw(t, "seed"), "m1", node.PurposePlacement)
		for range 8 { // it draws one of the equally good workers
			got, ok := r.Again(draw, cores, failed, waited)
			if ok != (len(want) > 0) || ok && !slices.Contains(want, got) {
				t.Fatalf("it goes to %q, want one of %v", got, want)
			}
			if !ok {
				return
			}
			better := 0
			for _, id := range want {
				if m[id].Free > m[got].Free {
					better++
				}
			}
			if better >= (len(want)+1)/2 {
				t.Fatalf("%d of %d workers have more free cores than the one that is chosen", better, len(want))
			}
		}
	})
}

// A cut gives each worker at most one shard within its free cores. Its shards have all wanted
// cores and each virtual user once, evenly.
func TestCutIsAPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, m := drawRanking(t)
		free, _ := r.Cores()
		if free == 0 {
			return
		}
		cores := free - rapid.Uint64Range(0, free-1).Draw(t, "left over")
		users := cores*rapid.Uint64Range(1, 3).Draw(t, "each") + rapid.Uint64Range(0, cores-1).Draw(t, "rest")
		cut := r.Cut(node.NewRand(rapid.Uint64().Draw(t, "seed"), "m1", node.PurposePlacement), cores, users)
		var next, sum uint64
		given := map[node.ID]bool{}
		for i, s := range cut {
			switch {
			case s.Cores == 0 || s.Cores > m[s.Worker].Free || given[s.Worker]:
				t.Fatalf("shard %d of %d cores is on %+v, which has one: %v", i, s.Cores, m[s.Worker], given[s.Worker])
			case s.First != next || s.VUs < uint64(s.Cores):
				t.Fatalf("shard %d has users [%d, %d) on %d cores, want them from %d", i, s.First, s.First+s.VUs, s.Cores, next)
			}
			if even := float64(users) * float64(s.Cores) / float64(cores); float64(s.VUs) < even-float64(s.Cores) || float64(s.VUs) > even+float64(cores) {
				t.Fatalf("shard %d has %d users on %d of %d cores, of %d users", i, s.VUs, s.Cores, cores, users)
			}
			given[s.Worker] = true
			next, sum = next+s.VUs, sum+uint64(s.Cores)
		}
		if next != users || sum != cores {
			t.Fatalf("%d users on %d cores, want %d on %d", next, sum, users, cores)
		}
		if again, _ := r.Cores(); again != free || r.Len() != len(m) {
			t.Fatalf("a cut leaves %d workers with %d free cores, there were %d with %d", r.Len(), again, len(m), free)
		}
	})
}

// A tree of ten thousand workers that were inserted in order does not become a list.
func TestTheTreeIsShallow(t *testing.T) {
	var r Ranking
	for i := range 10_000 {
		r.Set(Worker{ID: node.ID(fmt.Sprintf("worker-%04d", i)), Free: 4, Total: 4})
	}
	if d := depth(r.root); d > 50 {
		t.Errorf("it is %d deep, want about 30", d)
	}
}

func depth(t *tree) int {
	if t == nil {
		return 0
	}
	return 1 + max(depth(t.left), depth(t.right))
}

// The number of visits of a change, a choice and each shard of a cut grows with the logarithm
// of the workers (PLACE-4). Twice as many workers cost a few visits more, not twice as many.
func TestAChangeLooksAtFewWorkers(t *testing.T) {
	draw := node.NewRand(1, "m", node.PurposePlacement)
	for _, workers := range []int{1000, 10_000} {
		var r Ranking
		for i := range workers {
			r.Set(Worker{ID: name(i), Free: 4, Total: 4})
		}
		for _, row := range []struct {
			what  string
			times int
			do    func()
		}{
			{"a change", 1, func() { r.Set(Worker{ID: name(workers / 2), Free: 3, Total: 4}) }},
			{"a choice", 1, func() { r.Again(draw, 1, []node.ID{name(3)}, false) }},
			{"a cut", workers, func() { r.Cut(draw, 3*uint64(workers), 3*uint64(workers)) }},
		} {
			before := r.Visits()
			row.do()
			if n := (r.Visits() - before) / uint64(row.times); n == 0 || n > 200 {
				t.Errorf("%s among %d workers looks at %d of them a shard, want at most 200", row.what, workers, n)
			}
		}
	}
}

// light has a load of 100 requests a second.
func light() *message.WorkflowPlan {
	return &message.WorkflowPlan{Test: true, VUs: 9, Rate: 100_000, Steps: []message.StepPlan{{Kind: message.StepRequest}}}
}

// Workflows that may run together get what each needs at least, in any order, and none waits
// while a core is free: those that outnumber the cores share them. Priorities divide the rest.
func TestWorkflowsOfAJobBeginTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.Uint64Range(1, 40).Draw(t, "cores")
		var jobs []*message.WorkflowPlan
		for range rapid.IntRange(1, 12).Draw(t, "workflows") {
			w := &message.WorkflowPlan{
				VUs: rapid.Uint64Range(1, 50).Draw(t, "vus"), Cores: rapid.SampledFrom([]uint32{0, 0, 0, 1}).Draw(t, "named"),
				Test: rapid.IntRange(0, 4).Draw(t, "function") > 0, Priority: message.Importance(rapid.IntRange(0, 3).Draw(t, "priority")),
			}
			if rapid.IntRange(0, 3).Draw(t, "light") == 0 {
				w = light()
			}
			jobs = append(jobs, w)
		}
		room := Room{Free: all, All: all}
		for i, w := range jobs {
			claim, fits := Divide(w, jobs[i+1:], room)
			if !fits {
				t.Fatalf("workflow %d of %d waits, with %+v", i, len(jobs), room)
			}
			_, most := plan.Shares(w.Priority, all)
			switch taken := min(claim.Cores, room.Free); claim.Tenancy {
			case message.TenancyLight:
				if !plan.Light(w) || claim.Cores != 1 {
					t.Fatalf("a light claim of %d cores for %+v", claim.Cores, w)
				}
				if room.Seats > 0 {
					room.Seats--
				} else {
					room.Free, room.Seats = room.Free-1, message.CoreSeats-1
				}
			case message.TenancyJob:
				if claim.Cores != plan.Least(w) || uint64(len(jobs)) <= all {
					t.Fatalf("%d workflows share %d cores: %+v", len(jobs), all, claim)
				}
				room.Free, room.Shared = room.Free-taken, room.Shared+taken
			case message.TenancyOwn:
				if claim.Cores > room.Free || claim.Cores > max(plan.Most(w, all), plan.Least(w)) || claim.Cores > max(1, most) && w.Cores == 0 {
					t.Fatalf("%d of %d cores for %+v", claim.Cores, room.Free, w)
				}
				room.Free -= claim.Cores
			default:
				t.Fatalf("%+v runs alone", w)
			}
		}
	})
}

// What one workflow gets beside others.
func TestDivide(t *testing.T) {
	of := func(p message.Importance) *message.WorkflowPlan {
		return &message.WorkflowPlan{Test: true, VUs: 1000, Priority: p}
	}
	auto, low, high, alone := of(message.PriorityAuto), of(message.PriorityLow), of(message.PriorityHigh), of(message.PriorityExclusive)
	named := func(n uint32) *message.WorkflowPlan { return &message.WorkflowPlan{Test: true, VUs: 1000, Cores: n} }
	rate := &message.WorkflowPlan{Test: true, VUs: 1000, Rate: 20_000_000, Steps: []message.StepPlan{{Kind: message.StepRequest}}} // 2 s a second
	list := func(l ...*message.WorkflowPlan) []*message.WorkflowPlan { return l }
	idle := Room{Free: 8, All: 8}
	for _, x := range []struct {
		what   string
		w      *message.WorkflowPlan
		beside []*message.WorkflowPlan
		room   Room
		want   Claim
		fits   bool
	}{
		{"all cores", auto, nil, idle, Claim{8, message.TenancyOwn}, true},
		{"no more than its priority", low, nil, idle, Claim{2, message.TenancyOwn}, true},
		{"half beside an equal one", auto, list(auto), idle, Claim{4, message.TenancyOwn}, true},
		{"a third beside a high one", auto, list(high), idle, Claim{2, message.TenancyOwn}, true},
		{"two thirds of it", high, list(auto), idle, Claim{5, message.TenancyOwn}, true},
		{"what its load needs", rate, nil, idle, Claim{3, message.TenancyOwn}, true},
		{"what it names", named(3), list(auto), idle, Claim{3, message.TenancyOwn}, true},
		{"less than it names", named(9), nil, idle, Claim{9, message.TenancyOwn}, false},
		{"what others name is theirs", auto, list(named(7)), idle, Claim{1, message.TenancyOwn}, true},
		{"they share", auto, list(named(8)), idle, Claim{1, message.TenancyJob}, true},
		{"both name all", named(8), list(named(8)), idle, Claim{8, message.TenancyJob}, true},
		{"the last one joins", named(8), nil, Room{All: 8, Shared: 8}, Claim{8, message.TenancyJob}, true},
		{"three on one", auto, list(auto, auto), Room{Free: 1, All: 8}, Claim{1, message.TenancyJob}, true},
		{"nothing is free", auto, nil, Room{All: 8}, Claim{1, message.TenancyOwn}, false},
		{"a core for light ones", auto, list(light(), light()), Room{Free: 2, All: 8}, Claim{1, message.TenancyOwn}, true},
		{"they have seats", auto, list(light(), light()), Room{Free: 2, All: 8, Seats: 2}, Claim{2, message.TenancyOwn}, true},
		{"a seat", light(), nil, Room{All: 8, Seats: 1}, Claim{1, message.TenancyLight}, true},
		{"no seat", light(), nil, Room{All: 8}, Claim{1, message.TenancyLight}, false},
		{"alone", alone, nil, idle, Claim{8, message.TenancyMachine}, true},
		{"not alone", alone, nil, Room{Free: 7, All: 8}, Claim{8, message.TenancyMachine}, false},
	} {
		if got, fits := Divide(x.w, x.beside, x.room); got != x.want || fits != x.fits {
			t.Errorf("%s: %+v, it fits %v; want %+v, %v", x.what, got, fits, x.want, x.fits)
		}
	}
}

// Shards that join run where the fewest executors share a core, and have each user once.
func TestJoinFillsTheEmptiest(t *testing.T) {
	r := &Ranking{}
	r.Set(Worker{ID: "a", Free: 1, Total: 4})
	got := r.Join(node.NewRand(1, "m1", node.PurposePlacement), 4, 10, []Sharing{{"b", 2, 6}, {"c", 2, 4}})
	want := []Shard{{"a", 1, 0, 2}, {"c", 2, 2, 5}, {"b", 1, 7, 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkSet(b *testing.B) {
	for _, workers := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			var r Ranking
			for i := range workers {
				r.Set(Worker{ID: name(i), Free: 4, Total: 4})
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r.Set(Worker{ID: name(i % workers), Free: uint32(i) % 5, Total: 4})
			}
		})
	}
}
