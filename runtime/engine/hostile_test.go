package engine

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/epoll"
)

// rawServer passes each connection to serve in its own goroutine, and waits for all.
func rawServer(t *testing.T, serve func(c *net.TCPConn, r *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			all.Go(func() {
				defer c.Close()
				serve(c.(*net.TCPConn), bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return "http://" + l.Addr().String()
}

// head reads one request without a body and reports whether there was one.
func head(r *bufio.Reader) bool {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return false
		}
		if strings.TrimSpace(line) == "" {
			return true
		}
	}
}

// answers sends the same bytes for each request, then calls after.
func answers(text string, after func(c *net.TCPConn)) func(*net.TCPConn, *bufio.Reader) {
	return func(c *net.TCPConn, r *bufio.Reader) {
		for head(r) {
			_, _ = io.WriteString(c, text) // the client may have closed: then head fails
			if after != nil {
				after(c)
				return
			}
		}
	}
}

func hang(c *net.TCPConn) { _, _ = io.Copy(io.Discard, c) }
func quit(c *net.TCPConn) {}
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
}

func TestHostileServers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, tt := range []struct {
		name  string
		serve func(*net.TCPConn, *bufio.Reader)
		kind  string // of all failures; empty: all requests are good
	}{
		{"closes without a word", answers("", quit), "closed"},
		{"resets without a word", answers("", reset), "reset"},
		{"answers without a length and closes", answers(ok+"\r\nbody", quit), ""},
		{"answers without a length and stays", answers(ok+"\r\nbody", hang), "timeout"},
		{"sends less than it said", answers(ok+"Content-Length: 10\r\n\r\nbody", quit), "truncated"},
		{"stalls in the middle of a body", answers(ok+"Content-Length: 10\r\n\r\nbody", hang), "timeout"},
		{"never ends its head", answers(ok+"A: b\r\n", hang), "timeout"},
		{"sends more than it said", answers(ok+"Content-Length: 4\r\n\r\nbody and more", nil), ""},
		{"tells two lengths", answers(ok+"Content-Length: 4\r\nContent-Length: 5\r\n\r\nbody", nil), "protocol"},
		{"speaks something else", answers("220 mail ready\r\n", hang), "protocol"},
		{"asks to close and stays", answers(ok+"Connection: close\r\nContent-Length: 4\r\n\r\nbody", hang), ""},
		{"sends a huge head", answers(ok+"A: "+strings.Repeat("b", 1<<17)+"\r\n\r\n", nil), "too_large"},
		{"sends chunks in pieces", func(c *net.TCPConn, r *bufio.Reader) {
			for head(r) {
				for _, piece := range strings.SplitAfter(ok+"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", "o") {
					_, _ = io.WriteString(c, piece)
				}
			}
		}, ""},
		{"interim answers first", answers("HTTP/1.1 103 Early Hints\r\n\r\n"+ok+"Content-Length: 0\r\n\r\n", nil), ""},
		{"no content", answers("HTTP/1.1 204 No Content\r\n\r\n", nil), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
				w := flow(get("a", rawServer(t, tt.serve)+"/"), get("b", rawServer(t, tt.serve)+"/"))
				adjust(w)
				w.Plan.Iterations = 9  // not until a time: on a busy machine no request may begin by then
				timeout := time.Minute // if no timeout is expected, a busy machine must not cause one
				if tt.kind == "timeout" {
					timeout = 100 * time.Millisecond
				}
				r := run(t, context.Background(), Config{Workflow: w, VUs: 3, Duration: time.Minute, Timeout: timeout})
				for _, s := range r.Stats.Steps {
					if tt.kind == "" {
						if s.OK == 0 || s.OK != s.Started {
							t.Errorf("step %s: ok %d of %d: %v", s.Name, s.OK, s.Started, s.Errors)
						}
						continue
					}
					bad := s.Failed + s.TimedOut
					if bad == 0 || bad != s.Started || kinds(s)[tt.kind] != bad || (s.TimedOut > 0) != (tt.kind == "timeout") {
						t.Errorf("step %s: failed %d, timed out %d of %d: %v, want %s", s.Name, s.Failed, s.TimedOut, s.Started, s.Errors, tt.kind)
					}
				}
			})
		})
	}
}

// The engine does not reuse a connection that the server closed between two requests, if there
// was time to notice.
func TestServerClosesIdleConnections(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		w := flow(get("a", rawServer(t, answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", quit))+"/"))
		w.Plan.Think, w.Plan.Iterations = 250*time.Millisecond, 4
		adjust(w)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: 20 * time.Second})
		if s := r.Stats.Steps[0]; s.OK != s.Started || s.OK < 4 {
			t.Errorf("ok %d of %d: %v", s.OK, s.Started, s.Errors)
		}
	})
}

