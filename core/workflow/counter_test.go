package workflow_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
)

const counting = `
orders = counter("orders", most = 1000, start = 7, at_end = "fail")
rooms = counter(name = "rooms", most = 3)
def take(vu):
    return "%d" % vu.next(orders)
workflow(name = "w", steps = [check("take", take), check("both", lambda vu: "%d/%d" % (vu.next(orders), vu.next(rooms)))])
`

// A counter is in the plan as it is declared, and its values begin where it says. Once none is left
// the function ends, and counts as cancelled: it is no failure.
func TestCounters(t *testing.T) {
	p, err := workflow.Load(program("main.star", counting))
	if err != nil {
		t.Fatal(err)
	}
	want := []message.CounterPlan{{Name: "orders", Most: 1000, Start: 7, AtEnd: message.RowsFail}, {Name: "rooms", Most: 3, Start: 1, AtEnd: message.RowsStop}}
	if diff := cmp.Diff(want, p.Plan().Counters); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	f := &fake{most: 4}
	v := p.Workflow("w").NewVU(0, 1, f)
	v.Begin()
	for i, want := range []struct {
		step int
		kind string
	}{{0, "7"}, {0, "8"}, {1, "9/4"}, {0, "cancelled"}, {1, "cancelled"}} {
		if out := v.Call(want.step); out.Kind != want.kind {
			t.Errorf("call %d: got %q (%s), want %q", i, out.Kind, out.Detail, want.kind)
		}
	}
	if diff := cmp.Diff([]int{0, 0, 0, 1, 0, 0}, f.counters); diff != "" {
		t.Errorf("counters that were asked (-want +got):\n%s", diff)
	}
}

// validate tells a call with anything but a counter.
func TestNextTakesACounter(t *testing.T) {
	_, findings, err := workflow.Inspect(program("main.star", `
workflow(name = "w", steps = [action(lambda vu: vu.log("%d" % vu.next("orders")))])
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(findings) != 1 || findings[0].Message != `vu.next: #1 must be what counter returned, not the text "orders"` {
		t.Errorf("got %+v", findings)
	}
}

const gathering = `
rush = barrier("rush", users = 100)
slow = barrier(name = "slow", users = 2, timeout = "1m")
workflow(name = "w", steps = [check("rush", lambda vu: "%s" % vu.wait(rush)), check("slow", lambda vu: "%s" % vu.wait(slow)), action(lambda vu: vu.wait(rush))])
`

// A barrier is in the plan as it is declared, and a function learns whether all have come.
func TestBarriers(t *testing.T) {
	p, err := workflow.Load(program("main.star", gathering))
	if err != nil {
		t.Fatal(err)
	}
	want := []message.BarrierPlan{{Name: "rush", Users: 100, Timeout: 30 * time.Second}, {Name: "slow", Users: 2, Timeout: time.Minute}}
	if diff := cmp.Diff(want, p.Plan().Barriers); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	f := &fake{}
	v := p.Workflow("w").NewVU(0, 1, f)
	v.Begin()
	for step, want := range []string{"True", "False", ""} {
		if out := v.Call(step); out.Kind != want {
			t.Errorf("step %d: got %q (%s), want %q", step, out.Kind, out.Detail, want)
		}
	}
	if diff := cmp.Diff([]int{0, 1, 0}, f.barriers); diff != "" {
		t.Errorf("barriers at which it waited (-want +got):\n%s", diff)
	}
}
