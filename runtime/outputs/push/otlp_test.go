package push

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/outputstest/servers/serverstest"
	"hyperscale/runtime/outputs/outputstest/vendors/vendorstest"
)

// started are the values of hyperscale.requests.started.
func otlpStarted(metrics []vendorstest.OTLPMetric) (values []int, temporality int) {
	for _, m := range metrics {
		if m.Name != "hyperscale.requests.started" {
			continue
		}
		for _, p := range m.Sum.DataPoints {
			n, _ := strconv.Atoi(p.AsInt)
			values = append(values, n)
		}
		temporality = m.Sum.AggregationTemporality
	}
	return values, temporality
}

// A batch that is encoded again after an unclear try has the same sums.
func TestOTLPSumsAgain(t *testing.T) {
	addresses := vendorstest.Start(t, "otlp")
	p := outputstest.NewProxy(serverstest.To(addresses[0]), nil)
	t.Cleanup(p.Close)
	s := open(t, OTLP(), p.URL())
	rows := windows("again", "pay", 8)
	p.Misbehave(outputstest.FaultLoseWord)
	for i, want := range []outputs.Verdict{outputs.VerdictUnclear, outputs.VerdictDelivered} {
		if out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: i + 1, Rows: rows[:4]}); out.Verdict != want {
			t.Fatalf("%+v", out)
		}
	}
	if out := s.Deliver(t.Context(), outputs.Batch{Number: 2, Try: 1, Rows: rows[4:]}); out.Verdict != outputs.VerdictDelivered {
		t.Fatalf("%+v", out)
	}
	values, is := otlpStarted(vendorstest.OTLPTaken(t, addresses[1], "again"))
	if fmt.Sprint(values) != "[1 3 6 10 1 3 6 10 15 21 28 36]" || is != 2 {
		t.Fatalf("sums %v of temporality %d", values, is)
	}
}

// A pipeline that is full takes the batch later, one that rejects it never does.
func TestOTLPHearsThePipeline(t *testing.T) {
	addresses := vendorstest.Start(t, "otlp")
	s := open(t, OTLP(), "http://"+addresses[0])
	for fail, want := range map[string]outputs.Verdict{"passing": outputs.VerdictAgain, "lasting": outputs.VerdictRejected} {
		serverstest.Ask(t, http.MethodPost, "http://"+addresses[1]+"?fail="+fail)
		out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: windows("pipeline", "pay", 2)})
		if out.Verdict != want || !strings.Contains(out.Why, "the pipeline") {
			t.Fatalf("%s: %+v", fail, out)
		}
	}
}

// What the collector reads of a distribution has each request, within the width of a bucket, whatever the names are.
func TestOTLPAgainstTheCollector(t *testing.T) {
	addresses := vendorstest.Start(t, "otlp")
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		if n > 25 {
			return // each asks for all that the receiver has
		}
		job := fmt.Sprintf("names%d", n)
		rows := windows(job, rapid.String().Draw(t, "step"), 2)
		sum := new(stats.Histogram)
		for i := range rows {
			h := new(stats.Histogram)
			for range rapid.IntRange(1, 20).Draw(t, "values") {
				h.RecordN(rapid.Uint64Range(0, 1e11).Draw(t, "nanos"), rapid.Uint64Range(1, 9).Draw(t, "n"))
			}
			sum.Merge(h)
			rows[i].Figures.Latency, rows[i].Datacenter = h.Wire(), "east"
			rows[i].Tags = []message.Tag{{Name: "team\xff", Value: rapid.String().Draw(t, "team")}}
			rows[i].Workflow = rapid.StringMatching(`[a\x00-\x1f\xff"]{1,5}`).Draw(t, "workflow")
		}
		rows[1].Workflow = rows[0].Workflow
		rows[1].Tags = rows[0].Tags
		k := OTLP()
		set, err := outputs.Parse(&k, "http://"+addresses[0]+",gzip=false")
		if err != nil {
			t.Fatal(err)
		}
		s, err := k.Open(set)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if out := s.Deliver(context.Background(), outputs.Batch{Number: 1, Try: 1, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
			t.Fatalf("%+v", out)
		}
		found := false
		for _, m := range vendorstest.OTLPTaken(&fataler{T: t}, addresses[1], job) {
			if m.Name != "hyperscale.datacenter.request.duration" {
				continue
			}
			found = true
			last := m.ExponentialHistogram.DataPoints[1] // cumulative
			total := 0
			for _, c := range append(last.Positive.BucketCounts, last.ZeroCount) {
				v, _ := strconv.Atoi(c)
				total += v
			}
			if want := int(sum.Count()); total != want || last.Count != strconv.Itoa(want) || m.ExponentialHistogram.AggregationTemporality != 2 {
				t.Fatalf("%d in buckets and %s in count, %d went in", total, last.Count, want)
			}
			if last.StartTimeUnixNano != strconv.FormatInt(begun.UnixNano(), 10) || last.TimeUnixNano != strconv.FormatInt(begun.Add(20*time.Second).UnixNano(), 10) {
				t.Fatalf("from %s to %s", last.StartTimeUnixNano, last.TimeUnixNano)
			}
			if math.Abs(last.Max-float64(sum.Max())/1e9) > 1e-9 || math.Abs(last.Sum-float64(sum.Sum())/1e9) > 1e-6 {
				t.Fatalf("max %v, sum %v", last.Max, last.Sum)
			}
		}
		if !found {
			t.Fatalf("no distribution")
		}
	})
}

// fataler lets helpers of tests fail a property.
type fataler struct {
	testing.TB
	T *rapid.T
}

func (f *fataler) Helper()                   {}
func (f *fataler) Fatal(a ...any)            { f.T.Fatal(a...) }
func (f *fataler) Fatalf(s string, a ...any) { f.T.Fatalf(s, a...) }

// A receiver that rejects some points does not say which, so no row counts as delivered.
func TestOTLPPartialSuccess(t *testing.T) {
	var partial []byte
	partial = protowire.AppendVarint(protowire.AppendTag(partial, 1, protowire.VarintType), 3)
	partial = protowire.AppendString(protowire.AppendTag(partial, 2, protowire.BytesType), "too old, token=hush-hush")
	body := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Api-Key") != "hush-hush" || r.Header.Get("X-Tenant") != "a b" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, "no tenant may use %s", r.Header.Get("Api-Key"))
			return
		}
		_, _ = w.Write(body)
	}))
	defer server.Close()
	t.Setenv("OTLP_HEADERS", "api-key=hush-hush, x-tenant=a%20b")
	s := open(t, OTLP(), server.URL+",headers_env=OTLP_HEADERS")
	out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: windows("j", "s", 1)})
	if out.Verdict != outputs.VerdictRejected || out.Rows != nil || !strings.Contains(out.Why, "rejects 3 of 12 data points") || strings.Contains(out.Why, "hush") {
		t.Fatalf("%+v", out)
	}
	t.Setenv("OTLP_HEADERS", "api-key=hush-other")
	if out = s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: windows("j", "s", 1)}); out.Verdict != outputs.VerdictDenied || strings.Contains(out.Why, "hush") {
		t.Fatalf("%+v", out)
	}
	t.Setenv("OTLP_HEADERS", "no pair hush-third")
	if out = s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: windows("j", "s", 1)}); out.Verdict != outputs.VerdictDenied || strings.Contains(out.Why, "hush") {
		t.Fatalf("%+v", out)
	}
}
