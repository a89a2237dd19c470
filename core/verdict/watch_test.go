package verdict_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/verdict"
)

// figure is the state of one step at one look.
type figure struct {
	at         node.Instant
	ok, failed uint64
}

// told is the report of one part at each look.
type told []figure

// window returns what a part's newest look adds to the look at least five seconds before; false
// while there is none.
func (all told) window() (good, bad uint64, ok bool) {
	last := len(all) - 1
	born := 0 // the first look, or the one after the last fall
	for i := 1; i <= last; i++ {
		if all[i].ok < all[i-1].ok || all[i].failed < all[i-1].failed {
			born = i
		}
	}
	for k := last; k >= born; k-- {
		if all[last].at.Sub(all[k].at) >= verdict.Window {
			return all[last].ok - all[k].ok, all[last].failed - all[k].failed, true
		}
		if all[k].at.Sub(all[born].at) < verdict.Settling {
			break // the look at which it settled is the first base
		}
	}
	return 0, 0, false
}

func TestWatchJudgesTheWindow(t *testing.T) {
	fired := 0
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.Int64Range(0, 1_000_000).Draw(t, "bound")
		long := time.Duration(rapid.Int64Range(1, int64(12*time.Second)).Draw(t, "for"))
		w := verdict.NewWatch(message.AbortPlan{For: long, When: message.Threshold{Expr: "x", Step: "home", Of: message.OfErrors, Op: message.OpAbove, Bound: bound}})
		all := make([]told, rapid.IntRange(1, 3).Draw(t, "parts"))
		now := node.Instant(1)
		var began, known node.Instant
		holds := false
		few := rapid.IntRange(0, 10)
		for i := range rapid.IntRange(1, 40).Draw(t, "looks") {
			now = now.Add(time.Duration(rapid.OneOf(rapid.Just(int64(time.Second)), rapid.Int64Range(int64(time.Second), int64(13*time.Second))).Draw(t, "passed")))
			var parts []verdict.Part
			var good, bad uint64
			whole := true
			for k := range all {
				f := figure{at: now}
				if i > 0 {
					f.ok, f.failed = all[k][i-1].ok, all[k][i-1].failed
				}
				if rapid.IntRange(0, 9).Draw(t, "lost") == 0 {
					f.ok, f.failed = f.ok/2, f.failed/2
				}
				f.ok += uint64(few.Draw(t, "ok"))
				f.failed += uint64(few.Draw(t, "failed"))
				all[k] = append(all[k], f)
				g, b, ok := all[k].window()
				good, bad, whole = good+g, bad+b, whole && ok
				parts = append(parts, verdict.Part{Name: string(rune('a' + k)), Teller: 1, Sequence: uint64(i + 1), Stats: message.Stats{Steps: []message.StepStats{
					{Name: "other", Kind: message.StepRequest, OK: uint64(i) * 1000},
					{Name: "home", Kind: message.StepRequest, OK: f.ok, Failed: f.failed},
				}}})
			}
			want := false
			if whole && good+bad > 0 {
				is := bad*1_000_000 > uint64(bound)*(good+bad)
				if is && (!holds || now.Sub(known) > 2*verdict.Window) {
					began = now
				}
				holds, known = is, now
				want = holds && now.Sub(began) >= long
			}
			if _, held, err := w.Observe(now, parts, first, since); err != nil || held != want {
				t.Fatalf("look %d: held is %v, want %v (%v)", i, held, want, err)
			}
			if want {
				fired++
			}
		}
	})
	if fired == 0 {
		t.Error("no condition ever held")
	}
}

// look is one observation of a watch.
type look struct {
	after time.Duration
	step  message.StepStats
	held  bool
	value int64
}

// latencies returns a histogram in which each value is a bucket of its own.
func latencies(ns ...uint64) (h message.Histogram) {
	slices.Sort(ns)
	h.Count = uint64(len(ns))
	before := uint64(0)
	for i, v := range ns {
		if i == 0 {
			h.Min = v
		}
		h.Max = v
		h.Buckets = binary.AppendUvarint(h.Buckets, v-before)
		h.Buckets = binary.AppendUvarint(h.Buckets, 1)
		before = v
	}
	return h
}

func values(h message.Histogram) (all []uint64) {
	at := uint64(0)
	for rest := h.Buckets; len(rest) > 0; {
		gap, n := binary.Uvarint(rest)
		_, more := binary.Uvarint(rest[n:])
		at += gap
		all, rest = append(all, at), rest[n+more:]
	}
	return all
}

// since replaces core/stats.
func since(now, before message.Histogram) (message.Histogram, bool, error) {
	old := values(before)
	left := slices.DeleteFunc(values(now), func(v uint64) bool { return slices.Contains(old, v) })
	return latencies(left...), now.Count >= before.Count, nil
}

