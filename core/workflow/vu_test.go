package workflow_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/session"
)

// fake answers every request with what answer returns, and records everything.
type fake struct {
	requests []request.Request
	as       []workflow.As
	logs     []string
	slept    time.Duration
	answer   func(*request.Request) *workflow.Response
	stopped  bool
	asked    int
	next     uint64 // of counters
	most     uint64
	counters []int
	barriers []int
}

func (f *fake) Next(counter int) (uint64, bool) {
	f.counters = append(f.counters, counter)
	f.next++
	return f.next - 1, f.next <= f.most
}

func (f *fake) Do(r *request.Request, as *workflow.As) *workflow.Response {
	f.requests = append(f.requests, *r)
	out := &workflow.Response{Status: 200}
	if f.answer != nil {
		out = f.answer(r)
	}
	if as != nil {
		f.as = append(f.as, *as)
		if out.Kind == "" {
			as.Judge(out)
		}
	}
	return out
}
func (f *fake) Sleep(d time.Duration) { f.slept += d }
func (f *fake) Log(s string)          { f.logs = append(f.logs, s) }
func (f *fake) Now() time.Time {
	return time.Date(2026, 11, 21, 10, 20, 30, 456789012, time.UTC).Add(f.slept)
}
func (f *fake) OpenSession(*request.Request, *workflow.As) (workflow.Session, error) {
	return &echoes{}, nil
}

// echoes is a session whose other side sends back what it gets.
type echoes struct {
	session.Nowhere
	said []session.Message
}

func (e *echoes) Response() *workflow.Response { return &workflow.Response{Status: 101} }
func (e *echoes) Send(data []byte, binary bool) (bool, error) {
	e.said = append(e.said, session.Message{Data: data, Binary: binary})
	return true, nil
}
func (e *echoes) Receive(time.Duration) (session.Message, error) {
	if len(e.said) == 0 {
		return session.Message{Error: session.Timeout}, nil
	}
	m := e.said[0]
	e.said = e.said[1:]
	return m, nil
}

func (f *fake) Known(string, string) *request.Request { return nil }
func (f *fake) Yield()                                {}
func (f *fake) Wait(barrier int) bool                 { f.barriers = append(f.barriers, barrier); return barrier == 0 }
func (f *fake) Stopped() bool                         { f.asked++; return f.stopped }

// failer is a test, also one of rapid's.
type failer interface {
	Helper()
	Fatal(...any)
}

// load reads one workflow from text.
func load(t failer, text string) *workflow.Workflow {
	t.Helper()
	p, err := workflow.Load(program("test.star", text))
	if err != nil {
		t.Fatal(err)
	}
	return p.Workflow(p.Plan().Workflows[0].Name)
}

// one loads a workflow whose only step is a function with the given body.
func one(t testing.TB, body string) *workflow.Workflow {
	t.Helper()
	return load(t, "def f(vu):\n    "+strings.ReplaceAll(body, "\n", "\n    ")+"\nworkflow(name = \"w\", steps = [step(f)])\n")
}

func TestSession(t *testing.T) {
	w := load(t, `
def login(vu):
    return vu.http.post("http://h/login", json = {"user": "u%d" % vu.id})

def profile(vu, login):
    vu.vars["n"] = vu.vars.get("n", 0) + 1
    return vu.http.get("http://h/me", headers = {"Authorization": "Bearer " + login.json()["token"]})

def is_me(vu, profile):
    return profile.status == 200 or "status %d" % profile.status

workflow(name = "session", steps = [
    step(login),
    step("home", http.get("http://h/"), after = ["login"]),
    step(profile, after = ["login"]),
    check(is_me, after = ["profile"]),
    metric("size", kind = "distribution", value = lambda vu, home, login: len(home.body), after = ["home"]),
    action(lambda vu, profile: vu.log("%d %d %s" % (vu.iteration, vu.vars["n"], profile.error)), after = ["profile"]),
])`)
	c := &fake{answer: func(r *request.Request) *workflow.Response {
		if r.URL == "http://h/login" {
			return &workflow.Response{Status: 200, Body: []byte(`{"token": "t1"}`)}
		}
		return &workflow.Response{Status: 503}
	}}
	v := w.NewVU(7, 1, c)
	for range 2 {
		v.Begin()
		if got := v.Call(0); !got.OK || got.Response.Status != 200 {
			t.Fatalf("login: %+v", got)
		}
		v.SetResponse(1, &workflow.Response{Status: 200, Body: make([]byte, 42)})
		if got := v.Call(2); got.OK || got.Kind != "status" || got.Detail != "status 503" {
			t.Errorf("profile: %+v", got)
		}
		if got := v.Call(3); got.OK || got.Kind != "status 503" {
			t.Errorf("is_me: %+v", got)
		}
		if got := v.Call(4); !got.OK || !got.HasValue || got.Value != 42_000 {
			t.Errorf("size: %+v", got)
		}
		if got := v.Call(5); !got.OK {
			t.Errorf("action: %+v", got)
		}
	}
	if diff := cmp.Diff([]string{"1 1 ", "2 2 "}, c.logs); diff != "" {
		t.Error(diff)
	}
	if got := c.requests[0]; got.Method != "POST" || string(got.Body) != `{"user":"u7"}` || got.ContentType != "application/json" {
		t.Errorf("login sent %+v", got)
	}
	if diff := cmp.Diff([]builtin.Pair{{Name: "Authorization", Value: "Bearer t1"}}, c.requests[1].Headers); diff != "" {
		t.Error(diff)
	}
}

