package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// edge draws a value between two bounds, often one of the bounds itself.
func edge[N ~int | ~int64 | ~uint64 | ~uint32](t *rapid.T, what string, least, most N) N {
	return rapid.OneOf(rapid.Just(least), rapid.Just(most), rapid.Custom(func(t *rapid.T) N {
		return least + N(rapid.Uint64Range(0, uint64(most-least)).Draw(t, "above"))
	})).Draw(t, what)
}

// legalName draws UTF-8 of 1 to most bytes that ends in a number: two of them differ.
func legalName(t *rapid.T, n, most int) string {
	name := fmt.Sprintf("é%d", n)
	if rapid.IntRange(0, 9).Draw(t, "long name") == 0 {
		name = strings.Repeat("x", most-len(name)) + name
	}
	return name
}

// legalTags draws sorted tags.
func legalTags(t *rapid.T) (all []message.Tag) {
	for i := range edge(t, "tags", 0, 3) {
		all = append(all, message.Tag{Name: fmt.Sprintf("%s%c", strings.Repeat("n", edge(t, "tag name", 1, nameMax)-1), 'a'+i), Value: strings.Repeat("v", edge(t, "tag value", 0, tagMax))})
	}
	slices.SortFunc(all, func(a, b message.Tag) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b message.Tag) bool { return a.Name == b.Name })
}

// after draws ascending indices below n, and says how long the longest chain to them is.
func after(t *rapid.T, n int, layer func(uint32) uint32, may func(uint32) bool) (list []uint32, longest uint32) {
	for i := range uint32(n) {
		if may(i) && rapid.IntRange(0, 2).Draw(t, "waits") == 0 {
			list, longest = append(list, i), max(longest, layer(i)+1)
		}
	}
	return list, longest
}

func legalThreshold(t *rapid.T, steps []message.StepPlan) message.Threshold {
	x := message.Threshold{
		Expr: strings.Repeat("e", edge(t, "expr", 1, tagMax)), Of: message.ThresholdOf(edge(t, "of", 1, 6)), Op: message.ThresholdOp(edge(t, "op", 1, 4)),
		Quantile: edge(t, "quantile", uint32(0), 1_000_000), Bound: rapid.Int64().Draw(t, "bound"),
	}
	if rapid.Bool().Draw(t, "of a step") {
		x.Step = rapid.SampledFrom(steps).Draw(t, "step").Name
	}
	return x
}

func legalSteps(t *rapid.T) (all []message.StepPlan, weighted bool) {
	for i := range rapid.IntRange(1, 5).Draw(t, "steps") {
		s := message.StepPlan{Name: legalName(t, i, nameMax), Kind: message.StepKind(edge(t, "kind", 1, 5)), Tags: legalTags(t)}
		if rapid.IntRange(0, 3).Draw(t, "weighted") == 0 {
			s.Weight, weighted = edge(t, "weight", uint32(1), weightMax), true
		}
		s.After, s.Layer = after(t, i, func(k uint32) uint32 { return all[k].Layer }, func(k uint32) bool { return all[k].Weight == 0 })
		all = append(all, s)
	}
	return all, weighted
}

// legalLoad draws a load of users, of passes a second, or of stages of either.
func legalLoad(t *rapid.T, w *message.WorkflowPlan) {
	w.RatePer = rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute, time.Hour}).Draw(t, "rate per")
	most := uint64(rateMax) * 1000 * uint64(max(w.RatePer, time.Second)/time.Second)
	if rapid.Bool().Draw(t, "rate") {
		w.Rate = edge(t, "rate", 1, most)
	}
	w.Duration = edge(t, "duration", 0, longest)
	if w.Duration == 0 || rapid.Bool().Draw(t, "no stages") {
		return
	}
	left := w.Duration
	n := edge(t, "stages", 1, stagesMax)
	for i := range n {
		s := message.StagePlan{Duration: left / time.Duration(n)}
		if i == n-1 {
			s.Duration = left - time.Duration(n-1)*s.Duration
		}
		if w.Rate > 0 {
			s.Rate = edge(t, "stage rate", 0, most)
		} else {
			s.VUs = edge(t, "stage vus", 1, w.VUs)
		}
		w.Stages = append(w.Stages, s)
	}
}

