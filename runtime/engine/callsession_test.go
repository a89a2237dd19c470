package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/protocol/hostile/grpc/grpctest"
)

// What sessions of calls count is what the server counted, message by message, over a connection of each
// user, over shared ones, and with TLS.
func TestCallSessionsAgreeWithTheServer(t *testing.T) {
	for _, vus := range []uint64{1, 64} {
		for _, tt := range []struct {
			name, client, more, body string
			sent, received           uint64 // messages of a session, as its user counts
		}{
			{"both", "", "", talking, 6, 6},
			{"shared", "", ", connections = 2", talking, 6, 6},
			{"gzip", ", compression = True", "", talking, 6, 6},
			{"upload", "", "", `
    s = vu.grpc.open(echo, "test.v1.Echo/Upload", name = "call")
    for i in range(20):
        expect.equal(s.send({"n": i, "id": "x" * 3000}), True)
    end = s.close()
    expect.equal((end.code, end.status, s.receive().error, s.send({})), ("OK", 200, "closed", False))
    return end`, 20, 1},
			{"watch", "", "", `
    s = vu.grpc.open(echo, "test.v1.Echo/Watch", name = "call")
    s.send({"id": "w", "n": 5})
    for i in range(5):
        m = s.receive(timeout = "30s")
        expect.equal((m.error, m.json()["id"]), ("", "w"))
    expect.equal(s.receive(timeout = "30s").error, "closed")
    return s.close()`, 1, 5},
			{"large", "", "", `
    s = vu.grpc.open(echo, "test.v1.Echo/Talk", name = "call")
    for i in range(3):
        s.send({"id": "x" * 300000})
        expect.equal(len(s.receive(timeout = "30s").json()["id"]), 300000)
    return s.close()`, 3, 3},
			{"nothing", "", "", `
    s = vu.grpc.open(echo, "test.v1.Echo/Talk", name = "call")
    end = s.close()
    expect.equal((end.code, s.error), ("OK", ""))
    return end`, 0, 0},
		} {
			t.Run(fmt.Sprint(tt.name, "/", vus), func(t *testing.T) {
				s := grpctest.Start(t, tt.name == "large")
				w := loadCalls(t, s, tt.client, fmt.Sprintf("def visit(vu):%s\nworkflow(name = \"test\", vu_iterations = 2, vus = %d, duration = \"60s\"%s, %s, steps = [step(visit)])", tt.body, vus, tt.more, anyTLS))
				r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
				n := 2 * vus
				ok, started, sent, received := total(t, r, "call")
				if ok != n || started != n || sent != n*tt.sent || received != n*tt.received {
					t.Errorf("ok %d of %d; sent %d, received %d, want %d and %d: %v", ok, started, sent, received, n*tt.sent, n*tt.received, r.Stats.Steps[0].Errors)
				}
				if is := s.Count(); is.Calls != n || is.Received != sent || is.Sent != received || is.Codes[0] != n {
					t.Errorf("the server counts %+v", is)
				}
				if got := r.Stats.Steps[0]; got.OK != n || len(r.Stats.Logs) > 0 {
					t.Errorf("ok %d: %v %v", got.OK, got.Errors, r.Stats.Logs)
				}
			})
		}
	}
}

const talking = `
    s = vu.grpc.open(echo, "test.v1.Echo/Talk", metadata = {"x-user": "%d" % vu.id}, name = "call")
    for i in range(5):
        expect.equal(s.send({"id": "m%d" % i, "n": i + 1}), True)
        m = s.receive(timeout = "30s")
        expect.equal((m.error, m.json()["id"], m.json()["n"]), ("", "m%d" % i, str(i + 1)))
    s.send('{"id": "last"}')
    s.close_send()
    expect.equal((s.send({"id": "late"}), s.receive(timeout = "30s").json()["id"], s.receive(timeout = "30s").error), (False, "last", "closed"))
    end = s.close()
    expect.equal((end.code, end.status, end.error), ("OK", 200, ""))
    return end`

