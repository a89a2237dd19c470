package workflow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/demand"
	"hyperscale/core/workflow/request"
)

// terse formats the parts of a plan that differ from a workflow without arguments.
func terse(w *message.WorkflowPlan) string {
	out := fmt.Sprintf("vus %d for %v", w.VUs, w.Duration)
	add := func(is bool, format string, args ...any) {
		if is {
			out += ", " + fmt.Sprintf(format, args...)
		}
	}
	add(w.Iterations > 0, "%d iterations", w.Iterations)
	per := max(w.RatePer, time.Second)
	add(w.Rate > 0, "rate %d/%v", w.Rate, per)
	for _, s := range w.Stages {
		add(s.Rate > 0 || w.Rate > 0, "%v to rate %d/%v", s.Duration, s.Rate, per)
		add(s.Rate == 0 && w.Rate == 0, "%v to vus %d", s.Duration, s.VUs)
	}
	add(w.Poisson, "poisson")
	add(w.Queue, "queue")
	add(w.Think > 0, "think %v..%v", w.Think, max(w.Think, w.ThinkMax))
	add(w.Pace > 0, "pace %v", w.Pace)
	add(w.GracefulStop != 30*time.Second, "stop %v", w.GracefulStop)
	add(w.Priority > 0, "priority %d", w.Priority)
	add(w.Cores > 0, "cores %d", w.Cores)
	add(w.Interval > 0, "interval %v", w.Interval)
	add(w.Session > 0, "session %d", w.Session)
	add(w.Connections > 0, "connections %d", w.Connections)
	add(len(w.Tags) > 0, "tags %v", w.Tags)
	add(len(w.Report) > 0, "report %v", w.Report)
	return out
}

