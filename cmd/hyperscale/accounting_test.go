package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/report"
	"hyperscale/runtime/target"
)

// loadFile is one step against the target, that gives up after 300ms.
const loadFile = `
target = param("target", default = "", help = "server under test")
version = param("version", default = "1.1", help = "of HTTP")
shared = int(param("connections", default = "0", help = "that all users share; 0: each has its own"))
workflow(
    name = "load", vus = 1, duration = "1s", timeout = "300ms",
    http = http.client(version = version), steps = [step("home", http.get(target + "/"))],
    **({"connections": shared} if shared else {})
)
`

// hostile are the target's bad habits.
var hostile = []string{"--error-every", "10", "--close-every", "100", "--stall-every", "1000", "--stall-for", "2s"}

// arrived asserts that the target has counted exactly the requests that the run reports as
// sent, as soon as it has read its kernel's buffers.
func arrived(t *testing.T, url string, r *report.Result) {
	t.Helper()
	adds(t, r)
	got := uint64(0)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got = stats(t, url).Requests; got >= r.Totals.Sent {
			break
		}
	}
	if got != r.Totals.Sent || r.Totals.Sent > r.Totals.Started || got == 0 {
		t.Errorf("the target counted %d, the run %+v", got, r.Totals)
	}
}

// TestAccounting: the run's and the target's counts are equal, for a good target and a bad one,
// with few users and many, over HTTP/1.1 and HTTP/2.
func TestAccounting(t *testing.T) {
	t.Parallel()
	file := write(t, "load.star", loadFile)
	for _, kind := range []struct {
		name, version string
		vus           []int
		args          []string
	}{
		{"good", "1.1", []int{1, 7, 64, 500}, nil},
		{"hostile", "1.1", []int{1, 7, 64, 500}, hostile},
		{"good over HTTP 2", "2", []int{7, 500}, nil},
		{"hostile over HTTP 2", "2", []int{7, 500}, hostile},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			for _, vus := range kind.vus {
				url := serveTarget(t, kind.args...)
				out := filepath.Join(t.TempDir(), "result.json")
				run(t, command.ExitGood, "run", file, "--set", "target="+url, "--set", "version="+kind.version, "--vus", fmt.Sprint(vus), "--duration", "700ms", "--cores", "1", "--ui", "none", "--out", "json="+out)
				r := readResult(t, out)
				arrived(t, url, r)
				if r.Totals.Cancelled != 0 || kind.args != nil && (r.Totals.Failed == 0 || r.Totals.Started > 10_000 && r.Totals.TimedOut == 0) {
					t.Errorf("%d VUs: a hostile target and no fault, or one too many: %+v", vus, r.Totals)
				}
				t.Logf("%d VUs: %+v", vus, r.Totals)
			}
		})
	}
}

// TestAccountingInterrupted: Ctrl-C cancels requests in flight, and the result counts those
// that were sent.
func TestAccountingInterrupted(t *testing.T) {
	t.Parallel()
	file := write(t, "load.star", loadFile)
	for _, args := range [][]string{{"--latency", "1ms"}, append([]string{"--latency", "1ms"}, hostile...)} {
		for _, version := range []string{"1.1", "2"} {
			for _, vus := range []int{1, 500} {
				url := serveTarget(t, args...)
				out := filepath.Join(t.TempDir(), "result.json")
				p := start(t, "run", file, "--set", "target="+url, "--set", "version="+version, "--vus", fmt.Sprint(vus), "--duration", "1m", "--cores", "1", "--ui", "none", "--out", "json="+out)
				eventually(t, "the target is busy", patience, func() bool { return stats(t, url).Requests >= uint64(100+vus) })
				begun := time.Now()
				p.signal(syscall.SIGINT)
				p.expect(command.ExitInterrupted)
				took := time.Since(begun)
				r := readResult(t, out)
				arrived(t, url, r)
				if r.Outcome != "CANCELLED" || r.Totals.Cancelled > uint64(vus) {
					t.Errorf("%d VUs: %s, %+v", vus, r.Outcome, r.Totals)
				}
				if took > 15*time.Second {
					t.Errorf("%d VUs: a run ended %v after Ctrl-C", vus, took)
				}
				t.Logf("%d VUs: ended after %v: %+v", vus, took, r.Totals)
			}
		}
	}
}

