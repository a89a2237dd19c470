package page

import (
	"strings"
	"testing"

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
