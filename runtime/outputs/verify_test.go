package outputs_test

import (
	"strings"
	"testing"

	"hyperscale/core/message"
	"hyperscale/runtime/outputs"
)

func TestVerify(t *testing.T) {
	figures := func(n uint64) *outputs.Figures {
		f := *windows(1, n)[0].Figures
		f.Begun = n
		return &f
	}
	row := func(kind outputs.RowKind, step string, revision uint64, f *outputs.Figures) outputs.Row {
		r := outputs.Row{Kind: kind, Job: "j", Workflow: "w", Step: step, StepKind: message.StepRequest, Figures: f}
		r.Version.SetRevision(revision)
		return r
	}
	for _, c := range []struct {
		what string
		rows []outputs.Row
		want string
	}{
		{"they add up", []outputs.Row{row(outputs.RowWindow, "s", 1, figures(7)), row(outputs.RowResult, "s", 1, figures(7))}, ""},
		{"the greatest version counts, whatever the order", []outputs.Row{row(outputs.RowWindow, "s", 3, figures(7)), row(outputs.RowWindow, "s", 2, figures(5)), row(outputs.RowResult, "s", 1, figures(7))}, ""},
		{"no result", []outputs.Row{row(outputs.RowWindow, "s", 1, figures(7))}, "no result row"},
		{"a window is missing", []outputs.Row{row(outputs.RowResult, "s", 1, figures(7))}, "begun -7"},
	} {
		got := outputs.Verify(c.rows)
		if len(got) != 1 || got[0].Whole != (c.want == "") || !strings.Contains(got[0].Why, c.want) {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}
