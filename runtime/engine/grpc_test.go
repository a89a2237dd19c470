package engine

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/hostile/grpc/grpctest"
)

// loadCalls reads a workflow file with the server's schema; echo in it is a client of the server.
func loadCalls(t testing.TB, s *grpctest.Server, client, text string) *workflow.Workflow {
	t.Helper()
	text = fmt.Sprintf("echo = grpc.client(\"%s\", schema = grpc.proto(\"echo.proto\")%s)\n", s.URL, client) + text
	p, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{
		{Name: "test.star", Data: []byte(text)}, {Name: "echo.proto", Data: []byte(grpctest.Proto)}, {Name: "parts/item.proto", Data: []byte(grpctest.Item)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p.Workflow("test")
}

// loadCall loads a workflow of one step.
func loadCall(t testing.TB, s *grpctest.Server, vus, iterations uint64, client, more, step string) *workflow.Workflow {
	return loadCalls(t, s, client, fmt.Sprintf("workflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\"%s, steps = [step(\"ask\", grpc.call(echo, %s)])", iterations, vus, more, step))
}

// What a run counts is what the server counted, whatever the kind of the call, and over one
// connection of all users as over one each.
func TestCallsAgreeWithTheServer(t *testing.T) {
	for _, vus := range []uint64{1, 64, 500} {
		for _, tt := range []struct {
			name, client, more, step string
			received, sent           uint64 // messages of a call, as the server counts
			code                     int
			kind                     string
		}{
			{"unary", "", "", `"test.v1.Echo/Get", {"id": "7", "n": 9})`, 1, 1, 0, ""},
			{"shared", "", `, connections = 2`, `"test.v1.Echo/Get", {"id": "7"})`, 1, 1, 0, ""},
			{"gzip", ", compression = True", "", `"test.v1.Echo/Get", {"id": "` + strings.Repeat("7", 1000) + `"})`, 1, 1, 0, ""},
			{"told", "", "", `"test.v1.Echo/Get", {"id": "fail-14"})`, 1, 0, 14, "server UNAVAILABLE"},
			{"unimplemented", "", "", `"test.v1.Echo/Get", {"id": "fail-12"})`, 1, 0, 12, "server UNIMPLEMENTED"},
			{"accepted", "", "", `"test.v1.Echo/Get", {"id": "fail-5"}), expect = [code("OK", "NOT_FOUND")]`, 1, 0, 5, ""},
			{"server streams", "", "", `"test.v1.Echo/Watch", {"id": "x", "n": 5})`, 1, 5, 0, ""},
			{"client streams", "", "", `"test.v1.Echo/Upload", messages = [{"n": 1}, {"n": 2}, {}]), expect = [json_is("$.n", "3")]`, 3, 1, 0, ""},
			{"both stream", "", "", `"test.v1.Echo/Talk", messages = [{"id": "a"}, {"id": "b"}]), expect = [json_is("$[1].id", "b")]`, 2, 2, 0, ""},
			{"nothing streams", "", "", `"test.v1.Echo/Upload", messages = []), expect = [code("OK")]`, 0, 1, 0, ""},
		} {
			if vus == 500 && tt.name != "unary" && tt.name != "shared" {
				continue
			}
			t.Run(fmt.Sprint(tt.name, "/", vus), func(t *testing.T) {
				s, n := grpctest.Start(t, false), 3*vus
				got := run(t, context.Background(), Config{Workflow: loadCall(t, s, vus, n, tt.client, tt.more, tt.step), VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
				bad := uint64(0)
				if tt.kind != "" {
					bad = n
				}
				if got.OK != n-bad || got.Started != n || got.Sent != n || kinds(got)[tt.kind] != bad {
					t.Fatalf("ok %d of %d, sent %d: %v", got.OK, got.Started, got.Sent, got.Errors)
				}
				is := s.Count()
				if is.Calls != n || is.Received != n*tt.received || is.Sent != n*tt.sent || is.Codes[tt.code] != n {
					t.Errorf("the server counts %+v, want %d calls", is, n)
				}
				if all := measured(got); strings.Contains(tt.name, "stream") {
					if all[plan.MeasureMessagesSent].Count != n*tt.received || all[plan.MeasureMessagesReceived].Count != n*tt.sent {
						t.Errorf("%d messages sent, %d received, want %d and %d", all[plan.MeasureMessagesSent].Count, all[plan.MeasureMessagesReceived].Count, n*tt.received, n*tt.sent)
					}
				}
			})
		}
	}
}

func TestCallsOverTLS(t *testing.T) {
	s := grpctest.Start(t, true)
	w := loadCall(t, s, 4, 12, "", `, http = http.client(tls = tls(verify = False))`, `"test.v1.Echo/Get", {"id": "7"})`)
	got := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute}).Stats.Steps[0]
	if got.OK != 12 || s.Count().Calls != 12 {
		t.Errorf("ok %d, the server counts %d: %v", got.OK, s.Count().Calls, got.Errors)
	}
}

// However a run ends, no call counts as sent that the server did not get.
func TestCallsThatBreak(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) {
		s := grpctest.Start(t, false)
		ctx, cancel := context.WithCancel(context.Background())
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			defer cancel()
			for s.Count().Calls < 100 {
				time.Sleep(time.Millisecond)
			}
		}()
		got := run(t, ctx, Config{Workflow: loadCall(t, s, 16, 1_000_000, "", "", `"test.v1.Echo/Get", {"id": "7"})`), VUs: 16, Duration: time.Minute}).Stats.Steps[0]
		<-asked
		s.Stop()
		if is := s.Count(); is.Calls > got.Sent || is.Calls < got.OK || got.Failed > 0 || got.Started != got.OK+got.Cancelled {
			t.Errorf("sent %d, ok %d, cancelled %d of %d, the server counts %d: %v", got.Sent, got.OK, got.Cancelled, got.Started, is.Calls, got.Errors)
		}
	})
	t.Run("timed out", func(t *testing.T) {
		s := grpctest.Start(t, false)
		w := loadCall(t, s, 4, 8, "", "", `"test.v1.Echo/Get", {"id": "slow-10s"}, timeout = "60ms")`)
		got := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute}).Stats.Steps[0]
		if is := s.Count(); got.TimedOut != 8 || got.OK > 0 || is.Calls != got.Sent || is.Head.Get("Grpc-Timeout") != "60m" {
			t.Errorf("sent %d, %d timed out, the server counts %d, its deadline %s: %v", got.Sent, got.TimedOut, is.Calls, is.Head.Get("Grpc-Timeout"), got.Errors)
		}
	})
	t.Run("the server ends", func(t *testing.T) {
		s := grpctest.Start(t, false)
		go func() {
			for s.Count().Calls < 50 {
				time.Sleep(time.Millisecond)
			}
			s.Stop()
		}()
		got := run(t, context.Background(), Config{Workflow: loadCall(t, s, 16, 400, "", "", `"test.v1.Echo/Get", {"id": "7"})`), VUs: 16, Duration: time.Minute}).Stats.Steps[0]
		if is := s.Count(); got.OK+got.Failed+got.TimedOut != 400 || is.Codes[0] < got.OK || is.Calls > got.Sent {
			t.Errorf("sent %d, ok %d, failed %d, the server counts %+v: %v", got.Sent, got.OK, got.Failed, is, got.Errors)
		}
	})
}

