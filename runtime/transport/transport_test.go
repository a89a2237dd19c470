package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/core/worker"
)

// everyone says that the hall serves all streams that a node accepts, not only those of clients.
var everyone bool

// twice runs all tests for streams with goroutines of their own, then for those of the hall.
type twice struct{ *testing.M }

// Run implements goleak.TestingM.
func (t twice) Run() int {
	if code := t.M.Run(); code != 0 {
		return code
	}
	everyone = true
	return t.M.Run()
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(twice{m}) }

const wait = 15 * time.Second

// ear is a Sink that remembers, and can be full.
type ear struct {
	news  chan string
	names chan node.Names
	full  atomic.Pointer[func(m node.Message) bool]

	sources sync.Map // of peers, by ID
	grants  sync.Map // likewise
	minors  sync.Map
}

func (e *ear) refuse(full func(m node.Message) bool) { e.full.Store(&full) }

func newEar() *ear { return &ear{news: make(chan string, 10000), names: make(chan node.Names, 10)} }

func (e *ear) StreamOpened(s node.StreamID, p node.Peer) {
	e.sources.Store(p.ID, p.Source)
	e.grants.Store(p.ID, p.Grant)
	e.minors.Store(p.ID, p.Minor)
	e.news <- fmt.Sprintf("opened %d %v", s, p)
}
func (e *ear) Resolved(n node.Names) { e.names <- n }
func (e *ear) StreamBroken(s node.StreamID, _ node.Peer, reason string, _ bool) {
	e.news <- fmt.Sprintf("broken %d %s", s, reason)
}

// minor is the version of a peer, as it came last.
func (e *ear) minor(id node.ID) uint16 {
	m, _ := e.minors.Load(id)
	minor, _ := m.(uint16)
	return minor
}

func (e *ear) Message(from node.Peer, s node.StreamID, m node.Message) bool {
	e.minors.Store(from.ID, from.Minor)
	if full := e.full.Load(); full != nil && (*full)(m) {
		return false
	}
	switch m := m.(type) {
	case *message.Beat:
		e.news <- fmt.Sprintf("ping %d from %v on %d", m.Counter, from.ID, s)
	case *message.ExecResult:
		e.news <- fmt.Sprintf("result of %d bytes", len(m.Error))
	default:
		e.news <- message.Name(m.Kind())
	}
	return true
}

func (e *ear) want(t *testing.T, texts ...string) {
	t.Helper()
	for _, want := range texts {
		select {
		case got := <-e.news:
			if !strings.HasPrefix(got, want) {
				t.Fatalf("heard %q, want %q", got, want)
			}
		case <-time.After(wait):
			t.Fatalf("heard nothing, want %q", want)
		}
	}
}

type host struct {
	*Transport
	ear *ear
}

// serve starts a transport on loopback; change, if not nil, edits its Config.
func serve(t testing.TB, id node.ID, change func(*Config)) host {
	t.Helper()
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Self: node.Peer{ID: id, Incarnation: 1, Role: node.RoleToy, Addr: node.Addr(s.Addr())}, Cluster: "c", Environment: "e"}
	c.Limits = DefaultLimits()
	if change != nil {
		change(&c)
	}
	h := host{New(c, s), newEar()}
	if everyone {
		h.seats = func(node.Role) bool { return true }
	}
	h.Serve(h.ear)
	t.Cleanup(h.Kill)
	return h
}

func (h host) addr() node.Addr { return node.Addr(h.Addr()) }

func pingOf(n uint64) *message.Beat { return &message.Beat{Counter: n} }

func TestAStreamBothWays(t *testing.T) {
	a, b := serve(t, "a", nil), serve(t, "b", nil)
	s := a.Open(b.addr())
	for n := range uint64(3) {
		a.Send(s, pingOf(n)) // kept until it is open
	}
	a.ear.want(t, "opened 1 b#1")
	b.ear.want(t, "opened 1 a#1", "ping 0 from a on 1", "ping 1 from a on 1", "ping 2 from a on 1")
	b.Send(1, pingOf(9))
	a.ear.want(t, "ping 9 from b on 1")
	a.Send(s, &message.ExecResult{State: 1, Error: strings.Repeat("x", 900_000)})
	b.ear.want(t, "result of 900000 bytes")
	// What was sent before Close arrives; then the peer hears the end, we do not.
	a.Send(s, pingOf(4))
	a.Close(s)
	a.Send(s, pingOf(5))
	b.ear.want(t, "ping 4 from a", "broken 1 closed by the peer")
	if got := a.Stats(); got.Broken != 0 || got.MessagesOut != 5 {
		t.Errorf("%+v", got)
	}
}

