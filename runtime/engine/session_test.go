package engine

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/stats"
)

// total adds up a count of all rows, and of their ends.
func total(t *testing.T, r *message.ExecResult, kind string) (ok, started, sent, received uint64) {
	t.Helper()
	for _, s := range r.Stats.Steps {
		if s.Started != s.OK+s.Failed+s.TimedOut+s.Cancelled {
			t.Errorf("%s: ok %d, failed %d, timed out %d, cancelled %d of %d", s.Name, s.OK, s.Failed, s.TimedOut, s.Cancelled, s.Started)
		}
		if _, name, part := strings.Cut(s.Name, "/"); part && strings.HasPrefix(name, kind) {
			all := measured(s)
			ok, started = ok+s.OK, started+s.Started
			sent, received = sent+all[plan.MeasureMessagesSent].Count, received+all[plan.MeasureMessagesReceived].Count
		}
	}
	return ok, started, sent, received
}

// What sessions count is what the server counted: also of sessions that vu_setup opens, of forgotten
// ones, and of those whose functions receive nothing.
func TestSessionsAgreeWithTheServer(t *testing.T) {
	t.Parallel()
	eachScheme(t, func(t *testing.T, secure bool) {
		for _, vus := range []uint64{1, 64} {
			for name, tt := range map[string]struct {
				code     string
				sessions uint64 // of a user
				each     uint64 // messages of one
			}{
				"echo": {`
def visit(vu):
    ws = vu.websocket.open("TARGET/")
    for i in range(5):
        if not ws.send("m%d" % i):
            fail("not sent: " + ws.error)
        m = ws.receive(timeout = "30s")
        expect.equal((m.error, m.data, m.text()), ("", "m%d" % i, "m%d" % i))
    b = ws.send(b"\x00\xff") and ws.receive()
    expect.equal(b.data, b"\x00\xff")
    j = ws.send(json = {"n": 7}) and ws.receive()
    expect.equal(j.json()["n"], 7)
    expect.equal(ws.ping(timeout = "30s").error, "")
    r = ws.close()
    expect.equal((r.status, ws.send("late"), ws.receive().error), (101, False, "closed"))
    return r
workflow(name = "test", vu_iterations = 3, vus = VUS, duration = "60s", ANYTLS, steps = [step(visit)])`, 3, 7},
				"kept": {`
def begin(vu):
    vu.vars["ws"] = vu.websocket.open("TARGET/", name = "chat")
def visit(vu):
    ws = vu.vars["ws"]
    for i in range(5):
        ws.send("x" * 10000)
        if len(ws.receive(timeout = "30s").data) != 10000:
            fail("another message")
def end(vu):
    vu.vars["ws"].close(3001)
workflow(name = "test", vu_iterations = 3, vus = VUS, duration = "60s", ANYTLS, vu_setup = begin, vu_teardown = end, steps = [action("visit", visit)])`, 1, 15},
				"forgotten": {`
def visit(vu):
    ws = vu.websocket.open("TARGET/")
    ws.send("a")
    if ws.receive(timeout = "30s").error:
        fail("nothing came")
workflow(name = "test", vu_iterations = 3, vus = VUS, duration = "60s", ANYTLS, steps = [action("visit", visit)])`, 3, 1},
				"unread": {`
def visit(vu):
    ws = vu.websocket.open("TARGET/")
    for i in range(20):
        ws.send("a")
    return ws.close()
workflow(name = "test", vu_iterations = 3, vus = VUS, duration = "60s", ANYTLS, steps = [step(visit)])`, 3, 20},
			} {
				t.Run(fmt.Sprintf("%s/%d", name, vus), func(t *testing.T) {
					s := echo(t, secure, nil)
					w := loadFile(t, s.URL, strings.NewReplacer("VUS", fmt.Sprint(vus), "ANYTLS", anyTLS).Replace(tt.code))
					r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
					s.stop()
					kind := "WebSocket"
					if name == "kept" {
						kind = "chat"
					}
					ok, started, sent, received := total(t, r, kind)
					if want := vus * tt.sessions; ok != want || started != want || s.upgrades.Load() != want {
						t.Fatalf("ok %d of %d sessions, %d upgrades, want %d: %+v", ok, started, s.upgrades.Load(), want, r.Stats.Steps)
					}
					if sent != s.received.Load() || sent != vus*tt.sessions*tt.each {
						t.Errorf("sent %d messages, the server received %d, want %d", sent, s.received.Load(), vus*tt.sessions*tt.each)
					}
					if received != s.sent.Load() {
						t.Errorf("received %d messages, the server sent %d", received, s.sent.Load())
					}
					for _, part := range r.Stats.Steps {
						all := measured(part)
						answers, pongs := all[plan.MeasureMessageLatency].Times.Count, all[plan.MeasurePingLatency].Times.Count
						if answers != all[plan.MeasureMessagesReceived].Count || name == "echo" && strings.Contains(part.Name, "/") && pongs != 3*vus {
							t.Errorf("%s: %d of %d messages are answers, %d pongs", part.Name, answers, all[plan.MeasureMessagesReceived].Count, pongs)
						}
					}
					if step := r.Stats.Steps[0]; step.Failed+step.TimedOut+step.Cancelled > 0 {
						t.Errorf("%s: %v", step.Name, step.Errors)
					}
				})
			}
		}
	})
}

