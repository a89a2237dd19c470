package engine

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/hostile/datagram"
	"hyperscale/runtime/protocol/http1"

	packets "hyperscale/runtime/protocol/datagram"
)

// datagramsOf are what steps whose names begin so account for: datagrams that exchanges heard, and others.
func datagramsOf(steps []message.StepStats, name string) (heard uint64, c packets.Counts) {
	for _, s := range steps {
		if !strings.HasPrefix(s.Name, name) {
			continue
		}
		m := measured(s)
		heard += m[plan.MeasureMessagesReceived].Count
		c.Lost += m[plan.MeasureDatagramsLost].Count
		c.Late += m[plan.MeasureDatagramsLate].Count
		c.Stray += m[plan.MeasureDatagramsStray].Count
		c.Refused += m[plan.MeasureDatagramsRefused].Count
		c.Dropped += m[plan.MeasureDatagramsDropped].Count
	}
	return heard, c
}

// opensAfter is a server of lines that answers each when something has happened.
func opensAfter(t *testing.T, after func() error) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if err := after(); err != nil {
				t.Error(err)
			}
			_, _ = c.Write([]byte("open\n"))
			_ = c.Close()
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	return "tcp://" + l.Addr().String()
}

// Each hostile server ends the first exchange as its entry says, on each path, and never answers the
// second with a datagram of the first. Each datagram that it sent is accounted for.
func TestCatalogueOfUDP(t *testing.T) {
	for _, e := range datagram.Catalogue() {
		for _, path := range []string{"counted", "kept", "function"} {
			t.Run(e.Name+"/"+path, func(t *testing.T) {
				t.Parallel()
				s, err := datagram.Serve(e)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Stop()
				args, limit := e.Args, "64KiB"
				if e.Short {
					args += `, timeout = "250ms"`
				}
				if e.Limit != "" {
					limit = e.Limit
				}
				call := fmt.Sprintf(`udp.exchange("TARGET", send = "one" + "x" * %d%s`, e.Rest, args)
				first := `step("first", ` + call + `))`
				switch path {
				case "kept":
					first = `step("first", ` + call + `), expect = [size_below("1MiB")])`
				case "function":
					first = `step(first)`
				}
				known, body := utf8.ValidString(e.Body) && !strings.Contains(e.Args, "receive = 0"), ""
				if known {
					body = e.Body[:min(len(e.Body), 99)]
				}
				w := loadFile(t, s.URL, fmt.Sprintf(`
def first(vu):
    r = vu.%s)
    if r.error == "" and len(r.text()) < 100 and %s and r.text() != %q:
        fail("answered %%s" %% r.text())
    return r

workflow(name = "test", iterations = 1, vus = 1, duration = "60s", http = http.client(max_body = %q), steps = [
    %s,
    step("gate", tcp.exchange(%q, send = "x\n", receive = tcp.line())),
    step("second", udp.exchange("TARGET", send = "two"), expect = [body_contains("two")]),
])`, call, truth(known), body, limit, strings.ReplaceAll(first, "\n", " "), opensAfter(t, s.Settle)))
				r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
				got, second := r.Stats.Steps[0], r.Stats.Steps[2]
				late := uint64(0)
				if e.Kind == http1.KindLost {
					late = 1
				}
				switch {
				case got.Started != 1 || got.Started != got.OK+got.Failed+got.TimedOut || got.TimedOut != late || (got.OK == 1) != (e.Kind == ""):
					t.Errorf("started %d, ok %d, failed %d, timed out %d: %v, want %q", got.Started, got.OK, got.Failed, got.TimedOut, got.Errors, e.Kind)
				case e.Kind != "" && (len(got.Errors) != 1 || got.Errors[0].Kind != string(e.Kind)):
					t.Errorf("got %v, want %q", got.Errors, e.Kind)
				}
				if second.OK != 1 {
					t.Errorf("the second exchange: %v", second.Errors)
				}
				s.Stop()
				heard, counts := datagramsOf(r.Stats.Steps, "first")
				if counts != e.Counts {
					t.Errorf("counted %+v, want %+v", counts, e.Counts)
				}
				all := heard + counts.Late + counts.Stray + counts.Dropped + 1 // the second answer
				if e.Kind == http1.KindTooLarge {
					all++
				}
				if said := s.Said.Load(); said != all {
					t.Errorf("the server sent %d datagrams, %d are accounted for", said, all)
				}
			})
		}
	}
}

// reflector repeats each datagram that it lets through, and counts.
type reflector struct {
	URL     string
	in, out atomic.Uint64
	bytes   atomic.Uint64
	peers   sync.Map
	socket  *net.UDPConn
	all     sync.WaitGroup
}