func TestACriticalMessageOvertakes(t *testing.T) {
	a, b := serve(t, "a", nil), serve(t, "b", nil)
	s := a.Open(b.addr())
	a.Send(s, &message.ClusterQuery{Request: message.RequestID{Counter: 1}})
	a.Send(s, pingOf(1))
	a.Send(s, &message.JobCancel{Request: message.RequestID{Counter: 1}, Job: message.JobID{1}})
	a.Send(s, pingOf(2))
	b.ear.want(t, "opened", "JobCancel", "ping 1", "ping 2", "ClusterQuery")
}

func TestStopDeliversAndKillDoesNotWait(t *testing.T) {
	a, b := serve(t, "a", nil), serve(t, "b", nil)
	s := a.Open(b.addr())
	a.ear.want(t, "opened")
	b.ear.want(t, "opened")
	for n := range uint64(1000) {
		a.Send(s, pingOf(n))
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	a.Stop(ctx)
	for n := range uint64(1000) {
		b.ear.want(t, fmt.Sprintf("ping %d ", n))
	}
	b.ear.want(t, "broken 1 closed by the peer")
	if a.Open(b.addr()) != 0 {
		t.Error("a stream was opened after the end")
	}
}

func TestAFullLaneBreaksTheStreamAndDropsDatagrams(t *testing.T) {
	a, b := serve(t, "a", nil), serve(t, "b", nil)
	b.ear.refuse(func(m node.Message) bool { return m.(*message.Beat).Counter == 2 })
	s := a.Open(b.addr())
	a.Send(s, pingOf(1))
	a.Send(s, pingOf(2))
	b.ear.want(t, "opened", "ping 1", "broken 1 the high lane of this node's mailbox is full")
	a.ear.want(t, "opened", "broken 1 ")
	a.Datagram(b.addr(), pingOf(2))
	a.Datagram(b.addr(), pingOf(3))
	b.ear.want(t, "ping 3 from a on 0")
	if got := b.Stats(); got.Overflows.Lane != 1 || got.Datagrams.Dropped != 1 || got.Datagrams.In != 2 {
		t.Errorf("%+v", got)
	}
}

func TestAPeerThatDoesNotReadIsBroken(t *testing.T) {
	a := serve(t, "a", func(c *Config) { c.Limits.Queue = 1 << 20 })
	peer, s := greeted(t, a)
	for range 200 { // more than loopback buffers
		a.Send(s, &message.ExecResult{State: 1, Error: strings.Repeat("x", 500_000)})
	}
	a.ear.want(t, "broken 1 more than 1048576 bytes waited to be written: the peer or its link is too slow")
	_ = peer.Close()

	slow := serve(t, "a", func(c *Config) { c.Limits.Write, c.Limits.Queue = 50*time.Millisecond, 1<<30 })
	_, s = greeted(t, slow)
	for range 40 {
		slow.Send(s, &message.ExecResult{State: 1, Error: strings.Repeat("x", 900_000)})
	}
	slow.ear.want(t, "broken 1 write: i/o timeout")
}

func TestAFrameThatIsTooLargeBreaksTheStream(t *testing.T) {
	a, b := serve(t, "a", nil), serve(t, "b", nil)
	s := a.Open(b.addr())
	large := &message.ExecResult{State: 1, Error: strings.Repeat("x", message.FrameMax)}
	a.Send(s, large)
	a.ear.want(t, "opened", fmt.Sprintf("broken 1 encode ExecResult: %d bytes are above the bound of 1048576: page it", message.HeaderSize+large.Size()))
}

// hello is a stranger's fitting Hello.
func hello(id string) *message.Hello {
	return &message.Hello{Major: message.Major, Cluster: "c", Environment: "e", Node: id, Incarnation: 1, Role: uint8(node.RoleToy)}
}

// frame is m as bytes on the wire.
func frame(t testing.TB, m node.Message) []byte {
	t.Helper()
	b, _, err := appendFrame(nil, nil, nil, m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func dial(t *testing.T, h host) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", h.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(wait))
	return conn
}

// greeted is a connection of a raw peer whose handshake is done.
func greeted(t *testing.T, h host) (net.Conn, node.StreamID) {
	t.Helper()
	conn := dial(t, h)
	if _, err := conn.Write(frame(t, hello("raw"))); err != nil {
		t.Fatal(err)
	}
	h.ear.want(t, "opened 1 raw#1")
	return conn, 1
}

// TestStrangersAreRefused sends bytes that no node would send, at first and after a handshake.
func TestStrangersAreRefused(t *testing.T) {
	var log bytes.Buffer
	var mu sync.Mutex
	logger := slog.New(slog.NewTextHandler(locked{&mu, &log}, nil))
	h := serve(t, "a", func(c *Config) {
		c.Limits.Handshake, c.Limits.Frame, c.Logger = 300*time.Millisecond, 300*time.Millisecond, logger
	})
	long := binary.BigEndian.AppendUint32(nil, 1<<20)
	cases := []struct {
		what string
		say  []byte
	}{
		{"garbage", []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n")},
		{"4 GiB", []byte{0xff, 0xff, 0xff, 0xff}},
		{"a length of 1 MiB", long},
		{"a length of zero", []byte{0, 0, 0, 0}},
		{"nothing", nil},
		{"half a Hello", frame(t, hello("b"))[:20]},
		{"no Hello", frame(t, pingOf(1))},
		{"unknown kind", []byte{0, 0, 0, 4, 0, 0xff, 0xff, 0x80}},
		{"unknown flags", []byte{0, 0, 0, 4, 7, 0, 3, 0x80}},
	}
	for _, c := range cases {
		conn := dial(t, h)
		_, _ = conn.Write(c.say)
		if !ends(conn) {
			t.Errorf("%s: the connection was not closed", c.what)
		}
		if c.say == nil || c.what == "no Hello" || c.what == "unknown kind" {
			continue // nothing, a message, and one of a newer version: all are right after a Hello
		}
		conn = dial(t, h)
		_, _ = conn.Write(append(frame(t, hello("b")), c.say...))
		if c.what == "half a Hello" {
			_ = conn.(*net.TCPConn).CloseWrite() // else the frame's deadline would end it
		}
		if !ends(conn) {
			t.Errorf("%s after a Hello: the connection was not closed", c.what)
		}
	}
	got := h.Stats()
	if got.Garbage < 10 || got.Slow < 2 || got.Strangers != 0 {
		t.Errorf("%+v", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d lines were logged of one source, want 1:\n%s", n, log.String())
	}
}

// ends reads until the connection is closed by the other side.
func ends(conn net.Conn) bool {
	_, err := io.Copy(io.Discard, conn)
	timeout, ok := err.(net.Error)
	return !ok || !timeout.Timeout()
}

type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func TestWhoDoesNotFitIsToldWhy(t *testing.T) {
	h := serve(t, "a", nil)
	for _, c := range []struct {
		change func(*message.Hello)
		want   string
	}{
		{func(m *message.Hello) { m.Major = 2 }, `its protocol version is "2", the peer wants 1: run the same major version`},
		{func(m *message.Hello) { m.Cluster = "d" }, `its cluster is "d", the peer wants "c": set --cluster`},
		{func(m *message.Hello) { m.Environment = "f\x00\n" }, `its environment is "f??", the peer wants "e": set --environment`},
		{func(m *message.Hello) { m.Role = 99 }, `its role is "99"`},
		{func(m *message.Hello) { m.Node = strings.Repeat("x", 129) }, `a name of 1 to 128 bytes: set --id`},
		{func(m *message.Hello) { m.Node, m.Incarnation = "a", 2 }, `its node is "a", the peer wants a name other than its own`},
		{func(m *message.Hello) { m.Addr = strings.Repeat("x", 300) }, `set --advertise`},
	} {
		conn := dial(t, h)
		mine := hello("b")
		c.change(mine)
		if _, err := conn.Write(frame(t, mine)); err != nil {
			t.Fatal(err)
		}
		r := &frameReader{in: bufioReader(conn), limit: 4096}
		if m, err := r.next(); err != nil || m.Kind() != message.New(1).Kind() {
			t.Fatalf("first came %v, %v, want Hello", m, err)
		}
		m, err := r.next()
		refused, ok := m.(*message.HelloRefused)
		if !ok {
			t.Errorf("%s: got %v, %v", c.want, m, err)
			continue
		}
		if got := byPeer(refused).Error(); !strings.Contains(got, c.want) {
			t.Errorf("got %s\nwant %s in it", got, c.want)
		}
		_ = conn.Close()
	}
	if got := h.Stats().Refused; got != 7 {
		t.Errorf("%d were counted, want 7", got)
	}
}

// A toy crosses no wire: its sender cannot encode it, and the receiver of its kind skips it.
func TestToysAreUnknownKinds(t *testing.T) {
	a := serve(t, "a", nil)
	conn := dial(t, a)
	ping := []byte{0, 0, 0, 4, 0, 0, byte(toy.KindPing), 0x80} // an empty map
	if _, err := conn.Write(append(frame(t, hello("b")), ping...)); err != nil {
		t.Fatal(err)
	}
	a.ear.want(t, "opened")
	if _, _, err := appendFrame(nil, nil, nil, &toy.Ping{}); err == nil {
		t.Error("a toy was encoded")
	}
}

// A rolling upgrade mixes versions: a message of a kind that only the newer one knows breaks no
// stream, and the messages around it arrive. Bytes that are no message still break it.
func TestMessagesOfNewerVersionsAreSkipped(t *testing.T) {
	a := serve(t, "a", nil)
	conn := dial(t, a)
	newer := []byte{0, 0, 0, 8, 0, 0xff, 0xfe, 0x81, 0xa1, 'n', 0x92, 7, 8}
	newer[3] = byte(len(newer) - 4)
	say := slices.Concat(frame(t, hello("b")), frame(t, pingOf(1)), newer, newer, frame(t, pingOf(2)))
	if _, err := conn.Write(say); err != nil {
		t.Fatal(err)
	}
	a.ear.want(t, "opened 1 b#1", "ping 1 from b on 1", "ping 2 from b on 1")
	if got := a.Stats(); got.Unfit.Skipped != 2 || got.Garbage != 0 || got.Broken != 0 {
		t.Errorf("%d are skipped, %d are garbage and %d streams broke; want 2, 0 and 0", got.Unfit.Skipped, got.Garbage, got.Broken)
	}
	torn := []byte{0, 0, 0, 5, 0, 0xff, 0xfe, 0x82, 0xa1}
	if _, err := conn.Write(torn); err != nil {
		t.Fatal(err)
	}
	a.ear.want(t, "broken 1 decode")
	if got := a.Stats(); got.Garbage != 1 {
		t.Errorf("%d are garbage, want 1", got.Garbage)
	}
}

// What a peer has not taken yet waits, and counts against the bound of its stream.
func TestBacklogIsWhatWaits(t *testing.T) {
	a := serve(t, "a", nil)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and says no Hello
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	id := a.Open(node.Addr(silent.Addr().String()))
	m := pingOf(1)
	a.Send(id, m)
	a.Send(id, m)
	if got, bound := a.Backlog(id); got != 2*(4+message.HeaderSize+m.Size()) || bound != DefaultLimits().Queue {
		t.Errorf("%d of %d bytes wait, want two messages of %d", got, bound, m.Size())
	}
	if got, bound := a.Backlog(id + 1); got != 0 || bound != 0 {
		t.Errorf("%d of %d bytes wait on no stream", got, bound)
	}
}

func TestWhatIsNotReachedIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	var mu sync.Mutex
	logger := slog.New(slog.NewTextHandler(locked{&mu, &log}, nil))
	a := serve(t, "a", func(c *Config) { c.Cluster, c.Logger = "d", logger })
	b := serve(t, "b", nil)
	for range 3 {
		a.Open(b.addr())
		a.ear.want(t, "broken")
	}
	mu.Lock()
	defer mu.Unlock()
	want := `the peer's cluster is \"c\", this node wants \"d\": set --cluster`
	if n := strings.Count(log.String(), want); n != 1 {
		t.Errorf("%q was logged %d times, want once:\n%s", want, n, log.String())
	}
}

// A worker whose manager starts again with another address, and whose first connection gets no answer, begins the second one before
// it ends that manager's shards.
func TestAWorkerDialsTwiceInItsRenewalTimeout(t *testing.T) {
	w := worker.Default()
	first, second := w.ReconnectMin+DefaultLimits().Dial, 2*w.ReconnectMin
	if answered := w.Heartbeat; first+second+answered >= w.RenewalTimeout {
		t.Errorf("the second connection begins %v after the last answer, want less than %v", first+second+answered, w.RenewalTimeout)
	}
}

// A newcomer closes one stranger, however long that one's goroutine needs to notice.
func TestANewcomerClosesOneStranger(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := &Transport{room: make(chan struct{}, 3), unknown: map[net.Conn]time.Time{}, dialing: ctx}
	for range cap(h.room) {
		conn, _ := net.Pipe()
		h.unknown[conn] = time.Now().Add(-time.Minute)
		h.room <- struct{}{}
	}
	in := make(chan bool)
	go func() { in <- h.makeRoom() }()
	for h.counters.crowded.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	select {
	case <-in:
		t.Fatal("it came in before a stranger had left")
	case <-time.After(50 * time.Millisecond):
	}
	if got := h.counters.crowded.Load(); got != 1 {
		t.Errorf("%d strangers were closed, want 1", got)
	}
	<-h.room
	if !<-in {
		t.Error("it was kept out")
	}
}

// TestSlowLoris holds more connections than may stay without a Hello, and a
// frame that never ends.
func TestSlowLoris(t *testing.T) {
	h := serve(t, "a", func(c *Config) { c.Limits.Strangers, c.Limits.Handshake = 10, time.Minute })
	var held []net.Conn
	for range 10 {
		conn := dial(t, h)
		if _, err := conn.Write([]byte{0, 0}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 4)); err != nil { // our Hello: it was taken in
			t.Fatal(err)
		}
		held = append(held, conn)
	}
	eleventh := dial(t, h)
	if _, err := io.ReadFull(eleventh, make([]byte, 4)); err != nil {
		t.Errorf("an eleventh stranger was kept out: %v", err)
	}
	if !ends(held[0]) {
		t.Error("the oldest stranger did not make room")
	}
	if got := h.Stats(); got.Crowded != 1 || got.Strangers != 10 {
		t.Errorf("%+v", got)
	}
	if got := h.Open(h.addr()); got == 0 {
		t.Error("no stream")
	}

	quick := serve(t, "b", func(c *Config) { c.Limits.Frame = 50 * time.Millisecond })
	conn, _ := greeted(t, quick)
	time.Sleep(100 * time.Millisecond) // an idle stream stays
	if _, err := conn.Write(frame(t, pingOf(1))); err != nil {
		t.Fatal(err)
	}
	quick.ear.want(t, "ping 1")
	if _, err := conn.Write([]byte{0, 1, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	go func() {
		for range 500 { // a byte now and then gives it no more time
			time.Sleep(10 * time.Millisecond)
			if _, err := conn.Write([]byte{0}); err != nil {
				return
			}
		}
	}()
	quick.ear.want(t, "broken 1 the peer stopped in the middle of a frame")
}

// TestCloseLosesNothingToAReset: the peer is still talking when we close, and
// gets all that we had said.
func TestCloseLosesNothingToAReset(t *testing.T) {
	h := serve(t, "a", nil)
	conn, s := greeted(t, h)
	go func() {
		for {
			if _, err := conn.Write(bytes.Repeat(frame(t, pingOf(1)), 1000)); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	h.Send(s, &message.ExecResult{State: 1, Error: strings.Repeat("x", 900_000)})
	h.Close(s)
	time.Sleep(50 * time.Millisecond) // a slow reader
	r := &frameReader{in: bufioReader(conn), limit: message.FrameMax}
	for _, want := range []string{"Hello", "ExecResult"} {
		m, err := r.next()
		if err != nil || message.Name(m.Kind()) != want {
			t.Fatalf("got %v, want %s", err, want)
		}
	}
	if _, err := r.next(); err != io.EOF {
		t.Errorf("then %v, want the end", err)
	}
	_ = conn.Close()
}

// TestABurstIsLetIn: many more peers at once than may be strangers, and none of
// them is sent away.
func TestABurstIsLetIn(t *testing.T) {
	a := serve(t, "a", nil)
	b := serve(t, "b", func(c *Config) { c.Limits.Strangers, c.Limits.Crowd = 4, wait })
	const peers = 300
	for range peers {
		a.Send(a.Open(b.addr()), pingOf(1))
	}
	for range peers {
		a.ear.want(t, "opened")
	}
	for heard := map[string]int{}; heard["opened"] < peers || heard["ping 1"] < peers; {
		select {
		case news := <-b.ear.news:
			heard[news[:6]]++
		case <-time.After(wait):
			t.Fatalf("heard %v", heard)
		}
	}
	if got := b.Stats(); got.Crowded != 0 || got.Strangers != 0 {
		t.Errorf("%+v", got)
	}
}

func TestRefusedAfterTheHandshake(t *testing.T) {
	h := serve(t, "a", nil)
	conn, _ := greeted(t, h)
	refusal := &RefusedError{Field: "cluster", Got: "c", Want: "d", Remedy: "x"}
	if _, err := conn.Write(frame(t, refusal.message())); err != nil {
		t.Fatal(err)
	}
	h.ear.want(t, `broken 1 the peer refused this node: its cluster is "c", the peer wants d: x`)
}

func TestDatagrams(t *testing.T) {
	shed := make(chan node.Event, 1)
	a := serve(t, "a", func(c *Config) { c.Observe = func(e node.Event) { shed <- e } })
	b := serve(t, "b", nil)
	a.Datagram(b.addr(), &message.ExecResult{State: 1, Error: strings.Repeat("x", 1400)})
	if e := (<-shed).(event.Shed); !strings.Contains(e.Why, "above the bound of 1400: send it on a stream") || !strings.Contains(e.What, "ExecResult") {
		t.Errorf("event %+v", e)
	}
	for n := range uint64(3) {
		a.Datagram(b.addr(), pingOf(n))
		b.ear.want(t, fmt.Sprintf("ping %d from a on 0", n))
	}
	conn, err := net.Dial("udp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	head := appendHeader(nil, hello("raw"))
	other := hello("raw")
	other.Cluster = "d"
	wrong := appendHeader(nil, other)
	body, err := message.Append(nil, pingOf(7))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range [][]byte{
		[]byte("x"), head, append(bytes.Clone(head), head...), append(bytes.Clone(wrong), body...),
		append(bytes.Clone(head), "garbage"...), bytes.Repeat([]byte{0}, 2000), append(bytes.Clone(head), body...),
	} {
		if _, err := conn.Write(d); err != nil {
			t.Fatal(err)
		}
	}
	b.ear.want(t, "ping 7 from raw on 0")
	if got := b.Stats(); got.Garbage != 5 || got.Refused != 1 {
		t.Errorf("%+v", got)
	}
}

func TestListenErrors(t *testing.T) {
	h := serve(t, "a", nil)
	for _, c := range []struct{ address, want string }{
		{h.Addr(), "the port is in use: stop what uses it, or choose another one with --listen"},
		{"127.0.0.1", "give host:port, for example"},
		{"192.0.2.1:0", "no interface of this machine has that address: give one of its own to --listen"},
	} {
		s, err := Listen(c.address)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.address) {
			t.Errorf("%s: got %v, want %q", c.address, err, c.want)
		}
		if s != nil {
			s.Close()
		}
	}
}
