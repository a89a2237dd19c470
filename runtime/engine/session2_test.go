package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/core/plan"
)

// eachHTTP runs a test over the versions of HTTP, and without TLS.
func eachHTTP(t *testing.T, serve func(written *atomic.Uint64) http.HandlerFunc, test func(t *testing.T, url, client string, written *atomic.Uint64)) {
	for name, client := range map[string]string{"plain": "", "1.1": `version = "1.1", `, "2": `version = "2", `} {
		t.Run(name, func(t *testing.T) {
			var written atomic.Uint64
			s := httptest.NewUnstartedServer(serve(&written))
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			if s.EnableHTTP2 = name == "2"; name == "plain" {
				s.Start()
			} else {
				s.StartTLS()
			}
			defer s.Close()
			test(t, s.URL, "http = http.client("+client+"tls = tls(verify = False))", &written)
		})
	}
}

// Functions receive each event while its stream goes on: the server writes the next one only when it
// is asked to, by another request.
func TestEventsAreReceivedWhileTheyCome(t *testing.T) {
	var all sync.Map // the turns of each stream
	turnsOf := func(r *http.Request) chan bool {
		turns, _ := all.LoadOrStore(r.Host+r.URL.RawQuery, make(chan bool, 100))
		return turns.(chan bool)
	}
	eachHTTP(t, func(written *atomic.Uint64) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/turn":
				turnsOf(r) <- true
				return
			case "/missing":
				http.Error(w, "no", http.StatusNotFound)
				return
			case "/moved":
				http.Redirect(w, r, "/events?"+r.URL.RawQuery, http.StatusFound)
				return
			case "/text":
				_, _ = io.WriteString(w, "data: a\n\n")
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(200)
			w.(http.Flusher).Flush() // it is open before its first event
			for i := 1; ; i++ {
				select {
				case <-turnsOf(r):
				case <-r.Context().Done():
					return
				}
				if written.Add(1); i == 4 {
					_, _ = io.WriteString(w, "data: last\n\n")
					return
				}
				say(w, fmt.Sprintf("event: tick\nid: %d\ndata: n%d\n\n", i, i))
			}
		}
	}, func(t *testing.T, url, client string, written *atomic.Uint64) {
		w := loadFile(t, url, `
def visit(vu):
    q = "?v%d" % vu.iteration
    feed = vu.sse.open("TARGET/moved" + q, redirects = 1, name = "feed")
    expect.equal((feed.status, feed.error), (200, ""))
    expect.equal(feed.receive(timeout = "1ms").error, "timeout")
    for i in range(1, 4):
        vu.http.get("TARGET/turn" + q)
        m = feed.receive(timeout = "30s")
        expect.equal((m.error, m.data, m.event, m.id), ("", "n%d" % i, "tick", "%d" % i))
    vu.http.get("TARGET/turn" + q)
    m = feed.receive(timeout = "30s")
    expect.equal((m.error, m.data, m.event, m.id), ("", "last", "message", "3"))
    expect.equal(feed.receive(timeout = "30s").error, "closed")
    return feed.close()
def early(vu):
    q = "?e%d" % vu.iteration
    feed = vu.sse.open("TARGET/events" + q, name = "early")
    vu.http.get("TARGET/turn" + q)
    feed.receive(timeout = "30s")
    return feed.close()
def forgets(vu):
    vu.sse.open("TARGET/events", name = "forgotten")
def missing(vu):
    return vu.sse.open("TARGET/missing", name = "missing").close()
def text(vu):
    feed = vu.sse.open("TARGET/text", name = "text")
    expect.equal((feed.receive().error, feed.error), ("closed", "the answer is text/plain; charset=utf-8, not text/event-stream"))
    return feed.close()
workflow(name = "test", vu_iterations = 2, vus = 1, duration = "60s", `+client+`, steps = [step(visit), step(early), action("forgets", forgets), step(missing), step(text)])`)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
		events := uint64(0)
		want := map[string]string{"missing": "status 404", "missing/missing": "status 404", "text": "protocol", "text/text": "protocol"}
		for _, s := range r.Stats.Steps {
			if strings.Contains(s.Name, "/") {
				events += measured(s)[plan.MeasureEvents].Count
			}
			kind := want[s.Name]
			if s.Started != s.OK+s.Failed || s.Started < 2 || kind == "" && s.Failed > 0 || kind != "" && kinds(s)[kind] != 2 {
				t.Errorf("%s: ok %d of %d: %v, want %q", s.Name, s.OK, s.Started, s.Errors, kind)
			}
		}
		if events != written.Load() || events != 10 {
			t.Errorf("%d events, the server wrote %d", events, written.Load())
		}
	})
}