func reflects(t *testing.T, answers func(n uint64) int) *reflector {
	t.Helper()
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	_ = socket.SetReadBuffer(4 << 20)
	s := &reflector{URL: "udp://" + socket.LocalAddr().String(), socket: socket}
	s.all.Go(func() {
		buffer := make([]byte, 64<<10)
		for {
			n, from, err := socket.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			s.peers.Store(from, true)
			s.bytes.Add(uint64(n))
			for range answers(s.in.Add(1)) {
				if _, err := socket.WriteToUDPAddrPort(buffer[:n], from); err == nil {
					s.out.Add(1)
				}
			}
		}
	})
	t.Cleanup(s.stop)
	return s
}

func (s *reflector) stop() {
	_ = s.socket.Close()
	s.all.Wait()
}

func (s *reflector) sockets() (n uint64) {
	s.peers.Range(func(any, any) bool { n++; return true })
	return n
}

// What a run counts over UDP is what the server counted, datagram for datagram: when some are lost, and when
// each is doubled.
func TestDatagramsAgreeWithTheServer(t *testing.T) {
	once := func(uint64) int { return 1 }
	for name, tt := range map[string]struct {
		args    string
		answers func(uint64) int
		lost    bool
	}{
		"one answer":      {`send = "hello"), expect = [body_contains("hello"), status(200)]`, once, false},
		"bytes":           {`send = b"\x00\xff")`, once, false},
		"60,000 bytes":    {`send = "x" * 60000)`, once, false},
		"no answer":       {`send = "hello", receive = 0)`, func(uint64) int { return 0 }, false},
		"unasked answers": {`send = "hello", receive = 0)`, func(uint64) int { return 2 }, false},
		"three answers":   {`send = "hello", receive = 3)`, func(uint64) int { return 3 }, false},
		"every third is lost": {`send = "hello", timeout = "100ms")`, func(n uint64) int {
			if n%3 == 0 {
				return 0
			}
			return 1
		}, true},
	} {
		for _, vus := range []uint64{1, 32} {
			t.Run(fmt.Sprintf("%s/%d", name, vus), func(t *testing.T) {
				t.Parallel()
				s := reflects(t, tt.answers)
				n := 6 * vus
				w := loadFile(t, s.URL, fmt.Sprintf(`workflow(name = "test", iterations = %d, vus = %d, duration = "60s", steps = [step("ask", udp.exchange("TARGET", %s)])`, n, vus, tt.args))
				r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
				got := r.Stats.Steps[0]
				for range 1000 { // a server that answers nothing may read late
					if s.bytes.Load() == got.BytesOut {
						break
					}
					time.Sleep(5 * time.Millisecond)
				}
				s.stop()
				heard, c := datagramsOf(r.Stats.Steps, "ask")
				if got.Started != n || got.Sent != n || got.Started != got.OK+got.TimedOut || (got.TimedOut > 0) != tt.lost || len(got.Statuses) > 0 {
					t.Fatalf("ok %d of %d, timed out %d, sent %d: %v", got.OK, got.Started, got.TimedOut, got.Sent, got.Errors)
				}
				if got.BytesOut != s.bytes.Load() || measured(got)[plan.MeasureMessagesSent].Count != s.in.Load() || s.in.Load() != n {
					t.Errorf("%d bytes sent in %d datagrams, the server read %d in %d", got.BytesOut, n, s.bytes.Load(), s.in.Load())
				}
				if !strings.Contains(tt.args, "receive = 0") && heard+c.Late+c.Stray+c.Dropped != s.out.Load() {
					t.Errorf("%d answers and %+v, the server sent %d", heard, c, s.out.Load())
				}
				if c.Lost != got.TimedOut*max(1, c.Lost/max(1, got.TimedOut)) || tt.lost && c.Lost != got.TimedOut {
					t.Errorf("%d lost, %d timed out", c.Lost, got.TimedOut)
				}
				if want := vus + got.TimedOut; s.sockets() > want {
					t.Errorf("%d sockets of %d users, of which %d gave up", s.sockets(), vus, got.TimedOut)
				}
				if !measure.TimedOut("lost") {
					t.Error("lost is no timeout")
				}
			})
		}
	}
}