// TestAccountingOfAStoppedTarget: a target stands still for longer than the requests' timeout.
// When it continues, it counts the requests that lie in its kernel, although their streams are
// reset and their connections closed.
func TestAccountingOfAStoppedTarget(t *testing.T) {
	t.Parallel()
	file := write(t, "load.star", loadFile)
	for _, tt := range []struct {
		version     string
		connections int
		interrupted bool
	}{{"1.1", 0, false}, {"2", 0, false}, {"2", 4, false}, {"1.1", 0, true}, {"2", 0, true}, {"2", 4, true}} {
		target := start(t, "target", "--listen", "127.0.0.1:0")
		url := target.await(`(https?://\S+) is up`)
		out, lasts := filepath.Join(t.TempDir(), "result.json"), "3s"
		if tt.interrupted { // it must not end before
			lasts = "1m"
		}
		p := start(t, "run", file, "--set", "target="+url, "--set", "version="+tt.version, "--set", fmt.Sprintf("connections=%d", tt.connections),
			"--vus", "500", "--duration", lasts, "--cores", "1", "--ui", "none", "--out", "json="+out)
		eventually(t, "the target is busy", patience, func() bool { return stats(t, url).Requests >= 1000 })
		target.signal(syscall.SIGSTOP)
		if tt.interrupted {
			time.Sleep(100 * time.Millisecond)
			p.signal(syscall.SIGINT)
			p.expect(command.ExitInterrupted)
		} else {
			time.Sleep(500 * time.Millisecond)
		}
		target.signal(syscall.SIGCONT)
		p.code()
		r := readResult(t, out)
		arrived(t, url, r)
		if tt.interrupted && r.Totals.Cancelled == 0 || !tt.interrupted && r.Totals.TimedOut == 0 {
			t.Errorf("%+v: the target was waited for: %+v", tt, r.Totals)
		}
		t.Logf("%+v: %+v", tt, r.Totals)
	}
}

