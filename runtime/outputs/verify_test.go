package outputs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

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
		r.Version.Set(0, revision)
		return r
	}
	end := func(requests uint64) outputs.Row {
		r := outputs.Row{Kind: outputs.RowRun, Job: "j", Run: &outputs.Run{Ended: time.Unix(9, 0), Requests: requests}}
		r.Version.Set(0, 9)
		return r
	}
	in := func(datacenter string, r outputs.Row) outputs.Row { r.Datacenter = datacenter; return r }
	begin := outputs.Row{Kind: outputs.RowRun, Job: "j", Run: &outputs.Run{}}
	window, result := row(outputs.RowWindow, "s", 1, figures(7)), row(outputs.RowResult, "s", 1, figures(7))
	for _, c := range []struct {
		what string
		rows []outputs.Row
		want string
	}{
		{"they add up", []outputs.Row{begin, window, result, end(7)}, ""},
		{"the greatest version counts, whatever the order", []outputs.Row{row(outputs.RowWindow, "s", 3, figures(7)), row(outputs.RowWindow, "s", 2, figures(5)), result, end(7), begin}, ""},
		{"no result", []outputs.Row{window, end(7)}, "no result row"},
		{"a window is missing", []outputs.Row{result, end(7)}, "begun -7"},
		{"no end", []outputs.Row{begin, window, result}, "no run row of the job's end"},
		{"a whole step is missing", []outputs.Row{window, result, end(12)}, "results of steps have 7 requests, the end of the job says 12"},
		{"all steps are missing", []outputs.Row{end(12)}, "results of steps have 0 requests, the end of the job says 12"},
		{"no requests", []outputs.Row{begin, end(0)}, ""},
		{"a datacenter", []outputs.Row{in("east", window), in("east", result), window, result, end(7)}, ""},
		{"a datacenter is missing", []outputs.Row{in("east", row(outputs.RowWindow, "s", 1, figures(3))), in("east", row(outputs.RowResult, "s", 1, figures(3))), window, result, end(7)}, "results of datacenters have 3 requests, the whole job's has 7"},
		{"the whole job is missing", []outputs.Row{in("east", window), in("east", result), end(0)}, "datacenters have it, the whole job has not"},
	} {
		got := outputs.Verify(c.rows)
		if got.Whole() != (c.want == "") || !strings.Contains(fmt.Sprintf("%+v", got), c.want) {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}