// Values of an answer go into the next exchange, also of a function, on the same socket.
func TestValuesGoIntoDatagrams(t *testing.T) {
	s := reflects(t, func(uint64) int { return 1 })
	w := loadFile(t, s.URL, `
def tell(vu):
    r = vu.udp.exchange("TARGET", send = "tell %d" % vu.id, match = udp.same(6), name = "tell", expect = [body_contains("tell")])
    if r.status != 200 or r.text() != "tell %d" % vu.id:
        fail("got %s" % r.text())
    return r

workflow(name = "test", iterations = 20, vus = 4, duration = "60s", steps = [
    step("ask", udp.exchange("TARGET", send = "id=seven"), extract = {"id": regex("id=(\\w+)")}),
    step("take", udp.exchange("TARGET", send = "<${id}> $${id}", match = udp.same(7)), expect = [body_contains("<seven> ${id}")]),
    step(tell),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute, Timeout: 30 * time.Second})
	s.stop()
	for _, step := range r.Stats.Steps {
		if step.OK != 20 {
			t.Errorf("%s: ok %d of %d: %v", step.Name, step.OK, step.Started, step.Errors)
		}
	}
	if s.sockets() != 4 {
		t.Errorf("%d sockets of 4 users", s.sockets())
	}
}

// What cannot be sent is an error with a remedy, and sends nothing: too long, empty, or with less than what
// an answer repeats. A proxy carries none.
func TestDatagramsThatCannotBeSent(t *testing.T) {
	s := reflects(t, func(uint64) int { return 1 })
	for _, tt := range []struct{ args, client, want string }{
		{`send = "<${v}>"`, `http.client()`, "send less, or use tcp.exchange"},
		{`send = "${w}"`, `http.client()`, "the datagram is empty"},
		{`send = "a${w}", match = udp.same(2)`, `http.client()`, "send more, or match fewer"},
	} {
		w := loadFile(t, s.URL, fmt.Sprintf(`workflow(name = "test", iterations = 1, vus = 1, duration = "60s", http = %s, steps = [
    step("fill", udp.exchange("TARGET", send = "v=" + "x" * 65505), extract = {"v": regex("(v=x+)"), "w": regex("v=()")}),
    step("ask", udp.exchange("TARGET", %s)),
])`, tt.client, tt.args))
		r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
		got := r.Stats.Steps[1]
		if got.Failed != 1 || got.Sent != 0 || len(got.Errors) != 1 || got.Errors[0].Kind != "value" || !strings.Contains(got.Errors[0].Example, tt.want) {
			t.Errorf("%s: failed %d, sent %d: %v, want %q", tt.args, got.Failed, got.Sent, got.Errors, tt.want)
		}
	}
	w := loadFile(t, s.URL, `
def ask(vu):
    return vu.udp.exchange("TARGET", send = "a")

workflow(name = "test", iterations = 1, vus = 1, duration = "60s", http = http.client(proxy = "http://127.0.0.1:1"), steps = [step(ask)])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
	if got := r.Stats.Steps[0]; got.Failed != 1 || len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Example, "proxy") {
		t.Errorf("got %+v", got.Errors)
	}
}