// A function step is OK if a complete answer has a status below 400. An error in a script is
// reported with its place.
func TestOutcomes(t *testing.T) {
	tests := []struct{ why, body, kind, detail string }{
		{"good", `return vu.http.get("http://h/")`, "", ""},
		{"broken connection", `return vu.http.get("http://h/reset")`, "reset", "the connection was reset"},
		{"client error", `return vu.http.get("http://h/404")`, "status", "status 404"},
		{"no response", `pass`, "script", "test.star:2:5: f must return the response that it measures, not None"},
		{"a request is no response", `return http.get("http://h/")`, "script", "vu.http.get sends one"},
		{"fail", `fail("no token")`, "fail", "no token"},
		{"expect", `expect.equal("x" * 5000, [1], "body")`, `body: got "` + strings.Repeat("x", 89) + "..., want [1]", ", want [1]"},
		{"missing key", `return {}["token"]`, "script", `test.star:3:14: key "token" not in dict`},
		{"unknown name", `return vu.htpp`, "script", `vu has no "htpp"`},
		{"not JSON", `return vu.http.get("http://h/").json()`, "script", "is not JSON"},
		{"deep JSON", `return json.decode("[" * 100000)`, "script", "nested more than 200 deep"},
		{"endless", "while True:\n    pass", "script", "has not returned after 10000000 steps: end its loops"},
		{"recursion", `return f(vu)`, "script", "called recursively: functions cannot call themselves: use a loop"},
		{"a gigabyte", `return "x" * (1 << 30)`, "script", "would make a text of 1 GiB"},
		{"frozen", `shared.append(1)`, "script", "frozen"},
		{"declares", `step("a", http.get("http://h/"))`, "script", "only describes a request"},
		{"bad header", `return vu.http.get("http://h/", headers = {"a b": "c"})`, "script", "not a header's name"},
		{"bad URL", `return vu.http.get("h/")`, "script", "has no scheme"},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			body := strings.ReplaceAll(test.body, "\n", "\n    ")
			w := load(t, "def f(vu):\n    x = 1\n    "+body+"\nshared = []\nworkflow(name = \"w\", steps = [step(f)])\n")
			c := &fake{answer: func(r *request.Request) *workflow.Response {
				switch r.URL {
				case "http://h/reset":
					return &workflow.Response{Kind: "reset", Error: "the connection was reset"}
				case "http://h/404":
					return &workflow.Response{Status: 404}
				}
				return &workflow.Response{Status: 200}
			}}
			got := w.NewVU(1, 1, c).Call(0)
			want := strings.Replace(test.detail, "test.star:2:5", "test.star:1:1", 1)
			if got.Kind != test.kind || !strings.Contains(got.Detail, want) || got.OK != (test.kind == "") {
				t.Errorf("got %+v, want kind %q, detail with %q", got, test.kind, want)
			}
		})
	}
}

