package engine

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/redact"
	"hyperscale/runtime/target"
)

// loadFile reads a workflow file; "TARGET" in it stands for the URL.
func loadFile(t testing.TB, url, text string) *workflow.Workflow {
	t.Helper()
	text = strings.ReplaceAll(text, "TARGET", url)
	p, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(text)}}})
	if err != nil {
		t.Fatal(err)
	}
	return p.Workflow("test")
}

const loginFlow = `
def login(vu):
    vu.vars["n"] = vu.vars.get("n", 0) + 1
    return vu.http.post("TARGET/login", json = {"user": "u%d" % vu.id})

def profile(vu, login):
    token = login.json()["token"]
    return vu.http.get("TARGET/me", headers = {"Authorization": "Bearer " + token})

def is_me(vu, profile):
    return profile.json()["user"] == "u%d" % vu.id or "another user"

def is_even(vu, profile):
    return vu.id % 2 == 0 or "id is odd"

workflow(
    name = "test", vus = 1, duration = "1s",
    steps = [
        step("home", http.get("TARGET/")),
        step(login),
        step(profile, after = ["login"]),
        check(is_me, after = ["profile"]),
        check(is_even, after = ["profile"]),
        metric("size", kind = "distribution", value = lambda vu, home: len(home.body), after = ["home"]),
        action("say", lambda vu: vu.log("pass %d" % vu.iteration), after = ["profile"]),
    ],
)
`

