package result

import (
	"cmp"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// TestPagesOfDetailsListEachStepOnce: while figures grow between two pages, the pages of any
// result list each step of each workflow once, in order. Each page fits its room unless it has
// one step, and the figures of a step are those of all datacenters at that moment.
func TestPagesOfDetailsListEachStepOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := drawBulk(rt)
		n := uint64(rapid.IntRange(1, 3).Draw(rt, "places"))
		var places []message.DatacenterResult
		for i := range n {
			places = append(places, b.place(int(i)))
		}
		q := message.JobQuery{Detail: true, Datacenter: rapid.SampledFrom([]string{"", "d0"}).Draw(rt, "of"), Workflow: rapid.SampledFrom([]string{"", "w0"}).Draw(rt, "workflow")}
		factor, flows := n, b.workflows
		if q.Datacenter != "" {
			factor = 1
		}
		if q.Workflow != "" {
			flows = 1
		}
		var got [][2]string
		for pages, more := 0, true; more; pages++ {
			var page []message.DatacenterResult
			var fault message.Code
			page, more, fault = Detail(places, &q)
			if fault != message.CodeNone || len(page) != 1 || page[0].Name != cmp.Or(q.Datacenter, Everywhere) || pages > 500 {
				rt.Fatalf("page %d: %v, %d places", pages, fault, len(page))
			}
			count := 0
			for _, w := range page[0].Workflows {
				for _, s := range w.Stats.Steps {
					if s.Started != 9*factor || s.Windows.Width != 0 {
						rt.Fatalf("%s of %s started %d times, want %d; windows of %v", s.Name, w.Name, s.Started, 9*factor, s.Windows.Width)
					}
					got = append(got, [2]string{w.Name, s.Name})
					count++
				}
			}
			if size := (&message.JobStatus{Datacenters: page}).Size(); size > detailMax+4096 && count > 1 {
				rt.Fatalf("a page of %d steps has %d bytes", count, size)
			}
			if more {
				last := got[len(got)-1]
				q.AfterWorkflow, q.AfterStep = last[0], last[1]
			}
			grown := *b
			grown.histogram, b.text = ladder(rapid.SampledFrom([]int{3, 3000}).Draw(rt, "grown")), ""
			for i := range places {
				places[i] = grown.place(i)
			}
		}
		var want [][2]string
		for i := range flows {
			w := b.workflow(i)
			for _, s := range w.Stats.Steps {
				want = append(want, [2]string{w.Name, s.Name})
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			rt.Fatalf("steps (-want +got):\n%s", diff)
		}
	})
}

// TestDetailsOfWhatDoesNotRun: a datacenter or a workflow without a report is named.
func TestDetailsOfWhatDoesNotRun(t *testing.T) {
	places := []message.DatacenterResult{{Name: "a", Workflows: []message.WorkflowResult{
		{Name: "w", State: message.WorkflowRunning}}}, {Name: "b", Workflows: []message.WorkflowResult{{Name: "w", State: message.WorkflowCompleted}, {Name: "v", State: message.WorkflowCompleted}}}}
	for _, x := range []struct {
		q    message.JobQuery
		want message.Code
	}{
		{message.JobQuery{Datacenter: "c"}, message.CodeUnknownDatacenter},
		{message.JobQuery{Workflow: "x"}, message.CodeUnknownWorkflow},
		{message.JobQuery{Datacenter: "a", Workflow: "v"}, message.CodeUnknownWorkflow},
		{message.JobQuery{Workflow: "v"}, message.CodeNone},
	} {
		if _, _, got := Detail(places, &x.q); got != x.want {
			t.Errorf("%+v: %v, want %v", x.q, got, x.want)
		}
	}
	page, _, _ := Detail(places, &message.JobQuery{})
	if w := page[0].Workflows; len(w) != 2 || w[0].State != message.WorkflowRunning || w[1].State != message.WorkflowCompleted {
		t.Errorf("one runs in a and has ended in b, the other has ended: %+v", w)
	}
}
