package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/target"
)

// web serves with the standard library until the test ends.
func web(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

const tokens = `
workflow(
    name = "test", vus = 1, duration = "1s",
    steps = [
        step("login", http.post("TARGET/login", json = {"user": "u-é"}), extract = {"token": json_path("$.token")}, expect = [status(200)]),
        step("me", http.get("TARGET/me", auth = http.bearer("${token}")), after = ["login"], expect = [status(200), json_is("$.user", "u-é"), size_below("17B"), header_is("content-type", "application/json")]),
        step("other", http.post("TARGET/${token}?q=${token}", form = {"t": "${token}"}), after = ["me"], expect = [size_below("151B")]),
    ],
)
`

// Answers provide values for requests, for every virtual user and on every path.
func TestValuesFillRequests(t *testing.T) {
	for _, how := range []string{
		``, `http = http.client(tls = tls(verify = False)),`, `connections = 3,`,
		`http = http.client(version = "2"),`, `http = http.client(version = "2"), connections = 2,`, `http = http.client(version = "2", tls = tls(verify = False)),`,
	} {
		s := serve(t, func(c *target.Config) { c.TLS = strings.Contains(how, "tls") })
		text := strings.Replace(tokens, "vus = 1,", "vus = 1, "+how, 1)
		r := run(t, context.Background(), Config{Workflow: loadFile(t, s.URL(), text), VUs: 16})
		for _, step := range r.Stats.Steps {
			if step.OK != 16 || step.OK != step.Started {
				t.Errorf("%s step %s: %d of %d: %v", how, step.Name, step.OK, step.Started, step.Errors)
			}
		}
	}
}

// What a step expects decides whether it is good. A missing value makes it bad, and the steps
// after it are skipped.
func TestExpectDecides(t *testing.T) {
	s := web(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Path", r.URL.Path)
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, `{"ok": true}`)
	})
	w := loadFile(t, s.URL, `
workflow(name = "test", vus = 1, duration = "1s", steps = [
    step("found", http.get("TARGET/a"), expect = [status(200), json_is("$.ok", True), header_is("x-path", "/a"), latency_below("10s"), size_below("13B")]),
    step("size", http.get("TARGET/a"), expect = [size_below("12B")]),
    step("gone", http.get("TARGET/missing"), expect = [status(404, 410)]),
    step("not_gone", http.get("TARGET/a"), expect = [status(404, 410)]),
    step("plain", http.get("TARGET/missing"), expect = [body_contains("ok")]),
    step("cut", http.get("TARGET/a"), extract = {"x": json_path("$.x")}),
    step("behind", http.get("TARGET/${x}"), after = ["cut"]),
    step("head", http.get("TARGET/a"), extract = {"p": header("X-Path")}),
    step("bad", http.get("TARGET/a", headers = {"Host": "${p}"}), after = ["head"]),
    step("read", lambda vu, found: vu.http.get("TARGET" + vu.vars["p"]) if found.status == 200 else fail("no"), after = ["found", "head"]),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 3})
	got := map[string]string{}
	for _, s := range r.Stats.Steps {
		got[s.Name] = fmt.Sprintf("%d ok, %d failed, %d skipped", s.OK, s.Failed, s.Skipped)
		for _, e := range s.Errors {
			_, example, _ := strings.Cut(e.Example, " http://")
			_, example, _ = strings.Cut(example, ": ")
			got[s.Name] += fmt.Sprintf("; %d %s: %s", e.Count, e.Kind, example)
		}
	}
	want := map[string]string{
		"found":    "3 ok, 0 failed, 0 skipped",
		"size":     "0 ok, 3 failed, 0 skipped; 3 expect: a body of 12 bytes, not below 12",
		"gone":     "3 ok, 0 failed, 0 skipped",
		"not_gone": "0 ok, 3 failed, 0 skipped; 3 expect: status 200, not 404 or 410",
		"plain":    "0 ok, 3 failed, 0 skipped; 3 status 404: answered 404",
		"cut":      `0 ok, 3 failed, 0 skipped; 3 expect: json_path("$.x"): is not there, "x" is not found: {"ok": true}`,
		"behind":   "0 ok, 0 failed, 3 skipped",
		"head":     "3 ok, 0 failed, 0 skipped",
		"bad":      `0 ok, 3 failed, 0 skipped; 3 value: ${p} = "2 bytes": it cannot stand in the header Host: it has a character that ends a host`,
		"read":     "3 ok, 0 failed, 0 skipped",

		"read/GET /a": "3 ok, 0 failed, 0 skipped",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A filled request that the kernel takes in pieces arrives whole, although others are filled
// meanwhile.
func TestFilledRequestsArriveWhole(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	s := web(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/name" {
			w.Header().Set("X-Name", r.Header.Get("User-Agent")+r.RemoteAddr)
			return
		}
		b, _ := io.ReadAll(io.LimitReader(r.Body, 100))
		time.Sleep(20 * time.Millisecond) // until the sender's kernel has enough
		rest, err := io.ReadAll(r.Body)
		b = append(b, rest...)
		name, body, _ := bytes.Cut(b, []byte(" "))
		body, last, _ := bytes.Cut(body, []byte(" "))
		sum := sha256.Sum256(body)
		mu.Lock()
		defer mu.Unlock()
		seen[hex.EncodeToString(sum[:4])]++
		if err != nil || string(name) != r.Header.Get("X-Name") || string(last) != string(name) {
			t.Errorf("%.40q and %.40q of %s: %v", name, last, r.Header.Get("X-Name"), err)
		}
	})
	w := loadFile(t, s.URL, `
workflow(name = "test", vus = 1, duration = "1s", steps = [
    step("name", http.get("TARGET/name"), extract = {"name": header("X-Name")}),
    step("up", http.post("TARGET/up", headers = {"X-Name": "${name}"}, body = "${name} " + "0123456789abcdef" * 400000 + " ${name}"), after = ["name"]),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 8})
	mu.Lock()
	defer mu.Unlock()
	if up := r.Stats.Steps[1]; up.OK != 8 || len(seen) != 1 {
		t.Errorf("%d of 8: %v; %d bodies", up.OK, up.Errors, len(seen))
	}
}

