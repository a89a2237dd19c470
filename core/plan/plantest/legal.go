package plantest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// Edge draws a value between two bounds, often one of the bounds itself.
func Edge[N ~int | ~int64 | ~uint64 | ~uint32](t *rapid.T, what string, least, most N) N {
	return rapid.OneOf(rapid.Just(least), rapid.Just(most), rapid.Custom(func(t *rapid.T) N {
		return least + N(rapid.Uint64Range(0, uint64(most-least)).Draw(t, "above"))
	})).Draw(t, what)
}

// name draws a name that ends in a number: two of them differ.
func name(t *rapid.T, n int) string {
	s := fmt.Sprintf("n-%d", n)
	if rapid.IntRange(0, 9).Draw(t, "long name") == 0 {
		s = strings.Repeat("x", plan.NameMax-len(s)) + s
	}
	return s
}

// Text draws UTF-8 of 1 to most bytes that ends in a number: two of them differ.
func Text(t *rapid.T, n, most int) string {
	s := fmt.Sprintf("é%d", n)
	if rapid.IntRange(0, 9).Draw(t, "long text") == 0 {
		s = strings.Repeat("x", most-len(s)) + s
	}
	return s
}

func tags(t *rapid.T) (all []message.Tag) {
	for i := range Edge(t, "tags", 0, 3) {
		all = append(all, message.Tag{
			Name:  fmt.Sprintf("%s%c", strings.Repeat("n", Edge(t, "tag name", 1, plan.NameMax)-1), 'a'+i),
			Value: strings.Repeat("v", Edge(t, "tag value", 0, plan.TagMax)),
		})
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

func threshold(t *rapid.T, steps []message.StepPlan) message.Threshold {
	x := message.Threshold{
		Expr: strings.Repeat("e", Edge(t, "expr", 1, plan.ExprMax)),
		Of:   message.ThresholdOf(Edge(t, "of", 1, int(message.OfAmount))), Op: message.ThresholdOp(Edge(t, "op", 1, int(message.OpAtLeast))),
		Statistic: message.Statistic(Edge(t, "statistic", 0, int(message.StatSum))),
		Quantile:  Edge(t, "quantile", uint32(0), 1_000_000), Bound: rapid.Int64().Draw(t, "bound"),
	}
	if x.Of == message.OfPhase {
		x.Phase = message.Phase(Edge(t, "phase", 1, int(message.PhaseReceive)))
	}
	for _, m := range plan.Measures() {
		if x.Of == message.OfMeasure && m.Kind == message.MeasureTimes || x.Of == message.OfCount && m.Kind == message.MeasureCount || x.Of == message.OfAmount && m.Kind == message.MeasureAmounts {
			x.Measure = m.Name
		}
	}
	if rapid.Bool().Draw(t, "of a step") {
		x.Step = rapid.SampledFrom(steps).Draw(t, "step").Name
	}
	return x
}

func steps(t *rapid.T) (all []message.StepPlan, weighted bool) {
	for i := range rapid.IntRange(1, 5).Draw(t, "steps") {
		s := message.StepPlan{
			Name: name(t, i), Kind: message.StepKind(Edge(t, "kind", int(message.StepRequest), int(message.StepAction))), Tags: tags(t),
			Unit: rapid.SampledFrom([]string{"", "counter", "rate", "distribution"}).Draw(t, "unit"),
		}
		if rapid.IntRange(0, 3).Draw(t, "weighted") == 0 {
			s.Weight, weighted = Edge(t, "weight", uint32(1), plan.WeightMax), true
		}
		layer := func(k uint32) uint32 { return all[k].Layer }
		var later uint32
		s.After, s.Layer = after(t, i, layer, func(k uint32) bool { return all[k].Weight == 0 })
		s.Behind, later = after(t, i, layer, func(k uint32) bool { return !slices.Contains(s.After, k) })
		s.Layer = max(s.Layer, later)
		all = append(all, s)
	}
	return all, weighted
}

// load draws a load of users, of iterations a second, or of stages of either.
func load(t *rapid.T, w *message.WorkflowPlan, longest time.Duration) {
	w.RatePer = rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute, time.Hour}).Draw(t, "rate per")
	most := plan.RateBound(w.RatePer)
	if rapid.Bool().Draw(t, "rate") {
		w.Rate = Edge(t, "rate", 1, most)
	}
	w.Duration = Edge(t, "duration", 0, longest)
	w.StartDelay = Edge(t, "start_delay", 0, longest-w.Duration)
	if w.Duration == 0 || rapid.Bool().Draw(t, "no stages") {
		return
	}
	left := w.Duration
	n := Edge(t, "stages", 1, plan.StagesMax)
	for i := range n {
		s := message.StagePlan{Duration: left / time.Duration(n)}
		if i == n-1 {
			s.Duration = left - time.Duration(n-1)*s.Duration
		}
		if w.Rate > 0 {
			s.Rate = Edge(t, "stage rate", 0, most)
		} else {
			s.VUs = Edge(t, "stage vus", 1, w.VUs)
		}
		w.Stages = append(w.Stages, s)
	}
}

func feed(t *rapid.T) (f message.FeedPlan) {
	if rapid.Bool().Draw(t, "no feed") {
		return f
	}
	f = message.FeedPlan{
		Name: Text(t, 1, plan.PathMax), Rows: Edge(t, "rows", 1, uint64(plan.RowsMax)),
		Order: message.RowOrder(Edge(t, "order", 0, int(message.RowsRandom))), AtEnd: message.RowsEnd(Edge(t, "at end", 0, int(message.RowsFail))),
	}
	f.Unique = f.Order != message.RowsRandom && f.AtEnd != message.RowsCycle && rapid.Bool().Draw(t, "unique")
	return f
}

