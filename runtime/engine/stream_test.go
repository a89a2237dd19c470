package engine

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// emitter is a server of events that counts what it wrote and flushed. It knows nothing of the
// engine: net/http carries it.
type emitter struct {
	*httptest.Server
	events  atomic.Uint64 // written
	streams atomic.Uint64 // begun
	whole   atomic.Uint64 // that it ended itself
}

// emit starts a server whose streams have so many events, or no end.
func emit(t *testing.T, two bool, events int, pause time.Duration) *emitter {
	t.Helper()
	e := &emitter{}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.streams.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		out := http.NewResponseController(w)
		for i := 0; events == 0 || i < events; i++ {
			if _, err := fmt.Fprintf(w, "id: %d\nevent: tick\ndata: {\"n\": %d}\n\n", i, i); err != nil {
				return
			}
			e.events.Add(1) // before the flush: a client that has enough may close while it returns
			if out.Flush() != nil || r.Context().Err() != nil {
				return
			}
			if pause > 0 {
				select {
				case <-r.Context().Done():
					return
				case <-time.After(pause):
				}
			}
		}
		e.whole.Add(1)
	}))
	e.Config.ErrorLog = log.New(io.Discard, "", 0)
	if two {
		e.EnableHTTP2 = true
		e.StartTLS()
	} else {
		e.Start()
	}
	t.Cleanup(e.Close)
	return e
}

// measured returns a step's measures by name.
func measured(s message.StepStats) map[string]message.Measure {
	all := map[string]message.Measure{}
	for _, m := range s.Measures.List {
		all[m.Name] = m
	}
	return all
}

// eachVersion runs a test over HTTP/1.1 and HTTP/2.
func eachVersion(t *testing.T, test func(t *testing.T, two bool, client string)) {
	for two, client := range map[bool]string{false: `http.client()`, true: `http.client(version = "2", tls = tls(verify = False))`} {
		t.Run(map[bool]string{false: "HTTP/1.1", true: "HTTP/2"}[two], func(t *testing.T) { test(t, two, client) })
	}
}

// Streams that are read whole: the events are those that the server wrote and flushed, each once.
func TestEventsAgreeWithTheServer(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, two bool, client string) {
		for _, vus := range []uint64{1, 64, 500} {
			for path, step := range map[string]string{
				"step":     `step("feed", sse.read("TARGET/events"))`,
				"kept":     `step("feed", sse.read("TARGET/events", events = 7), expect = [body_contains("\"n\": 6")])`,
				"function": `step("feed", lambda vu: vu.sse.read("TARGET/events", method = "POST", json = {"a": 1}, until = json_is("$.n", 6)))`,
			} {
				t.Run(fmt.Sprintf("%s/%d", path, vus), func(t *testing.T) {
					s, connections := emit(t, two, 7, 0), `"per_vu"`
					if two && vus > 1 {
						connections = "8" // which streams share
					}
					w := loadFile(t, s.URL, `workflow(name = "test", iterations = `+fmt.Sprint(vus)+`, connections = `+connections+`, vus = `+fmt.Sprint(vus)+`, duration = "60s", http = `+client+`, steps = [`+step+`])`)
					r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
					feed := r.Stats.Steps[0]
					if feed.OK != vus || s.streams.Load() != feed.Sent || feed.Sent != feed.Started {
						t.Fatalf("ok %d of %d, sent %d, the server had %d: %v", feed.OK, feed.Started, feed.Sent, s.streams.Load(), feed.Errors)
					}
					all := measured(r.Stats.Steps[len(r.Stats.Steps)-1])
					if got := all[plan.MeasureEvents].Count; got != s.events.Load() || got != 7*feed.OK {
						t.Errorf("read %d events, the server wrote %d", got, s.events.Load())
					}
					if first, gaps := all[plan.MeasureFirstEvent].Times.Count, all[plan.MeasureEventGap].Times.Count; first != feed.OK || gaps != 6*feed.OK {
						t.Errorf("%d first events and %d gaps of %d streams", first, gaps, feed.OK)
					}
				})
			}
		}
	})
}

