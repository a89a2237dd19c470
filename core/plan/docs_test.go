package plan_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"hyperscale/core/plan"
)

// TestTheManualTellsTheBounds: the table in docs/workflows.md has the numbers of bounds.go.
func TestTheManualTellsTheBounds(t *testing.T) {
	data, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(data), "## Limits of a plan\n")
	page, _, _ = strings.Cut(page, "\n## ")
	cells := map[string]string{}
	for _, line := range strings.Split(page, "\n") {
		if row := strings.Split(line, " | "); len(row) == 3 {
			cells[strings.TrimPrefix(row[0], "| ")] = strings.TrimSuffix(row[2], " |")
		}
	}
	thousands := func(n int) string {
		s := fmt.Sprint(n)
		for i := len(s) - 3; i > 0; i -= 3 {
			s = s[:i] + "," + s[i:]
		}
		return s
	}
	for _, c := range []struct{ row, want string }{
		{"workflows, params", fmt.Sprintf("%d, %d", plan.WorkflowsMax, plan.ParamsMax)},
		{"steps, `thresholds`, `abort_when`", fmt.Sprintf("%d, %d, %d", plan.StepsMax, plan.ThresholdsMax, plan.AbortsMax)},
		{"thresholds", fmt.Sprint(plan.VerdictsMax)},
		{"parts of the time that thresholds look at", fmt.Sprintf("%d, of at least %d ms each behind `over`", plan.CutsMax+1, plan.OverMin.Milliseconds())},
		{"`stages`, `report`, `tags`", fmt.Sprintf("%d, %d, %d", plan.StagesMax-1, plan.ReportsMax, plan.TagsMax)},
		{"a name, a tag's value, a condition, a report", fmt.Sprintf("%d, %d, %d, %d bytes", plan.NameMax, plan.TagMax, plan.ExprMax, plan.ReportMax)},
		{"`vus`, `iterations`, a rate", thousands(plan.VUsMax) + "; " + thousands(plan.IterationsMax) + "; " + thousands(plan.RateMax) + " a second"},
		{"`cores`, `connections`, `weight`", thousands(plan.CoresMax) + "; " + thousands(plan.ConnectionsMax) + "; " + thousands(plan.WeightMax)},
		{"`memory`", fmt.Sprintf("`\"%dMiB\"` to `\"%dTiB\"`", plan.MemoryMin>>20, uint64(plan.MemoryMax)>>40)},
		{"every duration; those of all workflows that wait for each other, together", fmt.Sprintf("`\"%.0fh\"`: %.0f days", plan.DurationMax.Hours(), plan.DurationMax.Hours()/24)},
		{"`timeout`", fmt.Sprintf("`\"%.0fh\"`", plan.TimeoutMax.Hours())},
		{"`interval`", fmt.Sprintf("at least `%q`", plan.IntervalMin)},
		{"the plan", fmt.Sprintf("%d KiB", plan.BytesMax>>10)},
		{"files, with those that do not travel", fmt.Sprint(plan.FilesMax)},
		{"files that travel", fmt.Sprintf("%d KiB", plan.FileBytesMax>>10)},
		{"files that do not travel", fmt.Sprintf("%d TiB", uint64(plan.FeedBytesMax)>>40)},
	} {
		if cells[c.row] != c.want {
			t.Errorf("docs/workflows.md, limit of %s: got %q, want %q", c.row, cells[c.row], c.want)
		}
	}
}