func workflow(t *rapid.T, i, of int, before []message.WorkflowPlan) message.WorkflowPlan {
	d := func(what string) time.Duration { return Edge(t, what, 0, plan.DurationMax) }
	w := message.WorkflowPlan{
		Name: name(t, i), Test: true, VUs: Edge(t, "vus", 1, uint64(plan.VUsMax)), Timeout: Edge(t, "timeout", 1, plan.TimeoutMax),
		Think: d("think"), Pace: d("pace"), GracefulStop: d("graceful stop"),
		Interval: rapid.SampledFrom([]time.Duration{0, plan.IntervalMin, plan.DurationMax}).Draw(t, "interval"),
		Memory:   rapid.SampledFrom([]uint64{0, plan.MemoryMin, plan.MemoryMax}).Draw(t, "memory"),
		Cores:    Edge(t, "cores", uint32(0), plan.CoresMax), Iterations: Edge(t, "iterations", uint64(0), plan.IterationsMax),
		Priority: message.Importance(Edge(t, "priority", 0, int(message.PriorityExclusive))), Session: message.SessionMode(Edge(t, "session", 0, 1)),
		Connections: Edge(t, "connections", uint32(0), plan.ConnectionsMax), Tags: tags(t), Feed: feed(t),
	}
	if rapid.Bool().Draw(t, "think max") {
		w.ThinkMax = Edge(t, "think_max", w.Think, plan.DurationMax)
	}
	layer := func(k uint32) uint32 { return before[k].Layer }
	whichever := func(uint32) bool { return true }
	var later uint32
	w.Depends, w.Layer = after(t, i, layer, whichever)
	w.StartAfter, later = after(t, i, layer, whichever)
	w.Layer = max(w.Layer, later)
	w.Steps, w.Weighted = steps(t)
	for range Edge(t, "thresholds", 0, 3) {
		w.Thresholds = append(w.Thresholds, threshold(t, w.Steps))
	}
	for range Edge(t, "aborts", 0, 2) {
		w.AbortWhen = append(w.AbortWhen, message.AbortPlan{For: Edge(t, "for", 1, plan.DurationMax), When: threshold(t, w.Steps)})
	}
	for k := range Edge(t, "reports", 0, 2) {
		w.Report = append(w.Report, Text(t, k, plan.ReportMax))
	}
	w.Jitter = d("jitter")
	if most := plan.IterationsMax / w.VUs; rapid.Bool().Draw(t, "iterations of each") {
		w.UserIterations = Edge(t, "vu_iterations", uint64(1), most)
		w.Iterations = w.UserIterations * w.VUs
	}
	load(t, &w, plan.DurationMax/time.Duration(of)) // as many layers as workflows, at most
	parts(t, &w)
	return w
}

// parts lets one threshold look at parts of the workflow's time.
func parts(t *rapid.T, w *message.WorkflowPlan) {
	if len(w.Thresholds) == 0 {
		return
	}
	x := &w.Thresholds[0]
	if x.Of == message.OfPhase || x.OfProtocol() {
		x.Datacenter = Text(t, 0, plan.NameMax)
		return // it looks at all of the time
	}
	x.From, x.Datacenter = Edge(t, "from", 0, plan.DurationMax-1), Text(t, 0, plan.NameMax)
	if rapid.Bool().Draw(t, "ends") {
		x.Until = Edge(t, "until", x.From+1, plan.DurationMax)
	}
	if w.Duration > 0 && rapid.Bool().Draw(t, "in windows") {
		x.Over = Edge(t, "over", plan.DurationMax/100, plan.DurationMax)
	}
	switch {
	case rapid.Bool().Draw(t, "grouped"):
		x.Step, x.Group = "", Text(t, 1, plan.GroupMax)
	case len(w.Steps) > 0 && rapid.Bool().Draw(t, "tagged"):
		x.Step, x.Steps = "", []string{w.Steps[0].Name}
	}
}

// Legal draws a plan within all bounds.
func Legal(t *rapid.T) *message.Plan {
	p := &message.Plan{Source: Text(t, 0, plan.PathMax)}
	for i := range Edge(t, "params", 0, 2) {
		p.Params = append(p.Params, message.ParamPlan{Name: name(t, i), Value: "v"})
	}
	for i := range Edge(t, "counters", 0, plan.CountersMax) {
		p.Counters = append(p.Counters, message.CounterPlan{
			Name: name(t, i), Most: Edge(t, "most", 1, uint64(plan.CounterMax)), Start: Edge(t, "start", uint64(0), plan.CounterStart),
			AtEnd: message.RowsEnd(Edge(t, "counter at end", int(message.RowsStop), int(message.RowsFail))),
		})
	}
	for i := range Edge(t, "barriers", 0, plan.BarriersMax) {
		p.Barriers = append(p.Barriers, message.BarrierPlan{Name: name(t, i), Users: Edge(t, "users", 2, uint64(plan.VUsMax)), Timeout: Edge(t, "wait", 1, plan.WaitMax)})
	}
	n := rapid.IntRange(1, 3).Draw(t, "workflows")
	for i := range n {
		p.Workflows = append(p.Workflows, workflow(t, i, n, p.Workflows))
	}
	if rapid.IntRange(0, 3).Draw(t, "cleans up") == 0 {
		p.AfterAll = uint32(n) // none waits for the last one
	}
	return p
}

// Copy is the plan as another process reads it.
func Copy(t *rapid.T, p *message.Plan) *message.Plan {
	b, err := p.MarshalMsg(nil)
	if err != nil {
		t.Fatal(err)
	}
	out := &message.Plan{}
	if _, err := out.UnmarshalMsg(b); err != nil {
		t.Fatal(err)
	}
	return out
}
