package workflow_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
)

// answering answers at once and keeps nothing.
type answering struct {
	fake
	r workflow.Response
}

func (a *answering) Do(*request.Request, *workflow.As) *workflow.Response { return &a.r }

// BenchmarkCall measures what a function step costs above its request.
func BenchmarkCall(b *testing.B) {
	cases := []struct{ name, body string }{
		{"get", `return vu.http.get("http://h/")`},
		{"headers", `return vu.http.get("http://h/", headers = shared)`},
		{"post", `return vu.http.post("http://h/" + "login", json = {"user": "u%d" % vu.id})`},
		{"loop100", "n = 0\nfor i in range(100):\n    n += i\nreturn vu.http.get(\"http://h/\")"},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			w := load(b, "shared = {\"Authorization\": \"Bearer x\"}\ndef f(vu):\n    "+strings.ReplaceAll(c.body, "\n", "\n    ")+"\nworkflow(name = \"w\", steps = [step(f)])\n")
			v := w.NewVU(1, 1, &answering{r: workflow.Response{Status: 200}})
			b.ReportAllocs()
			for b.Loop() {
				v.Begin()
				if out := v.Call(0); !out.OK {
					b.Fatal(out)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	text, err := os.ReadFile("../../examples/session.star")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := workflow.Load(program("session.star", string(text))); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVU measures the memory of a virtual user between its calls.
func BenchmarkVU(b *testing.B) {
	for _, called := range []bool{false, true} {
		name := "new"
		if called {
			name = "called"
		}
		b.Run(name, func(b *testing.B) {
			w := one(b, `return vu.http.get("http://h/")`)
			c := &answering{r: workflow.Response{Status: 200}}
			const n = 10_000
			b.ReportAllocs()
			held := uint64(0)
			for b.Loop() {
				before := heap()
				all := make([]*workflow.VU, n)
				for i := range all {
					all[i] = w.NewVU(uint64(i), 1, c)
					if called {
						all[i].Begin()
						all[i].Call(0)
					}
				}
				held = heap() - before
				runtime.KeepAlive(all)
			}
			b.ReportMetric(float64(held)/n, "B/vu")
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkExtract measures the cost of inspecting an answer.
func BenchmarkExtract(b *testing.B) {
	body := `{"list": [` + strings.Repeat(`{"id": 1, "name": "a thing", "tags": ["x", "y"]}, `, 20) + `{"id": 2, "token": "t-123"}]}` + "\n<input name=csrf value=abc>"
	r := view("200\nContent-Type: application/json\nX-Token: abc\nSet-Cookie: s=1; Path=/\n\n" + body)
	for _, what := range []string{`json_path("$.list[20].token")`, `json_path("$.list[*].token")`, `regex("\"token\": \"([^\"]*)")`, `header("x-token")`, `cookie("s")`, `form_value("csrf")`} {
		b.Run(strings.SplitN(what, "(", 2)[0], func(b *testing.B) {
			e := stepWith(b, "extract = {\"x\": "+what+"}").Extract[0]
			b.ReportAllocs()
			for b.Loop() {
				if _, ok, why := e.From(r); !ok {
					b.Fatal(why)
				}
			}
		})
	}
}
