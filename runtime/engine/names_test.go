package engine

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// Each request of a function counts once, under its own name, with its own status. The
// function's figures count its calls, and what it returned.
func TestRequestsCountUnderTheirNames(t *testing.T) {
	s := serve(t, nil)
	w := loadFile(t, s.URL(), `
def prepare(vu):
    vu.http.get("TARGET/in")

def fetch(vu):
    return vu.http.get("TARGET/in")

def visit(vu):
    vu.http.get("TARGET/users/%d/cart?n=%d" % (vu.id, vu.iteration))
    vu.http.post("TARGET/buy", name = "buy")
    vu.group("checkout", lambda: vu.group("pay", fetch) and vu.http.get("TARGET/in", name = "in"))
    vu.http.get("TARGET/users/7f3a99b0/cart", name = "a row", expect = [status(200)])
    return vu.http.get("TARGET/last")

def good(vu, visit):
    return vu.http.get("TARGET/asked").status == 200

workflow(name = "test", vus = 3, iterations = 12, setup = prepare, steps = [
    step(visit),
    check(good, after = ["visit"]),
    step("home", http.get("TARGET/home"), after = ["visit"], when = lambda vu: vu.http.get("TARGET/may").status == 200),
])
`)
	r := run(t, t.Context(), Config{Workflow: w, VUs: 3})
	twelve := tally{Started: 12, OK: 12}
	want := map[string]tally{
		"visit": twelve, "visit/GET /users/{id}/cart": twelve, "visit/buy": twelve, "visit/checkout/pay/GET /in": twelve, "visit/checkout/in": twelve,
		"visit/a row": twelve, "visit/GET /last": twelve, "good": twelve, "good/GET /asked": twelve, "home": twelve, "home/GET /may": twelve, "setup/GET /in": {Started: 1, OK: 1},
	}
	if d := cmp.Diff(want, tallies(r)); d != "" {
		t.Error(d)
	}
	sums := map[message.StepKind]uint64{}
	for _, step := range r.Stats.Steps {
		sums[step.Kind] += step.Sent
		if step.Kind.Requests() && (step.Latency.Count != 12 || step.BytesIn == 0 || len(step.Phases) == 0 || len(step.Windows.Data) == 0) {
			t.Errorf("%s has %d latencies, %d bytes, %d phases", step.Name, step.Latency.Count, step.BytesIn, len(step.Phases))
		}
	}
	if sums[message.StepPart] != 8*12 || sums[message.StepRequest] != 12 || sums[message.StepFunction] != 6*12 || sums[message.StepRequest]+sums[message.StepPart]+sums[message.StepBeside] != s.Stats().Requests {
		t.Errorf("sent by kind: %v, the target saw %d", sums, s.Stats().Requests)
	}
}

// A failure inside a function is a failure of its request, whatever the function returns.
func TestFailuresInsideFunctionsAreSeen(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/broken":
			w.WriteHeader(500)
		case "/gone":
			w.WriteHeader(404)
		case "/moved":
			http.Redirect(w, r, "/gone", http.StatusFound)
		}
	}))
	defer s.Close()
	url := s.URL
	w := loadFile(t, url, `
right = [status(404)]

def visit(vu):
    vu.http.get("TARGET/broken", name = "broken")
    vu.http.get("TARGET/", name = "other answer", expect = [status(204), latency_below("10s")])
    vu.http.get("TARGET/moved", name = "moved", redirects = 1, expect = right)
    return vu.http.get("TARGET/gone", name = "gone", expect = right)

def wrong(vu):
    return vu.http.get("TARGET/", expect = [body_contains("x")])

workflow(name = "test", iterations = 5, steps = [step(visit), step(wrong)])
`)
	r := run(t, t.Context(), Config{Workflow: w, VUs: 1})
	want := map[string]tally{
		"visit": {Started: 5, OK: 5}, "visit/broken": {Started: 5, Failed: 5}, "visit/other answer": {Started: 5, Failed: 5},
		"visit/moved": {Started: 5, OK: 5}, "visit/gone": {Started: 5, OK: 5}, "wrong": {Started: 5, Failed: 5}, "wrong/GET /": {Started: 5, Failed: 5},
	}
	if d := cmp.Diff(want, tallies(r)); d != "" {
		t.Error(d)
	}
	for _, step := range r.Stats.Steps {
		switch step.Name {
		case "visit/broken":
			if kinds(step)["status 500"] != 5 || !strings.Contains(step.Errors[0].Example, "GET "+url+"/broken: answered 500") {
				t.Errorf("errors: %v", step.Errors)
			}
		case "visit/other answer":
			if kinds(step)["expect"] != 5 {
				t.Errorf("errors: %v", step.Errors)
			}
		case "visit/moved":
			if d := cmp.Diff([]message.StatusCount{{Status: 302, Count: 5}, {Status: 404, Count: 5}}, step.Statuses); d != "" {
				t.Error(d)
			}
		}
	}
}

// Names are bounded: beyond the bound one name counts the rest, and the result says so.
func TestNamesAreBounded(t *testing.T) {
	s := serve(t, nil)
	w := loadFile(t, s.URL(), `
def visit(vu):
    return vu.http.get("TARGET/", name = "n%d" % vu.iteration)

workflow(name = "test", iterations = 100, steps = [step(visit)])
`)
	r := run(t, t.Context(), Config{Workflow: w, VUs: 1})
	all := tallies(r)
	if len(all) != 1+stats.PartsMax+1 || all["visit/other"].OK != 100-stats.PartsMax || all["visit/n64"].OK != 1 {
		t.Errorf("%d rows, other: %+v", len(all), all["visit/other"])
	}
	if len(r.Stats.Logs) != 1 || !strings.Contains(r.Stats.Logs[0], "visit/other counts the rest") {
		t.Errorf("logs: %q", r.Stats.Logs)
	}
}

// BenchmarkThreeRequests compares a function of three requests with three functions of one.
func BenchmarkThreeRequests(b *testing.B) {
	for _, one := range []struct{ name, file string }{
		{"one function of three", `
def visit(vu):
    vu.http.get("TARGET/a", name = "a")
    vu.http.get("TARGET/b", name = "b")
    return vu.http.get("TARGET/c", name = "c")

workflow(name = "test", vus = 32, iterations = N + 32, steps = [step(visit)])
`},
		{"three functions of one", `
def a(vu):
    return vu.http.get("TARGET/a")

def b(vu):
    return vu.http.get("TARGET/b")

def c(vu):
    return vu.http.get("TARGET/c")

workflow(name = "test", vus = 32, iterations = N + 32, steps = [step(a), step(b, after = ["a"]), step(c, after = ["b"])])
`},
	} {
		b.Run(one.name, func(b *testing.B) {
			b.ReportAllocs()
			s := serve(b, nil)
			w := loadFile(b, s.URL(), strings.ReplaceAll(one.file, "= N", fmt.Sprint("= ", b.N)))
			b.ResetTimer()
			run(b, b.Context(), Config{Workflow: w, VUs: 32})
		})
	}
}
