package engine

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
)

// counted runs a workflow whose functions take values of a counter.
func counted(t *testing.T, text string, change func(*Config)) (*message.ExecResult, *seen) {
	t.Helper()
	s := &seen{count: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	p, err := workflow.Load(message.Program{Main: "main.star", Files: []message.File{{Name: "main.star", Data: []byte(strings.ReplaceAll(text, "URL", server.URL))}}})
	if err != nil {
		t.Fatal(err)
	}
	w := p.Workflow("w")
	cfg := Config{Workflow: w, VUs: w.Plan.VUs, Duration: w.Plan.Duration, Timeout: time.Minute, Together: Together{Counters: p.Plan().Counters, Barriers: p.Plan().Barriers}}
	change(&cfg)
	return run(t, t.Context(), cfg), s
}

const ordering = `
orders = counter("orders", most = 1000000, start = 1000)
def order(vu):
    return vu.http.get("URL/?id=%d" % vu.next(orders))
workflow(name = "w", vus = 7, duration = "1m", steps = [step(order)])
`

// Each value goes to one call, however late blocks of them arrive. Once none is left the workflow
// ends well: what asked for one more counts as cancelled.
func TestValuesAreTakenOnce(t *testing.T) {
	for _, late := range []time.Duration{0, 20 * time.Millisecond} {
		l := &lessor{left: 120, late: late, most: 17}
		r, s := counted(t, ordering, func(c *Config) { c.Lessor = l })
		step := r.Stats.Steps[0]
		if r.State != message.WorkflowCompleted || step.OK != 120 || step.Failed != 0 || step.Cancelled == 0 || step.Cancelled > 7 || r.Duration > 20*time.Second {
			t.Errorf("late by %v: %v %s after %v, ok %d, failed %d, cancelled %d", late, r.State, r.Error, r.Duration, step.OK, step.Failed, step.Cancelled)
		}
		if diff := cmp.Diff([]message.CounterStats{{Name: "orders", Taken: 120}}, r.Stats.Counters); diff != "" {
			t.Errorf("late by %v: the values taken (-want +got):\n%s", late, diff)
		}
		if all := s.all(); len(all) != 120 || all["1000"] != 1 || all["1119"] != 1 {
			t.Errorf("late by %v: the server saw %d different values", late, len(all))
		}
		if l.wake != nil {
			t.Error("it would still wake the loop")
		}
	}
}

// A process without a lessor counts by itself.
func TestCountsAlone(t *testing.T) {
	r, s := counted(t, strings.Replace(ordering, "most = 1000000", "most = 5", 1), func(*Config) {})
	if all := s.all(); r.State != message.WorkflowCompleted || len(all) != 5 || all["1004"] != 1 {
		t.Errorf("%v %s, the server saw %v", r.State, r.Error, all)
	}
}

// A workflow that must fail at the end of its counter fails then, and says what to do.
func TestCounterRunsOut(t *testing.T) {
	r, s := counted(t, strings.Replace(ordering, "start = 1000", `at_end = "fail"`, 1), func(c *Config) { c.Lessor = &lessor{left: 30, most: 8} })
	if r.State != message.WorkflowFailed || !strings.Contains(r.Error, `counter "orders" has no more values, 30 were taken here: give it more with most`) {
		t.Errorf("ended %v, %q, after %d values", r.State, r.Error, len(s.all()))
	}
}

// Calls that wait for a lessor that never answers end with the run's time, and none of them in the
// middle of another one's value.
func TestCounterIsSilent(t *testing.T) {
	r, s := counted(t, strings.Replace(ordering, `"1m"`, `"300ms", graceful_stop = "200ms"`, 1), func(c *Config) { c.Lessor = &lessor{left: 30, most: 8, late: time.Hour} })
	step := r.Stats.Steps[0]
	if r.State != message.WorkflowCompleted || len(s.all()) != 0 || step.Cancelled != 7 || r.Duration > 5*time.Second {
		t.Errorf("%v after %v, cancelled %d, the server saw %d", r.State, r.Duration, step.Cancelled, len(s.all()))
	}
}

// Values that a vu_setup takes are as unique as others, and a virtual user that gets none begins no
// iteration: the workflow ends well.
func TestValuesOfSetups(t *testing.T) {
	r, s := counted(t, `
accounts = counter("accounts", most = 100, start = 0)
def sign_in(vu):
    vu.vars["account"] = vu.next(accounts)
def me(vu):
    return vu.http.get("URL/?id=%d" % vu.vars["account"])
workflow(name = "w", vus = 7, duration = "300ms", think = "10ms", vu_setup = sign_in, steps = [step(me)])
`, func(c *Config) { c.Lessor = &lessor{left: 5, most: 2, late: time.Millisecond} })
	all := s.all()
	var ids []string
	for id := range all {
		ids = append(ids, id)
	}
	if slices.Sort(ids); r.State != message.WorkflowCompleted || strings.Join(ids, "") != "01234" {
		t.Errorf("ended %v, %q, as users %v", r.State, r.Error, ids)
	}
}
