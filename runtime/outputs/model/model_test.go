package model

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
)

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func hold(t failer, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		t.Fatalf(format, args...)
	}
}

func same(t failer, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("want - got +\n%s", diff)
	}
}

func drawHistogram(t *rapid.T) *stats.Histogram {
	h := new(stats.Histogram)
	for range rapid.IntRange(0, 60).Draw(t, "values") {
		v := rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64Range(1000, 1e6), rapid.Uint64Range(1e6, 1e9), rapid.Uint64Range(1e9, 1e12)).Draw(t, "v")
		h.RecordN(v, rapid.Uint64Range(1, 1000).Draw(t, "n"))
	}
	return h
}

// checkExponential says that an exponential histogram has all values, each within a bucket: windows that merge have cut the upper
// bounds of their buckets at maxima of their own, hence 0.4 %.
func checkExponential(t *rapid.T, e Exponential, all *stats.Histogram) {
	hold(t, len(e.Counts) <= ExponentialMax, "%d buckets", len(e.Counts))
	sum := e.Zero
	for _, n := range e.Counts {
		sum += n
	}
	same(t, all.Count(), sum)
	same(t, all.Count(), e.Count)
	if all.Count() == 0 {
		return
	}
	hold(t, math.Abs(float64(all.Sum())/1e9-e.Sum) <= e.Sum*1e-9, "sum %v of %v", e.Sum, all.Sum())
	// Each quantile of the whole lies in the bucket of its rank, to the width of a bucket of either histogram.
	for _, ppm := range []uint32{1, 250_000, 500_000, 900_000, 999_000, 1_000_000} {
		want := float64(all.Quantile(ppm)) / 1e9
		rank := max(uint64(math.Ceil(float64(all.Count())*float64(ppm)/1e6)), 1)
		seen, got := e.Zero, 0.0
		for i, n := range e.Counts {
			if seen >= rank {
				break
			}
			seen += n
			got = math.Exp2(math.Ldexp(float64(e.Offset+i+1), -e.Scale)) // the upper bound
		}
		width := math.Exp2(math.Ldexp(1, -e.Scale))
		hold(t, got*1.004+1e-12 >= want, "quantile %d is %v, want %v", ppm, got, want)
		hold(t, got <= want*width*1.004+1e-12, "quantile %d is %v at scale %d, want %v", ppm, got, e.Scale, want)
	}
}

func TestExponential(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistogram(t)
		e, err := ToExponential(h.Wire())
		hold(t, err == nil, "%v", err)
		checkExponential(t, e, h)
	})
}

// Windows that are merged say what one window over all of them says.
func TestExponentialMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sum Exponential
		all := new(stats.Histogram)
		for range rapid.IntRange(1, 5).Draw(t, "windows") {
			h := drawHistogram(t)
			e, err := ToExponential(h.Wire())
			hold(t, err == nil, "%v", err)
			before := append([]uint64(nil), e.Counts...)
			sum.Merge(e)
			same(t, before, append([]uint64(nil), e.Counts...))
			all.Merge(h)
		}
		checkExponential(t, sum, all)
	})
}

func TestExponentialRejectsWhatIsNoHistogram(t *testing.T) {
	_, err := ToExponential(message.Histogram{Count: 5, Buckets: []byte{1}})
	hold(t, errors.Is(err, stats.ErrHistogram), "error %v", err)
}

// Counters of a row are its counts, in any row.
func TestPointsHaveTheCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(0, 1<<40)
		f := &outputs.Figures{OK: n.Draw(t, "ok"), Failed: n.Draw(t, "failed"), TimedOut: n.Draw(t, "timed out"), Cancelled: n.Draw(t, "cancelled")}
		f.Begun = f.OK + f.Failed + f.TimedOut + f.Cancelled
		f.Statuses = []message.StatusCount{{Status: 200, Count: f.OK}, {Status: 500, Count: f.Failed}}
		r := &outputs.Row{Kind: outputs.RowWindow, Job: "j", Figures: f, Started: time.Unix(0, 0)}
		if rapid.Bool().Draw(t, "one datacenter") {
			r.Datacenter = "east"
		}
		sums := map[string]float64{}
		for _, p := range Points(r) {
			sums[p.Metric.Name] += p.Value
		}
		prefix := "hyperscale."
		if r.Datacenter != "" {
			prefix = "hyperscale.datacenter."
		}
		same(t, float64(f.Begun), sums[prefix+"requests"])
		same(t, float64(f.Begun), sums[prefix+"requests.started"])
		same(t, float64(f.OK+f.Failed), sums[prefix+"responses"])
	})
}

func TestLabels(t *testing.T) {
	r := &outputs.Row{Job: "j", Test: "t", Workflow: "w", Step: "s", Tags: []message.Tag{{Name: "run", Value: "mine"}, {Name: "team", Value: "a"}, {Name: "empty"}, {Name: "team", Value: "b"}}}
	same(t, []Label{{"run", "j"}, {"test", "t"}, {"workflow", "w"}, {"step", "s"}, {"team", "a"}}, Labels(r))
}

