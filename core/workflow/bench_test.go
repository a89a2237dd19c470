package workflow_test

import (
	"os"
	"strings"
	"testing"

	"hyperscale/core/workflow"
)

// answering answers at once and keeps nothing.
type answering struct {
	fake
	r workflow.Response
}

func (a *answering) Do(*workflow.Request) *workflow.Response { return &a.r }

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