// A stream that is read in part: the server wrote at least what was read.
func TestAStreamEndsWhereItsRequestSays(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, two bool, client string) {
		for name, tt := range map[string]struct {
			args   string
			events uint64 // of each stream; 0: some
		}{
			"events":           {`events = 3`, 3},
			"until":            {`until = body_contains("\"n\": 4")`, 5},
			"events first":     {`events = 2, until = body_contains("\"n\": 4")`, 2},
			"within":           {`within = "1s"`, 0},
			"events in time":   {`events = 3, within = "20s"`, 3},
			"one event":        {`events = 1`, 1},
			"json of an event": {`until = json_is("$.n", 2)`, 3},
		} {
			t.Run(name, func(t *testing.T) {
				s, n := emit(t, two, 0, 2*time.Millisecond), uint64(30)
				if tt.events == 0 {
					n = 5 // each takes its time
				}
				w := loadFile(t, s.URL, `workflow(name = "test", iterations = `+fmt.Sprint(n)+`, vus = 5, duration = "60s", http = `+client+`, steps = [step("feed", sse.read("TARGET/", `+tt.args+`))])`)
				r := run(t, context.Background(), Config{Workflow: w, VUs: 5, Duration: time.Minute, Timeout: 30 * time.Second})
				feed := r.Stats.Steps[0]
				got := measured(feed)[plan.MeasureEvents].Count
				if feed.OK != n || tt.events > 0 && got != n*tt.events || got == 0 || got > s.events.Load() {
					t.Errorf("ok %d of %d, %d events, the server wrote %d: %v", feed.OK, feed.Started, got, s.events.Load(), feed.Errors)
				}
			})
		}
	})
}

// What is no stream, or not the one that was asked for, fails with its kind.
func TestStreamsThatFail(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	long := strings.Repeat("x", 1<<20)
	for name, tt := range map[string]struct {
		serve  func(*net.TCPConn, *bufio.Reader)
		args   string
		kind   string
		events uint64 // of each stream
	}{
		"too few":             {answers(ok+"\r\ndata: a\n\ndata: b\n\n", quit), `events = 3`, "expect", 2},
		"no until":            {answers(ok+"\r\ndata: a\n\n", quit), `until = body_contains("b")`, "expect", 1},
		"ends before within":  {answers(ok+"\r\ndata: a\n\n", quit), `within = "30s"`, "expect", 1},
		"half an event":       {answers(ok+"\r\ndata: a\n", quit), `events = 1`, "expect", 0},
		"another type":        {answers("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello", nil), `events = 1`, "protocol", 0},
		"another type, open":  {answers("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello", hang), `events = 1`, "protocol", 0},
		"no type":             {answers("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", nil), `events = 1`, "protocol", 0},
		"no content":          {answers("HTTP/1.1 204 No Content\r\n\r\n", nil), `events = 1`, "protocol", 0},
		"not found":           {answers("HTTP/1.1 404 Not Found\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata: a\n\n", nil), `events = 1`, "status 404", 0},
		"encoded":             {answers(ok+"Content-Encoding: gzip\r\n\r\n\x1f\x8b", hang), `events = 1`, "encoding", 0},
		"silent":              {answers(ok+"\r\n", hang), `events = 1, within = "150ms"`, "timeout", 0},
		"comments alone":      {answers(ok+"\r\n:\n:\n:\n\n", hang), `events = 1, within = "150ms"`, "timeout", 0},
		"no head within":      {answers("", hang), `within = "150ms"`, "timeout", 0},
		"a large event":       {answers(ok+"\r\ndata: "+strings.Repeat(long, 17), hang), `events = 1`, "too_large", 0},
		"cut in a chunk":      {answers(ok+"Transfer-Encoding: chunked\r\n\r\nff\r\ndata: a\n\n", quit), `events = 2`, "truncated", 1},
		"garbage for a chunk": {answers(ok+"Transfer-Encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\nzz\r\n", quit), `events = 2`, "protocol", 1},
		"garbage behind it":   {answers(ok+"Transfer-Encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\nzz\r\n", quit), `events = 1`, "", 1},
		"a chunk a byte":      {answers(ok+"Transfer-Encoding: chunked\r\n\r\n1\r\nd\r\n1\r\na\r\n1\r\nt\r\n1\r\na\r\n1\r\n:\r\n2\r\na\r\r\n3\r\n\n\r\n\r\n0\r\n\r\n", nil), `events = 1`, "", 1},
		"a mark, CR, NUL":     {answers(ok+"\r\n\xef\xbb\xbfdata: \xef\xbb\xbfa\rid: \x00\r\rdata: b\r\n\r\n", quit), `events = 2`, "", 2},
		"a line of a few MiB": {answers(ok+"\r\n: "+strings.Repeat(long, 20)+"\ndata: "+strings.Repeat(long, 3)+"\n\n", quit), `events = 1`, "", 1},
		"more than asked for": {answers(ok+"\r\ndata: a\n\ndata: b\n\ndata: c\n\n", hang), `events = 2`, "", 2},
		"refused":             {answers("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", nil), ``, "status 503", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for path, step := range map[string]string{"counted": `step("feed", sse.read("TARGET/", ARGS))`, "kept": `step("feed", sse.read("TARGET/", redirects = 1, ARGS))`, "function": `step("feed", lambda vu: vu.sse.read("TARGET/", ARGS))`} {
				w := loadFile(t, rawServer(t, tt.serve), `workflow(name = "test", iterations = 6, vus = 2, duration = "60s", steps = [`+strings.ReplaceAll(step, "ARGS", tt.args)+`])`)
				r := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: time.Minute, Timeout: time.Minute})
				feed := r.Stats.Steps[0]
				if bad := feed.Failed + feed.TimedOut; tt.kind == "" && feed.OK != 6 || tt.kind != "" && (bad != 6 || kinds(feed)[tt.kind] != 6 || (feed.TimedOut > 0) != (tt.kind == "timeout")) {
					t.Errorf("%s: ok %d, failed %d, timed out %d: %v, want %q", path, feed.OK, feed.Failed, feed.TimedOut, feed.Errors, tt.kind)
				}
				if got := measured(r.Stats.Steps[len(r.Stats.Steps)-1])[plan.MeasureEvents].Count; got != 6*tt.events {
					t.Errorf("%s: %d events, want %d", path, got, 6*tt.events)
				}
			}
		})
	}
}

