package engine

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/nats/natstest"
)

// natsClients are the clients of tests whose users share connections: in clear and in TLS.
func natsClients(plain, secure *natstest.Server) map[string]*natstest.Server {
	return map[string]*natstest.Server{
		fmt.Sprintf("nats.client(%q, connections = %d)", plain.URL(), sharedConnections):        plain,
		fmt.Sprintf("nats.client(%q, connections = %d)", secure.SecureURL(), sharedConnections): secure,
	}
}

const natsTLS = "tls { cert_file: \"CERT\", key_file: \"KEY\" }"

// What users count that share connections is what the server counted, over as many connections as their client
// says.
func TestUsersShareConnectionsToNATS(t *testing.T) {
	servers := natsClients(natstest.Start(t, streams), natstest.Start(t, streams+"\n"+natsTLS))
	for client, s := range servers {
		as := ""
		if s.SecureURL(); strings.Contains(client, "tls://") {
			as = "secure"
		}
		var own *natstest.Client
		if as == "" {
			own = s.Dial("")
			own.Stream("ORDERS", "orders.>", "")
			s.Dial("").Echo("svc.echo", nil)
		}
		for _, vus := range []uint64{1, 64, 500} {
			for name, tt := range map[string]struct {
				ask      string
				in, last uint64 // of an operation: messages that the server takes, and stores
				bad      uint64
				kind     string
			}{
				"publish":   {`publish(n, "plain", "hello")`, 1, 0, 0, ""},
				"headers":   {`publish(n, "plain.${id}", b"\x00\xff", headers = {"k": "v"}, flush = True)`, 1, 0, 0, ""},
				"flush":     {`publish(n, "plain", "hello", flush = True)`, 1, 0, 0, ""},
				"stream":    {`publish(n, "orders.new", "hello", stream = True)`, 1, 1, 0, ""},
				"request":   {`request(n, "svc.echo", "hello ${id}"), expect = [body_contains("hello ")]`, 2, 0, 0, ""},
				"unheard":   {`request(n, "svc.none", "hello")`, 1, 0, 1, "server 503"},
				"no stream": {`publish(n, "plain", "hello", stream = True)`, 1, 0, 1, "server 503"},
			} {
				if own == nil && (tt.last > 0 || name == "request") {
					continue
				}
				t.Run(fmt.Sprintf("%s%s/%d", name, as, vus), func(t *testing.T) {
					in, _ := s.Settled()
					last := uint64(0)
					if own != nil {
						last = own.LastSequence("ORDERS")
						in++ // the question
					}
					accepted, n := s.Accepted(), 4*vus
					w := loadFile(t, "", fmt.Sprintf("n = %s\nworkflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", %s, feed = feed.list([{\"id\": str(i)} for i in range(999)]), steps = [step(\"ask\", nats.%s)])", client, n, vus, anyTLS, tt.ask))
					got := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
					if got.OK != n*(1-tt.bad) || got.Started != n || got.Sent != n || kinds(got)[tt.kind] != n*tt.bad {
						t.Fatalf("ok %d of %d, sent %d: %v", got.OK, got.Started, got.Sent, got.Errors)
					}
					all := measured(got)
					took, _ := s.Settled()
					if sent := all[plan.MeasureMessagesSent].Count; sent != n || took-in != n*tt.in {
						t.Errorf("sent %d messages, the server took %d, want %d", sent, took-in, n*tt.in)
					}
					if own != nil {
						if stored := own.LastSequence("ORDERS") - last; stored != n*tt.last {
							t.Errorf("the stream has %d more, want %d", stored, n*tt.last)
						}
					}
					if is := s.Accepted() - accepted; is != min(vus, sharedConnections) {
						t.Errorf("the server took %d connections", is)
					}
					if late := all[plan.MeasureLateAnswers].Count; late > 0 {
						t.Errorf("%d late answers", late)
					}
				})
			}
		}
	}
}

// Replies that come in any order, or too late, reach the users who asked, on connections that others use
// meanwhile: a timeout ends its operation alone.
func TestRepliesOnSharedConnections(t *testing.T) {
	s := natstest.Start(t, "")
	held := make(chan string, 4096)
	s.Dial("").Echo("svc.echo", nil)
	late := s.Dial("")
	late.Echo("svc.mute", func(data string) bool { held <- data; return true })
	accepted := s.Accepted()
	w := loadFile(t, s.URL(), fmt.Sprintf(`
n = nats.client("TARGET", connections = %d)
def ask(vu):
    mine = "%%d of %%d" %% (vu.iteration, vu.id)
    if (vu.id + vu.iteration) %% 4 == 0:
        r = vu.nats.request(n, "svc.mute", mine, name = "mute", timeout = "300ms")
    got = vu.nats.request(n, "svc.echo", mine, name = "echo")
    if got.text() != mine:
        fail("asked %%s, got %%s" %% (mine, got.text()))
    return vu.nats.publish(n, "plain." + str(vu.id), mine, flush = True, name = "flush")
workflow(name = "test", vus = 64, iterations = 256, duration = "60s", steps = [step("ask", ask)])`, sharedConnections))
	steps := byName(run(t, context.Background(), Config{Workflow: w, VUs: 64, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps)
	if mute := steps["mute"]; mute.TimedOut == 0 || mute.TimedOut != mute.Started || uint64(len(held)) != mute.Sent {
		t.Errorf("%d timed out of %d, sent %d, the server gave %d: %v", mute.TimedOut, mute.Started, mute.Sent, len(held), mute.Errors)
	}
	for _, name := range []string{"ask", "echo", "flush"} {
		if got := steps[name]; got.OK != 256 {
			t.Errorf("%s: ok %d of %d: %v", name, got.OK, got.Started, got.Errors)
		}
	}
	if is := s.Accepted() - accepted; is != sharedConnections {
		t.Errorf("the server took %d connections", is)
	}
}

// A late reply counts where its request did, though another one has its place on the connection meanwhile.
func TestLateRepliesOnSharedConnections(t *testing.T) {
	s := natstest.Start(t, "")
	s.Dial("").Echo("svc.slow", func(data string) bool {
		if data == "first" {
			time.Sleep(700 * time.Millisecond)
		}
		return false
	})
	w := loadFile(t, s.URL(), `
n = nats.client("TARGET", connections = 1)
def ask(vu):
    a = vu.nats.request(n, "svc.slow", "first", name = "first", timeout = "200ms")
    return vu.nats.request(n, "svc.slow", "second", name = "second", expect = [body_contains("second")])
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("ask", ask)])`)
	steps := byName(run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps)
	first, second := steps["first"], steps["second"]
	if first.TimedOut != 1 || second.OK != 1 || measured(first)[plan.MeasureLateAnswers].Count != 1 || measured(second)[plan.MeasureLateAnswers].Count != 0 {
		t.Errorf("first %+v, second %+v", first, second)
	}
}

// An error of the server fails the operation that caused it, beside others of the same connection, and counts
// where nothing waits for it.
func TestErrorsOnSharedConnections(t *testing.T) {
	const users = `authorization { users: [ {user: app, password: geheim, permissions: {publish: {deny: ["secret", "hidden"]}, subscribe: {deny: "_INBOX.>"}}} ] }`
	s := natstest.Start(t, users)
	w := loadFile(t, s.URL(), `
n = nats.client("TARGET", user = "app", password = "geheim", connections = 2)
workflow(name = "test", vus = 32, iterations = 320, duration = "60s", steps = [
    step("open", nats.publish(n, "open", flush = True)),
    step("secret", nats.publish(n, "secret", flush = True)),
    step("hidden", nats.publish(n, "hidden")),
    step("ask", nats.request(n, "svc.echo")),
    step("again", nats.publish(n, "open", flush = True)),
])`)
	const denied = "server permissions violation"
	all := run(t, context.Background(), Config{Workflow: w, VUs: 32, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps
	for _, got := range all {
		bad, told := uint64(0), uint64(0)
		switch got.Name {
		case "secret", "ask":
			bad = 320
		case "hidden":
			told = 320
		}
		if is := measured(got)[plan.MeasureServerErrors].Count; got.OK != 320-bad || kinds(got)[denied] != bad || is != told {
			t.Errorf("%s: ok %d of %d, %d errors told, want %d: %v", got.Name, got.OK, got.Started, is, told, got.Errors)
		}
	}
}

// A session has a connection of its own beside those that users share.
func TestSessionsBesideSharedConnections(t *testing.T) {
	s := natstest.Start(t, "")
	s.Dial("")
	accepted := s.Accepted()
	w := loadFile(t, s.URL(), `
n = nats.client("TARGET", connections = 2)
def talk(vu):
    own = vu.nats.subscribe(n, "to.%d" % vu.id, name = "own")
    for i in range(20):
        vu.nats.publish(n, "to.%d" % vu.id, "hello %d" % vu.id, flush = True, name = "tell")
        if own.receive(timeout = "5s").text() != "hello %d" % vu.id:
            fail("not mine")
    return own.close()
workflow(name = "test", vus = 10, iterations = 10, duration = "60s", steps = [step("talk", talk)])`)
	steps := byName(run(t, context.Background(), Config{Workflow: w, VUs: 10, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps)
	if steps["talk"].OK != 10 || steps["tell"].OK != 200 {
		t.Errorf("talk %+v, tell %+v", steps["talk"], steps["tell"])
	}
	if is := s.Accepted() - accepted; is != 2+10 {
		t.Errorf("the server took %d connections", is)
	}
}

// However a run ends whose users share connections, the server has what counts as sent, and what failed had no
// answer.
func TestSharedConnectionsToNATSBreak(t *testing.T) {
	const users = 64
	load := func(to string, ask string) Config {
		w := loadFile(t, to, fmt.Sprintf("n = nats.client(\"TARGET\", connections = %d)\nworkflow(name = \"test\", vus = %d, duration = \"60s\", steps = [step(\"ask\", nats.%s)])", sharedConnections, users, ask))
		return Config{Workflow: w, VUs: users, Duration: time.Minute, Timeout: 20 * time.Second}
	}
	for _, ask := range []string{`publish(n, "plain", "hello")`, `publish(n, "plain", "hello", flush = True)`, `publish(n, "orders.new", "hello", stream = True)`} {
		t.Run("killed/"+ask[len(ask)-6:], func(t *testing.T) {
			s := natstest.Start(t, streams)
			s.Dial("").Stream("ORDERS", "orders.>", "")
			before, _ := s.Settled()
			ctx, cancel := context.WithCancel(context.Background())
			least := uint64(0)
			go func() {
				defer cancel()
				for least < before+3000 {
					least, _ = s.Counts()
				}
				s.Kill()
				time.Sleep(250 * time.Millisecond)
			}()
			got := run(t, ctx, load(s.URL(), ask)).Stats.Steps[0]
			<-ctx.Done()
			failed := got.Failed - kinds(got)["refused"]
			if got.OK < least-before-users || failed > users*sharedConnections || got.TimedOut > 0 || got.Failed == 0 || got.Started != got.OK+got.Failed+got.Cancelled || got.Sent < got.OK || got.Sent > got.OK+failed+got.Cancelled {
				t.Errorf("ok %d of %d, sent %d, %d failed on connections, the server had %d: %v", got.OK, got.Started, got.Sent, failed, least-before, got.Errors)
			}
		})
	}
	t.Run("cut", func(t *testing.T) {
		s := natstest.Start(t, "")
		r := relayTo(t, s.Address())
		before, _ := s.Settled()
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			defer cancel()
			for range 20 {
				at, _ := s.Counts()
				for now := at; now < at+500; now, _ = s.Counts() {
					time.Sleep(time.Millisecond)
				}
				r.cut()
			}
		}()
		got := run(t, ctx, load("nats://"+r.address(), `publish(n, "plain", "hello", flush = True)`)).Stats.Steps[0]
		<-ctx.Done()
		in, _ := s.Settled()
		if took := in - before; took < got.OK || took > got.Sent || got.Failed == 0 || got.TimedOut > 0 || got.Sent-got.OK > got.Failed+got.Cancelled {
			t.Errorf("ok %d, sent %d, the server took %d; %d failed: %v", got.OK, got.Sent, took, got.Failed, got.Errors)
		}
	})
	t.Run("nothing listens", func(t *testing.T) {
		c := load("nats://127.0.0.1:1", `publish(n, "plain", "hello", flush = True)`)
		c.Workflow.Plan.Iterations = users
		if got := run(t, context.Background(), c).Stats.Steps[0]; got.Failed != users || kinds(got)["refused"] != users || got.Sent > 0 {
			t.Errorf("%d failed: %v", got.Failed, got.Errors)
		}
	})
}

// relay passes connections on to a server, and cuts them when a test asks.
type relay struct {
	l   net.Listener
	mu  sync.Mutex
	all []net.Conn

	accepted atomic.Uint64
}

func relayTo(t *testing.T, address string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{l: l}
	t.Cleanup(func() { _ = l.Close(); r.cut() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			r.accepted.Add(1)
			to, err := net.Dial("tcp", address)
			if err != nil {
				_ = from.Close()
				continue
			}
			r.mu.Lock()
			r.all = append(r.all, from, to)
			r.mu.Unlock()
			go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
			go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
		}
	}()
	return r
}

func (r *relay) address() string { return r.l.Addr().String() }

// cut closes all connections.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.all {
		_ = c.Close()
	}
	r.all = nil
}
