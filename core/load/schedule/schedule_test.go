package schedule

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/load"
	"hyperscale/core/message"
)

// planned returns the schedule of users [first, first+n) of a plan.
func planned(p message.WorkflowPlan, first, n uint64) *Iterations {
	p.Steps = []message.StepPlan{{Name: "home", Kind: message.StepRequest}}
	return New(Config{Plan: &p, VUs: n, FirstVU: first, Seed: 7, Duration: p.Duration})
}

// server serves one request after the other in so many nanoseconds each, and none while it
// stalls. Answers arrive at once.
type server struct {
	each       int64
	stall, end int64
	free       int64 // when it has finished its requests
}

func (s *server) serve(now int64) int64 {
	at := max(now, s.free)
	if at+s.each > s.stall && at < s.end {
		at = max(s.end, at) // unfinished work waits until then
	}
	s.free = at + s.each
	return s.free
}

// figures are the figures of a simulated run.
type figures struct {
	begun     uint64
	dropped   uint64
	maxBusy   uint64
	latencies []int64
}

// simulate runs a schedule on a simulated clock, against a server. The generator itself is
// stopped from asleep to awake.
func (f *figures) simulate(t interface{ Fatalf(string, ...any) }, d *Iterations, s *server, asleep, awake int64) {
	var ends heap
	var dues = make([]int64, len(d.users))
	for now := int64(0); !d.Done(); {
		for ends.nextDue() <= now {
			e := ends.pop()
			f.latencies = append(f.latencies, now-dues[e.vu])
			d.Ended(e.vu, now)
		}
		for p, ok := d.Next(now); ok; p, ok = d.Next(now) {
			if p.Due > now || p.Could < p.Due || p.Could > now {
				t.Fatalf("at %d began %+v", now, p)
			}
			f.begun++
			dues[p.VU] = p.Due
			ends.push(start{due: s.serve(now), vu: p.VU})
			f.maxBusy = max(f.maxBusy, d.busy)
		}
		next := min(d.Wake(), ends.nextDue())
		if next <= now && !d.Done() {
			t.Fatalf("at %d nothing begins, but it is to be asked again at %d", now, next)
		}
		if now = next; now >= asleep && now < awake {
			now = awake
		}
	}
	f.dropped += d.figures.Dropped[0]
}

// The oracle: an open rate for T, a server that stalls for S and catches up at C. Of all
// arrivals S/(T(1-R/C)) are delayed, evenly up to S.
func oracle(q, T, S, R, C float64) (value float64) {
	Tk := T * (1 - R/C)
	if q <= 1-S/Tk {
		return 0
	}
	return S - (1-q)*Tk
}

func TestCoordinatedOmission(t *testing.T) {
	const T, S, R = 60.0, 6.0, 500.0
	for _, tt := range []struct {
		name  string
		ratio float64 // C/R
		vus   uint64
		parts uint64
		plan  func(*message.WorkflowPlan)
	}{
		{name: "much faster", ratio: 1000, vus: 4000, parts: 1},
		{name: "five times", ratio: 5, vus: 4000, parts: 1},
		{name: "twice", ratio: 2, vus: 4000, parts: 1},
		{name: "ten in flight, and a queue", ratio: 1000, vus: 10, parts: 1, plan: func(p *message.WorkflowPlan) { p.Queue = true }},
		{name: "five times, ten in flight, and a queue", ratio: 5, vus: 10, parts: 1, plan: func(p *message.WorkflowPlan) { p.Queue = true }},
		{name: "merged from four", ratio: 1000, vus: 4000, parts: 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan := message.WorkflowPlan{Name: "w", VUs: tt.vus, Rate: R * 1000, Duration: T * time.Second}
			if tt.plan != nil {
				tt.plan(&plan)
			}
			var all figures
			for i := range tt.parts {
				n := tt.vus / tt.parts
				each := int64(1e9 * float64(tt.parts) / (R * tt.ratio)) // a server for each part
				all.simulate(t, planned(plan, i*n, n), &server{each: each, stall: 20e9, end: 26e9}, Never, Never)
			}
			if all.begun != R*T || all.dropped != 0 || len(all.latencies) != R*T {
				t.Fatalf("began %d, dropped %d, measured %d, want %v", all.begun, all.dropped, len(all.latencies), R*T)
			}
			C := R * tt.ratio
			slices.Sort(all.latencies)
			base := 1 / C * float64(tt.parts)
			for _, q := range []float64{0.5, 0.9, 0.95, 0.99, 0.999} {
				got, want := float64(all.latencies[int(q*R*T)-1])/1e9, oracle(q, T, S, R, C)
				if want == 0 && got > base+1e-3 || want > 0 && (got < want*0.99 || got > want*1.01) {
					t.Errorf("p%v is %.4f s, want %.4f s", q*100, got, want)
				}
			}
			sum := int64(0)
			for _, took := range all.latencies {
				sum += took
			}
			mean, want := float64(sum)/1e9/(R*T), S*S/(2*T*(1-R/C))+base
			if mean < want*0.99 || mean > want*1.01 {
				t.Errorf("mean %.4f s, want %.4f s", mean, want)
			}
		})
	}
}

