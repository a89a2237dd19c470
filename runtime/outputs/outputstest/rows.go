package outputstest

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
)

// Job is the id of the job of a fault's rows.
func Job(f Fault) string { return message.JobOf(fmt.Sprint("cruelty ", f)).String() }

// names are those that formats escape wrong.
var names = []string{"home", `it's "quoted"`, "comma, = space", "tab\tline\nend", `back\slash`, "größe 日本 🚀", "=1+1", "$1'; DROP TABLE hyperscale_run; --", "{brace}", "%s%n", "x.y/z", "\\N", "home "}

// Rows are of every kind, with names that formats escape wrong, and with steps of one name that differ by their kind.
func Rows(job string) (rows []outputs.Row) {
	started := time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC)
	row := func(kind outputs.RowKind, revision uint64) *outputs.Row {
		rows = append(rows, outputs.Row{Kind: kind, Job: job, Test: "test.star", Started: started})
		r := &rows[len(rows)-1]
		r.Version.Set(0, revision)
		return r
	}
	for k := range 3 {
		for i, name := range names {
			r := row(outputs.RowWindow, uint64(k+1))
			r.Datacenter, r.Workflow, r.Step, r.StepKind = []string{"", "east", "it's"}[i%3], "shop", name, message.StepRequest
			r.From, r.To = time.Duration(k)*10*time.Second, time.Duration(k+1)*10*time.Second
			r.Figures = figures(uint64(100*k+i+1), name)
		}
	}
	for i, name := range names {
		r := row(outputs.RowResult, 9)
		r.Workflow, r.Step, r.StepKind, r.To = "shop", name, message.StepRequest, 30*time.Second
		r.Figures = figures(uint64(500+i), name)
	}
	r := row(outputs.RowLost, 9)
	r.Datacenter, r.Workflow, r.Step, r.StepKind, r.From, r.To = "east", "shop", "home", message.StepRequest, 10*time.Second, 20*time.Second
	r.Figures = figures(7, "lost")
	part := func(like int, n uint64) { // the same, of requests that a function sends under the name of a step
		r := rows[like]
		r.StepKind, r.Figures = message.StepPart, figures(n, "part")
		rows = append(rows, r)
	}
	part(0, 901)
	part(len(names), 902)
	part(3*len(names), 903)
	part(4*len(names), 8)
	r = row(outputs.RowCheck, 9)
	r.Workflow, r.Step, r.StepKind = "shop", "answer has 'id'", message.StepCheck
	r.Figures = &outputs.Figures{Begun: 5, OK: 4, Failed: 1}
	for i := range 2 {
		row(outputs.RowThreshold, 9).Threshold = &outputs.Threshold{Expression: fmt.Sprintf("home.latency.p99 < %dms", i), Value: 1.5e6, Of: "latency", Met: i == 0}
		rows[len(rows)-1].Workflow = "shop"
	}
	row(outputs.RowEvent, 9).Event = &outputs.Event{Sequence: 1, Kind: "lost", Subject: "worker-1", Detail: "it's gone"}
	row(outputs.RowRun, 10).Run = &outputs.Run{Ended: started.Add(30 * time.Second), Outcome: "COMPLETED", Version: "v1", ThresholdsOK: true, Requests: 4000, LostRequests: 7}
	return rows
}

// Summed adds to windows and lost rows what their steps have counted up to them, as a ledger does. What is lost of a step
// without windows leaves nothing.
func Summed(rows []outputs.Row) {
	type key struct {
		datacenter, workflow, step string
		kind                       message.StepKind
	}
	behind := map[key]*outputs.Figures{}
	for i := range rows {
		r := &rows[i]
		if r.Kind != outputs.RowWindow && r.Kind != outputs.RowLost {
			continue
		}
		k := key{r.Datacenter, r.Workflow, r.Step, r.StepKind}
		sum := outputs.Figures{}
		if was := behind[k]; was != nil {
			sum = *was
		}
		if f := r.Figures; r.Kind == outputs.RowWindow {
			sum.Begun, sum.OK, sum.Failed, sum.BytesIn, sum.BytesOut = sum.Begun+f.Begun, sum.OK+f.OK, sum.Failed+f.Failed, sum.BytesIn+f.BytesIn, sum.BytesOut+f.BytesOut
			sum.Statuses, sum.Errors = slices.Clone(sum.Statuses), slices.Clone(sum.Errors)
			for _, s := range f.Statuses {
				sum.Statuses = stats.AddStatus(sum.Statuses, s)
			}
			for _, e := range f.Errors {
				sum.Errors = stats.AddError(sum.Errors, e)
			}
			h, _ := stats.FromWire(sum.Latency) // figures has written both
			of, _ := stats.FromWire(f.Latency)
			h.Merge(of)
			sum.Latency = h.Wire()
		}
		r.Sum, behind[k] = &sum, &sum
	}
}

// figures are of n requests.
func figures(n uint64, kind string) *outputs.Figures {
	var h stats.Histogram
	for i := range n {
		h.Record(1_000_000 + i*i*1000)
	}
	return &outputs.Figures{
		Begun: n, OK: n - n/10, Failed: n / 10, BytesIn: n * 100, BytesOut: n * 10, ActiveUsers: 3, Latency: h.Wire(),
		Statuses: []message.StatusCount{{Status: 200, Count: n - n/10}, {Status: 503, Count: n/10 + 1}},
		Errors:   []message.ErrorCount{{Kind: "status " + kind, Count: n/10 + 1}},
	}
}
