package verdict_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/verdict"
)

// measure is one step as a list of events: the simplest form of its statistics.
type measure struct {
	name                      string
	kind                      message.StepKind
	ok, failed, timedOut      uint64
	latency, service, metrics []uint64
}

// histogram encodes values, each in a bucket of its own index; equal ones share a bucket.
func histogram(all []uint64) message.Histogram {
	all = slices.Sorted(slices.Values(all))
	h := message.Histogram{Count: uint64(len(all))}
	before := uint64(0)
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n] == all[i] {
			n++
		}
		h.Buckets = appendPair(h.Buckets, all[i]-before, uint64(n))
		before, i = all[i], i+n
	}
	for _, v := range all {
		h.Sum += v
		h.Min, h.Max = all[0], v
	}
	return h
}

func appendPair(b []byte, gap, n uint64) []byte {
	for _, v := range []uint64{gap, n} {
		for ; v >= 0x80; v >>= 7 {
			b = append(b, byte(v)|0x80)
		}
		b = append(b, byte(v))
	}
	return b
}

// read is the inverse of histogram: it fails if buckets do not ascend, or do not add up.
func read(h message.Histogram) (all []uint64, err error) {
	at, rest := uint64(0), h.Buckets
	number := func() (n uint64) {
		for shift := 0; len(rest) > 0; shift += 7 {
			b := rest[0]
			rest = rest[1:]
			if n |= uint64(b&0x7f) << shift; b < 0x80 {
				break
			}
		}
		return n
	}
	for len(rest) > 0 {
		gap := number()
		if gap == 0 {
			return nil, errors.New("buckets do not ascend")
		}
		at += gap
		for range number() {
			all = append(all, at)
		}
	}
	if uint64(len(all)) != h.Count {
		return nil, fmt.Errorf("%d values of %d", len(all), h.Count)
	}
	return all, nil
}

func rankOf(all []uint64, ppm uint32) uint64 {
	return all[min(len(all)-1, int(uint64(len(all))*uint64(ppm)/1_000_000))]
}

// quantile returns the value at a rank.
func quantile(h message.Histogram, ppm uint32) (uint64, error) {
	all, err := read(h)
	if err != nil {
		return 0, err
	}
	return rankOf(all, ppm), nil
}

func drawMeasures(t *rapid.T) (all []measure) {
	values := rapid.SliceOfN(rapid.Uint64Range(1, 400), 0, 6)
	count := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(1, 9), rapid.Uint64Range(1<<40, 1<<55))
	for i := range rapid.IntRange(0, 5).Draw(t, "steps") {
		m := measure{name: fmt.Sprintf("s%d", i), kind: message.StepKind(rapid.IntRange(1, 5).Draw(t, "kind"))}
		if m.kind == message.StepMetric {
			m.metrics = values.Draw(t, "metric")
		} else {
			m.ok, m.failed, m.timedOut = count.Draw(t, "ok"), count.Draw(t, "failed"), count.Draw(t, "timed out")
		}
		if m.kind == message.StepRequest || m.kind == message.StepFunction {
			m.latency, m.service = values.Draw(t, "latency"), values.Draw(t, "service")
		}
		all = append(all, m)
	}
	return all
}

func statsOf(all []measure) *message.Stats {
	s := &message.Stats{}
	for _, m := range all {
		s.Steps = append(s.Steps, message.StepStats{
			Name: m.name, Kind: m.kind, OK: m.ok, Failed: m.failed, TimedOut: m.timedOut,
			Latency: histogram(m.latency), Service: histogram(m.service), Metric: histogram(m.metrics),
		})
	}
	return s
}

// number returns the model's value, exact; nil: nothing happened.
func number(t *message.Threshold, all []measure, elapsed time.Duration) *big.Rat {
	var ok, bad, sum uint64
	var latency, service, metrics []uint64
	metric := false
	for _, m := range all {
		timed := m.kind == message.StepRequest || m.kind == message.StepFunction
		wanted := m.name == t.Step
		if t.Step == "" {
			wanted = timed && t.Of != message.OfChecks && t.Of != message.OfMetric || m.kind == message.StepCheck && t.Of == message.OfChecks
		}
		if !wanted {
			continue
		}
		ok += m.ok
		bad += m.failed + m.timedOut
		latency, service, metrics = append(latency, m.latency...), append(service, m.service...), append(metrics, m.metrics...)
		metric = metric || m.kind == message.StepMetric
	}
	for _, v := range metrics {
		sum += v
	}
	ratio := func(a, scale, b uint64) *big.Rat {
		if b == 0 {
			return nil
		}
		x := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(scale))
		return new(big.Rat).SetFrac(x, new(big.Int).SetUint64(b))
	}
	values := map[message.ThresholdOf][]uint64{message.OfLatency: latency, message.OfService: service, message.OfMetric: metrics}[t.Of]
	switch t.Of {
	case message.OfErrors:
		return ratio(bad, 1_000_000, ok+bad)
	case message.OfChecks:
		return ratio(ok, 1_000_000, ok+bad)
	case message.OfRate:
		switch {
		case elapsed <= 0 || !metric && ok+bad == 0:
			return nil
		case metric: // the sum, which is in thousandths already
			return ratio(sum, uint64(time.Second), uint64(elapsed))
		}
		return ratio(ok+bad, 1000*uint64(time.Second), uint64(elapsed))
	}
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	sum = 0
	for _, v := range values {
		sum += v
	}
	switch t.Statistic {
	case message.StatMin:
		return ratio(values[0], 1, 1)
	case message.StatMax:
		return ratio(values[len(values)-1], 1, 1)
	case message.StatMean:
		return ratio(sum, 1, uint64(len(values)))
	case message.StatSum:
		return ratio(sum, 1, 1)
	case message.StatCount:
		return ratio(uint64(len(values)), 1000, 1)
	}
	return ratio(rankOf(values, t.Quantile), 1, 1)
}