// A run that is cancelled while sessions wait, and connections that break: each session ends once.
func TestBrokenSessionsAreCounted(t *testing.T) {
	eachScheme(t, func(t *testing.T, secure bool) {
		for name, tt := range map[string]struct {
			set     func(e *echoer, cancel func())
			args    string
			kind    string // of the failures; empty: none fails
			cancels bool
			late    bool
		}{
			"cancelled": {set: func(e *echoer, cancel func()) {
				e.hold = func(n uint64) {
					if n == 500 {
						cancel()
					}
				}
			}, cancels: true},
			"closed":  {set: func(e *echoer, _ func()) { e.most = 3 }, kind: "closed"},
			"no time": {set: func(e *echoer, _ func()) { e.mute = true }, args: `, timeout = "50ms"`, late: true},
		} {
			t.Run(name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				s := echo(t, secure, func(e *echoer) { tt.set(e, cancel) })
				iterations := "vu_iterations = 2, "
				if tt.cancels {
					iterations = ""
				}
				w := loadFile(t, s.URL, `
def visit(vu):
    ws = vu.websocket.open("TARGET/"`+tt.args+`)
    for i in range(5):
        ws.send("m")
        m = ws.receive(timeout = "30s")
        if m.error:
            break
    return ws.close()
workflow(name = "test", `+iterations+`vus = 16, duration = "60s", `+anyTLS+`, steps = [step(visit)])`)
				r := run(t, ctx, Config{Workflow: w, VUs: 16, Duration: time.Minute, Timeout: time.Minute})
				s.stop()
				ok, started, sent, received := total(t, r, "WebSocket")
				part, step := r.Stats.Steps[len(r.Stats.Steps)-1], r.Stats.Steps[0]
				if tt.late && (part.TimedOut != 32 || step.TimedOut != 32) {
					t.Errorf("timed out %d and %d of 32: %v", part.TimedOut, step.TimedOut, part.Errors)
				}
				if tt.cancels && (part.Cancelled == 0 || step.Cancelled == 0 || part.Failed+part.TimedOut > 0) || tt.kind != "" && (kinds(part)[tt.kind] != 32 || kinds(step)[tt.kind] != 32) {
					t.Errorf("ok %d and cancelled %d of %d: %v, %v", ok, part.Cancelled, started, part.Errors, step.Errors)
				}
				if sent != s.received.Load() || received > s.sent.Load() || !tt.cancels && received != s.sent.Load() {
					t.Errorf("sent %d, the server read %d; received %d, it wrote %d", sent, s.received.Load(), received, s.sent.Load())
				}
			})
		}
	})
}

// A timeout of receive ends nothing, and the latency of a message counts from the oldest message that
// has no answer to the read that brought it, whenever a function asks.
func TestReceivingHasItsOwnTime(t *testing.T) {
	release := make(chan bool)
	s := echo(t, false, func(e *echoer) {
		e.hold = func(n uint64) {
			if n == 1 {
				<-release
			}
		}
	})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { release <- true }))
	defer server.Close()
	w := loadFile(t, s.URL, strings.ReplaceAll(receiving, "RELEASE", server.URL))
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
	s.stop()
	if got := r.Stats.Steps[0]; got.OK != 1 {
		t.Errorf("ok %d: %v", got.OK, got.Errors)
	}
}