// Retries send a lost datagram again, on a socket of its own, and each time counts.
func TestLostDatagramsAreRetried(t *testing.T) {
	s := reflects(t, func(n uint64) int {
		if n < 3 {
			return 0
		}
		return 1
	})
	w := loadFile(t, s.URL, `workflow(name = "test", iterations = 1, vus = 1, duration = "60s", steps = [step("ask", udp.exchange("TARGET", send = "a", timeout = "50ms", retry = retry(3, on = ["timeout"])))])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
	s.stop()
	got := r.Stats.Steps[0]
	_, c := datagramsOf(r.Stats.Steps, "ask")
	if got.OK != 1 || got.TimedOut != 2 || got.Retried != 2 || c.Lost != 2 || s.in.Load() != 3 || s.sockets() != 3 {
		t.Errorf("ok %d, timed out %d, retried %d, %+v; %d asked of %d sockets", got.OK, got.TimedOut, got.Retried, c, s.in.Load(), s.sockets())
	}
}

// --debug shows each datagram.
func TestDebugShowsDatagrams(t *testing.T) {
	s := reflects(t, func(uint64) int { return 1 })
	w := loadFile(t, s.URL, `workflow(name = "test", iterations = 1, vus = 1, duration = "60s", steps = [step("ask", udp.exchange("TARGET", send = "hello there"))])`)
	var out strings.Builder
	run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second, Debug: &out})
	for _, want := range []string{"> hello there", "< hello there", "* udp://127.0.0.1:"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
}

// What has come on an idle socket is counted before the next exchange goes out, which has another socket,
// though the loop has not turned since: a function computes meanwhile.
func TestAnIdleSocketIsRead(t *testing.T) {
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	read, said := make(chan struct{}), make(chan struct{})
	var peers []netip.AddrPort
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 100)
		for {
			n, from, err := socket.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			_, _ = socket.WriteToUDPAddrPort(buffer[:n], from)
			if peers = append(peers, from); len(peers) == 1 {
				<-read
				_, _ = socket.WriteToUDPAddrPort([]byte("late"), from) // it is in the client's kernel
				close(said)
			}
		}
	}()
	w := loadFile(t, "udp://"+socket.LocalAddr().String(), `
def ask(vu):
    vu.udp.exchange("TARGET", send = "one")
    vu.log("read")
    return vu.udp.exchange("TARGET", send = "two", expect = [body_contains("two")])

workflow(name = "test", iterations = 1, vus = 1, duration = "60s", steps = [step(ask)])`)
	config := Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second}
	config.Debug = waiter(func(line string) {
		if strings.Contains(line, "vu 0: read") || strings.Contains(line, "vu 1: read") {
			close(read)
			<-said
		}
	})
	r := run(t, context.Background(), config)
	_ = socket.Close()
	<-ended
	if _, c := datagramsOf(r.Stats.Steps, "ask"); r.Stats.Steps[0].OK != 1 || c.Stray != 1 || len(peers) != 2 || peers[0] == peers[1] {
		t.Errorf("ok %d, %+v, sockets %v: %v", r.Stats.Steps[0].OK, c, peers, r.Stats.Steps[0].Errors)
	}
}

// A late answer that comes while the next exchange waits answers the one before: it is counted there.
func TestALateAnswerMeetsTheNextQuestion(t *testing.T) {
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 100)
		var first netip.AddrPort
		for asked := 1; ; asked++ {
			n, from, err := socket.ReadFromUDPAddrPort(buffer)
			switch {
			case err != nil:
				return
			case asked == 1:
				first = from
				continue
			case asked == 2:
				_, _ = socket.WriteToUDPAddrPort([]byte("one"), first)
			}
			_, _ = socket.WriteToUDPAddrPort(buffer[:n], from)
		}
	}()
	w := loadFile(t, "udp://"+socket.LocalAddr().String(), `workflow(name = "test", iterations = 1, vus = 1, duration = "60s", steps = [
    step("one", udp.exchange("TARGET", send = "one", timeout = "100ms")),
    step("two", udp.exchange("TARGET", send = "two"), expect = [body_contains("two")]),
    step("three", udp.exchange("TARGET", send = "three"), expect = [body_contains("three")]),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
	_ = socket.Close()
	<-ended
	_, c := datagramsOf(r.Stats.Steps, "one")
	if want := (packets.Counts{Lost: 1, Late: 1}); c != want || r.Stats.Steps[0].TimedOut != 1 || r.Stats.Steps[1].OK != 1 || r.Stats.Steps[2].OK != 1 {
		t.Errorf("%+v, want %+v: %v, %v, %v", c, want, r.Stats.Steps[0].Errors, r.Stats.Steps[1].Errors, r.Stats.Steps[2].Errors)
	}
}

// truth writes a truth as a workflow does.
func truth(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// Each user of exchanges has connections of its own, whatever a pool bounds, and over UDP one that was replaced.
func TestDescriptorsOfExchangesAreCounted(t *testing.T) {
	const http, udp, tcp = `step("a", http.get("http://127.0.0.1:1/"))`, `step("b", udp.exchange("udp://127.0.0.1:1", send = "b"))`, `step("c", tcp.exchange("tcp://127.0.0.1:1", send = "c"))`
	for _, tt := range []struct {
		steps, connections string
		want               files
	}{
		{http, "0", files{users: 100, lanes: 1}},
		{http, "7", files{users: 7, lanes: 1}},
		{http, "700", files{users: 100, lanes: 1}},
		{tcp, "7", files{users: 100, lanes: 1}},
		{udp, "0", files{users: 100, lanes: 2}},
		{http + "," + udp + "," + tcp, "0", files{users: 100, lanes: 4}},
		{http + "," + udp + "," + tcp, "7", files{users: 100, lanes: 3, shared: 7}},
	} {
		pool := ""
		if tt.connections != "0" {
			pool = "connections = " + tt.connections + ", "
		}
		w := loadFile(t, "http://127.0.0.1:1", `workflow(name = "test", iterations = 1, vus = 1, duration = "60s", `+pool+`steps = [`+tt.steps+`])`)
		cfg := Config{Workflow: w, VUs: 100, Duration: time.Minute, Timeout: time.Second}
		g, err := newGraph(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := filesOf(cfg, g); got != tt.want {
			t.Errorf("%s with %s connections: got %+v, want %+v", tt.steps, tt.connections, got, tt.want)
		}
	}
	err := files{users: 1 << 40, lanes: 3, shared: 7}.check()
	if err == nil || !strings.Contains(err.Error(), "beside 7 of pools") || !strings.Contains(err.Error(), "ulimit -Hn") {
		t.Errorf("got %v", err)
	}
}