func TestWorkloads(t *testing.T) {
	tests := []struct {
		arguments string
		set       message.Program
		want      string // the plan, or part of the error
	}{
		{``, message.Program{}, `vus 1 for 0s`},
		{`vus = 10, iterations = 1000`, message.Program{}, `vus 10 for 0s, 1000 iterations`},
		{`vus = 10, iterations = 1000, duration = "1m"`, message.Program{VUs: 1000}, `vus 1000 for 1m0s, 1000 iterations`},
		{`vus = 10, iterations = 1000`, message.Program{VUs: 1001}, `set --vus to at most 1000`},
		{`vus = 9, rate = "500/s", duration = "5m"`, message.Program{}, `vus 9 for 5m0s, rate 500000/1s`},
		{`vus = 9, rate = "2.5/s", duration = "5m", arrivals = "poisson", when_full = "queue"`, message.Program{}, `vus 9 for 5m0s, rate 2500/1s, poisson, queue`},
		{`vus = 9, rate = "30/m", duration = "5m", arrivals = "even", when_full = "drop"`, message.Program{}, `vus 9 for 5m0s, rate 500/1s`},
		{`vus = 9, rate = "1000/h", duration = "5m"`, message.Program{}, `vus 9 for 5m0s, rate 1000000/1h0m0s`},
		{`vus = 9, rate = "7/m", duration = "5m"`, message.Program{}, `vus 9 for 5m0s, rate 7000/1m0s`},
		{`vus = 9, rate = "500/s"`, message.Program{Duration: time.Minute}, `vus 9 for 1m0s, rate 500000/1s`},
		{`rate = "500/s", duration = "5m"`, message.Program{VUs: 7, Rate: 3000}, `vus 7 for 5m0s, rate 3000/1s`},
		{`stages = [stage("30s", vus = 100), stage("10s", vus = 0)]`, message.Program{}, `vus 100 for 40s, 30s to vus 100, 10s to vus 0`},
		{`vus = 50, stages = [stage("30s", vus = 10)]`, message.Program{}, `vus 50 for 30s, 0s to vus 50, 30s to vus 10`},
		{`stages = [stage("30s", vus = 100), stage("10s", vus = 20)]`, message.Program{VUs: 7, Duration: 4 * time.Second}, `vus 7 for 4s, 3s to vus 7, 1s to vus 1`},
		{`vus = 9, stages = [stage("1m", rate = "100/s"), stage("5m", rate = "7/m")]`, message.Program{}, `vus 9 for 6m0s, 1m0s to rate 6000000/1m0s, 5m0s to rate 7000/1m0s`},
		{`vus = 9, rate = "10/s", stages = [stage("0s", rate = "20/s"), stage("1m", rate = "40/s")]`, message.Program{}, `vus 9 for 1m0s, rate 10000/1s, 0s to rate 20000/1s, 1m0s to rate 40000/1s`},
		{`vus = 9, rate = "10/s", stages = [stage("1m", rate = "40/s")]`, message.Program{Rate: 1000}, `vus 9 for 1m0s, rate 250/1s, 1m0s to rate 1000/1s`},
		{`vus = 9, rate = "10/s", stages = [stage("1m", rate = "30/s")]`, message.Program{Rate: 1000}, `vus 9 for 1m0s, rate 20000/1m0s, 1m0s to rate 60000/1m0s`},
		{`vus = 9, duration = "1m", think = "1s", pace = "2s"`, message.Program{Rate: 7000, RatePer: time.Minute}, `vus 9 for 1m0s, rate 7000/1m0s`},
		{`vus = 9`, message.Program{Rate: 1000}, `set --duration too`},
		{`duration = "1m"`, message.Program{Rate: 1000}, `set --vus too`},
		{`vus = 9, iterations = 10`, message.Program{Rate: 1000}, `take iterations out, or leave --rate out`},
		{`stages = [stage("30s", vus = 100)]`, message.Program{Rate: 1000}, `set --vus, or write its stages as`},
		{`vus = 9, duration = "1m"`, message.Program{Rate: 1 << 60}, `set --rate to at most 10000000/s`},
		{`vus = 9, duration = "1m"`, message.Program{Rate: 1, RatePer: 1}, `is set from outside`},
		{`think = between("1s", "3s"), pace = "5s", graceful_stop = "10s"`, message.Program{}, `vus 1 for 0s, think 1s..3s, pace 5s, stop 10s`},
		{`priority = "exclusive", session = "none", interval = "1s", tags = {"b": 1, "a": "x"}, report = ["json=x"]`, message.Program{}, `vus 1 for 0s, priority 4, interval 1s, session 1, tags [{a x} {b 1}], report [json=x]`},
		{`priority = "auto", session = "vu", connections = "per_vu", cores = 3`, message.Program{}, `vus 1 for 0s, cores 3`},
		{`connections = 8`, message.Program{}, `vus 1 for 0s, connections 8`},
		{`vus = 9, rate = "10/s", duration = "1m", arrivals = "poisson"`, message.Program{Iterations: 100}, `vus 9 for 0s, 100 iterations`},
		{`vus = 9, stages = [stage("1m", vus = 3)]`, message.Program{Iterations: 5, Duration: time.Second}, `vus 5 for 1s, 5 iterations`},
		{`vus = 9`, message.Program{Iterations: 5, VUs: 6}, `set --vus to at most 5`},
		{`vus = 9`, message.Program{Iterations: 5, Rate: 6}, `leave --iterations or --rate out`},
		{`vus = 9`, message.Program{Iterations: 1 << 60}, `set --iterations to less`},
		{`vus = 9, duration = "1m", think = "1s"`, message.Program{Stages: stages("30s:20", "10s:0")}, `vus 20 for 40s, 30s to vus 20, 10s to vus 0, think 1s..1s`},
		{`vus = 9, iterations = 90, pace = "1s"`, message.Program{Stages: stages("30s:20/s", "10s:90/m")}, `vus 9 for 40s, 30s to rate 20000/1s, 10s to rate 1500/1s`},
		{`vus = 9, rate = "1/s", duration = "1m"`, message.Program{Stages: stages("1s:7/s"), VUs: 30}, `vus 30 for 1s, 1s to rate 7000/1s`},
		{``, message.Program{Stages: stages("1s:7/s")}, `set --vus too`},
		{``, message.Program{Stages: stages("1s:7/s", "1s:7")}, `all --stage to virtual users, or all to rates`},
		{``, message.Program{Stages: stages("1s:0")}, `set one --stage to more than nothing`},
		{``, message.Program{Stages: stages("1s:7"), VUs: 7}, `leave --vus out`},
		{``, message.Program{Stages: stages("1s:7"), Duration: 7}, `leave --stage out, or --duration`},
		{``, message.Program{Stages: []message.StagePlan{{VUs: 7}}}, `such as 30s:100`},
		{``, message.Program{Stages: slices.Repeat(stages("1s:7"), 101)}, `join stages`},
	}
	for _, test := range tests {
		p := program("test.star", "workflow(name = \"w\", steps = [step(\"a\", http.get(\"http://h/\"))], "+test.arguments+")\n")
		p.VUs, p.Duration, p.Rate, p.RatePer = test.set.VUs, test.set.Duration, test.set.Rate, test.set.RatePer
		p.Iterations, p.Stages = test.set.Iterations, test.set.Stages
		loaded, err := workflow.Load(p)
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s with %+v: got %v, want %s", test.arguments, test.set, err, test.want)
			}
			continue
		}
		if got := terse(&loaded.Plan().Workflows[0]); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.arguments, got, test.want)
		}
	}
}