// A generator that was stopped for 2 s owes what was due then, and reports how late it is.
func TestStoppedGenerator(t *testing.T) {
	for _, tt := range []struct {
		vus   uint64
		queue bool
	}{{50, false}, {50, true}, {2500, false}} {
		plan := message.WorkflowPlan{Name: "w", VUs: tt.vus, Rate: 1_000_000, Duration: 10 * time.Second, Queue: tt.queue}
		var f figures
		f.simulate(t, planned(plan, 0, tt.vus), &server{each: 1000, stall: Never}, 4e9, 6e9)
		// Arrivals may be dropped while 50 users still work on owed ones: 2 ms of them.
		if f.begun+f.dropped != 10_000 || f.dropped > 3 || tt.queue && f.dropped > 0 {
			t.Errorf("%+v: began %d, dropped %d, want 10000 and none", tt, f.begun, f.dropped)
		}
		slices.Sort(f.latencies)
		if longest := f.latencies[len(f.latencies)-1]; longest < 1.99e9 || longest > 2.01e9 {
			t.Errorf("%+v: the longest latency is %v", tt, time.Duration(longest))
		}
		// 2,000 of 10,000 are late, evenly from 0 to 2 s.
		if got := f.latencies[9000]; got < 0.99e9 || got > 1.01e9 {
			t.Errorf("%+v: p90 is %v, want 1 s", tt, time.Duration(got))
		}
	}
}

// Each arrival without a free user is dropped, and the counts include all of them.
func TestDroppedAndQueuedAreCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := message.WorkflowPlan{
			Name: "w", VUs: rapid.Uint64Range(1, 40).Draw(t, "vus"), Rate: rapid.Uint64Range(1, 500_000).Draw(t, "rate"),
			Poisson: rapid.Bool().Draw(t, "poisson"), Queue: rapid.Bool().Draw(t, "queue"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "stages") {
			p.Stages = append(p.Stages, message.StagePlan{
				Duration: time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "for")), Rate: rapid.Uint64Range(0, 500_000).Draw(t, "to"),
			})
		}
		p.Duration = time.Second
		if p.Stages != nil {
			p.Duration = 0
			for _, s := range p.Stages {
				p.Duration += s.Duration
			}
			p.Duration += time.Millisecond
		}
		if rapid.Bool().Draw(t, "pauses") {
			p.Think = 10 * time.Millisecond
			p.ThinkMax = 30 * time.Millisecond
		}
		cut := rapid.Uint64Range(0, p.VUs).Draw(t, "cut")
		want := uint64(0)
		for a := load.NewArrivals(&p, 7, 0, p.VUs); ; want++ {
			if _, ok := a.Next(); !ok {
				break
			}
		}
		var all figures
		for _, part := range [][2]uint64{{0, cut}, {cut, p.VUs - cut}} {
			if part[1] == 0 {
				continue
			}
			d := planned(p, part[0], part[1])
			s := &server{each: rapid.Int64Range(1, 20e6).Draw(t, "each"), stall: Never}
			all.maxBusy = 0
			all.simulate(t, d, s, Never, Never)
			if all.maxBusy > part[1] {
				t.Fatalf("%d iterations were under way, with %d users", all.maxBusy, part[1])
			}
			if d.figures.Active != 0 || d.busy != 0 {
				t.Fatalf("%d are active, %d busy", d.figures.Active, d.busy)
			}
		}
		if all.begun+all.dropped != want || uint64(len(all.latencies)) != all.begun {
			t.Fatalf("began %d, dropped %d, ended %d; %d were due", all.begun, all.dropped, len(all.latencies), want)
		}
	})
}

