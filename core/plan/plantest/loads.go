package plantest

import (
	"strings"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

func ofLoads() []Breach {
	return []Breach{
		{Name: "iterations", Plain: true, Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Iterations = plan.IterationsMax + 1
			return "iterations"
		}},
		{Name: "priority", Plain: true, Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Priority = message.PriorityExclusive + 1
			return "priority"
		}},
		{Name: "session", Plain: true, Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Session = message.SessionNone + 1
			return "session"
		}},
		{Name: "connections", Plain: true, Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Connections = plan.ConnectionsMax + 1
			return "connections"
		}},
		{Name: "reports", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Report = make([]string, plan.ReportsMax+1)
			return "report"
		}},
		{Name: "report", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.Report = []string{"csv=a", BadText(t, plan.ReportMax)}
			return "report[1]"
		}},
		{Name: "rate_per", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.RatePer = rapid.SampledFrom([]time.Duration{1, -time.Second, 2 * time.Second, 24 * time.Hour}).Draw(t, "per")
			return "rate_per"
		}},
		{Name: "rate", Plain: true, Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Rate = plan.RateBound(w.RatePer) + 1
			return "rate"
		}},
	}
}

func ofStages() []Breach {
	return []Breach{
		{Name: "stages", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Stages = make([]message.StagePlan, plan.StagesMax+1)
			return "stages"
		}},
		{Name: "stage duration", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.Stages = []message.StagePlan{{Duration: 1, VUs: 1}, {Duration: rapid.SampledFrom([]time.Duration{-1, plan.DurationMax, 1 << 62}).Draw(t, "long")}}
			return "stages[1].duration"
		}},
		{Name: "stage vus", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Stages = []message.StagePlan{{Duration: 1, VUs: w.VUs + 1}}
			return "stages[0].vus"
		}},
		{Name: "stage rate", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Stages = []message.StagePlan{{Duration: 1, Rate: plan.RateBound(w.RatePer) + 1}}
			return "stages[0].rate"
		}},
		{Name: "stages of both or none", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.Duration, w.Stages = 1, []message.StagePlan{{Duration: 1}}
			if w.Rate > 0 || rapid.Bool().Draw(t, "both") {
				w.Stages[0].VUs, w.Stages[0].Rate = 1, 1
			}
			return "stages"
		}},
		{Name: "stages and duration", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.Rate, w.Duration = 0, rapid.SampledFrom([]time.Duration{0, 1, 3}).Draw(t, "duration")
			w.Stages = []message.StagePlan{{Duration: 2, VUs: 1}}
			if w.Duration == 0 {
				w.Stages[0].Duration = 0 // stages that take no time
			}
			return "duration"
		}},
	}
}

func ofFeeds() []Breach {
	return []Breach{
		{Name: "feed without rows", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Feed = message.FeedPlan{Name: "f"}
			return "feed.rows"
		}},
		{Name: "rows", Set: func(_ *rapid.T, _ *message.Plan, w *w) string { w.Feed.Rows = plan.RowsMax + 1; return "feed.rows" }},
		{Name: "order", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Feed = message.FeedPlan{Name: "f", Rows: 1, Order: message.RowsRandom + 1}
			return "feed.order"
		}},
		{Name: "at_end", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Feed = message.FeedPlan{Name: "f", Rows: 1, AtEnd: message.RowsFail + 1}
			return "feed.at_end"
		}},
		{Name: "unique", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.Feed = message.FeedPlan{Name: "f", Rows: 1, Unique: true, AtEnd: message.RowsStop}
			if rapid.Bool().Draw(t, "random") {
				w.Feed.Order = message.RowsRandom
			} else {
				w.Feed.AtEnd = message.RowsCycle
			}
			return "feed.unique"
		}},
		{Name: "feed name", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.Feed = message.FeedPlan{Name: BadText(t, plan.PathMax), Rows: 1}
			return "feed.name"
		}},
	}
}