func legalFeed(t *rapid.T) (f message.FeedPlan) {
	if rapid.Bool().Draw(t, "no feed") {
		return f
	}
	f = message.FeedPlan{
		Name: legalName(t, 1, pathMax), Rows: edge(t, "rows", 1, uint64(rowsMax)),
		Order: message.RowOrder(edge(t, "order", 0, 2)), AtEnd: message.RowsEnd(edge(t, "at end", 0, 2)),
	}
	f.Unique = f.Order != message.RowsRandom && f.AtEnd != message.RowsCycle && rapid.Bool().Draw(t, "unique")
	return f
}

func legalWorkflow(t *rapid.T, i int, before []message.WorkflowPlan) message.WorkflowPlan {
	d := func(what string) time.Duration { return edge(t, what, 0, longest) }
	w := message.WorkflowPlan{
		Name: legalName(t, i, nameMax), VUs: edge(t, "vus", 1, uint64(vusMax)), Timeout: edge(t, "timeout", 1, longest),
		Think: d("think"), Pace: d("pace"), GracefulStop: d("graceful stop"), Interval: d("interval"),
		Cores: edge(t, "cores", uint32(0), coresMax), Iterations: edge(t, "iterations", uint64(0), iterationsMax),
		Priority: message.Importance(edge(t, "priority", 0, 4)), Session: message.SessionMode(edge(t, "session", 0, 1)),
		Connections: edge(t, "connections", uint32(0), connectionsMax), Tags: legalTags(t), Feed: legalFeed(t),
	}
	if rapid.Bool().Draw(t, "think max") {
		w.ThinkMax = edge(t, "think_max", w.Think, longest)
	}
	layer := func(k uint32) uint32 { return before[k].Layer }
	whichever := func(uint32) bool { return true }
	var later uint32
	w.Depends, w.Layer = after(t, i, layer, whichever)
	w.StartAfter, later = after(t, i, layer, whichever)
	w.Layer = max(w.Layer, later)
	w.Steps, w.Weighted = legalSteps(t)
	for range edge(t, "thresholds", 0, 3) {
		w.Thresholds = append(w.Thresholds, legalThreshold(t, w.Steps))
	}
	for range edge(t, "aborts", 0, 2) {
		w.AbortWhen = append(w.AbortWhen, message.AbortPlan{For: edge(t, "for", 1, longest), When: legalThreshold(t, w.Steps)})
	}
	for k := range edge(t, "reports", 0, 2) {
		w.Report = append(w.Report, legalName(t, k, pathMax))
	}
	legalLoad(t, &w)
	return w
}

// legalSubmit draws a submission within all bounds.
func legalSubmit(t *rapid.T) *message.JobSubmit {
	s := &message.JobSubmit{
		Request: message.RequestID{Counter: 1}, Key: legalName(t, 0, keyMax), Name: strings.Repeat("n", edge(t, "name", 0, nameMax)),
		RunTimeout: edge(t, "run timeout", 0, Default().RunTimeoutMax),
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "files") {
		s.Program.Files = append(s.Program.Files, message.File{Name: legalName(t, i, pathMax), Data: make([]byte, rapid.IntRange(0, 99).Draw(t, "bytes"))})
	}
	s.Program.Main = rapid.SampledFrom(s.Program.Files).Draw(t, "main").Name
	for i := range edge(t, "feeds", 0, 2) {
		f := message.FeedFile{Name: legalName(t, i, pathMax), Bytes: edge(t, "size", 1, uint64(feedSizeMax)), Digest: message.FileDigest{1}, Rows: edge(t, "file rows", 1, uint64(rowsMax))}
		for c := range edge(t, "columns", 1, columnsMax) {
			f.Columns = append(f.Columns, legalName(t, c, columnMax))
		}
		s.Program.Feeds = append(s.Program.Feeds, f)
	}
	for i := range edge(t, "datacenters", 0, Default().DatacentersMax) {
		s.Datacenters = append(s.Datacenters, fmt.Sprintf("Eu-W.%d_%s", i, strings.Repeat("z", edge(t, "place", 0, placeMax-10))))
	}
	s.Plan.Source = legalName(t, 0, pathMax)
	for i := range rapid.IntRange(1, 3).Draw(t, "workflows") {
		s.Plan.Workflows = append(s.Plan.Workflows, legalWorkflow(t, i, s.Plan.Workflows))
	}
	return s
}