// However a session of a call ends, it ends once, and says why.
func TestCallSessionsThatBreak(t *testing.T) {
	for name, tt := range map[string]struct {
		body, kind string
		cancelled  bool
		late       bool
	}{
		"told": {body: `
    s = vu.grpc.open(echo, "test.v1.Echo/Talk", name = "call")
    s.send({"id": "fail-14"})
    s.receive(timeout = "30s")
    return s.close()`, kind: "server UNAVAILABLE"},
		"deadline": {body: `
    s = vu.grpc.open(echo, "test.v1.Echo/Talk", timeout = "60ms", name = "call")
    expect.equal(s.receive(timeout = "30s").error, "closed")
    return s.close()`, kind: "timeout", late: true},
		"forgotten": {body: `
    s = vu.grpc.open(echo, "test.v1.Echo/Talk", name = "call")
    s.send({"id": "a"})
    s.receive(timeout = "30s")
    return vu.grpc.call(echo, "test.v1.Echo/Get", {}, name = "get")`, cancelled: true},
		"overflow": {body: `
    s = vu.grpc.open(echo, "test.v1.Echo/Watch", name = "call")
    s.send({"id": "w", "n": 400})
    for i in range(1000):
        if s.error:
            break
        vu.sleep("10ms")
    return s.close()`, kind: "overflow"},
	} {
		t.Run(name, func(t *testing.T) {
			s := grpctest.Start(t, false)
			w := loadCalls(t, s, "", "def visit(vu):"+tt.body+"\nworkflow(name = \"test\", vu_iterations = 1, vus = 16, duration = \"60s\", steps = [step(visit)])")
			r := run(t, context.Background(), Config{Workflow: w, VUs: 16, Duration: time.Minute, Timeout: 30 * time.Second})
			total(t, r, "call")
			got := r.Stats.Steps[1]
			if tt.cancelled && got.Cancelled != 16 || !tt.cancelled && kinds(got)[tt.kind] != 16 || (got.TimedOut == 16) != tt.late {
				t.Errorf("%s: ok %d, cancelled %d, timed out %d of %d: %v", got.Name, got.OK, got.Cancelled, got.TimedOut, got.Started, got.Errors)
			}
			if tt.cancelled && (len(r.Stats.Logs) != 1 || !strings.HasPrefix(r.Stats.Logs[0], "16 sessions were still open")) {
				t.Errorf("logs %q", r.Stats.Logs)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		s := grpctest.Start(t, false)
		w := loadCalls(t, s, "", `
def visit(vu):
    s = vu.grpc.open(echo, "test.v1.Echo/Talk", name = "call")
    for i in range(1000000):
        s.send({"id": "m"})
        if s.receive(timeout = "30s").error:
            break
    return s.close()
workflow(name = "test", vus = 64, duration = "60s", steps = [step(visit)])`)
		ctx, cancel := context.WithCancel(context.Background())
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			defer cancel()
			for s.Count().Received < 2000 {
				time.Sleep(time.Millisecond)
			}
		}()
		r := run(t, ctx, Config{Workflow: w, VUs: 64, Duration: time.Minute, Timeout: 30 * time.Second})
		<-asked
		s.Stop()
		_, started, sent, received := total(t, r, "call")
		got := r.Stats.Steps[1]
		if is := s.Count(); got.Cancelled != started || started != 64 || is.Received > sent || received > is.Sent || is.Calls != 64 {
			t.Errorf("cancelled %d of %d; sent %d, received %d; the server counts %+v: %v", got.Cancelled, started, sent, received, is, got.Errors)
		}
	})
}

// A message that is none, and a method that streams nothing, fail their function and say what to write.
func TestWrongCallSessions(t *testing.T) {
	s := grpctest.Start(t, false)
	for body, want := range map[string]string{ // each a run of its own
		`vu.grpc.open(echo, "test.v1.Echo/Get")`:                               "streams nothing: one message has one answer: write vu.grpc.call(",
		`vu.grpc.open(echo, "test.v1.Echo/Talk").send({"idd": "x"})`:           `unknown field "idd"`,
		`vu.grpc.open(echo, "test.v1.Echo/Talk").send(b"x")`:                   "a dict, or a text of JSON",
		`vu.grpc.open(echo, "test.v1.Echo/Talk").send("{")`:                    "it is no test.v1.Item",
		`[w.send({}) for w in [vu.grpc.open(echo, "test.v1.Echo/Watch")] * 2]`: "the method takes one message",
		`vu.grpc.open(echo, "test.v1.Echo/Talk").ping()`:                       "session has no",
	} {
		w := loadCalls(t, s, "", "def visit(vu):\n    "+body+"\nworkflow(name = \"test\", vu_iterations = 1, vus = 1, duration = \"60s\", steps = [action(\"visit\", visit)])")
		r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
		if got := r.Stats.Steps[0]; got.Failed != 1 || !strings.Contains(got.Errors[0].Example, want) {
			t.Errorf("%s: ok %d: %v", body, got.OK, got.Errors)
		}
	}
}
