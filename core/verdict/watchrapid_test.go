package verdict_test

import (
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/verdict"
)

// later replaces core/stats: what arrived after an earlier state, value by value.
func later(now, before message.Histogram) (message.Histogram, bool, error) {
	left, err := read(now)
	if err != nil {
		return message.Histogram{}, false, err
	}
	old, err := read(before)
	for _, v := range old {
		at := slices.Index(left, v)
		if at < 0 {
			return message.Histogram{}, false, nil
		}
		left = slices.Delete(left, at, at+1)
	}
	return histogram(left), err == nil, err
}

// grown returns a measure after some more time.
func grown(t *rapid.T, m measure) measure {
	few := rapid.Uint64Range(0, 3)
	values := rapid.SliceOfN(rapid.Uint64Range(1, 99), 0, 2)
	if m.kind == message.StepMetric {
		m.metrics = slices.Concat(m.metrics, values.Draw(t, "metric"))
		return m
	}
	m.ok, m.failed, m.timedOut = m.ok+few.Draw(t, "ok"), m.failed+few.Draw(t, "failed"), m.timedOut+few.Draw(t, "timed out")
	if m.kind == message.StepRequest || m.kind == message.StepFunction {
		m.latency, m.service = slices.Concat(m.latency, values.Draw(t, "latency")), slices.Concat(m.service, values.Draw(t, "service"))
	}
	return m
}

// gained returns what a measure gained since an earlier one.
func gained(now, before measure) measure {
	now.ok, now.failed, now.timedOut = now.ok-before.ok, now.failed-before.failed, now.timedOut-before.timedOut
	now.latency, now.service, now.metrics = now.latency[len(before.latency):], now.service[len(before.service):], now.metrics[len(before.metrics):]
	return now
}

// TestWatchesJudgeEveryKindByTheirWindow: looking each second, a watch of any kind has the
// value of what all parts gained in the last five seconds. It holds once that was true at two
// consecutive looks, unless it judged nothing for twice the window between them. A part whose
// histogram is no later state begins a new window.
func TestWatchesJudgeEveryKindByTheirWindow(t *testing.T) {
	judgedLooks := 0
	rapid.Check(t, func(t *rapid.T) {
		kinds := []measure{{name: "a", kind: message.StepRequest}, {name: "b", kind: message.StepFunction}, {name: "c", kind: message.StepCheck}, {name: "d", kind: message.StepMetric}}
		x := drawThreshold(t, kinds)
		x.Bound = rapid.Int64Range(0, 60).Draw(t, "bound")
		w := verdict.NewWatch(message.AbortPlan{When: *x, For: 1})
		told := make([][][]measure, rapid.IntRange(1, 3).Draw(t, "parts"))
		settled := int(verdict.Settling/time.Second) - 1 // the last look before it settles is the first base
		base := make([]int, len(told))                   // the first look that may be a base
		held, judgedAt := false, 0
		for look := range rapid.IntRange(8, 20).Draw(t, "looks") {
			odd := -1
			if look > settled && rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
				odd = rapid.IntRange(0, len(told)-1).Draw(t, "which")
			}
			var parts []verdict.Part
			var window []measure
			whole := true
			for k := range told {
				all := slices.Clone(kinds)
				for i := range all {
					if look > 0 {
						all[i] = told[k][look-1][i]
					}
					all[i] = grown(t, all[i])
				}
				told[k] = append(told[k], all)
				if base[k] = max(base[k], settled); odd == k {
					base[k] = look
				}
				from := look - int(verdict.Window/time.Second)
				if whole = whole && from >= base[k]; whole {
					for i := range all {
						window = append(window, gained(all[i], told[k][from][i]))
					}
				}
				parts = append(parts, verdict.Part{Name: string(rune('p' + k)), Teller: 1, Sequence: uint64(look + 1), Stats: *statsOf(all)})
			}
			asked := 0
			value, is, err := w.Observe(node.Instant(1).Add(time.Duration(look)*time.Second), parts, quantile, func(now, before message.Histogram) (message.Histogram, bool, error) {
				if asked++; odd >= 0 && asked > histogramsBefore(odd, x) {
					odd = -1
					return message.Histogram{}, false, nil
				}
				return later(now, before)
			})
			var want *big.Rat
			if whole {
				if want = number(x, window, verdict.Window); want == nil && x.Of == message.OfRate {
					want = new(big.Rat)
				}
			}
			switch {
			case err != nil:
				t.Fatalf("look %d: %v", look, err)
			case want == nil:
				if value != 0 || is {
					t.Fatalf("look %d: there is nothing to judge, and it is %d, %v", look, value, is)
				}
				continue
			}
			judgedLooks++
			if look-judgedAt > 2*int(verdict.Window/time.Second) {
				held = false // it judged nothing for too long: the condition starts over
			}
			judgedAt = look
			holds := judged(want, x.Op, x.Bound)
			if value != floored(want) || is != (holds && held) {
				t.Fatalf("look %d of %+v: got %d, %v; exactly it is %s, %v after %v", look, x, value, is, want.FloatString(3), holds, held)
			}
			held = holds
		}
	})
	if judgedLooks == 0 {
		t.Error("nothing was judged")
	}
}

