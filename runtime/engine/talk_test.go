package engine

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/authority"
)

// echoer is a server of WebSocket that knows nothing of the codec and counts what it read and wrote.
type echoer struct {
	URL      string
	listener net.Listener
	conns    sync.WaitGroup
	upgrades atomic.Uint64
	received atomic.Uint64 // messages
	sent     atomic.Uint64 // messages, before each is written
	goodbyes atomic.Uint64 // with code 1000
	texts    sync.Map      // that came
	times    uint64        // how often it answers each message
	most     uint64        // messages of a connection, before it closes that; 0: no bound
	hold     func(n uint64)
	stall    time.Duration // before it upgrades
	deaf     bool          // it reads nothing behind its upgrade
	mute     bool          // it upgrades nothing
	pings    bool          // behind each message, and it says goodbye to the answer
}

func echo(t *testing.T, secure bool, set func(*echoer)) *echoer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echoer{listener: l, URL: "ws://" + l.Addr().String(), times: 1}
	if secure {
		e.URL = "wss://" + l.Addr().String()
	}
	if set != nil {
		set(e)
	}
	e.conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if secure {
				c = tls.Server(c, authority.Honest())
			}
			e.conns.Go(func() {
				e.serve(c)
				_ = c.Close()
			})
		}
	})
	t.Cleanup(e.stop)
	return e
}

// stop waits until all that clients sent is counted.
func (e *echoer) stop() {
	_ = e.listener.Close()
	e.conns.Wait()
}