const receiving = `
def visit(vu):
    ws = vu.websocket.open("TARGET/")
    ws.send("a")
    expect.equal(ws.receive(timeout = "1ms").error, "timeout")
    vu.http.get("RELEASE/")
    m = ws.receive(timeout = "30s")
    expect.equal((m.error, m.data), ("", "a"))
    return ws.close()
workflow(name = "test", vu_iterations = 1, vus = 1, duration = "60s", steps = [step(visit)])`

// A server's ping is answered while a function computes, as its loop takes turns: the function
// computes until the server has seen the answer and leaves.
func TestPingsAreAnsweredWhileAFunctionComputes(t *testing.T) {
	eachScheme(t, func(t *testing.T, secure bool) {
		s := echo(t, secure, func(e *echoer) { e.pings = true })
		w := loadFile(t, s.URL, `
def visit(vu):
    ws = vu.websocket.open("TARGET/")
    ws.send("ping me")
    text = "x" * 10000
    while not ws.error:
        sha256(text)
    return ws.close()
workflow(name = "test", vu_iterations = 1, vus = 1, duration = "60s", timeout = "60s", `+anyTLS+`, steps = [step(visit)])`)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: time.Minute})
		s.stop()
		if got := r.Stats.Steps[0]; kinds(got)["server 4001"] != 1 {
			t.Errorf("ok %d: %v", got.OK, got.Errors)
		}
	})
}

// A user has at most 16 sessions at once, and the error tells what to do.
func TestSessionsAreBounded(t *testing.T) {
	s := echo(t, false, nil)
	for count, want := range map[int]string{16: "", 17: "this virtual user has 16 open sessions, which is the most"} {
		w := loadFile(t, s.URL, fmt.Sprintf(bounded, count))
		r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
		got := r.Stats.Steps[0]
		if want == "" && got.OK != 1 || want != "" && (got.Failed != 1 || !strings.Contains(got.Errors[0].Example, want) || !strings.Contains(got.Errors[0].Example, "close()")) {
			t.Errorf("%d: ok %d: %v", count, got.OK, got.Errors)
		}
		total(t, r, "WebSocket")
	}
	// Forgotten ones end with their iteration, so that they never add up.
	w := loadFile(t, s.URL, `workflow(name = "test", vu_iterations = 20, vus = 1, duration = "60s", steps = [action("forget", lambda vu: vu.websocket.open("TARGET/"))])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
	if got := r.Stats.Steps[0]; got.OK != 20 || len(r.Stats.Logs) != 1 || !strings.HasPrefix(r.Stats.Logs[0], "20 sessions were still open") {
		t.Errorf("ok %d of %d: %v, %q", got.OK, got.Started, got.Errors, r.Stats.Logs)
	}
}

// A file that logs at each iteration leaves the lines that the engine tells.
func TestFilesLeaveTheLinesOfTheEngine(t *testing.T) {
	s := echo(t, false, nil)
	w := loadFile(t, s.URL, `
def talk(vu):
    vu.log("once more")
    vu.websocket.open("TARGET/")

workflow(name = "test", vu_iterations = 50, vus = 1, duration = "60s", steps = [action("talk", talk)])
`)
	r := run(t, t.Context(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
	told, logged := stats.Lines(&r.Stats)
	if len(told) != 1 || !strings.HasPrefix(told[0], "50 sessions were still open") || len(logged) != stats.LogsMax || !strings.HasSuffix(logged[0], "once more") {
		t.Errorf("the engine told %q, and the file logged %q", told, logged)
	}
}

const bounded = `
def visit(vu):
    all = []
    for i in range(%d):
        all.append(vu.websocket.open("TARGET/"))
    for ws in all:
        ws.close()
    return vu.websocket.open("TARGET/").close()
workflow(name = "test", vu_iterations = 1, vus = 1, duration = "60s", steps = [step(visit)])`