func ofCounters() []Breach {
	put := func(p *message.Plan, c message.CounterPlan, key string) string {
		p.Counters = []message.CounterPlan{c}
		return "counters[0]." + key
	}
	ok := message.CounterPlan{Name: "c", Most: 1, AtEnd: message.RowsStop}
	return []Breach{
		{Name: "counters", Set: func(_ *rapid.T, p *message.Plan, _ *w) string {
			p.Counters = make([]message.CounterPlan, plan.CountersMax+1)
			return "counters"
		}},
		{Name: "counter name", Set: func(t *rapid.T, p *message.Plan, _ *w) string {
			c := ok
			c.Name = badName(t)
			return put(p, c, "name")
		}},
		{Name: "counter twice", Set: func(_ *rapid.T, p *message.Plan, _ *w) string {
			p.Counters = []message.CounterPlan{ok, ok}
			return "counters[1].name"
		}},
		{Name: "most", Set: func(t *rapid.T, p *message.Plan, _ *w) string {
			c := ok
			c.Most = rapid.SampledFrom([]uint64{0, plan.CounterMax + 1}).Draw(t, "most")
			return put(p, c, "most")
		}},
		{Name: "counter start", Set: func(_ *rapid.T, p *message.Plan, _ *w) string {
			c := ok
			c.Start = plan.CounterStart + 1
			return put(p, c, "start")
		}},
		{Name: "counter at_end", Set: func(t *rapid.T, p *message.Plan, _ *w) string {
			c := ok
			c.AtEnd = rapid.SampledFrom([]message.RowsEnd{message.RowsCycle, message.RowsFail + 1}).Draw(t, "at end")
			return put(p, c, "at_end")
		}},
	}
}

func ofBarriers() []Breach {
	put := func(p *message.Plan, key string, spoil func(*message.BarrierPlan)) string {
		b := message.BarrierPlan{Name: "b", Users: 2, Timeout: time.Second}
		spoil(&b)
		p.Barriers = []message.BarrierPlan{b}
		return "barriers[0]." + key
	}
	return []Breach{
		{Name: "barriers", Set: func(_ *rapid.T, p *message.Plan, _ *w) string {
			p.Barriers = make([]message.BarrierPlan, plan.BarriersMax+1)
			return "barriers"
		}},
		{Name: "barrier name", Set: func(t *rapid.T, p *message.Plan, _ *w) string {
			bad := badName(t)
			return put(p, "name", func(b *message.BarrierPlan) { b.Name = bad })
		}},
		{Name: "barrier twice", Set: func(_ *rapid.T, p *message.Plan, _ *w) string {
			b := message.BarrierPlan{Name: "b", Users: 2, Timeout: time.Second}
			p.Barriers = []message.BarrierPlan{b, b}
			return "barriers[1].name"
		}},
		{Name: "users", Set: func(t *rapid.T, p *message.Plan, _ *w) string {
			n := rapid.SampledFrom([]uint64{0, 1, plan.VUsMax + 1}).Draw(t, "users")
			return put(p, "users", func(b *message.BarrierPlan) { b.Users = n })
		}},
		{Name: "wait", Set: func(t *rapid.T, p *message.Plan, _ *w) string {
			d := rapid.SampledFrom([]time.Duration{0, -1, plan.WaitMax + 1}).Draw(t, "wait")
			return put(p, "timeout", func(b *message.BarrierPlan) { b.Timeout = d })
		}},
	}
}