func (e *echoer) serve(c net.Conn) {
	in := bufio.NewReader(c)
	r, err := http.ReadRequest(in)
	if err != nil || !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return
	}
	e.upgrades.Add(1)
	if e.mute {
		_, _ = io.Copy(io.Discard, in)
		return
	}
	time.Sleep(e.stall)
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	if _, err := fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:])); err != nil {
		return
	}
	if e.deaf {
		var one [1]byte
		for {
			time.Sleep(20 * time.Millisecond)
			if _, err := c.Write([]byte{0x89, 0}); err != nil {
				_, _ = c.Read(one[:])
				return
			}
		}
	}
	for n := uint64(0); ; n++ {
		opcode, payload, err := readFrame(in)
		switch {
		case err != nil:
			return
		case opcode == 8:
			if bytes.HasPrefix(payload, []byte{3, 0xe8}) {
				e.goodbyes.Add(1)
			}
			_, _ = c.Write([]byte{0x88, 0})
			return
		}
		if opcode == 10 && string(payload) == "are you there" {
			_, _ = c.Write([]byte{0x88, 2, 0x0f, 0xa1})
			return
		}
		if opcode == 9 {
			_, _ = c.Write(append([]byte{0x8a, byte(len(payload))}, payload...))
			continue
		}
		all := e.received.Add(1)
		e.texts.Store(string(payload), true)
		if e.most > 0 && n == e.most {
			return // without an answer, and without a goodbye
		}
		if e.hold != nil {
			e.hold(all)
		}
		if e.pings {
			_, _ = c.Write([]byte("\x89\x0dare you there"))
		}
		var out []byte // in one write, so that one read brings all
		for range e.times {
			e.sent.Add(1)
			head := []byte{0x80 | opcode, byte(len(payload))}
			if len(payload) > 125 {
				head = []byte{0x80 | opcode, 126, byte(len(payload) >> 8), byte(len(payload))}
			}
			out = append(append(out, head...), payload...)
		}
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

func readFrame(in *bufio.Reader) (opcode byte, payload []byte, err error) {
	var head [14]byte
	if _, err = io.ReadFull(in, head[:2]); err != nil {
		return 0, nil, err
	}
	n := uint64(head[1] & 0x7f)
	if wide := map[uint64]int{126: 2, 127: 8}[n]; wide > 0 {
		if _, err = io.ReadFull(in, head[10-wide:10]); err != nil {
			return 0, nil, err
		}
		n = binary.BigEndian.Uint64(head[2:10])
	}
	if _, err = io.ReadFull(in, head[10:14]); err != nil {
		return 0, nil, err
	}
	payload = make([]byte, n)
	if _, err = io.ReadFull(in, payload); err != nil {
		return 0, nil, err
	}
	for i := range payload {
		payload[i] ^= head[10+i%4]
	}
	return head[0] & 0xf, payload, nil
}

// eachScheme runs a test over ws:// and wss://.
func eachScheme(t *testing.T, test func(t *testing.T, secure bool)) {
	for secure, name := range map[bool]string{false: "ws", true: "wss"} {
		t.Run(name, func(t *testing.T) { test(t, secure) })
	}
}

const anyTLS = `http = http.client(tls = tls(verify = False))`

// What a run counts is what the server counted.
func TestMessagesAgreeWithTheServer(t *testing.T) {
	t.Parallel()
	eachScheme(t, func(t *testing.T, secure bool) {
		for _, vus := range []uint64{1, 64} {
			for name, tt := range map[string]struct {
				args           string
				each, received uint64 // messages of an exchange
			}{
				"one":       {`send = ["hello"]`, 1, 1},
				"expect":    {`send = ["hello"]), expect = [body_contains("hello"), status(101)]`, 1, 1},
				"until":     {`send = ["a", "b", "{\"n\": 7}"], until = json_is("$.n", 7)`, 3, 3},
				"bytes":     {`send = [b"\x00\xff", "x" * 60000], receive = 2`, 2, 2},
				"send only": {`send = ["a", "b"], receive = 0`, 2, 0},
			} {
				t.Run(fmt.Sprintf("%s/%d", name, vus), func(t *testing.T) {
					s := echo(t, secure, func(e *echoer) {
						if tt.received == 0 {
							e.times = 0
						}
					})
					args := tt.args
					if !strings.Contains(args, "expect") {
						args += ")"
					}
					n := 3 * vus
					w := loadFile(t, s.URL, fmt.Sprintf(`workflow(name = "test", iterations = %d, vus = %d, duration = "60s", %s, steps = [step("echo", websocket.exchange("TARGET/echo", %s)])`, n, vus, anyTLS, args))
					r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
					s.stop()
					got := r.Stats.Steps[0]
					if got.OK != n || got.Started != n || got.Sent != n || s.upgrades.Load() > vus || s.upgrades.Load() == 0 {
						t.Fatalf("ok %d of %d, sent %d, %d upgrades: %v", got.OK, got.Started, got.Sent, s.upgrades.Load(), got.Errors)
					}
					all := measured(got)
					if sent := all[plan.MeasureMessagesSent].Count; sent != s.received.Load() || sent != n*tt.each {
						t.Errorf("sent %d messages, the server received %d, want %d", sent, s.received.Load(), n*tt.each)
					}
					if received := all[plan.MeasureMessagesReceived].Count; received != s.sent.Load() || received != n*tt.received {
						t.Errorf("received %d messages, the server sent %d, want %d", received, s.sent.Load(), n*tt.received)
					}
					if first, each := all[plan.MeasureFirstMessage].Times.Count, all[plan.MeasureMessageLatency].Times.Count; tt.received > 0 && (first != n || each != n*tt.received) {
						t.Errorf("%d first messages and %d latencies of %d exchanges", first, each, n)
					}
					if all := got.Statuses; len(all) != 1 || all[0].Status != 101 || all[0].Count != s.upgrades.Load() {
						t.Errorf("statuses %+v, the server answered %d upgrades", all, s.upgrades.Load())
					}
					if s.goodbyes.Load() != s.upgrades.Load() {
						t.Errorf("%d goodbyes on %d connections", s.goodbyes.Load(), s.upgrades.Load())
					}
				})
			}
		}
	})
}

// Values that a message brings go into the next exchange, which has the same connection.
func TestValuesGoIntoMessages(t *testing.T) {
	s := echo(t, false, nil)
	w := loadFile(t, s.URL, `workflow(name = "test", iterations = 20, vus = 4, duration = "60s", steps = [
	step("ask", websocket.exchange("TARGET/", send = ["{\"id\": \"seven\"}"]), extract = {"id": json_path("$.id")}),
	step("tell", websocket.exchange("TARGET/", send = ["<${id}>", "again ${id} and ${id}"], receive = 2), expect = [body_contains("again seven and seven")]),
	step("other", websocket.exchange("TARGET/", headers = {"X-Id": "${id}"}, send = ["other"])),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute, Timeout: 30 * time.Second})
	s.stop()
	for _, step := range r.Stats.Steps {
		if step.OK != 20 {
			t.Errorf("%s: ok %d of %d: %v", step.Name, step.OK, step.Started, step.Errors)
		}
	}
	for _, want := range []string{"<seven>", "again seven and seven", "other"} {
		if _, came := s.texts.Load(want); !came {
			t.Errorf("%q did not reach the server", want)
		}
	}
	if n := s.upgrades.Load(); n != 8 {
		t.Errorf("%d upgrades of 4 users with two targets each", n)
	}
}

// Connections that the server closes, and a run that is cancelled: all that began is counted, and no
// message counts that the server did not read or write.
func TestMessagesOfBrokenConnections(t *testing.T) {
	t.Parallel()
	eachScheme(t, func(t *testing.T, secure bool) {
		s := echo(t, secure, func(e *echoer) { e.most = 5 })
		w := loadFile(t, s.URL, `workflow(name = "test", iterations = 1200, vus = 64, duration = "60s", `+anyTLS+`, steps = [step("echo", websocket.exchange("TARGET/", send = ["a"]))])`)
		r := run(t, context.Background(), Config{Workflow: w, VUs: 64, Duration: time.Minute, Timeout: time.Minute})
		s.stop()
		got := r.Stats.Steps[0]
		all := measured(got)
		if got.Started != 1200 || got.OK+got.Failed != 1200 || got.Failed == 0 || got.OK != s.sent.Load() {
			t.Errorf("ok %d and failed %d of %d, the server answered %d: %v", got.OK, got.Failed, got.Started, s.sent.Load(), got.Errors)
		}
		if sent, received := all[plan.MeasureMessagesSent].Count, all[plan.MeasureMessagesReceived].Count; sent != s.received.Load() || received != s.sent.Load() {
			t.Errorf("sent %d, the server read %d; received %d, it wrote %d", sent, s.received.Load(), received, s.sent.Load())
		}
	})
}

func TestACancelledExchangeIsCounted(t *testing.T) {
	eachScheme(t, func(t *testing.T, secure bool) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		release := make(chan struct{})
		s := echo(t, secure, func(e *echoer) {
			e.hold = func(n uint64) {
				if n == 1000 {
					cancel()
				}
				if n >= 1000 {
					<-release
				}
			}
		})
		w := loadFile(t, s.URL, `workflow(name = "test", vus = 64, duration = "60s", `+anyTLS+`, steps = [step("echo", websocket.exchange("TARGET/", send = ["a", "b"], receive = 2))])`)
		r := run(t, ctx, Config{Workflow: w, VUs: 64, Duration: time.Minute, Timeout: time.Minute})
		close(release)
		s.stop()
		got := r.Stats.Steps[0]
		all := measured(got)
		if got.Cancelled == 0 || got.OK+got.Cancelled != got.Started || got.Failed+got.TimedOut > 0 {
			t.Errorf("ok %d and cancelled %d of %d: %v", got.OK, got.Cancelled, got.Started, got.Errors)
		}
		if sent, received := all[plan.MeasureMessagesSent].Count, all[plan.MeasureMessagesReceived].Count; sent != s.received.Load() || received > s.sent.Load() {
			t.Errorf("sent %d, the server read %d; received %d, it wrote %d", sent, s.received.Load(), received, s.sent.Load())
		}
	})
}

// The first message counts from the intended start, which the upgrade delays; its latency counts from
// when the exchange's messages went out.
func TestAStallDelaysTheFirstMessage(t *testing.T) {
	const stall = 300 * time.Millisecond
	s := echo(t, false, func(e *echoer) { e.stall = stall })
	w := loadFile(t, s.URL, `workflow(name = "test", iterations = 1, vus = 1, duration = "60s", steps = [step("echo", websocket.exchange("TARGET/", send = ["a"]))])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
	all := measured(r.Stats.Steps[0])
	first, latency := time.Duration(all[plan.MeasureFirstMessage].Times.Max), time.Duration(all[plan.MeasureMessageLatency].Times.Max)
	if first < stall || latency > first-stall || latency == 0 {
		t.Errorf("the first message came after %v, %v behind its question", first, latency)
	}
}

// A message that no exchange asked for closes the connection, and does not count: the next exchange
// would take it for its answer. Behind receive = 0 nothing waits for an answer.
func TestASurplusClosesTheConnection(t *testing.T) {
	eachScheme(t, func(t *testing.T, secure bool) {
		for _, tt := range []struct {
			args               string
			upgrades, received uint64
		}{{`send = ["a"]`, 20, 20}, {`send = ["a"], receive = 2`, 1, 40}, {`send = ["a"], receive = 0`, 1, 0}} {
			s := echo(t, secure, func(e *echoer) { e.times = 2 })
			w := loadFile(t, s.URL, `workflow(name = "test", iterations = 20, vus = 1, think = "1ms", duration = "60s", `+anyTLS+`, steps = [step("echo", websocket.exchange("TARGET/", `+tt.args+`))])`)
			r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
			s.stop()
			got := r.Stats.Steps[0]
			if received := measured(got)[plan.MeasureMessagesReceived].Count; got.OK != 20 || s.upgrades.Load() != tt.upgrades || received != tt.received {
				t.Errorf("%s: ok %d, %d upgrades, received %d, want %d and %d: %v", tt.args, got.OK, s.upgrades.Load(), received, tt.upgrades, tt.received, got.Errors)
			}
		}
	})
}