func TestWatch(t *testing.T) {
	request := func(ok, failed uint64, ns ...uint64) message.StepStats {
		return message.StepStats{Name: "home", Kind: message.StepRequest, OK: ok, Failed: failed, Latency: latencies(ns...)}
	}
	errors := message.Threshold{Expr: "home.errors > 20%", Step: "home", Of: message.OfErrors, Op: message.OpAbove, Bound: 200_000}
	for _, test := range []struct {
		why   string
		when  message.Threshold
		long  time.Duration
		looks []look
	}{
		{"what was long ago does not count", errors, time.Second, []look{
			{0, request(0, 1000), false, 0}, {5 * time.Second, request(100, 1000), false, 0}, {time.Second, request(200, 1000), false, 0},
		}},
		{"it must hold for its time", errors, 2 * time.Second, []look{
			{0, request(0, 0), false, 0}, {5 * time.Second, request(0, 10), false, 1_000_000}, {time.Second, request(0, 20), false, 1_000_000}, {time.Second, request(0, 30), true, 1_000_000},
		}},
		{"once well, it begins anew", errors, 6 * time.Second, []look{
			{0, request(0, 0), false, 0}, {5 * time.Second, request(0, 10), false, 1_000_000}, {5 * time.Second, request(100, 10), false, 0}, {5 * time.Second, request(100, 110), false, 1_000_000},
			{5 * time.Second, request(100, 120), false, 1_000_000}, {time.Second, request(100, 130), true, 1_000_000},
		}},
		{"a lost attempt begins a new window", errors, time.Second, []look{
			{0, request(0, 0), false, 0}, {5 * time.Second, request(0, 10), false, 1_000_000}, {time.Second, request(0, 4), false, 0}, {2 * time.Second, request(0, 6), false, 0},
			{5 * time.Second, request(0, 10), true, 1_000_000},
		}},
		{"silence is no rate", message.Threshold{Expr: "rate < 5/s", Of: message.OfRate, Op: message.OpBelow, Bound: 5000}, time.Second, []look{
			{0, request(100, 0), false, 0}, {5 * time.Second, request(100, 0), false, 0}, {time.Second, request(100, 0), true, 0},
		}},
		{"silence is no share of errors", errors, time.Second, []look{
			{0, request(0, 100), false, 0}, {5 * time.Second, request(0, 100), false, 0}, {time.Second, request(0, 100), false, 0},
		}},
		{"latencies of the window alone", message.Threshold{Expr: "home.latency.max > 100ns", Step: "home", Of: message.OfLatency, Statistic: message.StatMax, Op: message.OpAbove, Bound: 100}, time.Second, []look{
			{0, request(1, 0, 5000), false, 0}, {5 * time.Second, request(2, 0, 5000, 50), false, 50}, {time.Second, request(3, 0, 5000, 50, 200), false, 200}, {time.Second, request(4, 0, 5000, 50, 200, 1), true, 200},
		}},
	} {
		t.Run(test.why, func(t *testing.T) {
			w := verdict.NewWatch(message.AbortPlan{When: test.when, For: test.long})
			now := node.Instant(1)
			begun := []verdict.Part{{Name: "a", Sequence: 1, Stats: message.Stats{Steps: []message.StepStats{{Name: "home", Kind: message.StepRequest}}}}}
			if _, held, err := w.Observe(now, begun, first, since); held || err != nil {
				t.Errorf("at its beginning it is %v, %v", held, err)
			}
			now = now.Add(verdict.Settling)
			for i, l := range test.looks {
				now = now.Add(l.after)
				s := message.Stats{Steps: []message.StepStats{l.step}}
				value, held, err := w.Observe(now, []verdict.Part{{Name: "a", Sequence: uint64(i + 2), Stats: s}}, first, since)
				if held != l.held || value != l.value || err != nil {
					t.Errorf("look %d: got %d, %v, %v, want %d, %v", i, value, held, err, l.value, l.held)
				}
			}
		})
	}
}

// Another node's reports have another base: the watch judges nothing until that node has
// reported for a window. A node that reports nothing new delays the judgement.
func TestWatchFollowsTellers(t *testing.T) {
	w := verdict.NewWatch(message.AbortPlan{For: time.Second, When: message.Threshold{Expr: "errors > 20%", Of: message.OfErrors, Op: message.OpAbove, Bound: 200_000}})
	var held []int
	now := node.Instant(1)
	for i := range 40 {
		part := verdict.Part{Name: "a", Teller: uint64(i / 15), Sequence: uint64(min(i, 34)), Stats: message.Stats{Steps: []message.StepStats{{Name: "home", Kind: message.StepRequest, Failed: uint64(i) * 10}}}}
		if _, is, err := w.Observe(now, []verdict.Part{part}, first, since); err != nil {
			t.Fatal(err)
		} else if is {
			held = append(held, i)
		}
		now = now.Add(time.Second)
	}
	want := []int{7, 8, 9, 10, 11, 12, 13, 14, 21, 22, 23, 24, 25, 26, 27, 28, 29}
	if !slices.Equal(held, want) {
		t.Errorf("it held at %v, want %v", held, want)
	}
}

