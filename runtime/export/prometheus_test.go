package export

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
	"hyperscale/runtime/report/reporttest"
)

func parseText(t interface{ Fatalf(string, ...any) }, b []byte) map[string]*dto.MetricFamily {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, b)
	}
	problems, err := promlint.New(bytes.NewReader(b)).Lint()
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v, %v", problems, err)
	}
	return families
}

func TestPrometheus(t *testing.T) {
	b, err := Prometheus(result(t))
	if err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/result.prom", string(b))
	families := parseText(t, b)
	if got := total(families["hyperscale_requests_total"]); got != 101 {
		t.Errorf("%v requests, want those of the result", got)
	}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if f := families[name]; f.GetHelp() == "" || !strings.HasPrefix(name, prefix) {
			t.Errorf("%s has no help, or another name than ours", name)
		}
	}
	h := families["hyperscale_request_duration_seconds"].Metric
	if len(h) != 2 || h[0].Histogram.GetSampleCount()+h[1].Histogram.GetSampleCount() != 4 {
		t.Errorf("%v: want two histograms of four requests", h)
	}
}

func total(f *dto.MetricFamily) (sum float64) {
	for _, m := range f.GetMetric() {
		sum += m.GetCounter().GetValue()
	}
	return sum
}

// TestNamesOfSeries: whatever names hold, every series is there once and reads back.
func TestNamesOfSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.Just(hostile), rapid.Just("a\x01"), rapid.Just("a\x02")), 1, 6).Draw(t, "names")
		w := report.Workflow{Name: names[0]}
		r := &report.Result{Name: names[0], Workflows: []report.Workflow{w}}
		for _, n := range names {
			r.Workflows[0].Steps = append(r.Workflows[0].Steps, report.Step{Name: n, Totals: report.Totals{OK: 1}})
			r.Thresholds = append(r.Thresholds, report.Threshold{Workflow: w.Name, Expr: n})
		}
		b, err := Prometheus(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := total(parseText(t, b)["hyperscale_requests_total"]); got != float64(len(names)) {
			t.Fatalf("%v requests of %d steps in:\n%s", got, len(names), b)
		}
	})
}

// TestLiveAddsUp: the export reports a job in two datacenters as their sum.
func TestLiveAddsUp(t *testing.T) {
	part := messageResult().Datacenters[0]
	west := part
	west.Name, west.Workflows = "west", []message.WorkflowResult{workflowResult("shop")}
	part.Workflows[0].State = message.WorkflowRunning
	s, err := Live(&message.JobStatus{Job: message.JobID{1}, Name: "x", State: message.JobRunning, Elapsed: time.Second, Datacenters: []message.DatacenterResult{part, west}}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if w := s.Result.Workflows[0]; w.Totals.OK != 182 || w.VUs != 128 || s.Active["shop"] != 128 || w.Outcome != "RUNNING" {
		t.Errorf("%+v, %v", w.Totals, s.Active)
	}
	var b bytes.Buffer
	for _, f := range Families(s) {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	if got := total(parseText(t, b.Bytes())["hyperscale_requests_total"]); got != 202 {
		t.Errorf("%v requests, want 202", got)
	}
}
