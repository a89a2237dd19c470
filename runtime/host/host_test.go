package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wait bounds every wait of these tests.
const wait = 5 * time.Second

// pinger pings the peers that its commands name, by stream and by datagram, and answers pings.
type pinger struct {
	to   node.Addr
	news chan string // what happened, for the test

	stream node.StreamID
}

func (p *pinger) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		if p.to != "" {
			p.stream = env.Open(p.to)
			env.Send(p.stream, &message.Beat{Counter: 1})
			env.SetTimer(node.Key(node.PartPing, 1), time.Millisecond)
		}
		env.Store().Put([]node.Record{{Key: "started", Value: []byte{1}}}, 7)
	case node.InputStored:
		p.say("stored %d %v", in.WriteID, in.Err)
	case node.InputTimer:
		env.Datagram(p.to, &message.Beat{Counter: 2})
		env.SetTimer(node.Key(node.PartPing, 1), 100*time.Millisecond) // datagrams may be lost
	case node.InputStreamOpened:
		p.say("opened %s", in.From.ID)
	case node.InputStreamBroken:
		p.say("broken %s: %s", in.From.ID, in.Reason)
	case node.InputMessage:
		p.onMessage(env, in)
	case node.InputCommand:
		env.Answer(in.Command, &message.BeatAck{Counter: 1})
		env.Answer(in.Command, &message.BeatAck{Counter: 2})
	case node.InputExec:
		p.say("exec %d %s", in.Exec.ID, in.Exec.Reason)
	case node.InputStop:
		env.Emit(event.Shed{What: "stop", Why: "asked"})
		env.Halt("")
	}
}

func (p *pinger) onMessage(env node.Env, in *node.Input) {
	switch m := in.Message.(type) {
	case *message.Beat:
		if in.Stream != 0 {
			env.Send(in.Stream, &message.BeatAck{Counter: m.Counter})
		} else {
			env.Datagram(in.From.Addr, &message.BeatAck{Counter: m.Counter})
		}
	case *message.BeatAck:
		if m.Counter == 2 {
			env.CancelTimer(node.Key(node.PartPing, 1))
		}
		p.say("ack %d from %s stream=%v", m.Counter, in.From.ID, in.Stream != 0)
	}
}

func (p *pinger) say(format string, args ...any) {
	select {
	case p.news <- fmt.Sprintf(format, args...):
	default:
	}
}

// expect waits until each of the texts was said, in any order.
func (p *pinger) expect(t *testing.T, texts ...string) {
	t.Helper()
	left := map[string]bool{}
	for _, x := range texts {
		left[x] = true
	}
	limit := time.After(wait)
	for len(left) > 0 {
		select {
		case got := <-p.news:
			for x := range left {
				if strings.HasPrefix(got, x) {
					delete(left, x)
				}
			}
		case <-limit:
			t.Fatalf("not heard in %v: %v", wait, left)
		}
	}
}

func newPinger(to node.Addr) *pinger { return &pinger{to: to, news: make(chan string, 100)} }

func options(id node.ID, m node.Machine) Options {
	return Options{Role: node.RoleToy, ID: id, Cluster: "c", Environment: "test", Listen: "127.0.0.1:0", Machine: m}
}

func start(t *testing.T, o Options) *Node {
	t.Helper()
	n, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Kill)
	return n
}

func TestPingOverStreamsAndDatagrams(t *testing.T) {
	b := newPinger("")
	nodeB := start(t, options("b", b))
	a := newPinger(nodeB.Addr())
	nodeA := start(t, options("a", a))
	a.expect(t, "opened b", "ack 1 from b stream=true", "ack 2 from b stream=false", "stored 7 <nil>")
	b.expect(t, "opened a")

	nodeB.Kill()
	a.expect(t, "broken b: closed by the peer")
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	if err := nodeA.Stop(ctx); err != nil {
		t.Errorf("Stop = %v, want nil", err)
	}
}