// What a function does not receive waits with its server: over a connection of its own the loop stops
// reading, and loses nothing. Over one that other requests share the session fails.
func TestUnreceivedEventsHoldTheServer(t *testing.T) {
	const events = 3000 // of 16 KiB: more than a system buffers of a connection, 32 MiB on either side
	data := strings.Repeat("x", 16<<10)
	eachHTTP(t, func(written *atomic.Uint64) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/written" {
				fmt.Fprint(w, written.Load())
				return
			}
			for i := range events {
				say(w, fmt.Sprintf("id: %d\ndata: %s\n\n", i, data))
				if written.Add(1); r.Context().Err() != nil {
					return
				}
			}
		}
	}, func(t *testing.T, url, client string, written *atomic.Uint64) {
		shared, word := strings.Contains(client, `"2"`), "False"
		if shared {
			word = "True"
		}
		w := loadFile(t, url, strings.NewReplacer("SHARED", word, "EVENTS", fmt.Sprint(events), "CLIENT", client).Replace(`
def visit(vu):
    feed = vu.sse.open("TARGET/", name = "feed")
    while SHARED and not feed.error:
        vu.sleep("5ms")
    before, still = -1, 0
    while still < 4:  # until the server has been held for so long
        vu.sleep("100ms")
        now = int(vu.http.get("TARGET/written").text())
        before, still = now, still + 1 if now == before else 0
    for i in range(EVENTS):
        m = feed.receive(timeout = "30s")
        if m.error and feed.error:
            return feed.close()
        if m.id != str(i) or len(m.data) != 16384:
            fail("event %d is %s, %s" % (i, m.id, m.error))
    expect.equal(feed.receive().error, "closed")
    expect.below(before, EVENTS)
    return feed.close()
workflow(name = "test", vu_iterations = 1, vus = 1, duration = "60s", CLIENT, steps = [step(visit)])`))
		r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
		got := r.Stats.Steps[0]
		if shared && kinds(got)["overflow"] != 1 || !shared && (got.OK != 1 || written.Load() != events) {
			t.Errorf("ok %d, the server wrote %d: %v", got.OK, written.Load(), got.Errors)
		}
	})
}

// A WebSocket's messages that no function receives hold their server, and none is lost.
func TestUnreceivedMessagesHoldTheServer(t *testing.T) {
	eachScheme(t, func(t *testing.T, secure bool) {
		const each = 1000
		s := echo(t, secure, func(e *echoer) { e.times = each })
		w := loadFile(t, s.URL, `
def visit(vu):
    ws = vu.websocket.open("TARGET/")
    ws.send("x" * 8000)
    vu.sleep("100ms")
    for i in range(1000):
        m = ws.receive(timeout = "30s")
        if len(m.data) != 8000:
            fail("message %d: %s" % (i, m.error))
    return ws.close()
workflow(name = "test", vu_iterations = 1, vus = 2, duration = "60s", `+anyTLS+`, steps = [step(visit)])`)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: time.Minute, Timeout: 30 * time.Second})
		s.stop()
		_, _, sent, received := total(t, r, "WebSocket")
		if got := r.Stats.Steps[0]; got.OK != 2 || sent != 2 || received != 2*each || s.received.Load() != 2 {
			t.Errorf("ok %d, sent %d, received %d, the server read %d: %v", got.OK, sent, received, s.received.Load(), got.Errors)
		}
	})
}

// The clock starts behind the vu_setup of an open workflow: the instants of its sessions move with it.
func TestSessionsOfASetUpKeepTheirTime(t *testing.T) {
	s := echo(t, false, func(e *echoer) { e.times = 2 })
	w := loadFile(t, s.URL, `
def begin(vu):
    vu.vars["ws"] = vu.websocket.open("TARGET/", name = "kept")
    vu.sleep("200ms")
def visit(vu):
    ws = vu.vars["ws"]
    ws.send("a")
    answer = ws.receive(timeout = "30s")
    pushed = ws.receive(timeout = "30s")
    expect.equal((answer.data, pushed.data), ("a", "a"))
    expect.above(answer.latency.nanoseconds, 0)
    expect.above(pushed.latency.milliseconds, 199)
    expect.below(pushed.latency.milliseconds, 60000)
workflow(name = "test", rate = "20/s", vus = 2, duration = "1s", vu_setup = begin, steps = [action("visit", visit)])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: time.Second, Timeout: 30 * time.Second})
	s.stop()
	ok, started, _, _ := total(t, r, "kept")
	if got := r.Stats.Steps[0]; got.OK == 0 || got.Failed > 0 || ok != 2 || started != 2 {
		t.Errorf("ok %d of %d, %d of %d sessions: %v", got.OK, got.Started, ok, started, got.Errors)
	}
	for _, step := range r.Stats.Steps {
		if strings.HasSuffix(step.Name, "/kept") && (time.Duration(step.Latency.Max) < 200*time.Millisecond || time.Duration(step.Latency.Max) > time.Minute) {
			t.Errorf("%s took %v", step.Name, time.Duration(step.Latency.Max))
		}
	}
}

// A server that takes nothing ends the session of a function that sends on.
func TestASessionThatIsNotReadTimesOut(t *testing.T) {
	url := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		e := &echoer{}
		e.deaf = true
		e.serve(c)
	})
	w := loadFile(t, "ws"+strings.TrimPrefix(url, "http"), `
def visit(vu):
    ws = vu.websocket.open("TARGET/")
    while ws.send("x" * 100000):
        pass
    return ws.close()
workflow(name = "test", vu_iterations = 1, vus = 1, duration = "60s", steps = [step(visit)])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 200 * time.Millisecond})
	total(t, r, "WebSocket")
	for _, s := range r.Stats.Steps {
		if s.TimedOut != 1 || kinds(s)["write_timeout"] != 1 {
			t.Errorf("%s: ok %d, timed out %d: %v", s.Name, s.OK, s.TimedOut, s.Errors)
		}
	}
}