// copied is the submission as another process reads it.
func copied(t *rapid.T, s *message.JobSubmit) *message.JobSubmit {
	b, err := message.Append(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	body, err := message.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return body.(*message.JobSubmit)
}

// TestPlansWithinTheirBoundsAreAccepted: a gate accepts a submission whose every value is
// within its bounds. It rejects the same submission with one bound broken, and its fault
// names the field and what it got.
func TestPlansWithinTheirBoundsAreAccepted(t *testing.T) {
	m := New(Default())
	rapid.Check(t, func(t *rapid.T) {
		legal := legalSubmit(t)
		if code, why := m.check(legal); code != message.CodeNone {
			t.Fatalf("a submission within all bounds is rejected: %v, %s", code, why)
		}
		for _, b := range breaks() {
			s := copied(t, legal)
			at := rapid.IntRange(0, len(s.Plan.Workflows)-1).Draw(t, "workflow")
			w := &s.Plan.Workflows[at]
			want := b.set(t, s, w)
			if want == "" {
				continue // this plan has no place for it
			}
			prefix := ""
			if b.inside {
				prefix = fmt.Sprintf("workflow %q: ", w.Name)
			}
			code, why := m.check(s)
			if code != b.code || !strings.HasPrefix(why, prefix) || !strings.Contains(why, want) {
				t.Fatalf("%s: got %v, %q; want %v and %q", b.name, code, why, b.code, want)
			}
			if !utf8.ValidString(why) || len(why) > 4*pathMax {
				t.Fatalf("%s: the fault is no text for people: %d bytes, %q", b.name, len(why), why)
			}
		}
	})
}

// TestRunsAreGivenTimeForTheirPasses: the time of a run covers each chain of workflows,
// by a search over all chains, and stays within its bound.
func TestRunsAreGivenTimeForTheirIterations(t *testing.T) {
	c := Default()
	rapid.Check(t, func(t *rapid.T) {
		m := New(c)
		s := legalSubmit(t)
		small := func(what string) time.Duration {
			return time.Duration(rapid.IntRange(1, 99).Draw(t, what)) * time.Second
		}
		for i := range s.Plan.Workflows {
			w := &s.Plan.Workflows[i]
			w.Timeout, w.Think, w.ThinkMax, w.Pace, w.GracefulStop = small("timeout"), small("think"), 0, small("pace"), small("stop")
			w.Duration, w.Stages = rapid.SampledFrom([]time.Duration{0, small("duration")}).Draw(t, "or none"), nil
			w.VUs, w.Iterations = 1, rapid.Uint64Range(0, 9).Draw(t, "iterations")
		}
		if s.RunTimeout > 0 {
			if got := m.runTimeout(s); got != s.RunTimeout {
				t.Fatalf("the run is given %v, %v was asked for", got, s.RunTimeout)
			}
		}
		s.RunTimeout = 0
		var need func(i uint32) time.Duration // until workflow i has ended
		need = func(i uint32) (before time.Duration) {
			w := &s.Plan.Workflows[i]
			for _, k := range slices.Concat(w.Depends, w.StartAfter) {
				before = max(before, need(k))
			}
			if w.Duration > 0 {
				return before + w.Duration + max(w.Timeout, w.GracefulStop)
			}
			layers := uint32(0)
			for k := range w.Steps {
				layers = max(layers, w.Steps[k].Layer+1)
			}
			return before + time.Duration(max(w.Iterations, 1))*max(time.Duration(layers)*w.Timeout+w.Think, w.Pace)
		}
		got := m.runTimeout(s)
		for i := range s.Plan.Workflows {
			if n := need(uint32(i)) + c.RunTimeoutExtra; got < min(n, c.RunTimeoutMax) {
				t.Fatalf("the run is given %v, workflow %d may need %v", got, i, n)
			}
		}
		if got > c.RunTimeoutMax {
			t.Fatalf("the run is given %v, the bound is %v", got, c.RunTimeoutMax)
		}
	})
}