func TestDatagramsReachNames(t *testing.T) {
	b := newPinger("")
	nodeB := start(t, options("b", b))
	_, port, err := net.SplitHostPort(string(nodeB.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	a := newPinger(node.Addr("localhost:" + port))
	start(t, options("a", a))
	a.expect(t, "ack 1 from b", "ack 2 from b")
}

func TestClientWithoutAnAddress(t *testing.T) {
	b := newPinger("")
	nodeB := start(t, options("b", b))
	a := newPinger(nodeB.Addr())
	o := options("a", a)
	o.Listen = ""
	nodeA := start(t, o)
	a.expect(t, "ack 1 from b")
	if nodeA.Addr() != "" || nodeA.Self().Incarnation == 0 {
		t.Errorf("self = %+v, want no address and a random incarnation", nodeA.Self())
	}
}

func TestBreaksOfStreamsThatNeverOpened(t *testing.T) {
	other := start(t, func() Options { o := options("b", newPinger("")); o.Cluster = "d"; return o }())
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := node.Addr(silent.Addr().String())
	_ = silent.Close()
	for _, c := range []struct {
		what string
		to   node.Addr
		want string
	}{
		{"nobody listens", closed, fmt.Sprintf("broken : connect to %s: no program listens there", closed)},
		{"another cluster", other.Addr(), fmt.Sprintf(`broken : greet %s: the peer's cluster is "d", this node wants "c": set --cluster`, other.Addr())},
		{"no port", "localhost", "broken : connect to localhost: "},
	} {
		a := newPinger(c.to)
		start(t, options("a", a))
		t.Run(c.what, func(t *testing.T) { a.expect(t, c.want) })
	}
}

func TestANodeMayTalkToItself(t *testing.T) {
	p := newPinger("")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.to = node.Addr(l.Addr().String())
	_ = l.Close()
	o := options("a", p)
	o.Listen = string(p.to)
	start(t, o)
	p.expect(t, "opened a", "ack 1 from a stream=true", "ack 2 from a stream=false")
}

func TestTwoNodesOfOneName(t *testing.T) {
	b := newPinger("")
	nodeB := start(t, options("a", b))
	a := newPinger(nodeB.Addr())
	start(t, options("a", a))
	a.expect(t, fmt.Sprintf(`broken : greet %s: the peer's node is "a", this node wants a name other than its own: give each node an --id`, nodeB.Addr()))
}

func TestCommandIsAnsweredManyTimes(t *testing.T) {
	n := start(t, options("a", newPinger("")))
	s, err := n.Command(t.Context(), &message.Beat{})
	if err != nil {
		t.Fatal(err)
	}
	for want := uint64(1); want <= 2; want++ {
		select {
		case m := <-s.Answers():
			if got := m.(*message.BeatAck).Counter; got != want {
				t.Errorf("answer %d, want %d", got, want)
			}
		case <-time.After(wait):
			t.Fatal("no answer")
		}
	}
	n.Kill()
	if m, ok := <-s.Answers(); ok {
		t.Errorf("%v after the end", m)
	}
	if s.Err() == nil {
		t.Error("session of a dead node has no error")
	}
	if _, err := n.Command(t.Context(), &message.Beat{}); err == nil {
		t.Error("a dead node took a command")
	}
}

func TestIncarnationRisesOnDisk(t *testing.T) {
	dir := t.TempDir()
	for want := uint64(1); want <= 3; want++ {
		o := options("a", newPinger(""))
		o.DataDir = dir
		n := start(t, o)
		if got := n.Self().Incarnation; got != want {
			t.Errorf("incarnation %d, want %d", got, want)
		}
		if want == 2 {
			_, err := Start(o)
			if err == nil || !strings.Contains(err.Error(), "another process uses it") {
				t.Errorf("second node in one directory: %v", err)
			}
		}
		n.Kill()
	}
}

// TestANodeEndsWithItsDisk: what it acknowledged without one, no restart would know.
func TestANodeEndsWithItsDisk(t *testing.T) {
	o := options("a", newPinger(""))
	o.DataDir = filepath.Join(t.TempDir(), "data")
	n := start(t, o)
	if err := os.RemoveAll(o.DataDir); err != nil {
		t.Fatal(err)
	}
	select {
	case <-n.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("it runs on")
	}
	if err := n.Err(); err == nil || !strings.Contains(err.Error(), "was deleted or replaced while the node ran") {
		t.Errorf("it ended with %v", err)
	}
}

func TestPortInUse(t *testing.T) {
	n := start(t, options("a", newPinger("")))
	for _, c := range []struct {
		what string
		set  func(*Options)
		want string
	}{
		{"listen", func(o *Options) { o.Listen = string(n.Addr()) }, "the port is in use: stop what uses it, or choose another one with --listen"},
		{"admin", func(o *Options) { o.Admin = string(n.Addr()) }, "the port is in use: stop what uses it, or choose another one with --admin"},
		{"no port", func(o *Options) { o.Listen = "localhost" }, "give host:port"},
		{"everywhere", func(o *Options) { o.Listen = "0.0.0.0:0" }, "set --advertise"},
		{"data is a file", func(o *Options) {
			o.DataDir = filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(o.DataDir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "choose another --data"},
		{"no id", func(o *Options) { o.ID = "" }, `id = "" must have 1 to 128 bytes: set --id`},
	} {
		o := options("b", newPinger(""))
		c.set(&o)
		_, err := Start(o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", c.what, err, c.want)
		}
	}
}

func TestAdvertise(t *testing.T) {
	for _, c := range []struct{ advertise, host string }{
		{"gate-1.example", "gate-1.example"}, {"10.0.0.1:0", "10.0.0.1"}, {"[::1]:0", "::1"},
	} {
		o := options("a", newPinger(""))
		o.Listen, o.Advertise = "0.0.0.0:0", c.advertise
		n := start(t, o)
		host, port, err := net.SplitHostPort(string(n.Addr()))
		if err != nil || host != c.host || port == "0" {
			t.Errorf("advertise %s: address %s, want host %s and the port that was chosen", c.advertise, n.Addr(), c.host)
		}
	}
}

func TestAdminAndHistory(t *testing.T) {
	var lines bytes.Buffer
	var seen []string
	o := options("a", newPinger(""))
	o.Admin = "127.0.0.1:0"
	o.History = &lines
	o.Observer = func(e node.Event) { seen = append(seen, e.EventName()) }
	n := start(t, o)
	s, err := n.Command(t.Context(), &message.Beat{})
	if err != nil {
		t.Fatal(err)
	}
	<-s.Answers() // the node has started
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ok\n", "/metrics": `hyperscale_loop_inputs_total{kind="start",lane="critical"} 1`} {
		if got := get(t, n.AdminAddr(), path); !strings.Contains(got, want) {
			t.Errorf("GET %s = %.300q, want %q in it", path, got, want)
		}
	}
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	var line struct {
		AtNS        int64 `json:"at_ns"`
		Node        string
		Incarnation uint64
		Event       string
		Data        event.Shed
	}
	if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line.AtNS == 0 || line.Incarnation != n.Self().Incarnation || line.Node != "a" || line.Event != "shed" || line.Data.Why != "asked" || len(seen) != 1 {
		t.Errorf("history %+v, observed %v", line, seen)
	}
}

// told emits the events that its commands name.
type told struct{}

func (told) Step(env node.Env, in *node.Input) {
	if in.Kind != node.InputCommand {
		return
	}
	switch m := in.Message.(type) {
	case *message.Beat:
		env.Emit(event.PeerRegistered{Peer: "manager-1", Role: node.RoleManager})
	case *message.BeatAck:
		env.Emit(event.PeerLost{Peer: "manager-1", Role: node.RoleManager})
	case *message.ClientPing:
		env.Emit(event.PeerRegistered{Peer: "gate-1", Role: node.RoleGate})
	default:
		node.Bug("%T", m)
	}
	env.Answer(in.Command, in.Message)
}

func TestReadyIsWhoCanGetWork(t *testing.T) {
	o := options("w", told{})
	o.Role, o.Admin = node.RoleWorker, "127.0.0.1:0"
	n := start(t, o)
	for _, c := range []struct {
		tell node.Message
		want string
	}{
		{&message.ClientPing{}, "no manager has taken this node in"}, // a gate has no work for it
		{&message.Beat{}, "ok\n"},
		{&message.BeatAck{}, "no manager has taken this node in"},
	} {
		s, err := n.Command(t.Context(), c.tell)
		if err != nil {
			t.Fatal(err)
		}
		<-s.Answers()
		if got := get(t, n.AdminAddr(), "/readyz"); !strings.Contains(got, c.want) {
			t.Errorf("after %T: %q, want %q", c.tell, got, c.want)
		}
	}
}

func get(t *testing.T, address, path string) string {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	r, err := (&http.Client{Transport: transport, Timeout: wait}).Get("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// stubborn never halts.
type stubborn struct{}

func (stubborn) Step(node.Env, *node.Input) {}

func TestStopThatTakesTooLongKills(t *testing.T) {
	n := start(t, options("a", stubborn{}))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := n.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Stop = %v", err)
	}
	<-n.Done()
}
