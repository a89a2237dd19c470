package engine

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/raw"
	"hyperscale/runtime/protocol/http1"
)

// Each hostile server ends the first exchange as its entry says, on each path, and never
// answers the second with bytes of the first. All sums agree.
func TestCatalogueOfTCP(t *testing.T) {
	for _, e := range raw.Catalogue() {
		for _, path := range []string{"counted", "kept", "function"} {
			t.Run(e.Name+"/"+path, func(t *testing.T) {
				t.Parallel()
				s, err := raw.Serve(e)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Stop()
				timeout := ""
				if e.Short {
					timeout = `, timeout = "250ms"`
				}
				call := fmt.Sprintf(`tcp.exchange("TARGET", send = "one\n" + "x" * %d, receive = %s%s`, e.Rest, e.Receive, timeout)
				first := `step("first", ` + call + `))`
				switch path {
				case "kept":
					first = `step("first", ` + call + `), expect = [size_below("1MiB")])`
				case "function":
					first = `step(first)`
				}
				w := loadFile(t, s.URL, fmt.Sprintf(`
def first(vu):
    r = vu.%s)
    if r.error == "" and r.text() == None:
        return "no text"
    return r

workflow(name = "test", iterations = 1, vus = 1, duration = "60s", http = http.client(max_body = "64KiB"), steps = [
    %s,
    step("second", tcp.exchange("TARGET", send = "two\n", receive = %s), expect = [body_contains("two")]),
])`, call, first, e.Receive))
				r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
				s.Stop()
				got, second := r.Stats.Steps[0], r.Stats.Steps[1]
				late := uint64(0)
				if e.Kind == http1.KindTimeout || e.Kind == http1.KindWriteTimeout {
					late = 1
				}
				switch {
				case got.Started != 1 || got.Started != got.OK+got.Failed+got.TimedOut || got.TimedOut != late || (got.OK == 1) != (e.Kind == ""):
					t.Errorf("started %d, ok %d, failed %d, timed out %d: %v, want %q", got.Started, got.OK, got.Failed, got.TimedOut, got.Errors, e.Kind)
				case e.Kind != "" && (len(got.Errors) != 1 || got.Errors[0].Kind != string(e.Kind)):
					t.Errorf("got %v, want %q", got.Errors, e.Kind)
				}
				if raced := e.Races && len(second.Errors) == 1 && second.Errors[0].Kind == "closed"; second.OK != 1 && !raced {
					t.Errorf("the second exchange: %v", second.Errors)
				}
			})
		}
	}
}

// repeater is a server of lines that knows nothing of the codec: it repeats each line, and counts.
type repeater struct {
	URL            string
	in, out, conns atomic.Uint64
	listener       net.Listener
	all            sync.WaitGroup
	heard          sync.Map
	answer         func(line string) string
}