// stages are those of --stage.
func stages(texts ...string) (all []message.StagePlan) {
	for _, text := range texts {
		s, err := demand.ParseStage(text)
		if err != nil {
			panic(err)
		}
		all = append(all, s)
	}
	return all
}

func TestParseStage(t *testing.T) {
	//lint:orderfree each text is a case of its own
	for text, want := range map[string]string{
		"30s:100": "30s 100 0", "1m30s:0": "1m30s 0 0", "30s:500/s": "30s 0 1800000000", "1h:2.5/m": "1h0m0s 0 150000",
		"30s": "is no stage", ":5": "no duration", "0s:5": "no duration", "800h:5": "no duration", "1s:-5": "no number of virtual users", "1s:": "no number of virtual users", "1s:5/d": "is not a rate",
	} {
		s, err := demand.ParseStage(text)
		got := fmt.Sprint(s.Duration, s.VUs, s.Rate)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestParseRate(t *testing.T) {
	//lint:orderfree each text is a case of its own
	for text, want := range map[string]string{
		"500/s": "500000 1s", "2.5/m": "2500 1m0s", "1000/h": "1000000 1h0m0s",
		"0/s": "no load at all", "5": "not a rate", "/s": "not a rate", "5/d": "not a rate", "-5/s": "not a rate", "99999999/s": "more than",
	} {
		n, per, err := demand.ParseRate(text)
		got := fmt.Sprint(n, per)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// Mixes, conditions, tags, and the order between workflows reach the plan.
func TestMixInPlan(t *testing.T) {
	p, err := workflow.Load(program("test.star", `
r = http.get("http://h/")
workflow(name = "warmup", steps = [step("a", r)])
workflow(name = "main", start_after = ["warmup", "other"], abort_when = ["search.errors > 20% for 10s"], steps = [
    step("login", r),
    step("search", r, after = ["login"], weight = 3, tags = {"kind": "read"}),
    step("buy", r, after = ["login"], weight = 1, when = lambda vu, login: login.status == 200),
])
workflow(name = "other", depends = ["warmup"], steps = [step("a", r)])
`))
	if err != nil {
		t.Fatal(err)
	}
	w := &p.Plan().Workflows[2]
	if w.Name != "main" || w.Layer != 2 || !cmp.Equal(w.StartAfter, []uint32{0, 1}) || len(w.Depends) != 0 || !w.Weighted {
		t.Errorf("got %+v", w)
	}
	want := []message.AbortPlan{{For: 10 * time.Second, When: message.Threshold{Expr: "search.errors > 20%", Step: "search", Of: message.OfErrors, Op: message.OpAbove, Bound: 200_000}}}
	if diff := cmp.Diff(want, w.AbortWhen); diff != "" {
		t.Error(diff)
	}
	if w.Steps[0].Weight != 0 || w.Steps[1].Weight != 3 || w.Steps[2].Weight != 1 || !cmp.Equal(w.Steps[1].Tags, []message.Tag{{Name: "kind", Value: "read"}}) {
		t.Errorf("got %+v", w.Steps)
	}
	main := p.Workflow("main")
	v := main.NewVU(1, 1, &fake{})
	for _, status := range []int{200, 500} {
		v.Begin()
		v.SetResponse(0, &workflow.Response{Status: status})
		if take, out := v.When(2); take != (status == 200) || !out.OK {
			t.Errorf("after status %d: %v, %+v", status, take, out)
		}
	}
	if main.Steps[1].Conditional() || !main.Steps[2].Conditional() {
		t.Error("only buy has a condition")
	}
}

func TestWhenMistakes(t *testing.T) {
	w := load(t, `
workflow(name = "w", steps = [
    step("a", http.get("http://h/"), when = lambda vu: 1),
    step("b", http.get("http://h/"), when = lambda vu: fail("no")),
])`)
	v := w.NewVU(1, 1, &fake{})
	for step, want := range []string{"script: test.star:3:45: a when must return True or False, not int 1", "fail: no"} {
		take, out := v.When(step)
		if got := out.Kind + ": " + out.Detail; take || out.OK || got != want {
			t.Errorf("step %d: %v, %s; want %s", step, take, got, want)
		}
	}
}

func TestHooks(t *testing.T) {
	w := load(t, `
def prepare(vu):
    return {"token": vu.http.get("http://h/token").text(), "n": [1, 2]}

def begin(vu):
    vu.vars["mine"] = vu.shared["token"] + str(vu.id)

def use(vu):
    vu.log("%s %d" % (vu.vars["mine"], vu.shared["n"][1]))
    return vu.http.get("http://h/")

def end(vu):
    vu.shared["n"].append(3)

workflow(name = "w", setup = prepare, vu_setup = begin, vu_teardown = end, steps = [step(use)])
`)
	for h, want := range []bool{true, false, true, true} {
		if got := w.Has(workflow.Hook(h)); got != want {
			t.Errorf("%s: %v", workflow.Hook(h), got)
		}
	}
	f := &fake{answer: func(*request.Request) *workflow.Response { return &workflow.Response{Status: 200, Body: []byte("t")} }}
	first := w.NewVU(0, 1, f)
	if out := first.Run(workflow.HookSetup); !out.OK {
		t.Fatal(out)
	}
	v := w.NewVU(7, 1, f)
	v.Share(first.Shared())
	if out := v.Run(workflow.HookVUSetup); !out.OK {
		t.Fatal(out)
	}
	v.Begin()
	if out := v.Call(0); !out.OK || !cmp.Equal(f.logs, []string{"t7 2"}) {
		t.Errorf("%+v, logs %q", out, f.logs)
	}
	if out := v.Run(workflow.HookVUTeardown); out.Kind != "script" || !strings.Contains(out.Detail, "frozen list") {
		t.Errorf("what is shared can be changed: %+v", out)
	}
}

// What setup returns is plain data of a bounded size.
func TestSetupReturnsPlainData(t *testing.T) {
	//lint:orderfree each body is a case of its own
	for body, want := range map[string]string{
		`return vu.http.get("http://h/")`:       "must return texts, numbers, lists and dicts, not a response",
		`return {"f": (1, lambda: 1)}`:          "not a function",
		`return [x for x in range(5)]`:          "",
		`return None`:                           "",
		"x = []\n    x.append(x)\n    return x": "must return what can be shared",
	} {
		w := load(t, "def f(vu):\n    "+body+"\nworkflow(name = \"w\", setup = f, steps = [step(\"a\", http.get(\"http://h/\"))])\n")
		out := w.NewVU(1, 1, &fake{}).Run(workflow.HookSetup)
		if out.OK != (want == "") || !strings.Contains(out.Detail, want) {
			t.Errorf("%s: got %+v, want %s", body, out, want)
		}
	}
}