// Iterations are distributed over any partition of the users, and each begins once.
func TestIterationsAreShared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := message.WorkflowPlan{Name: "w", VUs: rapid.Uint64Range(1, 30).Draw(t, "vus")}
		p.Iterations = rapid.Uint64Range(p.VUs, 500).Draw(t, "iterations")
		cut := rapid.Uint64Range(0, p.VUs).Draw(t, "cut")
		var all figures
		for _, part := range [][2]uint64{{0, cut}, {cut, p.VUs - cut}} {
			if part[1] > 0 {
				all.simulate(t, planned(p, part[0], part[1]), &server{each: 1000, stall: Never}, Never, Never)
			}
		}
		if all.begun != p.Iterations {
			t.Fatalf("began %d of %d", all.begun, p.Iterations)
		}
	})
}

// With stages as many users are active, over all processes, as the curve says.
func TestStagesOfUsers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := message.WorkflowPlan{Name: "w", VUs: rapid.Uint64Range(1, 60).Draw(t, "vus")}
		for range rapid.IntRange(1, 4).Draw(t, "stages") {
			s := message.StagePlan{Duration: time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "for")), VUs: rapid.Uint64Range(0, p.VUs).Draw(t, "to")}
			p.Stages, p.Duration = append(p.Stages, s), p.Duration+s.Duration
		}
		p.Duration += time.Millisecond
		if rapid.Bool().Draw(t, "thinks") {
			p.Think = 70 * time.Millisecond
		}
		cut := rapid.Uint64Range(0, p.VUs).Draw(t, "cut")
		curve := load.NewActive(&p)
		all := []*Iterations{planned(p, 0, cut), planned(p, cut, p.VUs-cut)}
		for now := int64(0); now < int64(p.Duration); now += 3e6 {
			active, leaving := uint64(0), uint64(0)
			for _, d := range all {
				for vu := range d.users { // iterations take less than a step of this clock
					if d.users[vu].state == userBusy && (vu+int(now/3e6))%3 > 0 {
						d.Ended(int32(vu), now)
					}
				}
				for _, ok := d.Next(now); ok; _, ok = d.Next(now) {
				}
				active += d.figures.Active
				for _, u := range d.users {
					if u.leaving {
						leaving++
					}
				}
			}
			if want := curve.At(time.Duration(now)); active-leaving != want {
				t.Fatalf("at %v %d users are active, %d of them about to leave, want %d", time.Duration(now), active, leaving, want)
			}
		}
	})
}

// A user begins exactly when its pace and its think time allow.
func TestPausesAreKept(t *testing.T) {
	for _, tt := range []struct{ think, most, pace time.Duration }{
		{think: 20 * time.Millisecond}, {think: 10 * time.Millisecond, most: 40 * time.Millisecond},
		{pace: 50 * time.Millisecond}, {think: 60 * time.Millisecond, pace: 50 * time.Millisecond},
	} {
		p := message.WorkflowPlan{Name: "w", VUs: 3, Duration: 5 * time.Second, Think: tt.think, ThinkMax: tt.most, Pace: tt.pace}
		d := planned(p, 0, 3)
		const took = int64(5e6)
		last := map[int32]int64{}
		var ends heap
		var sum, n int64
		for now := int64(0); !d.Done(); now = min(d.Wake(), ends.nextDue()) {
			for ends.nextDue() <= now {
				d.Ended(ends.pop().vu, now)
			}
			for x, ok := d.Next(now); ok; x, ok = d.Next(now) {
				if before, again := last[x.VU]; again {
					gap := time.Duration(now - before)
					low := max(time.Duration(took)+tt.think, tt.pace)
					high := max(time.Duration(took)+max(tt.think, tt.most), tt.pace)
					if gap < low || gap > high {
						t.Fatalf("%+v: user %d began %v after its last iteration", tt, x.VU, gap)
					}
					sum, n = sum+int64(gap), n+1
				}
				last[x.VU] = now
				ends.push(start{due: now + took, vu: x.VU})
			}
		}
		if mean := time.Duration(sum / n); tt.most > 0 && (mean < 28*time.Millisecond || mean > 32*time.Millisecond) {
			t.Errorf("%+v: users think %v in the mean", tt, mean-time.Duration(took))
		}
	}
}