// Redirects and debug output have the values too; so have cookies of a jar.
func TestValuesBesideRedirectsAndCookies(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	s := web(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		asked = append(asked, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", r.Method, r.URL, r.Header.Get("X-A"), r.Header.Get("Cookie"), b)))
		mu.Unlock()
		switch r.URL.Path {
		case "/a":
			http.SetCookie(w, &http.Cookie{Name: "s", Value: "1", Path: "/"})
			w.Header().Set("X-A", "v w")
		case "/from/v w":
			http.Redirect(w, r, "/to?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
		}
	})
	w := loadFile(t, s.URL, `
workflow(name = "test", vus = 1, duration = "1s", steps = [
    step("a", http.get("TARGET/a"), extract = {"a": header("X-A")}),
    step("b", http.post("TARGET/from/${a}?q=${a}", headers = {"X-A": "<${a}>"}, json = {"k": "${a}"}, redirects = 1), after = ["a"]),
    step("c", http.put("TARGET/c", form = {"k": "${a}"}, cookies = {"own": "1"}), after = ["b"]),
])`)
	var shown bytes.Buffer
	for _, debug := range []io.Writer{nil, &shown} {
		mu.Lock()
		asked = nil
		mu.Unlock()
		r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Debug: debug})
		for _, step := range r.Stats.Steps {
			if step.OK != 1 {
				t.Errorf("%s: %v", step.Name, step.Errors)
			}
		}
		want := []string{
			"GET /a", `POST /from/v%20w?q=v+w <v w> s=1 {"k":"v w"}`, `POST /to?q=v+w <v w> s=1 {"k":"v w"}`, "PUT /c  own=1; s=1 k=v+w",
		}
		mu.Lock()
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		mu.Unlock()
	}
	if !strings.Contains(shown.String(), "POST /from/v%20w?q=v+w HTTP/1.1") {
		t.Errorf("shown:\n%s", shown.String())
	}
}

// Filling requests and extracting values from heads allocates nothing: half of the requests
// contain values from the other half's answers.
func TestValuesAllocateNothing(t *testing.T) {
	s := serve(t, nil)
	w := loadFile(t, s.URL(), `
workflow(name = "test", vus = 1, duration = "1s", steps = [
    step("a", http.get("TARGET/"), extract = {"kind": header("Content-Type")}, expect = [status(200), size_below("1KiB")]),
    step("b", http.post("TARGET/", headers = {"X-Kind": "${kind}"}, json = {"kind": "${kind}"}), after = ["a"], expect = [body_contains("a")]),
])`)
	cost := func(d time.Duration) (n, mallocs uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 8, Duration: d})
		runtime.ReadMemStats(&after)
		for _, s := range r.Stats.Steps {
			if s.OK != s.Started {
				t.Fatal(s.Name, s.Errors)
			}
			n += s.OK
		}
		return n, after.Mallocs - before.Mallocs
	}
	var requests, more float64
	good := false
	for range 5 { // on a busy machine the longer run may do less, or let histograms grow
		n, few := cost(100 * time.Millisecond)
		m, many := cost(400 * time.Millisecond)
		requests, more = float64(m)-float64(n), float64(many)-float64(few)
		if good = requests >= 1000 && more <= 200+requests/100; good { // windows and histograms grow now and then
			break
		}
	}
	if !good {
		t.Errorf("%v more requests made %v more allocations, want none", requests, more)
	}
}