// A cancelled run: every stream that began is in the counts, and no event counts that the server did
// not write.
func TestACancelledStreamIsCounted(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, two bool, client string) {
		s := emit(t, two, 0, time.Millisecond)
		w := loadFile(t, s.URL, `workflow(name = "test", vus = 64, duration = "60s", http = `+client+`, steps = [step("feed", sse.read("TARGET/", events = 1000000)), step("f", lambda vu: vu.sse.read("TARGET/"))])`)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			for s.events.Load() < 1000 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		r := run(t, ctx, Config{Workflow: w, VUs: 64, Duration: time.Minute, Timeout: time.Minute})
		feed := r.Stats.Steps[0]
		got := measured(feed)[plan.MeasureEvents].Count
		if feed.Cancelled != feed.Started || feed.Started != 64 || s.streams.Load() > feed.Sent || got == 0 || got > s.events.Load() {
			t.Errorf("cancelled %d of %d, sent %d of %d; read %d events of %d", feed.Cancelled, feed.Started, feed.Sent, s.streams.Load(), got, s.events.Load())
		}
	})
}

// A server that stalls delays the first event of the streams that it holds.
func TestAStallDelaysTheFirstEvent(t *testing.T) {
	const stall = 600 * time.Millisecond
	var begun atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first := begun.CompareAndSwap(0, time.Now().UnixNano())
		if left := stall - time.Duration(time.Now().UnixNano()-begun.Load()); left > 0 || first {
			time.Sleep(left)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: a\n\ndata: b\n\n")
	}))
	defer s.Close()
	w := loadFile(t, s.URL, `workflow(name = "test", vus = 2, iterations = 40, duration = "60s", steps = [step("feed", sse.read("TARGET/", events = 2))], thresholds = ["feed.first_event.p99 < 10s", "feed.events > 3"])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: time.Minute, Timeout: 30 * time.Second})
	feed := r.Stats.Steps[0]
	m := measured(feed)
	first := m[plan.MeasureFirstEvent].Times
	if late := time.Duration(first.Max); late < stall || first.Count != feed.OK || m[plan.MeasureEvents].Count != 2*feed.OK {
		t.Errorf("the latest first event of %d came after %v, in %d streams", first.Count, late, feed.OK)
	}
	if feed.OK != 40 {
		t.Errorf("ok %d of %d: %v", feed.OK, feed.Started, feed.Errors)
	}
}

// Connecting is part of the time to the first event.
func TestConnectingDelaysTheFirstEvent(t *testing.T) {
	const slow = 200 * time.Millisecond
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: a\n\n")
	}))
	s.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		time.Sleep(slow)
		return nil, nil
	}}
	s.StartTLS()
	defer s.Close()
	w := loadFile(t, s.URL, `workflow(name = "test", vus = 2, iterations = 4, duration = "60s", session = "none", http = http.client(tls = tls(verify = False)), steps = [step("feed", sse.read("TARGET/"))])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: time.Minute, Timeout: time.Minute})
	first := measured(r.Stats.Steps[0])[plan.MeasureFirstEvent].Times
	if early := time.Duration(first.Min); first.Count != 4 || early < slow {
		t.Errorf("the first event of a new connection came after %v in %d streams, the handshake alone takes %v", early, first.Count, slow)
	}
}