func ofThresholds() []Breach {
	ok := message.Threshold{Expr: "x", Of: message.OfErrors, Op: message.OpBelow}
	// Each is planted as a threshold, or as the condition of an abort.
	put := func(t *rapid.T, w *w, spoil func(*message.Threshold)) string {
		x := ok
		spoil(&x)
		if rapid.Bool().Draw(t, "abort") {
			w.AbortWhen = []message.AbortPlan{{For: 1, When: x}}
			return "abort_when[0]"
		}
		w.Thresholds = []message.Threshold{x}
		return "thresholds[0]"
	}
	return []Breach{
		{Name: "thresholds", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Thresholds = make([]message.Threshold, plan.ThresholdsMax+1)
			return "thresholds"
		}},
		{Name: "aborts", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.AbortWhen = make([]message.AbortPlan, plan.AbortsMax+1)
			return "abort_when"
		}},
		{Name: "for", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.AbortWhen = []message.AbortPlan{{When: ok, For: rapid.SampledFrom([]time.Duration{0, -1, plan.DurationMax + 1}).Draw(t, "for")}}
			return "abort_when[0].for"
		}},
		{Name: "expr", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			bad := rapid.SampledFrom([]string{"", strings.Repeat("x", plan.ExprMax+1), "\xff"}).Draw(t, "expr")
			return put(t, w, func(x *message.Threshold) { x.Expr = bad })
		}},
		{Name: "of", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			bad := rapid.SampledFrom([]message.ThresholdOf{0, message.OfAmount + 1}).Draw(t, "of")
			return put(t, w, func(x *message.Threshold) { x.Of = bad }) + ".of"
		}},
		{Name: "phase", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			bad := rapid.SampledFrom([]message.Phase{0, message.PhaseReceive + 1}).Draw(t, "phase")
			return put(t, w, func(x *message.Threshold) { x.Of, x.Phase = message.OfPhase, bad }) + ".phase"
		}},
		{Name: "window of a phase", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			x := ok
			x.Of, x.Phase, x.From = message.OfPhase, message.PhaseWait, 1
			w.Thresholds = []message.Threshold{x}
			return "thresholds[0]"
		}},
		{Name: "measure", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			of := rapid.SampledFrom([]message.ThresholdOf{message.OfMeasure, message.OfCount, message.OfAmount}).Draw(t, "of")
			bad := map[message.ThresholdOf]string{message.OfMeasure: plan.MeasureEvents, message.OfCount: plan.MeasureFirstEvent, message.OfAmount: plan.MeasureEvents}[of]
			return put(t, w, func(x *message.Threshold) { x.Of, x.Measure = of, bad }) + ".measure"
		}},
		{Name: "window of a measure", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			x := ok
			x.Of, x.Measure, x.From = message.OfCount, plan.MeasureEvents, 1
			w.Thresholds = []message.Threshold{x}
			return "thresholds[0]"
		}},
		{Name: "op", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			bad := rapid.SampledFrom([]message.ThresholdOp{0, message.OpAtLeast + 1}).Draw(t, "op")
			return put(t, w, func(x *message.Threshold) { x.Op = bad }) + ".op"
		}},
		{Name: "statistic", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			return put(t, w, func(x *message.Threshold) { x.Statistic = message.StatSum + 1 }) + ".statistic"
		}},
		{Name: "quantile", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			return put(t, w, func(x *message.Threshold) { x.Quantile = 1_000_001 }) + ".quantile"
		}},
		{Name: "step of a threshold", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			return put(t, w, func(x *message.Threshold) { x.Step = "gone" }) + ".step"
		}},
	}
}

func ofParts() []Breach {
	ok := message.Threshold{Expr: "x", Of: message.OfErrors, Op: message.OpBelow}
	return []Breach{
		{Name: "steps of a threshold", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Thresholds = []message.Threshold{{Expr: "x", Of: message.OfErrors, Op: message.OpBelow, Steps: []string{"gone"}}}
			return "thresholds[0].steps[0]"
		}},
		{Name: "part of an abort", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			x := ok
			rapid.SampledFrom([]func(){func() { x.From = 1 }, func() { x.Until = 1 }, func() { x.Over = plan.OverMin }, func() { x.Datacenter = "d" }}).Draw(t, "part")()
			w.AbortWhen = []message.AbortPlan{{For: 1, When: x}}
			return "abort_when[0]"
		}},
		{Name: "from", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			x := ok
			x.From = rapid.SampledFrom([]time.Duration{-1, plan.DurationMax + 1}).Draw(t, "from")
			w.Thresholds = []message.Threshold{x}
			return "thresholds[0].from"
		}},
		{Name: "until", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			x := ok
			x.From, x.Until = 2, rapid.SampledFrom([]time.Duration{-1, 1, 2, plan.DurationMax + 1}).Draw(t, "until")
			w.Thresholds = []message.Threshold{x}
			return "thresholds[0].until"
		}},
		{Name: "over", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			x := ok
			x.Over = rapid.SampledFrom([]time.Duration{-1, 1, plan.OverMin - 1, plan.DurationMax + 1}).Draw(t, "over")
			w.Thresholds = []message.Threshold{x}
			return "thresholds[0].over"
		}},
		{Name: "windows", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			x := ok
			x.Over, w.Duration, w.Stages = plan.OverMin, time.Hour, nil
			w.Thresholds = []message.Threshold{x}
			return "thresholds"
		}},
	}
}
