package engine

import (
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/coroutine"
)

// benchmark runs as many iterations as the benchmark asks for, with 64 virtual users. The
// server runs in this process, so the figures include its work.
func benchmark(b *testing.B, text string) {
	s := serve(b, nil)
	w := loadFile(b, s.URL(), text)
	b.ReportAllocs()
	b.ResetTimer()
	before := processorTime()
	w.Plan.Iterations = uint64(b.N)
	r := run(b, b.Context(), Config{Workflow: w, VUs: 64, Seed: 1})
	b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
	if r.State != message.WorkflowCompleted || r.Stats.Steps[0].OK != uint64(b.N) {
		b.Fatalf("state %v, %+v", r.State, r.Stats.Steps[0].Errors)
	}
}

// BenchmarkRequest is a request step.
func BenchmarkRequest(b *testing.B) {
	benchmark(b, `workflow(name = "test", vus = 64, duration = "1s", steps = [step("get", http.get("TARGET/"))])`)
}

// BenchmarkSmallBody is a request step with a small body: literal, and with a value.
func BenchmarkSmallBody(b *testing.B) {
	b.Run("literal", func(b *testing.B) {
		benchmark(b, `workflow(name = "test", vus = 64, duration = "1s", steps = [step("put", http.put("TARGET/", json = {"user": "ann"}))])`)
	})
	b.Run("value", func(b *testing.B) {
		benchmark(b, `workflow(name = "test", vus = 64, duration = "1s", feed = feed.list(["ann"]), steps = [step("put", http.put("TARGET/", json = {"user": "${value}"}))])`)
	})
	b.Run("HTTP2", func(b *testing.B) {
		benchmark(b, `workflow(name = "test", vus = 64, duration = "1s", http = http.client(version = "2"), steps = [step("put", http.put("TARGET/", json = {"user": "ann"}))])`)
	})
}

// BenchmarkFunction is a function step with one request, and a check.
func BenchmarkFunction(b *testing.B) {
	benchmark(b, `
def get(vu):
    return vu.http.get("TARGET/")

def is_ok(vu, get):
    return get.status == 200

workflow(name = "test", vus = 64, duration = "1s", steps = [step(get), check(is_ok, after = ["get"])])
`)
}

// BenchmarkSwitch is one resumption of a coroutine and its return.
func BenchmarkSwitch(b *testing.B) {
	cfg := Config{Workflow: flow(other("nap", message.StepAction)), VUs: 1, Timeout: time.Second}
	g, err := newGraph(cfg)
	if err != nil {
		b.Fatal(err)
	}
	l, err := newLoop(cfg, g)
	if err != nil {
		b.Fatal(err)
	}
	defer l.close()
	l.functions.scripts = func(id uint64, c workflow.Client) script {
		return &play{id: id, client: c, calls: map[int]func(*play) workflow.Outcome{0: func(p *play) workflow.Outcome {
			for {
				l.functions.current.co.Block(coroutine.WantTurn)
				if l.Halt.Cut {
					return workflow.Outcome{OK: true}
				}
			}
		}}}
	}
	l.users.states[0], l.users.users[0].running = stepRunning, 1
	l.functions.spawn(task{job: jobCall})
	l.functions.runReady()
	co := l.functions.calls[0]
	b.ReportAllocs()
	for b.Loop() {
		l.functions.current = co
		l.Coroutines.Resume(co.co)
	}
	l.Halt.Cut = true
	l.functions.resume(co)
}