func judged(x *big.Rat, op message.ThresholdOp, bound int64) bool {
	c := x.Cmp(new(big.Rat).SetInt64(bound))
	return op == message.OpBelow && c < 0 || op == message.OpAtMost && c <= 0 || op == message.OpAbove && c > 0 || op == message.OpAtLeast && c >= 0
}

// floored returns x as an int64.
func floored(x *big.Rat) int64 {
	n := new(big.Int).Quo(x.Num(), x.Denom())
	if !n.IsInt64() {
		return math.MaxInt64
	}
	return n.Int64()
}

func drawThreshold(t *rapid.T, all []measure) *message.Threshold {
	x := &message.Threshold{
		Expr: "x", Of: message.ThresholdOf(rapid.IntRange(1, 6).Draw(t, "of")), Op: message.ThresholdOp(rapid.IntRange(0, 4).Draw(t, "op")),
		Statistic: message.Statistic(rapid.IntRange(0, 5).Draw(t, "statistic")), Quantile: rapid.Uint32Range(0, 1_000_000).Draw(t, "quantile"),
	}
	if len(all) > 0 && rapid.Bool().Draw(t, "of a step") {
		x.Step = rapid.SampledFrom(all).Draw(t, "step").name
	}
	return x
}

// TestVerdictsAreThoseOfTheValues: a verdict on statistics is the one that exact arithmetic
// gives on the values themselves. The bound is at the value, beside it, or anywhere.
func TestVerdictsAreThoseOfTheValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawMeasures(t)
		s := statsOf(all)
		elapsed := time.Duration(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 99), rapid.Int64Range(1, 1<<40)).Draw(t, "elapsed"))
		for range 5 {
			x := drawThreshold(t, all)
			want := number(x, all, elapsed)
			x.Bound = rapid.Int64().Draw(t, "bound")
			if want != nil && rapid.IntRange(0, 3).Draw(t, "near") > 0 {
				x.Bound = floored(want)
				if x.Bound > 0 && x.Bound < math.MaxInt64 {
					x.Bound += rapid.Int64Range(-1, 1).Draw(t, "beside")
				}
			}
			got, err := verdict.Judge(x, s, verdict.Length{Elapsed: elapsed}, quantile)
			value, ok := got.Value, got.OK
			switch {
			case err != nil:
				t.Fatalf("%+v: %v", x, err)
			case want == nil:
				if got != (verdict.Judgement{}) {
					t.Fatalf("%+v: nothing happened, and it is %d, %v", x, value, ok)
				}
			case value != floored(want) || ok != judged(want, x.Op, x.Bound):
				t.Fatalf("%+v: got %d, %v; exactly it is %s, %v", x, value, ok, want.FloatString(6), judged(want, x.Op, x.Bound))
			}
		}
	})
}

// TestWhatCannotBeJudgedIsAnError: a threshold of an unknown kind, or of a step without
// statistics, and invalid histograms give an error. It names the threshold, which then does not
// hold.
func TestWhatCannotBeJudgedIsAnError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := append(drawMeasures(t), measure{name: "home", kind: message.StepRequest, latency: []uint64{1}, service: []uint64{2}},
			measure{name: "cart", kind: message.StepFunction, latency: []uint64{3}, service: []uint64{2}})
		s := statsOf(all)
		x := drawThreshold(t, all)
		x.Expr, x.Step = "the one", ""
		broken := false
		switch rapid.IntRange(0, 2).Draw(t, "what") {
		case 0:
			x.Of = message.ThresholdOf(rapid.SampledFrom([]int{0, 11, 255}).Draw(t, "no kind"))
		case 1:
			x.Step = "gone"
			if x.Of == message.OfNone {
				x.Of = message.OfErrors
			}
		default: // no distance, one above the bound, half a number, no count
			x.Of, broken = message.OfLatency, true
			s.Steps[len(s.Steps)-1].Latency.Buckets = rapid.SampledFrom([][]byte{{0, 1}, {0x80, 0x80, 0x80, 0x80, 0x80, 1, 1}, {0xff}, {1}, {1, 0xff}}).Draw(t, "buckets")
		}
		got, err := verdict.Judge(x, s, verdict.Length{Elapsed: time.Second}, quantile)
		if got.OK || err == nil || broken != errors.Is(err, verdict.ErrHistogram) || !strings.HasPrefix(err.Error(), `threshold "the one": `) {
			t.Fatalf("%+v: got %v, %v", x, got, err)
		}
	})
}
