package verdict_test

import (
	"errors"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/verdict"
)

// first replaces a histogram's quantile: it returns the smallest value plus the parts per
// million, so that a test sees the requested quantile.
func first(h message.Histogram, ppm uint32) (uint64, error) { return h.Min + uint64(ppm), nil }

// stats is one run: two measured steps, a check, a metric, a step that never ran.
func stats() *message.Stats {
	return &message.Stats{Steps: []message.StepStats{
		{Name: "home", Kind: message.StepRequest, OK: 98, Failed: 1, TimedOut: 1,
			Latency: message.Histogram{Count: 2, Sum: 30, Min: 10, Max: 20, Buckets: []byte{11, 1, 10, 1}},
			Phases: []message.PhaseTimes{{Phase: message.PhaseSend, Time: message.Histogram{Count: 2, Sum: 6, Min: 3, Max: 3, Buckets: []byte{4, 2}}},
				{Phase: message.PhaseWait, Time: message.Histogram{Count: 2, Sum: 12, Min: 5, Max: 7, Buckets: []byte{6, 1, 2, 1}}}},
			Measures: message.Measures{List: []message.Measure{{Name: "events", Kind: message.MeasureCount, Count: 4},
				{Name: "consumer_lag", Kind: message.MeasureAmounts, Times: message.Histogram{Count: 1, Sum: 9, Min: 9, Max: 9, Buckets: []byte{10, 1}}},
				{Name: "first_event", Kind: message.MeasureTimes, Times: message.Histogram{Count: 1, Sum: 9, Min: 9, Max: 9, Buckets: []byte{10, 1}}}}}},
		{Name: "cart", Kind: message.StepFunction, Started: 100, OK: 100,
			Latency: message.Histogram{Count: 2, Sum: 40, Min: 10, Max: 30, Buckets: []byte{11, 1, 20, 1}},
			Service: message.Histogram{Count: 1, Sum: 7, Min: 7, Max: 7, Buckets: []byte{8, 1}}},
		{Name: "never", Kind: message.StepRequest, Skipped: 100},
		{Name: "cart/pay/a", Kind: message.StepBeside, OK: 2},
		{Name: "cart/pay/card/b", Kind: message.StepBeside, OK: 1, Failed: 1},
		{Name: "cart/payment/c", Kind: message.StepBeside, Failed: 9},
		{Name: "cart/pay", Kind: message.StepBeside, Failed: 9},
		{Name: "is_me", Kind: message.StepCheck, OK: 2, Failed: 1},
		{Name: "size", Kind: message.StepMetric, Metric: message.Histogram{Count: 4, Sum: 10_000, Min: 1000, Max: 4000}},
	}}
}

func TestJudge(t *testing.T) {
	tests := []struct {
		why   string
		t     message.Threshold
		value int64
		ok    bool
	}{
		{"a step's quantile", message.Threshold{Step: "cart", Of: message.OfLatency, Quantile: 990000, Op: message.OpBelow, Bound: 990011}, 990010, true},
		{"service is another histogram", message.Threshold{Step: "cart", Of: message.OfService, Statistic: message.StatMax, Op: message.OpAtMost, Bound: 7}, 7, true},
		{"a phase of a step", message.Threshold{Step: "home", Of: message.OfPhase, Phase: message.PhaseWait, Statistic: message.StatMax, Op: message.OpBelow, Bound: 8}, 7, true},
		{"a phase of all", message.Threshold{Of: message.OfPhase, Phase: message.PhaseSend, Statistic: message.StatMean, Op: message.OpBelow, Bound: 3}, 3, false},
		{"a phase that never happened has failed", message.Threshold{Step: "home", Of: message.OfPhase, Phase: message.PhaseTLS, Quantile: 990000, Op: message.OpBelow, Bound: 1 << 60}, 0, false},
		{"a measure of amounts", message.Threshold{Step: "home", Of: message.OfAmount, Measure: "consumer_lag", Statistic: message.StatMax, Op: message.OpBelow, Bound: 10}, 9, true},
		{"amounts of what never happened have failed", message.Threshold{Step: "cart", Of: message.OfAmount, Measure: "consumer_lag", Statistic: message.StatMax, Op: message.OpBelow, Bound: 1 << 60}, 0, false},
		{"a measure of times", message.Threshold{Step: "home", Of: message.OfMeasure, Measure: "first_event", Statistic: message.StatMax, Op: message.OpBelow, Bound: 10}, 9, true},
		{"a count of a measure", message.Threshold{Step: "home", Of: message.OfCount, Measure: "events", Op: message.OpAbove, Bound: 3999}, 4000, true},
		{"a count of what never happened is zero", message.Threshold{Step: "cart", Of: message.OfCount, Measure: "events", Op: message.OpBelow, Bound: 1000}, 0, true},
		{"a time of what never happened has failed", message.Threshold{Step: "cart", Of: message.OfMeasure, Measure: "first_event", Quantile: 990000, Op: message.OpBelow, Bound: 1 << 60}, 0, false},
		{"all measured steps, merged", message.Threshold{Of: message.OfLatency, Statistic: message.StatMax, Op: message.OpBelow, Bound: 30}, 30, false},
		{"a mean is compared before it is rounded", message.Threshold{Of: message.OfLatency, Statistic: message.StatMean, Op: message.OpAtMost, Bound: 17}, 17, false},
		{"errors of a step", message.Threshold{Step: "home", Of: message.OfErrors, Op: message.OpAtMost, Bound: 20000}, 20000, true},
		{"errors of all", message.Threshold{Of: message.OfErrors, Op: message.OpBelow, Bound: 10000}, 10000, false},
		{"checks, a third failed", message.Threshold{Of: message.OfChecks, Op: message.OpAtMost, Bound: 666666}, 666666, false},
		{"errors of a group and the groups in it", message.Threshold{Group: "pay", Of: message.OfErrors, Op: message.OpAtMost, Bound: 250_000}, 250_000, true},
		{"errors of a group in a group", message.Threshold{Group: "pay/card", Of: message.OfErrors, Op: message.OpAtMost, Bound: 0}, 500_000, false},
		{"a group without requests has failed", message.Threshold{Group: "card", Of: message.OfErrors, Op: message.OpBelow, Bound: 10_000}, 0, false},
		{"rate of all", message.Threshold{Of: message.OfRate, Op: message.OpAtLeast, Bound: 20_000}, 20_000, true},
		{"rate of a step", message.Threshold{Step: "home", Of: message.OfRate, Op: message.OpAbove, Bound: 10_000}, 10_000, false},
		{"rate of a metric", message.Threshold{Step: "size", Of: message.OfRate, Op: message.OpAtLeast, Bound: 1000}, 1000, true},
		{"a metric's count", message.Threshold{Step: "size", Of: message.OfMetric, Statistic: message.StatCount, Op: message.OpAtLeast, Bound: 4000}, 4000, true},
		{"a metric's sum", message.Threshold{Step: "size", Of: message.OfMetric, Statistic: message.StatSum, Op: message.OpAbove, Bound: 9999}, 10_000, true},
		{"what never ran has failed", message.Threshold{Step: "never", Of: message.OfLatency, Quantile: 990000, Op: message.OpBelow, Bound: 1 << 60}, 0, false},
		{"no errors of what never ran have failed too", message.Threshold{Step: "never", Of: message.OfErrors, Op: message.OpBelow, Bound: 10000}, 0, false},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			test.t.Expr = test.why
			got, err := verdict.Judge(&test.t, stats(), verdict.Length{Elapsed: 10 * time.Second}, first)
			if err != nil || got.Value != test.value || got.OK != test.ok {
				t.Errorf("got %+v, %v; want %d, %v", got, err, test.value, test.ok)
			}
		})
	}
}