func TestText(t *testing.T) {
	for _, test := range []struct {
		of    message.ThresholdOf
		value int64
		want  string
	}{
		{message.OfLatency, 1_234_567, "1.235ms"}, {message.OfErrors, 205_099, "20.50%"}, {message.OfRate, 12_005, "12.005/s"}, {message.OfMetric, 1500, "1.500"},
	} {
		if got := verdict.Text(test.of, test.value); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// A condition on a phase judges the times of its window: what was slow before does not count.
func TestWatchOfAPhase(t *testing.T) {
	w := verdict.NewWatch(message.AbortPlan{When: message.Threshold{Expr: "phase.wait.max > 10ns", Of: message.OfPhase, Phase: message.PhaseWait, Statistic: message.StatMax, Op: message.OpAbove, Bound: 10}, For: 1})
	worst, held := int64(0), false
	for look := range 30 {
		h := message.Histogram{Count: uint64(look + 1), Max: 5}
		if look > 15 {
			h.Max = 50
		}
		s := message.Stats{Steps: []message.StepStats{{Name: "home", Kind: message.StepRequest, OK: uint64(look + 1), Phases: []message.PhaseTimes{
			{Phase: message.PhaseSend, Time: message.Histogram{Count: uint64(look + 1), Max: 900}}, {Phase: message.PhaseWait, Time: h},
		}}}}
		value, is, err := w.Observe(node.Instant(1).Add(time.Duration(look)*time.Second), []verdict.Part{{Name: "p", Teller: 1, Sequence: uint64(look + 1), Stats: s}}, nil,
			func(now, before message.Histogram) (message.Histogram, bool, error) {
				return message.Histogram{Count: now.Count - before.Count, Max: now.Max}, true, nil
			})
		if err != nil {
			t.Fatal(err)
		}
		if is && look < 16 {
			t.Errorf("look %d: it holds at %d", look, value)
		}
		worst, held = max(worst, value), held || is
	}
	if !held || worst != 50 {
		t.Errorf("it held %v, at worst %d", held, worst)
	}
}

// seldom is the report of a part whose workers report each 5 s.
func seldom(sequence, teller, ok, failed uint64) []verdict.Part {
	return []verdict.Part{{Name: "dc1", Teller: teller, Sequence: sequence, Every: 5 * time.Second, Stats: message.Stats{
		Steps: []message.StepStats{{Name: "home", Kind: message.StepRequest, Started: ok + failed, OK: ok, Failed: failed}},
	}}}
}

func errorsAbove(share int64, long time.Duration) *verdict.Watch {
	return verdict.NewWatch(message.AbortPlan{For: long, When: message.Threshold{Expr: "x", Step: "home", Of: message.OfErrors, Op: message.OpAbove, Bound: share}})
}

// A condition that holds aborts the run in time although its figures come each 5 s, and one report
// is lost: a gap of two of them is no silence.
func TestSeldomReportsAreJudged(t *testing.T) {
	w := errorsAbove(100_000, 20*time.Second)
	var aborted time.Duration
	for at := time.Duration(0); at <= 70*time.Second && aborted == 0; at += 5 * time.Second {
		if at == 35*time.Second || at == 40*time.Second {
			continue
		}
		n := uint64(at / time.Second)
		if _, held, err := w.Observe(node.Instant(time.Hour+at), seldom(n+1, 1, 100*n, 100*n), nil, since); err != nil {
			t.Fatal(err)
		} else if held {
			aborted = at
		}
	}
	if aborted != 45*time.Second { // settled at 10 s, judged from 20 s, again at 45 s
		t.Errorf("half of the requests fail for 20 s: the run aborts after %v", aborted)
	}
}

// The manager that takes a subjob over has no figures of most workers in its first reports. What comes
// with those is no news of this moment: old failures abort no run.
func TestATakeOverOfSeldomReportsAbortsNothing(t *testing.T) {
	w := errorsAbove(100_000, time.Second)
	for at := time.Duration(0); at <= 40*time.Second; at += time.Second {
		n, teller := 1000+uint64(at/time.Second), uint64(1)
		ok, failed := 100*n, uint64(50_000) // long ago
		if at >= 20*time.Second {
			known := min(10, uint64((at-20*time.Second)/time.Second)) // tenths of the workers have reported
			ok, failed, teller = ok*known/10, failed*known/10, 2
		}
		if v, held, err := w.Observe(node.Instant(time.Hour+at), seldom(n, teller, ok, failed), nil, since); err != nil || held {
			t.Fatalf("after %v: aborts %v at %d, error %v", at, held, v, err)
		}
	}
}