// One workflow provides values that another one uses; only the process of the first virtual
// user provides them.
func TestProvideAndUse(t *testing.T) {
	s := serve(t, nil)
	p, err := workflow.Load(message.Program{Main: "w.star", Files: []message.File{{Name: "w.star", Data: []byte(strings.ReplaceAll(`
def fetch(vu):
    return [vu.http.post("TARGET/login", json = {"user": name}).json()["token"] for name in ["a", "b"]]

def me(vu):
    return vu.http.get("TARGET/me", headers = {"Authorization": "Bearer " + vu.use.tokens[vu.id % 2]})

def fails(vu):
    fail("no more")

workflow(name = "auth", provide = [provide("tokens", fetch, to = ["shop"])], steps = [step("home", http.get("TARGET/"))])
workflow(name = "shop", depends = ["auth"], use = [use("tokens", of = ["auth"])], provide = [provide("x", fails, to = ["last"])], steps = [step(me)])
workflow(name = "last", depends = ["shop"], use = [use("x", of = ["shop"])], steps = [step("home", http.get("TARGET/"))])
`, "TARGET", s.URL()))}}})
	if err != nil {
		t.Fatal(err)
	}
	if r := run(t, context.Background(), Config{Workflow: p.Workflow("auth"), VUs: 2, FirstVU: 2}); r.Provided != nil || r.State != message.WorkflowCompleted {
		t.Errorf("another executor provides %v, %s", r.Provided, r.Error)
	}
	r := run(t, context.Background(), Config{Workflow: p.Workflow("auth"), VUs: 2})
	if len(r.Provided) != 1 || r.Provided[0].Name != "tokens" || !cmp.Equal(r.Provided[0].To, []uint32{1}) {
		t.Fatalf("%+v, %s", r.Provided, r.Error)
	}
	if _, err := Run(context.Background(), Config{Workflow: p.Workflow("shop"), VUs: 4, Timeout: time.Second}); err == nil {
		t.Error("it runs without what it uses")
	}
	r = run(t, context.Background(), Config{Workflow: p.Workflow("shop"), VUs: 4, Given: r.Provided})
	if me := r.Stats.Steps[0]; me.OK != 4 {
		t.Errorf("%d of 4: %v", me.OK, me.Errors)
	}
	if r.State != message.WorkflowFailed || !strings.Contains(r.Error, "provide of virtual user 0: no more") || r.Provided != nil {
		t.Errorf("%v %q %v", r.State, r.Error, r.Provided)
	}
}

// A step that an iteration skips gives no value: steps that need it are skipped too, also after
// a failure. No step uses a value of another iteration or of another user.
func TestValuesBelongToAPass(t *testing.T) {
	var mu sync.Mutex
	wrong := 0
	s := web(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/b" {
			mu.Lock()
			defer mu.Unlock()
			if r.Header.Get("X-Told") != r.Header.Get("X-Pass") {
				wrong++
			}
			return
		}
		if r.URL.Path != "/fail" {
			w.Header().Set("X-Told", r.Header.Get("X-Pass"))
		}
	})
	w := loadFile(t, s.URL, `
workflow(name = "test", vus = 1, iterations = 100, steps = [
    step("who", http.get("TARGET/who", headers = {"X-Pass": "same"}), extract = {"told": header("X-Told")}, when = lambda vu: vu.iteration % 3 == 1),
    step("b", http.get("TARGET/b", headers = {"X-Told": "${told}", "X-Pass": "same"}), after = ["who"]),
    step("fail", http.get("TARGET/fail"), extract = {"told": header("X-Told")}),
    step("never", http.get("TARGET/b", headers = {"X-Told": "${told}"}), after = ["fail"]),
    check("forgotten", lambda vu: vu.iteration % 3 == 1 or "told" not in vu.vars),
])`)
	w.Plan.Iterations = 90
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute})
	got := tallies(r)
	want := map[string]tally{
		"who": {Started: 30, OK: 30}, "b": {Started: 30, OK: 30}, "fail": {Started: 90, Failed: 90}, "never": {Skipped: 90}, "forgotten": {Started: 90, OK: 90},
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(want, got); diff != "" || wrong != 0 {
		t.Errorf("%d wrong (-want +got):\n%s", wrong, diff)
	}
}