// TestQuantilesAreThoseOfTheirNames: of 1 to 2000 ms.
func TestQuantilesAreThoseOfTheirNames(t *testing.T) {
	var h stats.Histogram
	for ms := uint64(1); ms <= 2000; ms++ {
		h.Record(ms * 1_000_000)
	}
	all, err := Quantiles(h.Wire())
	hold(t, err == nil && len(all) == 8, "%v, %v", all, err)
	want := map[string]float64{"min": 1, "mean": 1000.5, "p50": 1000, "p90": 1800, "p95": 1900, "p99": 1980, "p999": 1998, "max": 2000}
	for _, q := range all {
		hold(t, math.Abs(float64(q.Nanos)/1e6-want[q.Name]) <= 0.005*want[q.Name], "%s is %d ns, want %v ms", q.Name, q.Nanos, want[q.Name])
	}
}

func TestQuantilesOfNothing(t *testing.T) {
	q, err := Quantiles(message.Histogram{})
	hold(t, err == nil, "%v", err)
	same(t, 0, len(q))
	h := new(stats.Histogram)
	h.RecordN(1e6, 10)
	q, err = Quantiles(h.Wire())
	hold(t, err == nil, "%v", err)
	same(t, Quantile{"p99", 1e6}, q[5])
	same(t, 8, len(q))
}

// What tells the points of a metric apart has a name that no label of the row has: neither ours, nor a tag of the user.
func TestAttributesAreNoLabels(t *testing.T) {
	r := &outputs.Row{Kind: outputs.RowWindow, Job: "j", Workflow: "w", Step: "s", StepKind: message.StepPart, Figures: &outputs.Figures{
		Statuses: []message.StatusCount{{Status: 200, Count: 1}}, Errors: []message.ErrorCount{{Kind: "connect", Count: 2}},
	}}
	for _, m := range Catalogue() {
		r.Tags = append(r.Tags, message.Tag{Name: m.Attribute, Value: "mine"})
	}
	labels := Labels(r)
	for _, p := range append(Points(r), Points(&outputs.Row{Kind: outputs.RowThreshold, Threshold: &outputs.Threshold{Expression: "e"}})...) {
		names := map[string]string{}
		for _, l := range p.Labels(labels) {
			_, twice := names[l.Name]
			hold(t, !twice, "%s has two labels %s", p.Metric.Name, l.Name)
			names[l.Name] = l.Value
		}
		hold(t, names["kind"] == "part", "%s is of kind %q", p.Metric.Name, names["kind"])
		hold(t, p.Metric.Attribute == "" || names[p.Metric.Attribute] == p.Attribute, "%s has %v", p.Metric.Name, names)
	}
	same(t, Labels(r), labels)
}

// Each point is the figure of its name.
func TestEachPointIsTheFigureOfItsName(t *testing.T) {
	f := &outputs.Figures{
		OK: 1, Failed: 2, TimedOut: 3, Cancelled: 4, Begun: 5, Dropped: 6, Skipped: 7, BytesIn: 8, BytesOut: 9, ActiveUsers: 10,
		Statuses: []message.StatusCount{{Status: 200, Count: 11}, {Status: 503, Count: 12}}, Errors: []message.ErrorCount{{Kind: "connect", Count: 13}, {Kind: "tls", Count: 14}},
	}
	got := map[string]float64{}
	for _, r := range []outputs.Row{
		{Kind: outputs.RowWindow, Figures: f}, {Kind: outputs.RowLost, Datacenter: "east", Figures: f},
		{Kind: outputs.RowThreshold, Threshold: &outputs.Threshold{Expression: "a", Met: true, Value: 15}}, {Kind: outputs.RowThreshold, Threshold: &outputs.Threshold{Expression: "b", Unmeasured: true}},
	} {
		for _, p := range Points(&r) {
			got[p.Metric.Name+"/"+p.Attribute] += p.Value
			hold(t, p.Metric.Type == Gauge == (p.Metric.Name == "hyperscale.users.active" || r.Kind == outputs.RowThreshold), "%s has type %d", p.Metric.Name, p.Metric.Type)
		}
	}
	same(t, map[string]float64{
		"hyperscale.requests/ok": 1, "hyperscale.requests/failed": 2, "hyperscale.requests/timed_out": 3, "hyperscale.requests/cancelled": 4,
		"hyperscale.requests.started/": 5, "hyperscale.requests.dropped/": 6, "hyperscale.requests.skipped/": 7,
		"hyperscale.bytes.received/": 8, "hyperscale.bytes.sent/": 9, "hyperscale.users.active/": 10,
		"hyperscale.responses/200": 11, "hyperscale.responses/503": 12, "hyperscale.errors/connect": 13, "hyperscale.errors/tls": 14,
		"hyperscale.datacenter.requests.lost/": 5,
		"hyperscale.threshold.met/a":           1, "hyperscale.threshold.value/a": 15, "hyperscale.threshold.met/b": 0,
	}, got)
}