func TestLanguage(t *testing.T) {
	s := serve(t, nil)
	r := run(t, context.Background(), Config{Workflow: loadFile(t, s.URL(), loginFlow), VUs: 4, Seed: 1})
	four := tally{Started: 4, OK: 4}
	want := map[string]tally{
		"home": four, "login": four, "profile": four, "is_me": four, "is_even": {Started: 4, OK: 2, Failed: 2}, "size": four, "say": four,
		"login/POST /login": four, "profile/GET /me": four,
	}
	if diff := cmp.Diff(want, tallies(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, step := range r.Stats.Steps {
		switch {
		case step.Name == "is_even" && kinds(step)["id is odd"] != 2:
			t.Errorf("errors of the check: %v", step.Errors)
		case step.Name == "size" && step.Metric.Max != 150_000:
			t.Errorf("metric: %+v", step.Metric)
		case step.Name == "profile" && (step.Latency.Count != 4 || step.Service.Count != 4):
			t.Errorf("profile was not measured: %+v", step)
		}
	}
	if len(r.Stats.Logs) != 4 {
		t.Errorf("logs: %q", r.Stats.Logs)
	}
}

func TestLanguageForAWhile(t *testing.T) {
	s := serve(t, func(c *target.Config) { c.ErrorEvery, c.CloseEvery = 10, 35 })
	r := run(t, context.Background(), Config{Workflow: loadFile(t, s.URL(), loginFlow), VUs: 16, Duration: 300 * time.Millisecond})
	started := uint64(0)
	for _, step := range r.Stats.Steps {
		if step.Kind == message.StepRequest || step.Kind == message.StepFunction {
			started += step.Started
		}
	}
	if n := s.Stats().Requests; started != n || n == 0 {
		t.Errorf("started %d, the target saw %d", started, n)
	}
}

// A function that uses a missing answer must not hide why the answer is missing.
func TestCauseNotSymptom(t *testing.T) {
	r := run(t, context.Background(), Config{VUs: 2, Workflow: loadFile(t, "http://127.0.0.1:1", `
def a(vu):
    got = vu.http.get("TARGET/")
    return vu.http.get("TARGET/" + got.json()["next"])

workflow(name = "test", vus = 1, duration = "1s", steps = [step(a)])
`)})
	if kinds(r.Stats.Steps[0])["refused"] != 2 || !silent(r) {
		t.Errorf("state %v, errors %v, want refused", r.State, r.Stats.Steps[0].Errors)
	}
}

func TestCancelEndsLoopsOfTheInterpreter(t *testing.T) {
	w := loadFile(t, "", `
def a(vu):
    for i in range(1000000):
        vu.sleep("1ms")
    return None

workflow(name = "test", vus = 1, duration = "1s", steps = [step(a)])
`)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	r := run(t, ctx, Config{Workflow: w, VUs: 2, Duration: time.Minute})
	if got := tallies(r)["a"]; got != (tally{Started: 2, Cancelled: 2}) {
		t.Errorf("got %+v: %v", got, r.Stats.Steps[0].Errors)
	}
}

// A function that computes for long lets other virtual users run, but no other function of its
// own user: what it iterates over must not change.
func TestLongFunctionsAreSliced(t *testing.T) {
	w := loadFile(t, "", `
def long(vu):
    if vu.id == 1:
        for i in range(5):
            vu.sleep("1ms")
    else:
        vu.vars["a"] = 1
        for k in vu.vars:
            for i in range(1200):
                for j in range(1000):
                    pass
    vu.log("ended")
    fail("all is well")

def other(vu):
    vu.vars["b"] = 1
    fail("all is well")

workflow(name = "test", vus = 2, duration = "1s", steps = [parallel(step(long), step(other))])
`)
	r := run(t, t.Context(), Config{Workflow: w, VUs: 2, Timeout: time.Second})
	for _, s := range r.Stats.Steps {
		if kinds(s)["fail"] != 2 {
			t.Errorf("step %s: %v", s.Name, s.Errors)
		}
	}
	if len(r.Stats.Logs) != 2 || !strings.HasPrefix(r.Stats.Logs[0], "vu 1") {
		t.Errorf("the one that sleeps is to end first: %q", r.Stats.Logs)
	}
}

// Expectations that fail with other numbers are one kind, and its example has the values of the first.
// A secret that an answer repeats is hidden whole: folding would leave a part of it. A missing
// answer is the failure, not what a function expects of it.
func TestExpectationsAreGrouped(t *testing.T) {
	s := serve(t, nil)
	w := loadFile(t, s.URL(), `
def order(vu):
    expect.equal(vu.id, 100 + vu.id, "order")
    return vu.http.get("TARGET/")

def lost(vu):
    r = vu.http.get("http://no-such-host.invalid/")
    expect.equal(r.status, 200)
    return r

workflow(name = "test", vus = 1, duration = "1s", steps = [parallel(
    step(order), step(lost), check("echo", lambda vu: expect.equal("key-4711-abc and %d" % vu.id, "key")),
)])
`)
	r := run(t, t.Context(), Config{Workflow: w, VUs: 5, Mask: redact.New([]string{"key-4711-abc"})})
	want := map[string]map[string]uint64{
		"order": {"order: got {n}, want {n}": 5}, "lost": {"dns": 5}, "echo": {`got "*** and {n}", want "key"`: 5},
	}
	for _, step := range r.Stats.Steps {
		if step.Kind == message.StepPart {
			continue
		}
		if diff := cmp.Diff(want[step.Name], kinds(step)); diff != "" {
			t.Errorf("step %s (-want +got):\n%s", step.Name, diff)
		}
		if example := step.Errors[0].Example; step.Name == "order" && !strings.Contains(example, "order: got 0, want 100") || strings.Contains(example, "4711") {
			t.Errorf("step %s: the example is %q", step.Name, example)
		}
	}
}

// A function may use a name that the run has not looked up yet, and one that does not exist.
func TestFunctionsLookNamesUp(t *testing.T) {
	s := serve(t, nil)
	w := loadFile(t, strings.Replace(s.URL(), "127.0.0.1", "localhost", 1), `
def known(vu):
    return vu.http.get("TARGET/")

def unknown(vu):
    return vu.http.get("http://no-such-host.invalid/")

workflow(name = "test", vus = 1, duration = "1s", steps = [step(known), step(unknown)])
`)
	r := run(t, t.Context(), Config{Workflow: w, VUs: 20, Timeout: 20 * time.Second})
	if known := r.Stats.Steps[0]; known.OK != 20 {
		t.Errorf("known: %+v", known.Errors)
	}
	if unknown := r.Stats.Steps[1]; kinds(unknown)["dns"] != 20 {
		t.Errorf("unknown: %+v", unknown.Errors)
	}
}

// TestSecretsAreNotProvided: managers keep what a workflow provides, so an answer that repeats a
// secret fails it, and no text of the result has it.
func TestSecretsAreNotProvided(t *testing.T) {
	s := web(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "you sent "+r.URL.Query().Get("t"))
	})
	for _, kept := range []string{"answer.text()", "answer.status"} {
		text := strings.NewReplacer("TARGET", s.URL, "KEPT", kept).Replace(`
token = secret("token")
def one(vu):
    answer = vu.http.get("TARGET/?t=" + token)
    vu.log(answer.text())
    return KEPT
def ask(vu):
    return vu.http.get("TARGET/")
workflow(name = "test", provide = [provide("p", one, to = ["next"])], steps = [step(ask)])
workflow(name = "next", use = [use("p", of = ["test"])], depends = ["test"], steps = [step(ask)])
`)
		p, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(text)}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Reveal([]message.Secret{{Name: "token", Value: "hunter2"}}); err != nil {
			t.Fatal(err)
		}
		r := run(t, context.Background(), Config{Workflow: p.Workflow("test"), VUs: 1, Mask: redact.New([]string{"hunter2"})})
		if want := kept == "answer.status"; (r.State == message.WorkflowCompleted) != want || (len(r.Provided) == 1) != want {
			t.Errorf("%s: %v, %q, provided %v", kept, r.State, r.Error, r.Provided)
		}
		if shown := fmt.Sprint(r.Error, r.Stats.Logs); strings.Contains(shown, "hunter2") || !strings.Contains(shown, "you sent ***") {
			t.Errorf("%s: %s", kept, shown)
		}
	}
}