func TestChecksAndMetrics(t *testing.T) {
	tests := []struct {
		step, kind string
		value      int64
	}{
		{`check("c", lambda vu: True)`, "", 0},
		{`check("c", lambda vu: False)`, "false", 0},
		{`check("c", lambda vu: "too slow")`, "too slow", 0},
		{`check("c", lambda vu: None)`, "script", 0},
		{`check("c", lambda vu: expect.equal([1, {"a": None}], [1, {"a": None}], "lists"))`, "", 0},
		{`check("c", lambda vu: expect.equal(503, 200, "status"))`, "status: got 503, want 200", 0},
		{`check("c", lambda vu: expect.equal(None, want = 200))`, "got None, want 200", 0},
		{`check("c", lambda vu: expect.below(4.5, 3, what = "price"))`, "price: got 4.5, want less than 3", 0},
		{`check("c", lambda vu: expect.above(4.5, 3))`, "", 0},
		{`check("c", lambda vu: expect.above(time.duration("1s"), time.duration("2s")))`, "got 1s, want more than 2s", 0},
		{`check("c", lambda vu: expect.contains(["a", "b"], "a"))`, "", 0},
		{`check("c", lambda vu: expect.contains("a lot of text", "gold", "page"))`, `page: got "a lot of text", want in it "gold"`, 0},
		{`check("c", lambda vu: expect.contains(3, "gold"))`, "script", 0},
		{`check("c", lambda vu: expect.below("3", 4))`, "script", 0},
		{`check("c", lambda vu: expect.equal(3, 4, 5))`, "script", 0},
		{`check("c", lambda vu: expect.equal(3))`, "script", 0},
		{`metric("m", kind = "counter", value = lambda vu: 3)`, "", 3000},
		{`metric("m", kind = "rate", value = lambda vu: 0.0625)`, "", 63},
		{`metric("m", kind = "counter", value = lambda vu: -1)`, "script", 0},
		{`metric("m", kind = "counter", value = lambda vu: "3")`, "script", 0},
		{`metric("m", kind = "counter", value = lambda vu: 1 << 60)`, "script", 0},
		{`metric("m", kind = "counter", value = lambda vu: float("nan"))`, "script", 0},
		{`action(lambda vu: vu.sleep("2s"))`, "", 0},
	}
	for _, test := range tests {
		c := &fake{}
		got := load(t, "workflow(name = \"w\", steps = ["+test.step+"])").NewVU(1, 1, c).Call(0)
		if got.Kind != test.kind || got.Value != test.value || got.OK != (test.kind == "") {
			t.Errorf("%s: got %+v, want kind %q, value %d", test.step, got, test.kind, test.value)
		}
		if strings.HasPrefix(test.step, "action") && c.slept != 2*time.Second {
			t.Errorf("slept %v", c.slept)
		}
	}
}

// Stopping a run soon ends a function that computes.
func TestStopped(t *testing.T) {
	c := &fake{stopped: true}
	got := one(t, "while True:\n    pass").NewVU(1, 1, c).Call(0)
	if got.Kind != "cancelled" || c.asked != 1 {
		t.Errorf("got %+v after %d questions", got, c.asked)
	}
}

// Calls of one virtual user may overlap while one of them blocks.
func TestOverlap(t *testing.T) {
	w := load(t, `
def a(vu):
    r = vu.http.get("http://h/a")
    vu.vars["x"] = vu.vars.get("x", 0) + 1
    return r
workflow(name = "w", steps = [step(a), step("b", a)])`)
	c := &fake{}
	v := w.NewVU(1, 1, c)
	depth := 0
	c.answer = func(*request.Request) *workflow.Response {
		if depth++; depth < 3 {
			if got := v.Call(1); !got.OK {
				t.Errorf("the inner call: %+v", got)
			}
		}
		return &workflow.Response{Status: 200}
	}
	v.Begin()
	if got := v.Call(0); !got.OK {
		t.Errorf("the outer call: %+v", got)
	}
}

func TestResponse(t *testing.T) {
	w := one(t, `r = vu.http.get("http://h/")
vu.log("%s|%s|%s|%s" % (r.headers["content-TYPE"], r.headers.get("x", "none"), r.headers.all("a"), r.headers.names()))
vu.log("%s %s %d %s %s" % (r.body, r.text(), r.latency.milliseconds, r.latency, "A" in r.headers))
vu.log(r.json())
return r`)
	c := &fake{answer: func(*request.Request) *workflow.Response {
		return &workflow.Response{Status: 200, Body: []byte(`[1, 2]`), Latency: 1500 * time.Microsecond,
			Headers: []builtin.Pair{{Name: "Content-Type", Value: "text/html"}, {Name: "a", Value: "1"}, {Name: "A", Value: "2"}}}
	}}
	if got := w.NewVU(1, 1, c).Call(0); !got.OK {
		t.Fatalf("%+v", got)
	}
	want := []string{`text/html|none|["1", "2"]|["content-type", "a"]`, `b"[1, 2]" [1, 2] 1 1.5ms True`, "[1, 2]"}
	if diff := cmp.Diff(want, c.logs); diff != "" {
		t.Error(diff)
	}
}

