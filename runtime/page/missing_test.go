package page

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

// TestMissingDatacentersShowNoFigures: a page says that best effort left a datacenter out, and shows no
// zeroes beside its name.
func TestMissingDatacentersShowNoFigures(t *testing.T) {
	r := &report.Result{Name: "x", Outcome: "COMPLETED", Missing: []string{"west"}, Datacenters: map[string]report.Datacenter{
		"east": {Outcome: "COMPLETED", Figures: &report.Figures{}}, "west": {Outcome: "CANCELLED"},
	}}
	d := &drawer{limits: limits{rows: 10, name: 20, text: 200}, result: r}
	for i, row := range d.compared([]string{"east", "west"})[0].Rows {
		for _, c := range row[3:] {
			if (c.Text == "-") != (i == 1) {
				t.Errorf("the row of %s shows %q", row[0].Text, c.Text)
			}
		}
	}
	if s := d.sentence(); !strings.Contains(s, "best effort left out 1 datacenter") {
		t.Errorf("the verdict is %q", s)
	}
}

// TestThresholdsAreLines: a chart of what a threshold judges has it as a line, those that were missed first, and names
// one that is off the plot. A threshold that no chart shows has none.
func TestThresholdsAreLines(t *testing.T) {
	r := resultOf(1, 2, 20, time.Second)
	w := &r.Workflows[0]
	step := w.Steps[0].Name
	r.Thresholds = nil
	for _, x := range []struct {
		expr string
		ok   bool
	}{{step + ".latency.p99 < 5ms", true}, {"latency.p50 < 4ms", false}, {"latency.p99 < 1h", true}, {"errors < 1%", true}, {"latency.mean < 4ms", true}, {"latency.p99 <", true}} {
		r.Thresholds = append(r.Thresholds, report.Threshold{Workflow: w.Name, Expr: x.expr, OK: x.ok})
	}
	d := &drawer{limits: generous(), result: r}
	var got []string
	for _, l := range only(d.limitsOf(w), message.OfLatency) {
		got = append(got, l.text)
	}
	if diff := cmp.Diff([]string{"latency.p50 < 4ms", step + ".latency.p99 < 5ms", "latency.p99 < 1h"}, got); diff != "" {
		t.Errorf("lines of latency (-want +got):\n%s", diff)
	}
	page := render(t, r)
	for _, want := range []string{`<line class="limit broken" x1="0" x2="100%"`, `<line class="limit" x1="0" x2="100%"`, "✗ latency.p50 &lt; 4ms", "latency.p99 &lt; 1h (off the plot)"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on the page", want)
		}
	}
}

// TestTrust: the page says so where the figures are the target's, and says nothing of it where they are not.
func TestTrust(t *testing.T) {
	r := resultOf(1, 1, 20, time.Second)
	r.Workflows[0].Lost = nil
	const trusted = "Trust these figures"
	if !strings.Contains(render(t, r), trusted) {
		t.Errorf("no %q on the page", trusted)
	}
	r.Generator.Saturated = true
	if strings.Contains(render(t, r), trusted) {
		t.Errorf("%q on the page of a saturated generator", trusted)
	}
}