func repeats(t *testing.T, secure bool, answer func(string) string) *repeater {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &repeater{URL: "tcp://" + l.Addr().String(), listener: l, answer: answer}
	if secure {
		s.URL = "tcps://" + l.Addr().String()
	}
	s.all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.conns.Add(1)
			if secure {
				c = tls.Server(c, authority.Honest())
			}
			s.all.Go(func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for {
					line, err := in.ReadString('\n')
					if s.in.Add(uint64(len(line))); err != nil {
						return
					}
					s.heard.Store(line, true)
					text := answer(line)
					s.out.Add(uint64(len(text)))
					if _, err := io.WriteString(c, text); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(s.stop)
	return s
}

func (s *repeater) stop() {
	_ = s.listener.Close()
	s.all.Wait()
}

// What a run counts over TCP is what the server counted, byte for byte.
func TestBytesAgreeWithTheServer(t *testing.T) {
	same := func(line string) string { return line }
	for _, secure := range []bool{false, true} {
		for name, tt := range map[string]struct {
			args   string
			answer func(string) string
			deaf   bool
		}{
			"line":       {`send = "hello\n", receive = tcp.line()), expect = [body_contains("hello"), status(200)]`, same, false},
			"until":      {`send = b"\x00\xff\r\n", receive = tcp.until(b"\xff\r\n"))`, same, false},
			"bytes":      {`send = "x" * 60000 + "\n", receive = tcp.bytes(60001))`, same, false},
			"prefixed":   {`send = hex.decode("616263") + b"\n", receive = tcp.prefixed(2)), expect = [body_contains("abc")]`, func(l string) string { return "\x00\x04" + l }, false},
			"no answer":  {`send = "hello\n")`, func(string) string { return "" }, true},
			"half of it": {`send = "hello\n", receive = tcp.bytes(3))`, same, false},
		} {
			for _, vus := range []uint64{1, 32} {
				t.Run(fmt.Sprintf("%s/%d/tls=%v", name, vus, secure), func(t *testing.T) {
					t.Parallel()
					s := repeats(t, secure, tt.answer)
					n := 5 * vus
					w := loadFile(t, s.URL, fmt.Sprintf(`workflow(name = "test", iterations = %d, vus = %d, duration = "60s", %s, steps = [step("ask", tcp.exchange("TARGET", %s)])`, n, vus, anyTLS, tt.args))
					r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
					got := r.Stats.Steps[0]
					for range 1000 { // a server that answers nothing may accept late
						if s.in.Load() == got.BytesOut {
							break
						}
						time.Sleep(5 * time.Millisecond)
					}
					s.stop()
					all := measured(got)
					if got.OK != n || got.Started != n || got.Sent != n || len(got.Statuses) > 0 {
						t.Fatalf("ok %d of %d, sent %d, statuses %v: %v", got.OK, got.Started, got.Sent, got.Statuses, got.Errors)
					}
					if got.BytesOut != s.in.Load() || all[plan.MeasureMessagesSent].Count != n {
						t.Errorf("%d bytes in %d messages sent, the server read %d", got.BytesOut, all[plan.MeasureMessagesSent].Count, s.in.Load())
					}
					most, want := vus, n
					if name == "half of it" {
						most = n
					}
					if tt.deaf {
						want = 0
					}
					if !tt.deaf && got.BytesIn != s.out.Load() || all[plan.MeasureMessagesReceived].Count != want {
						t.Errorf("%d bytes in %d messages received, the server wrote %d", got.BytesIn, all[plan.MeasureMessagesReceived].Count, s.out.Load())
					}
					if name == "half of it" && s.conns.Load() != n || s.conns.Load() > most {
						t.Errorf("%d connections of %d users", s.conns.Load(), vus)
					}
				})
			}
		}
	}
}

// Values of an answer go into the next exchange, also of a function, on the same connection.
func TestValuesGoIntoBytes(t *testing.T) {
	s := repeats(t, false, func(line string) string { return line })
	w := loadFile(t, s.URL, `
def tell(vu):
    r = vu.tcp.exchange("TARGET", send = "tell %d\n" % vu.id, receive = tcp.line(), name = "tell", expect = [body_contains("tell")])
    if r.status != 200 or r.text() != "tell %d" % vu.id:
        fail("got %s" % r.text())
    return r

workflow(name = "test", iterations = 20, vus = 4, duration = "60s", steps = [
    step("ask", tcp.exchange("TARGET", send = "id=seven\n", receive = tcp.line()), extract = {"id": regex("id=(\\w+)")}),
    step("take", tcp.exchange("TARGET", send = "<${id}> $${id}\n", receive = tcp.line()), expect = [body_contains("<seven> ${id}")]),
    step(tell),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute, Timeout: 30 * time.Second})
	s.stop()
	for _, step := range r.Stats.Steps {
		if step.OK != 20 {
			t.Errorf("%s: ok %d of %d: %v", step.Name, step.OK, step.Started, step.Errors)
		}
	}
	if len(r.Stats.Steps) != 4 || measured(r.Stats.Steps[3])[plan.MeasureMessagesReceived].Count != 20 {
		t.Errorf("rows %+v", r.Stats.Steps)
	}
	if s.conns.Load() != 4 {
		t.Errorf("%d connections of 4 users", s.conns.Load())
	}
}

// Under TLS an answer that ends with the connection is whole only behind close_notify.
func TestOnlyATLSGoodbyeEndsAnAnswer(t *testing.T) {
	for _, notify := range []bool{true, false} {
		l, err := tls.Listen("tcp", "127.0.0.1:0", authority.Honest())
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = bufio.NewReader(c).ReadString('\n')
			_, _ = io.WriteString(c, "all of it")
			if notify {
				_ = c.Close()
			} else {
				_ = c.(*tls.Conn).NetConn().Close()
			}
		}()
		w := loadFile(t, "tcps://"+l.Addr().String(), `workflow(name = "test", iterations = 1, vus = 1, duration = "60s", `+anyTLS+`, steps = [step("ask", tcp.exchange("TARGET", send = "a\n", receive = tcp.closed()), expect = [body_contains("all of it")])])`)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
		_ = l.Close()
		<-done
		got := r.Stats.Steps[0]
		if notify != (got.OK == 1) || !notify && (len(got.Errors) != 1 || got.Errors[0].Kind != "truncated") {
			t.Errorf("close_notify %v: ok %d, %v", notify, got.OK, got.Errors)
		}
	}
}

// A function that keeps an answer still has it behind later exchanges, which take the memory of ended ones again.
func TestAnswersOutliveTheirExchange(t *testing.T) {
	s := repeats(t, false, func(line string) string { return line })
	w := loadFile(t, s.URL, `
def tell(vu):
    said = [vu.tcp.exchange("TARGET", send = "line %d of %d\n" % (i, vu.id), receive = tcp.line()) for i in range(3)]
    for i, answer in enumerate(said):
        if answer.text() != "line %d of %d" % (i, vu.id):
            fail("answer %d became %s" % (i, answer.text()))
    return said[2]

workflow(name = "test", iterations = 20, vus = 4, duration = "60s", steps = [step(tell)])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute, Timeout: 30 * time.Second})
	s.stop()
	if got := r.Stats.Steps[0]; got.OK != 20 {
		t.Errorf("ok %d of %d: %v", got.OK, got.Started, got.Errors)
	}
}

// Through a proxy no bytes go: it carries HTTP.
func TestTCPRefusesAProxy(t *testing.T) {
	w := loadFile(t, "tcp://127.0.0.1:1", `
def ask(vu):
    return vu.tcp.exchange("TARGET", send = "a\n")

workflow(name = "test", iterations = 1, vus = 1, duration = "60s", http = http.client(proxy = "http://127.0.0.1:1"), steps = [step(ask)])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
	if got := r.Stats.Steps[0]; got.Failed != 1 || len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Example, "proxy") {
		t.Errorf("got %+v", got.Errors)
	}
}

// An exchange without an answer has a connection of its own: what the server says there answers no
// other exchange.
func TestDeafExchangesHaveTheirOwnConnection(t *testing.T) {
	s := repeats(t, false, func(line string) string { return line })
	w := loadFile(t, s.URL, `workflow(name = "test", iterations = 50, vus = 2, duration = "60s", steps = [
    step("tell", tcp.exchange("TARGET", send = "told\n")),
    step("ask", tcp.exchange("TARGET", send = "asked\n", receive = tcp.line()), expect = [body_contains("asked")]),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: time.Minute, Timeout: 30 * time.Second})
	s.stop()
	for _, step := range r.Stats.Steps {
		if step.OK != 50 {
			t.Errorf("%s: ok %d of %d: %v", step.Name, step.OK, step.Started, step.Errors)
		}
	}
	if s.conns.Load() != 4 {
		t.Errorf("%d connections of 2 users", s.conns.Load())
	}
}

// What has come on an idle connection, or its end, is seen before the next exchange goes out, though
// the loop has not turned since: a function computes meanwhile.
func TestAnIdleConnectionIsRead(t *testing.T) {
	for name, more := range map[string]string{"late bytes": "late\n", "an end": ""} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			read, said := make(chan struct{}), make(chan struct{})
			var conns atomic.Uint64
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					first := conns.Add(1) == 1
					go func() {
						defer c.Close()
						in := bufio.NewReader(c)
						for {
							line, err := in.ReadString('\n')
							if err != nil {
								return
							}
							_, _ = io.WriteString(c, line)
							if !first {
								continue
							}
							<-read
							_, _ = io.WriteString(c, more)
							if more == "" {
								_ = c.(*net.TCPConn).CloseWrite()
							}
							time.Sleep(20 * time.Millisecond) // it is in the client's kernel
							close(said)
							first = false
						}
					}()
				}
			}()
			w := loadFile(t, "tcp://"+l.Addr().String(), `
def ask(vu):
    vu.tcp.exchange("TARGET", send = "one\n", receive = tcp.line())
    vu.log("read")
    return vu.tcp.exchange("TARGET", send = "two\n", receive = tcp.line(), expect = [body_contains("two")])

workflow(name = "test", iterations = 1, vus = 1, duration = "60s", steps = [step(ask)])`)
			config := Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second}
			config.Debug = waiter(func(line string) {
				if strings.Contains(line, "vu 0: read") || strings.Contains(line, "vu 1: read") {
					close(read)
					<-said
				}
			})
			r := run(t, context.Background(), config)
			if got := r.Stats.Steps[0]; got.OK != 1 || conns.Load() != 2 {
				t.Errorf("ok %d, %d connections: %v", got.OK, conns.Load(), got.Errors)
			}
		})
	}
}

// waiter sees what a run prints, while the loop stands still.
type waiter func(line string)

func (w waiter) Write(b []byte) (int, error) {
	w(string(b))
	return len(b), nil
}