// The merged buckets reach the quantile function: 11 twice, then 21, then 31.
func TestJudgeMergesBuckets(t *testing.T) {
	var got message.Histogram
	keep := func(h message.Histogram, _ uint32) (uint64, error) { got = h; return 1, nil }
	if _, err := verdict.Judge(&message.Threshold{Of: message.OfLatency, Quantile: 1, Op: message.OpBelow}, stats(), verdict.Length{Elapsed: time.Second}, keep); err != nil {
		t.Fatal(err)
	}
	if want := string([]byte{11, 2, 10, 1, 10, 1}); string(got.Buckets) != want || got.Count != 4 || got.Sum != 70 {
		t.Errorf("got %+v, want buckets %v", got, []byte(want))
	}
}

func TestJudgeRejectsBrokenHistograms(t *testing.T) {
	s := stats()
	s.Steps[0].Latency.Buckets = []byte{0xff}
	got, err := verdict.Judge(&message.Threshold{Of: message.OfLatency, Op: message.OpBelow}, s, verdict.Length{Elapsed: time.Second}, first)
	if got.OK || !errors.Is(err, verdict.ErrHistogram) {
		t.Errorf("got %v, %v; want ErrHistogram", got, err)
	}
}

func TestJudgeUnknownStep(t *testing.T) {
	_, err := verdict.Judge(&message.Threshold{Expr: "x", Step: "gone", Of: message.OfErrors}, stats(), verdict.Length{Elapsed: time.Second}, first)
	if err == nil {
		t.Error("a step that the statistics do not have was evaluated")
	}
}

// A failure inside a function counts, and each request counts once: a function's own figures are
// those of its calls. What hooks send is no load.
func TestJudgeCountsEachRequestOnce(t *testing.T) {
	s := &message.Stats{Steps: []message.StepStats{
		{Name: "buy", Kind: message.StepFunction, OK: 10},
		{Name: "home", Kind: message.StepRequest, OK: 10},
		{Name: "alone", Kind: message.StepFunction, OK: 10},
		{Name: "buy/a", Kind: message.StepPart, OK: 10},
		{Name: "buy/b", Kind: message.StepPart, Failed: 10},
		{Name: "setup/c", Kind: message.StepBeside, Failed: 100},
	}}
	for _, c := range []struct {
		t     message.Threshold
		value int64
	}{
		{message.Threshold{Of: message.OfRate, Op: message.OpAbove}, 4000},
		{message.Threshold{Of: message.OfErrors, Op: message.OpBelow}, 200_000},
		{message.Threshold{Of: message.OfErrors, Op: message.OpBelow, Step: "buy/b"}, 1_000_000},
		{message.Threshold{Of: message.OfErrors, Op: message.OpBelow, Step: "buy"}, 0},
		{message.Threshold{Of: message.OfRate, Op: message.OpAbove, Step: "setup/c"}, 10_000},
	} {
		got, err := verdict.Judge(&c.t, s, verdict.Length{Elapsed: 10 * time.Second}, first)
		if err != nil || got.Value != c.value {
			t.Errorf("%+v: got %+v, %v, want %d", c.t, got, err, c.value)
		}
	}
}

// Two hundred requests of 10 s, of which 6 s had no load: 50 a second.
func TestRatesLeaveGapsOut(t *testing.T) {
	s := stats()
	s.Gap = 6 * time.Second
	th := message.Threshold{Expr: "rate", Of: message.OfRate, Op: message.OpAtLeast, Bound: 50_000}
	if got, err := verdict.Judge(&th, s, verdict.Length{Elapsed: 10 * time.Second}, first); err != nil || got.Value != 50_000 || !got.OK {
		t.Errorf("got a rate of %+v, %v; want 50000, true", got, err)
	}
}
