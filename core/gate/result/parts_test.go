package result

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/stats"
)

// happening is one request that ended.
type happening struct {
	at      time.Duration
	end     int // 0: OK, 1: failed, 2: timed out
	latency uint64
}

// reported counts happenings as an executor does.
func reported(all []happening, cuts []time.Duration, elapsed time.Duration) message.Stats {
	step := message.StepStats{Name: "get", Kind: message.StepRequest}
	var latency stats.Histogram
	spans := stats.NewSpans(cuts)
	for _, h := range all {
		latency.Record(h.latency)
		s := spans.At(h.at)
		s.Record(h.latency, true, h.latency)
		switch h.end {
		case 0:
			step.OK, s.OK = step.OK+1, s.OK+1
		case 1:
			step.Failed, s.Failed = step.Failed+1, s.Failed+1
		default:
			step.TimedOut, s.TimedOut = step.TimedOut+1, s.TimedOut+1
		}
	}
	step.Latency = latency.Wire()
	out := message.Stats{Elapsed: elapsed, Steps: []message.StepStats{step}}
	if wire := spans.Wire(); len(wire) > 0 {
		out.Spans = []message.StepSpans{{Step: "get", Spans: wire}}
	}
	return out
}

// judgedBy judges a threshold on the happenings of one part of the time.
func judgedBy(x *message.Threshold, all []happening, long time.Duration) (value int64, ok, measured bool) {
	var bad uint64
	var latencies []uint64
	for _, h := range all {
		latencies = append(latencies, h.latency)
		if h.end > 0 {
			bad++
		}
	}
	n := uint64(len(all))
	switch {
	case x.Of == message.OfRate:
		value = int64(n * 1000 * uint64(time.Second) / uint64(long))
	case n == 0:
		return 0, false, false
	case x.Of == message.OfErrors:
		value = int64(bad * 1_000_000 / n)
	default:
		value = int64(slices.Max(latencies))
	}
	if x.Op == message.OpBelow {
		return value, value < x.Bound, true
	}
	return value, value >= x.Bound, true
}

// TestPartsOfTheTimeAreJudgedExactly: on any shards and datacenters, a verdict over parts of the
// time is the one on the requests that ended in them.
func TestPartsOfTheTimeAreJudgedExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const unit = 100 * time.Millisecond
		d := func(what string, least, most int) time.Duration {
			return time.Duration(rapid.IntRange(least, most).Draw(t, what)) * unit
		}
		w := message.WorkflowPlan{Name: "w", Duration: d("duration", 10, 60), Steps: []message.StepPlan{{Name: "get", Kind: message.StepRequest}}}
		x := message.Threshold{
			Expr: "x", Of: rapid.SampledFrom([]message.ThresholdOf{message.OfErrors, message.OfRate, message.OfLatency}).Draw(t, "of"),
			Statistic: message.StatMax, Op: rapid.SampledFrom([]message.ThresholdOp{message.OpBelow, message.OpAtLeast}).Draw(t, "op"),
		}
		x.Bound = rapid.Int64Range(0, map[message.ThresholdOf]int64{message.OfErrors: 1_000_000, message.OfRate: 20_000, message.OfLatency: 300}[x.Of]).Draw(t, "bound")
		if rapid.Bool().Draw(t, "after") {
			x.From = d("from", 1, 9)
		}
		if rapid.Bool().Draw(t, "stage") {
			x.Until = x.From + d("stage", 1, 30)
			if x.Until >= w.Duration {
				x.Until = 0
			}
		}
		if rapid.Bool().Draw(t, "windows") {
			x.Over = 2 * d("hop", 1, 20)
		}
		w.Thresholds = []message.Threshold{x}
		elapsed := d("elapsed", 1, 70)
		var places []message.DatacenterResult
		var all []happening
		for i := range rapid.IntRange(1, 3).Draw(t, "places") {
			mine := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) happening {
				return happening{
					time.Duration(rapid.Int64Range(0, int64(elapsed)-1).Draw(t, "at")) / unit * unit, rapid.IntRange(0, 2).Draw(t, "end"), rapid.Uint64Range(1, 300).Draw(t, "latency"),
				}
			}), 0, 20).Draw(t, "happenings")
			all = append(all, mine...)
			places = append(places, message.DatacenterResult{Name: fmt.Sprint("d", i), Workflows: []message.WorkflowResult{
				{Name: "w", State: message.WorkflowCompleted, Stats: reported(mine, plan.Cuts(&w), elapsed)},
			}})
		}
		got := Merge(message.Result{State: message.JobCompleted, Datacenters: places}, &message.Plan{Workflows: []message.WorkflowPlan{w}}).Result
		if len(got.Workflows[0].Stats.Spans) > 0 {
			t.Fatal("a result has spans")
		}

		// The model: each window on its own.
		end := elapsed
		if x.Until > 0 {
			end = min(end, x.Until)
		}
		type window struct{ from, until time.Duration }
		windows := []window{{x.From, end}}
		if last := min(end, w.Duration); x.Over > 0 && x.From < last {
			windows = nil
			for from := x.From; ; from += x.Over / 2 {
				if from+x.Over >= last {
					windows = append(windows, window{from, end})
					break
				}
				windows = append(windows, window{from, from + x.Over})
			}
		}
		want := message.ThresholdResult{Workflow: "w", Expr: "x", Of: x.Of, OK: true, Unmeasured: true}
		for _, in := range windows {
			if x.From >= end || x.Over > 0 && x.From >= min(end, w.Duration) && in.from != x.From {
				continue
			}
			var part []happening
			for _, h := range all {
				if h.at >= in.from && h.at < in.until {
					part = append(part, h)
				}
			}
			value, ok, measured := judgedBy(&x, part, in.until-in.from)
			if !measured {
				continue
			}
			worse := value > want.Value
			if x.Op == message.OpAtLeast {
				worse = value < want.Value
			}
			if want.Unmeasured || worse {
				want.Value = value
				if x.Over > 0 {
					want.From, want.Until = in.from, in.until
				}
			}
			want.Unmeasured, want.OK = false, want.OK && ok
		}
		if happened := slices.ContainsFunc(all, func(h happening) bool { return h.at >= x.From && h.at < end }); !happened {
			want = message.ThresholdResult{Workflow: "w", Expr: "x", Of: x.Of, Unmeasured: true}
		}
		want.OK = want.OK && !want.Unmeasured
		if got.Thresholds[0] != want {
			t.Fatalf("%+v over %v of %v, %+v:\n got %+v\nwant %+v", x, elapsed, w.Duration, all, got.Thresholds[0], want)
		}
	})
}