func TestRequests(t *testing.T) {
	tests := []struct {
		call string
		want request.Request
	}{
		{`http.get("http://h/", params = {"q": ["a", "b"], "n": 1}, cookies = {"c": "d"}, timeout = "250ms", redirects = 3)`,
			request.Request{Method: "GET", URL: "http://h/", Params: []builtin.Pair{{Name: "q", Value: "a"}, {Name: "q", Value: "b"}, {Name: "n", Value: "1"}},
				Cookies: []builtin.Pair{{Name: "c", Value: "d"}}, Timeout: 250 * time.Millisecond, Redirects: 3}},
		{`http.put("http://h/", body = b"\x01", auth = http.basic("u", "p"))`,
			request.Request{Method: "PUT", URL: "http://h/", Body: []byte{1}, ContentType: "application/octet-stream", Auth: &request.Auth{Kind: "basic", User: "u", Password: "p"}}},
		{`http.post("https://h/", form = {"a b": "c&d", "e": 1}, auth = http.bearer("t"))`,
			request.Request{Method: "POST", URL: "https://h/", Body: []byte("a+b=c%26d&e=1"), ContentType: "application/x-www-form-urlencoded", Auth: &request.Auth{Kind: "bearer", Token: "t"}}},
		{`http.patch("http://h/", json = {"z": [1, 2.5, None, True], "a": "\"\n"})`,
			request.Request{Method: "PATCH", URL: "http://h/", Body: []byte(`{"z":[1,2.5,null,true],"a":"\"\n"}`), ContentType: "application/json"}},
		{`http.request("PROPFIND", "http://h/", body = "x")`,
			request.Request{Method: "PROPFIND", URL: "http://h/", Body: []byte("x"), ContentType: "text/plain; charset=utf-8"}},
		{`http.post("http://h/", multipart = {"a": "1", "f": http.part("data", filename = "n.txt", type = "text/plain")})`,
			request.Request{Method: "POST", URL: "http://h/", ContentType: "multipart/form-data; boundary=hyperscale-BOUNDARY",
				Body: []byte("--hyperscale-BOUNDARY\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n" +
					"--hyperscale-BOUNDARY\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n.txt\"\r\nContent-Type: text/plain\r\n\r\ndata\r\n--hyperscale-BOUNDARY--\r\n")}},
		{`http.post("http://h/", multipart = {"f[]": ["1", http.part("{}", filename = "", type = "application/json"), http.part("x", filename = "n", type = "")]})`,
			request.Request{Method: "POST", URL: "http://h/", ContentType: "multipart/form-data; boundary=hyperscale-BOUNDARY",
				Body: []byte("--hyperscale-BOUNDARY\r\nContent-Disposition: form-data; name=\"f[]\"\r\n\r\n1\r\n" +
					"--hyperscale-BOUNDARY\r\nContent-Disposition: form-data; name=\"f[]\"\r\nContent-Type: application/json\r\n\r\n{}\r\n" +
					"--hyperscale-BOUNDARY\r\nContent-Disposition: form-data; name=\"f[]\"; filename=\"n\"\r\n\r\nx\r\n--hyperscale-BOUNDARY--\r\n")}},
	}
	for _, test := range tests {
		w := load(t, fmt.Sprintf("workflow(name = \"w\", steps = [step(\"a\", %s), step(\"b\", lambda vu: vu.%s)])", test.call, test.call))
		c := &fake{}
		if out := w.NewVU(1, 1, c).Call(1); !out.OK {
			t.Errorf("%s: %+v", test.call, out)
			continue
		}
		if _, boundary, ok := strings.Cut(c.requests[0].ContentType, "boundary=hyperscale-"); ok {
			test.want.ContentType = strings.ReplaceAll(test.want.ContentType, "BOUNDARY", boundary)
			test.want.Body = []byte(strings.ReplaceAll(string(test.want.Body), "BOUNDARY", boundary))
		}
		for _, got := range []*request.Request{w.Steps[0].Request, &c.requests[0]} {
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.call, diff)
			}
		}
	}
}

func TestRandom(t *testing.T) {
	w := one(t, `vu.log("%d %s %s" % (vu.random.int(-5, 5), vu.random.choice(["a", "b", "c"]), vu.random.shuffle([1, 2, 3])))
return vu.http.get("http://h/")`)
	draw := func(id, seed uint64) string {
		c := &fake{}
		v := w.NewVU(id, seed, c)
		for range 20 {
			if out := v.Call(0); !out.OK {
				t.Fatalf("%+v", out)
			}
		}
		return strings.Join(c.logs, "\n")
	}
	first, again := draw(1, 1), draw(1, 1)
	if first != again {
		t.Error("the same seed drew other numbers")
	}
	if first == draw(2, 1) || first == draw(1, 2) {
		t.Error("another user or seed drew the same numbers")
	}
}