// ownFiles are workflow files in whose functions, hooks and orders requests hide.
var ownFiles = map[string]string{
	"three": `
def f(vu):
    vu.http.get(target + "/a")
    vu.http.get(target + "/b/%d" % vu.iteration)
    return vu.http.get(target + "/c")
workflow(name = "w", vus = 3, duration = "300ms", steps = [step(f)])`,
	"hooks": `
def f(vu):
    vu.http.post(target + "/x")
def g(vu):
    return vu.http.get(target + "/g")
workflow(name = "w", vus = 3, duration = "300ms", setup = f, teardown = f, vu_setup = f, vu_teardown = f, steps = [step(g)])`,
	"once": `
def f(vu):
    vu.http.get(target + "/before")
    vu.http.get(target + "/before")
    return "kept"
def g(vu):
    vu.http.get(target + "/after?" + vu.job)
def h(vu):
    return vu.http.get(target + "/" + vu.job)
before_all(f)
after_all(g)
workflow(name = "v", vus = 2, duration = "300ms", steps = [step(h)])
workflow(name = "w", vus = 3, rate = "50/s", duration = "300ms", steps = [step(h), step("home", http.get(target + "/home"))])`,
	"hand-made retry": `
def f(vu):
    for _ in range(3):
        r = vu.http.get(target + "/r", name = "try")
        if r.status == 200:
            break
    return r
workflow(name = "w", vus = 3, duration = "300ms", steps = [step(f)])`,
	"http2": `
def f(vu):
    vu.http.get(target + "/a", name = "a")
    return vu.http.get(target + "/b", name = "b")
workflow(name = "w", vus = 20, connections = 2, duration = "300ms", http = http.client(version = "2"), steps = [step(f)])`,
	"feed": `
people = feed.list([{"user": "ann"}, {"user": "bob"}])
def f(vu):
    return vu.http.get(target + "/u/" + vu.row["user"])
workflow(name = "w", vus = 3, duration = "300ms", feed = people, steps = [step("q", http.get(target + "/q/${user}")), step(f, after = ["q"])])`,
	"graph": `
def f(vu):
    return vu.http.get(target + "/f")
workflow(name = "w", vus = 3, duration = "300ms", steps = [step("a", http.get(target + "/a")), step(f, after = ["a"]), step("b", http.get(target + "/b"), after = ["a"]), check(lambda vu, f: vu.http.get(target + "/k").status == 200, after = ["f", "b"])])`,
	"action and metric": `
workflow(name = "w", vus = 3, duration = "300ms", steps = [
    step("a", http.get(target + "/a")),
    action(lambda vu: vu.http.post(target + "/act"), after = ["a"]),
    metric("m", kind = "counter", value = lambda vu: len(vu.http.get(target + "/m").body), after = ["a"]),
])`,
	"when": `
workflow(name = "w", vus = 3, duration = "300ms", steps = [step("a", http.get(target + "/a"), when = lambda vu: vu.http.get(target + "/may", name = "may").status == 200)])`,
	"failing function": `
def f(vu):
    vu.http.get(target + "/a", name = "before")
    fail("no")
workflow(name = "w", vus = 3, duration = "300ms", steps = [step(f), step("b", http.get(target + "/b"))])`,
	"groups": `
def inner(vu):
    return vu.http.get(target + "/in")
def f(vu):
    vu.group("g", lambda: vu.group("h", inner))
    return vu.group("g", inner)
workflow(name = "w", vus = 3, duration = "300ms", steps = [step(f)])`,
	"many names": `
def f(vu):
    return vu.http.get(target + "/x", name = "n%d" % (vu.iteration % 100))
workflow(name = "w", vus = 1, iterations = 300, steps = [step(f)])`,
	"rate": `
def f(vu):
    vu.http.get(target + "/a")
    return vu.http.get(target + "/b")
workflow(name = "w", vus = 20, rate = "300/s", duration = "300ms", steps = [step(f)])`,
	"stages": `
workflow(name = "w", stages = [stage("100ms", vus = 5), stage("200ms", vus = 0)], steps = [step("a", http.get(target + "/a")), step("b", http.get(target + "/b"))])`,
	"mix": `
def f(vu):
    vu.http.get(target + "/f1")
    return vu.http.get(target + "/f2")
workflow(name = "w", vus = 3, duration = "300ms", steps = [step("a", http.get(target + "/a"), weight = 3), step("f", f, weight = 1)])`,
	"two workflows": `
def f(vu):
    vu.http.get(target + "/one")
    return vu.http.get(target + "/two")
workflow(name = "w", vus = 2, duration = "200ms", steps = [step(f)])
workflow(name = "v", vus = 2, duration = "200ms", steps = [step(f)], depends = ["w"])`,
	"provide": `
def token(vu):
    return vu.http.post(target + "/token").status
def f(vu):
    return vu.http.get(target + "/t/%d" % vu.use.token)
workflow(name = "auth", provide = [provide("token", token, to = ["w"])], steps = [step("login", http.get(target + "/login"))])
workflow(name = "w", vus = 2, duration = "200ms", depends = ["auth"], use = [use("token", of = ["auth"])], steps = [step(f)])`,
	"expect": `
def f(vu):
    vu.http.get(target + "/a", expect = [status(201)], name = "odd")
    return vu.http.get(target + "/b", expect = [status(200), size_below("1MB")])
workflow(name = "w", vus = 3, duration = "300ms", steps = [step(f)])`,
	"graphql": `
def f(vu):
    return vu.graphql.query(target + "/graphql", query = "{ a }", name = "ask")
workflow(name = "w", vus = 3, duration = "300ms", steps = [step(f)])`,
	"sse": `
def f(vu):
    vu.sse.read(target + "/none", name = "no stream")
    return vu.sse.read(target + "/events", events = 2, name = "stream")
workflow(name = "w", vus = 3, duration = "300ms", steps = [step(f), step("s", sse.read(target + "/events", until = body_contains("DONE")))])`,
	"redirects": `
def f(vu):
    vu.http.get(target + "/redirect", name = "stays")
    return vu.http.get(target + "/redirect", name = "goes", redirects = 3)
workflow(name = "w", vus = 3, duration = "300ms", steps = [step(f), step("r", http.get(target + "/redirect", redirects = 2))])`,
	"redirects over http2": `
def f(vu):
    return vu.http.get(target + "/redirect", redirects = 3)
workflow(name = "w", vus = 9, connections = 2, duration = "300ms", http = http.client(version = "2"), steps = [step(f)])`,
	"good failures": `
def f(vu):
    vu.http.put(target + "/form", expect = [status(405, 500)], name = "refused")
    return vu.http.get(target + "/me", expect = [status(401, 500)])
workflow(name = "w", vus = 3, duration = "300ms", steps = [step(f)])`,
	"session none": `
def f(vu):
    vu.http.get(target + "/a")
    return vu.http.get(target + "/b")
workflow(name = "w", vus = 3, duration = "300ms", session = "none", steps = [step(f)])`,
	"think": `
def f(vu):
    vu.http.get(target + "/a")
    vu.sleep("5ms")
    return vu.http.get(target + "/b")
workflow(name = "w", vus = 5, duration = "300ms", think = "3ms", steps = [step(f)])`,
}