// The weighted step of an iteration depends only on the seed, the user and its iteration.
func TestMixIsTheSameEverywhere(t *testing.T) {
	p := message.WorkflowPlan{Name: "w", VUs: 8, Iterations: 4000, Weighted: true}
	steps := []message.StepPlan{{Name: "a", Weight: 3}, {Name: "b"}, {Name: "c", Weight: 1}}
	picks := func(first, n uint64) map[string]int16 {
		p.Steps = steps
		d := New(Config{Plan: &p, VUs: n, FirstVU: first, Seed: 7})
		all := map[string]int16{}
		for vu := range n {
			for number := uint64(1); number <= 500; number++ {
				all[fmt.Sprint(first+vu, " ", number)] = d.pick(int32(vu), number)
			}
		}
		return all
	}
	whole := picks(0, 8)
	counts := map[int16]int{}
	for _, first := range []uint64{0, 3} {
		n := uint64(3)
		if first == 3 {
			n = 5
		}
		//lint:orderfree each of them is compared, and counted
		for key, step := range picks(first, n) {
			if whole[key] != step {
				t.Fatalf("user and iteration %s take step %d, and %d in another process", key, step, whole[key])
			}
			counts[step]++
		}
	}
	if counts[0]+counts[2] != 4000 || counts[0] < 2880 || counts[0] > 3120 {
		t.Errorf("steps were taken %v times, want three of four the first", counts)
	}
}

func TestScheduleIsAHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s heap
		var all []int64
		for _, x := range rapid.SliceOf(rapid.Int64Range(-1, 50)).Draw(t, "ops") {
			if x < 0 {
				if len(all) == 0 {
					continue
				}
				slices.Sort(all)
				if got := s.pop().due; got != all[0] {
					t.Fatalf("popped %d, want %d", got, all[0])
				}
				all = all[1:]
				continue
			}
			s.push(start{due: x})
			all = append(all, x)
		}
		if len(all) > 0 && s.nextDue() != slices.Min(all) || len(all) == 0 && s.nextDue() != Never {
			t.Fatalf("the first is due at %d of %v", s.nextDue(), all)
		}
	})
}

func BenchmarkArrivals(b *testing.B) {
	b.ReportAllocs()
	d := planned(message.WorkflowPlan{Name: "w", VUs: 1000, Rate: 1 << 40, Duration: 24 * time.Hour}, 0, 1000)
	now := int64(0)
	for b.Loop() {
		p, ok := d.Next(now)
		if !ok {
			now = d.Wake()
			continue
		}
		d.Ended(p.VU, now)
	}
}

func BenchmarkThinking(b *testing.B) {
	b.ReportAllocs()
	d := planned(message.WorkflowPlan{Name: "w", VUs: 10_000, Think: time.Second, Duration: 24 * time.Hour}, 0, 10_000)
	now := int64(0)
	for b.Loop() {
		p, ok := d.Next(now)
		if !ok {
			now = d.Wake()
			continue
		}
		d.Ended(p.VU, now)
	}
}

func BenchmarkRound(b *testing.B) {
	b.ReportAllocs()
	d := planned(message.WorkflowPlan{Name: "w", VUs: 64, Duration: 24 * time.Hour}, 0, 64)
	now := int64(0)
	for b.Loop() {
		p, ok := d.Next(now)
		if !ok {
			b.Fatal("no user is ready")
		}
		now += 1000
		d.Ended(p.VU, now)
	}
}