// histogramsBefore returns how many histograms are compared before those of a part: three of
// each step of the threshold.
func histogramsBefore(part int, x *message.Threshold) int {
	if x.Step == "" {
		return 12 * part
	}
	return 3 * part
}

// TestWatchesTellWhatTheyCannotJudge: invalid histograms, and a condition of an unknown kind,
// are errors at the look that would give a verdict.
func TestWatchesTellWhatTheyCannotJudge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := message.Threshold{Expr: "x", Of: message.OfLatency, Op: message.OpAbove}
		unknown := rapid.Bool().Draw(t, "no kind")
		if unknown {
			x.Of = message.ThresholdOf(rapid.SampledFrom([]int{0, 11}).Draw(t, "of"))
		}
		w := verdict.NewWatch(message.AbortPlan{When: x, For: 1})
		last := rapid.IntRange(7, 12).Draw(t, "looks")
		for look := range last + 1 {
			var parts []verdict.Part
			for _, name := range []string{"a", "b"} {
				parts = append(parts, verdict.Part{Name: name, Sequence: uint64(look), Stats: *statsOf([]measure{{name: "s", kind: message.StepRequest, ok: 1, latency: []uint64{1}}})})
			}
			_, is, err := w.Observe(node.Instant(1).Add(time.Duration(look)*time.Second), parts, quantile, func(now, _ message.Histogram) (message.Histogram, bool, error) {
				if !unknown && look == last && now.Count > 0 {
					return message.Histogram{Count: 1, Buckets: []byte{0}}, true, nil
				}
				return now, true, nil
			})
			wrong := look >= 6 && unknown || look == last
			if is && wrong || wrong != (err != nil) || wrong && !unknown && !errors.Is(err, verdict.ErrHistogram) {
				t.Fatalf("look %d: got %v, %v", look, is, err)
			}
		}
	})
}

// TestTextsSayTheValue: the text is the value, with all its digits.
func TestTextsSayTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := message.ThresholdOf(rapid.IntRange(1, 7).Draw(t, "of"))
		value := rapid.Int64Range(0, 1<<50).Draw(t, "value")
		text := verdict.Text(of, value)
		if of == message.OfLatency || of == message.OfService || of == message.OfPhase {
			if d, err := time.ParseDuration(text); err != nil || (d-time.Duration(value)).Abs() > time.Microsecond/2 {
				t.Fatalf("%v is told as %s", time.Duration(value), text)
			}
			return
		}
		unit, scale, digits := "", int64(1), 3
		switch of {
		case message.OfErrors, message.OfChecks:
			unit, scale, digits = "%", 100, 2
		case message.OfRate:
			unit = "/s"
		}
		number, ok := strings.CutSuffix(text, unit)
		whole, part, _ := strings.Cut(number, ".")
		n, err := strconv.ParseInt(whole+part, 10, 64)
		if !ok || err != nil || len(part) != digits || n != value/scale {
			t.Fatalf("%d of kind %d is told as %s", value, of, text)
		}
	})
}