// TestAccountingOfNames: the sum over the names of all requests is what the target counted, for a
// good target, one that closes every hundredth connection, a slow one, and with Ctrl-C.
func TestAccountingOfNames(t *testing.T) {
	t.Parallel()
	const head = "target = param(\"target\", default = \"\", help = \"server under test\")\n"
	for _, name := range slices.Sorted(maps.Keys(ownFiles)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, "own.star", head+ownFiles[name])
			for _, args := range [][]string{nil, {"--close-every", "100", "--error-every", "10"}, {"--latency", "20ms", "--stall-every", "50", "--stall-for", "200ms"}} {
				for _, interrupted := range []bool{false, true} {
					url, out := serveTarget(t, args...), filepath.Join(t.TempDir(), "result.json")
					flags := []string{"run", file, "--set", "target=" + url, "--cores", "1", "--ui", "none", "--out", "json=" + out}
					p := start(t, flags...)
					if interrupted {
						eventually(t, "the target is asked", patience, func() bool { return stats(t, url).Requests > 0 })
						p.signal(syscall.SIGINT)
					}
					p.code()
					r := readResult(t, out)
					adds(t, r)
					want := counted(r)
					sent, answers := want.requests, want.answers
					var got target.Stats
					for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
						if got = stats(t, url); got.Requests >= sent {
							break
						}
					}
					if got.Requests != sent || sent == 0 {
						t.Errorf("%v, interrupted %v: the target counted %d, the result has %d under its names", args, interrupted, got.Requests, sent)
					}
					if !interrupted && !maps.Equal(got.Statuses, answers) {
						t.Errorf("%v: the target answered %v, the result has %v", args, got.Statuses, answers)
					}
					for status, n := range answers { //lint:orderfree each by itself
						if n > got.Statuses[status] { // an interrupted client reads not all answers that left
							t.Errorf("%v, interrupted: the target answered %v, the result has %v", args, got.Statuses, answers)
						}
					}
				}
			}
		})
	}
}

// TestWorkflowsBeginTogether: three workflows on one core last as long as one of them, and each
// offers what it asks for. One behind the other they take six seconds.
func TestWorkflowsBeginTogether(t *testing.T) {
	t.Parallel()
	url, out := serveTarget(t), filepath.Join(t.TempDir(), "result.json")
	file := write(t, "three.star", `
target = param("target", default = "", help = "server under test")
[workflow(name = name, vus = 50, rate = rate, duration = "2s", steps = [step("home", http.get(target + "/"))]) for name, rate in [("a", "1100/s"), ("b", "1200/s"), ("c", "1300/s")]]
`)
	p := run(t, command.ExitGood, "run", file, "--set", "target="+url, "--cores", "1", "--ui", "none", "--out", "json="+out)
	r := readResult(t, out)
	if took := time.Duration(r.DurationNS); took > 5*time.Second || r.Generator.SharedCores != 3 {
		t.Errorf("it took %v, and %d executors shared cores", took, r.Generator.SharedCores)
	}
	for i, want := range []uint64{2200, 2400, 2600} {
		if g := r.Workflows[i].Generator; g.Begun+g.Dropped != want {
			t.Errorf("workflow %s: %d iterations began and %d were dropped, want %d", r.Workflows[i].Name, g.Begun, g.Dropped, want)
		}
	}
	if text := p.out.String(); !strings.Contains(text, "the workflows shared cores, so that all begin together: 3 executors") {
		t.Errorf("the summary does not say that they share a core:\n%s", text)
	}
}