// What vu.random makes up has the form that its name says, and the weights decide how often.
func TestRandomData(t *testing.T) {
	w := one(t, `r = vu.random
vu.log("%s|%s|%s|%s|%s|%s|%s" % (r.name(), r.email(), r.word(), r.words(3), r.string(5, of = "äb"), r.float(2, 3), r.weighted({"often": 9, "seldom": 1, "never": 0})))
return vu.http.get("http://h/")`)
	form := regexp.MustCompile(`^vu 1: [A-Z][a-z]+ [A-Z][a-z]+\|[a-z]+\.[a-z]+\d+@[a-z.]+\|[a-z]+\|[a-z]+ [a-z]+ [a-z]+\|[äb]{5}\|2\.\d+\|(often|seldom)$`)
	c := &fake{}
	v, often, seen := w.NewVU(1, 1, c), 0, map[string]bool{}
	for i := range 1000 {
		if out := v.Call(0); !out.OK {
			t.Fatalf("%+v", out)
		}
		line := "vu 1: " + strings.TrimPrefix(c.logs[i], "vu 1: ")
		m := form.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q", line)
		}
		if seen[line] = true; m[1] == "often" {
			often++
		}
	}
	if often < 850 || often > 950 || len(seen) < 990 {
		t.Errorf("often %d times of 1000, want about 900; %d different lines", often, len(seen))
	}
	//lint:orderfree each call is checked alone
	for call, want := range map[string]string{
		"vu.random.weighted({})":          "takes a dict of weights",
		"vu.random.weighted({\"a\": 0})":  "all weights are 0",
		"vu.random.weighted({\"a\": -1})": "is not between 0 and 1000000",
		"vu.random.float(3, 2)":           "low is not above high",
		"vu.random.float(\"a\", 2)":       "takes two numbers",
		"vu.random.string(0)":             "is not between 1 and 10000",
		"vu.random.string(1, of = \"\")":  "of must be a text of characters",
		"vu.random.words(1001)":           "is not between 1 and 1000",
		"vu.random.name(1)":               "takes",
	} {
		out := one(t, call+"\nreturn vu.http.get(\"http://h/\")").NewVU(1, 1, &fake{}).Call(0)
		if out.OK || !strings.Contains(out.Detail, want) {
			t.Errorf("%s: %+v, want %q", call, out, want)
		}
	}
}

// What a function says of a request reaches the engine: its group, its name, and what is good.
func TestNamesGroupsAndExpect(t *testing.T) {
	w := one(t, `def inner(vu):
    vu.http.get("http://h/", name = "in")
vu.group("a", lambda: vu.group("b", inner))
vu.http.get("http://h/")
vu.http.get("http://h/gone", expect = [status(404)])
return vu.http.get("http://h/gone", name = "gone", expect = [status(404, 410)])`)
	c := &fake{answer: func(r *request.Request) *workflow.Response {
		if strings.HasSuffix(r.URL, "gone") {
			return &workflow.Response{Status: 404}
		}
		return &workflow.Response{Status: 200}
	}}
	if out := w.NewVU(1, 1, c).Call(0); !out.OK {
		t.Errorf("%+v", out)
	}
	var got []string
	for _, as := range c.as {
		got = append(got, fmt.Sprintf("%s|%s|%d", as.Group, as.Name, len(as.Expect)))
	}
	if diff := cmp.Diff([]string{"a/b|in|0", "||1", "|gone|1"}, got); diff != "" || len(c.requests) != 4 {
		t.Errorf("%d requests (-want +got):\n%s", len(c.requests), diff)
	}
	for _, c := range []struct{ call, kind, want string }{
		{`vu.http.get("http://h/", name = "")`, "script", "is empty"},
		{`vu.http.get("http://h/", name = "a\nb")`, "script", "no table could show"},
		{`vu.http.get("http://h/", name = "%s")` + " % 1", "script", ""},
		{`vu.http.get("http://h/", name = 7)`, "script", "name must be a text"},
		{`vu.http.get("http://h/", expect = [7])`, "script", "expect has int 7 in it"},
		{`vu.http.get("http://h/", expect = [status(201)])`, "expect", "status 200, not 201"},
		{`vu.group("a", 7)`, "script", "second argument must be a function"},
		{`vu.group(7, lambda: 1)`, "script", "the name is missing"},
		{`vu.group("` + strings.Repeat("x", 65) + `", lambda: 1)`, "script", "longer than 64 bytes"},
	} {
		out := one(t, "return "+c.call).NewVU(1, 1, &fake{}).Call(0)
		if out.OK || out.Kind != c.kind || !strings.Contains(out.Detail, c.want) {
			t.Errorf("%s: %+v, want %q", c.call, out, c.want)
		}
	}
}