// The same without time to notice: the request fails as closed, and the engine does not retry
// it.
func TestNoTransparentRetry(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		var mu sync.Mutex
		seen := uint64(0)
		url := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
			for i := 0; head(r); i++ {
				mu.Lock()
				seen++
				mu.Unlock()
				if i == 1 {
					return
				}
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		})
		w := flow(get("a", url+"/"))
		adjust(w)
		s := run(t, context.Background(), Config{Workflow: w, VUs: 3, Duration: 50 * time.Millisecond}).Stats.Steps[0]
		mu.Lock()
		defer mu.Unlock()
		if s.Started != seen || s.OK == 0 || s.Failed+s.OK != s.Started || kinds(s)["closed"] != s.Failed || s.OK-s.Failed > 3 {
			t.Errorf("started %d, ok %d, failed %d (%v), the server saw %d", s.Started, s.OK, s.Failed, s.Errors, seen)
		}
	})
}

func TestServerThatTakesNoBody(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		done := make(chan struct{})
		url := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) { <-done })
		t.Cleanup(func() { close(done) }) // before the server's own: cleanups run last in, first out
		step := get("a", url+"/")
		step.Request.Method, step.Request.Body = "POST", make([]byte, 16<<20)
		w := flow(step)
		adjust(w)
		s := run(t, context.Background(), Config{Workflow: w, VUs: 1, Timeout: time.Second}).Stats.Steps[0]
		if s.TimedOut != 1 || kinds(s)["write_timeout"] != 1 || s.BytesOut == 0 {
			t.Errorf("timed out %d, bytes out %d: %v", s.TimedOut, s.BytesOut, s.Errors)
		}
	})
}

// A server may reject a body half-way: that is an answer, not a broken connection.
func TestAnswerBeforeTheBodyIsSent(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		url := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
			if head(r) {
				_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
				_ = c.CloseWrite()
				_, _ = io.Copy(io.Discard, c)
			}
		})
		step := get("a", url+"/")
		step.Request.Method, step.Request.Body = "POST", make([]byte, 8<<20)
		w := flow(step)
		adjust(w)
		s := run(t, context.Background(), Config{Workflow: w, VUs: 2}).Stats.Steps[0]
		if s.Failed != 2 || kinds(s)["status 413"] != 2 {
			t.Errorf("failed %d: %v", s.Failed, s.Errors)
		}
	})
}

// The kernel drops SYNs to a full backlog: connecting must time out, and be cancellable.
func TestConnectingTimesOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address := fillBacklog(t, l)
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		w := flow(get("a", "http://"+address+"/"))
		adjust(w)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 2, Timeout: 150 * time.Millisecond})
		if s := r.Stats.Steps[0]; s.TimedOut != 2 || kinds(s)["connect_timeout"] != 2 || s.Started != 2 || s.Sent != 0 || !silent(r) {
			t.Errorf("state %v, timed out %d of %d: %v", r.State, s.TimedOut, s.Started, s.Errors)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		r = run(t, ctx, Config{Workflow: w, VUs: 2, Timeout: time.Minute})
		if s := r.Stats.Steps[0]; s.Cancelled != 2 {
			t.Errorf("cancelled %d of %d: %v", s.Cancelled, s.Started, s.Errors)
		}
	})
}

// Events of one wait may concern a connection that another of these events has replaced:
//
//  1. lanes X (idle, closed by the server) and Y of one virtual user have events
//  2. Y's event ends the iteration, the next one writes on X, fails, and X dials anew
//  3. X's event of step 1, if used, would mark the new connection as established
func TestEventsOfAnOlderConnectionAreVoid(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cfg := Config{Workflow: flow(get("a", "http://"+fillBacklog(t, listener)+"/")), VUs: 1, Timeout: time.Minute}
	g, err := newGraph(cfg)
	if err == nil {
		err = g.resolve(context.Background(), time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLoop(cfg, g)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	l.course.running = true
	l.Clock.Tick()
	l.startDue()
	c := l.Sockets.Conns.At(0)
	for _, stale := range []bool{true, false} {
		if n := &l.Slots.Own[0]; c.State != pool.ConnConnecting || n.Sent != 0 || n.Conn != 0 {
			t.Fatalf("state %v, sent %d, want a connection under way", c.State, n.Sent)
		}
		e := epoll.Event{Events: epoll.Out, Pad: int32(c.Generation)}
		if stale {
			e.Pad--
		}
		l.Sockets.Handle(&e)
	}
	if c.State == pool.ConnConnecting {
		t.Error("an event of the present connection was not heeded")
	}
}