// Values of answers and of rows stand in messages, whose lengths follow.
func TestValuesInCalls(t *testing.T) {
	s := grpctest.Start(t, false)
	w := loadCalls(t, s, `, metadata = {"x-tenant": "a"}`, `
rows = feed.list([{"name": "ab", "n": "300"}])
workflow(name = "test", iterations = 6, vus = 2, duration = "60s", feed = rows, steps = [
    step("first", grpc.call(echo, "test.v1.Echo/Get", {"id": "x-${name}", "n": "${n}", "inner": {"id": "${name}"}}, metadata = {"x-name": "${name}"}),
        expect = [code("OK"), json_is("$.id", "x-ab"), json_is("$.inner.id", "ab"), header_is("x-from", "echo"), size_below("1KiB")],
        extract = {"got": json_path("$.n"), "from": header("x-from")}),
    step("next", grpc.call(echo, "test.v1.Echo/Upload", messages = [{"n": "${got}"}, {"names": ["${from}", "b"]}]), after = ["first"], expect = [json_is("$.n", "2")]),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: time.Minute})
	for _, got := range r.Stats.Steps {
		if got.OK != 6 {
			t.Errorf("%s: ok %d: %v", got.Name, got.OK, got.Errors)
		}
	}
	if is := s.Count(); is.Calls != 12 || is.Head.Get("X-Tenant") != "a" {
		t.Errorf("the server counts %+v", is)
	}
	w = loadCalls(t, s, "", `
rows = feed.list([{"n": "many"}])
workflow(name = "test", iterations = 2, vus = 1, duration = "60s", feed = rows, steps = [step("ask", grpc.call(echo, "test.v1.Echo/Get", {"n": "${n}"}))])`)
	if got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute}).Stats.Steps[0]; kinds(got)["value"] != 2 || !strings.Contains(got.Errors[0].Example, "which is no int64") {
		t.Errorf("got %v", got.Errors)
	}
}

func TestCallsOfFunctions(t *testing.T) {
	s := grpctest.Start(t, false)
	w := loadCalls(t, s, "", `
def ask(vu):
    got = vu.grpc.call(echo, "test.v1.Echo/Get", {"id": "u%d" % vu.id, "n": 7})
    if got.code != "OK" or got.status != 200 or got.json()["id"] != "u%d" % vu.id or got.headers["x-from"] != "echo":
        fail("got %s %d %s" % (got.code, got.status, got.text()))
    all = vu.grpc.call(echo, "test.v1.Echo/Watch", {"id": "w", "n": 2}, name = "watch").json()
    if [m.get("n", "0") for m in all] != ["0", "1"]:
        fail("got %s" % all)
    lost = vu.grpc.call(echo, "test.v1.Echo/Get", {"id": "fail-5"}, name = "lost", expect = [code("NOT_FOUND")])
    if lost.code != "NOT_FOUND" or lost.status != 500 or lost.error != "":
        fail("got %s %d %s" % (lost.code, lost.status, lost.error))
    bad = vu.grpc.call(echo, "test.v1.Echo/Get", {"id": "fail-14"}, name = "bad")
    if bad.code != "UNAVAILABLE" or bad.error != "the server answered UNAVAILABLE: no such 14":
        fail("got %s %s" % (bad.code, bad.error))
    return got

workflow(name = "test", iterations = 6, vus = 2, duration = "60s", steps = [step(ask)])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: time.Minute})
	for _, got := range r.Stats.Steps {
		bad := uint64(0)
		if got.Name == "ask/bad" {
			bad = kinds(got)["server UNAVAILABLE"]
		}
		if got.OK+bad != 6 {
			t.Errorf("%s: ok %d: %v", got.Name, got.OK, got.Errors)
		}
	}
	if is := s.Count(); is.Calls != 24 {
		t.Errorf("the server counts %+v", is)
	}
}

// The example's server is a double: it serves any service whose methods have these names.
func TestCallsOfTheExample(t *testing.T) {
	s := grpctest.Start(t, false)
	var files []message.File
	for _, name := range []string{"grpc.star", "shop.proto"} {
		text, err := os.ReadFile("../../examples/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, message.File{Name: name, Data: text})
	}
	p, err := workflow.Load(message.Program{Main: "grpc.star", Files: files, Params: []message.Param{{Name: "target", Value: s.URL}}})
	if err != nil {
		t.Fatal(err)
	}
	sent := uint64(0)
	for _, got := range run(t, context.Background(), Config{Workflow: p.Workflow("shop"), VUs: 2, Duration: 300 * time.Millisecond}).Stats.Steps {
		if got.OK == 0 || got.Failed+got.TimedOut > 0 {
			t.Errorf("%s: ok %d: %v", got.Name, got.OK, got.Errors)
		}
		if got.Name != "cart" { // its requests count under their name
			sent += got.Sent
		}
	}
	if is := s.Count(); is.Calls != sent || is.Head.Get("X-Tenant") != "a" {
		t.Errorf("sent %d, the server counts %+v", sent, is)
	}
}
