package engine

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/hostile/redis/redistest"
)

// commands adds up the commands that all rows have sent.
func commands(r *message.ExecResult) (sent uint64) {
	for _, s := range r.Stats.Steps {
		sent += measured(s)[plan.MeasureCommands].Count
	}
	return sent
}

// What subscriptions receive is what PUBLISH said that it delivered, and their commands are those that
// the server called: over RESP2, RESP3 and TLS.
func TestSubscriptionsAgreeWithTheServer(t *testing.T) {
	s := redistest.Secure(t)
	for _, vus := range []uint64{1, 64} {
		for name, client := range map[string]string{"2": s.URL(), "3": s.URL(), "tls": s.SecureURL()} {
			t.Run(fmt.Sprint(name, "/", vus), func(t *testing.T) {
				s.Ask("FLUSHALL")
				s.Ask("CONFIG", "RESETSTAT")
				version := 2
				if name == "3" {
					version = 3
				}
				w := loadFile(t, "", strings.NewReplacer("URL", client, "VERSION", fmt.Sprint(version), "VUS", fmt.Sprint(vus), "ANYTLS", anyTLS).Replace(subscribing))
				r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
				ok, started, sent, received := total(t, r, "feed")
				called := s.Settled()
				delivered, _ := strconv.ParseUint(s.Ask("GET", "delivered"), 10, 64)
				if ok != 3*vus || started != 3*vus || sent != 0 || received != delivered || received < 9*vus {
					t.Errorf("ok %d of %d, sent %d; received %d, PUBLISH delivered %d", ok, started, sent, received, delivered)
				}
				if sent := commands(r); sent != called {
					t.Errorf("sent %d commands, the server called %d: %v", sent, called, s.Calls())
				}
				if got := r.Stats.Steps[0]; got.OK != 3*vus {
					t.Errorf("ok %d of %d: %v", got.OK, got.Started, got.Errors)
				}
			})
		}
	}
}

const subscribing = `
r = redis.client("URL", protocol = VERSION)
def publish(vu, channel, text):
    got = vu.redis.command(r, "PUBLISH", channel, text)
    vu.redis.command(r, "INCRBY", "delivered", got.json())
def visit(vu):
    own = "own:%d" % vu.id
    s = vu.redis.subscribe(r, ["news", own], patterns = ["log.*", own + "*"], sharded = ["shard:%d" % vu.id], name = "feed")
    expect.equal((s.error, s.status, s.receive(timeout = "1ns").error if vu.iteration == 0 else ""), ("", 200, ""))
    publish(vu, own, "hi")
    a = s.receive(timeout = "30s")
    while a.channel != own:
        a = s.receive(timeout = "30s")
    b = s.receive(timeout = "30s")
    while b.channel != own:
        b = s.receive(timeout = "30s")
    expect.equal((a.data, a.pattern, b.data, b.pattern, a.error), ("hi", "", "hi", own + "*", ""))
    publish(vu, "news", b"\x00\xff")
    publish(vu, "log.x", "a log")
    expect.equal(s.ping(timeout = "30s").error, "")
    got = vu.redis.command(r, "SPUBLISH", "shard:%d" % vu.id, "sharded")
    vu.redis.command(r, "INCRBY", "delivered", got.json())
    end = s.close()
    expect.equal((s.receive().error, end.status, end.error), ("closed", 200, ""))
    return end
workflow(name = "test", vu_iterations = 3, vus = VUS, duration = "60s", ANYTLS, steps = [step(visit)])`

// However a run ends, its subscriptions count what came and what went out, and each ends once.
func TestBrokenSubscriptionsAreCounted(t *testing.T) {
	load := func(t *testing.T, s *redistest.Server, args, rest string) *workflow.Workflow {
		s.Ask("CONFIG", "RESETSTAT")
		return loadFile(t, s.URL(), fmt.Sprintf(`
def visit(vu):
    s = vu.redis.subscribe("TARGET", ["news"]%s)
    while not s.receive(timeout = "20s").error:
        pass
    return s.close()
workflow(name = "test", vus = 64, %s duration = "60s", steps = [step(visit)])`, args, rest))
	}
	t.Run("cancelled", func(t *testing.T) {
		s := redistest.Start(t)
		w := load(t, s, "", "")
		ctx, cancel := context.WithCancel(context.Background())
		delivered := uint64(0)
		published := make(chan struct{})
		go func() {
			defer close(published)
			for round := 0; round < 50; {
				n, _ := strconv.ParseUint(strings.TrimPrefix(s.Ask("PUBLISH", "news", "x"), ":"), 10, 64)
				if delivered += n; n == 64 {
					round++
				}
			}
			cancel()
		}()
		r := run(t, ctx, Config{Workflow: w, VUs: 64, Duration: time.Minute, Timeout: 30 * time.Second})
		<-published
		_, started, _, received := total(t, r, "SUBSCRIBE")
		part := r.Stats.Steps[1]
		if started != 64 || part.Cancelled != 64 || received > delivered || received == 0 {
			t.Errorf("cancelled %d of %d; received %d, PUBLISH delivered %d", part.Cancelled, started, received, delivered)
		}
		if sent, called := commands(r), s.Settled(); sent+50 > called || sent != s.Calls()["SUBSCRIBE"] {
			t.Errorf("sent %d commands, the server called %v", sent, s.Calls())
		}
	})
	for name, tt := range map[string]struct {
		does, args, kind string
		late             bool
	}{
		"killed":  {does: "CLIENT KILL TYPE pubsub", kind: "closed"},
		"refused": {does: "ACL SETUSER default resetchannels", kind: "server NOPERM"},
		"paused":  {does: "CLIENT PAUSE 2000 ALL", args: `, timeout = "50ms"`, kind: "timeout", late: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := redistest.Start(t)
			w := load(t, s, tt.args, "vu_iterations = 1,")
			if name != "killed" {
				s.Ask(strings.Fields(tt.does)...)
			} else {
				ended := make(chan bool)
				defer func() { <-ended }()
				go func() {
					defer close(ended)
					for killed := 0; killed < 64; {
						n, _ := strconv.Atoi(strings.TrimPrefix(s.Ask(strings.Fields(tt.does)...), ":"))
						killed += n
					}
				}()
			}
			r := run(t, context.Background(), Config{Workflow: w, VUs: 64, Duration: time.Minute, Timeout: 30 * time.Second})
			total(t, r, "SUBSCRIBE")
			part, step := r.Stats.Steps[1], r.Stats.Steps[0]
			if kinds(part)[tt.kind] != 64 || kinds(step)[tt.kind] != 64 || (part.TimedOut == 64) != tt.late {
				t.Errorf("ok %d, timed out %d of %d: %v, %v", part.OK, part.TimedOut, part.Started, part.Errors, step.Errors)
			}
		})
	}
}

// A subscription that its function does not read stops reading at 256 messages: TCP then slows the
// server down, nothing is lost, and close still counts all of it.
func TestASlowSubscriberPushesBack(t *testing.T) {
	s := redistest.Start(t)
	w := loadFile(t, s.URL(), `
def visit(vu):
    s = vu.redis.subscribe("TARGET", ["news:%d" % vu.id])
    text = "x" * 100000
    n = 0
    for i in range(400):
        n += vu.redis.command("TARGET", "PUBLISH", "news:%d" % vu.id, text).json()
    for i in range(20):
        expect.equal(len(s.receive(timeout = "30s").data), 100000)
    end = s.close()
    expect.equal((n, end.error), (400, ""))
    return end
workflow(name = "test", vu_iterations = 2, vus = 2, duration = "60s", steps = [step(visit)])`)
	s.Ask("CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 0 0")
	r := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: time.Minute, Timeout: 30 * time.Second})
	for _, got := range r.Stats.Steps {
		if got.Failed+got.TimedOut+got.Cancelled > 0 {
			t.Errorf("%s: ok %d of %d: %v", got.Name, got.OK, got.Started, got.Errors)
		}
	}
}

// Debug output shows what subscribes, what comes and what ends it.
func TestSubscriptionDebug(t *testing.T) {
	s := redistest.Start(t)
	var b bytes.Buffer
	w := loadFile(t, s.URL(), `
def visit(vu):
    s = vu.redis.subscribe("TARGET", ["a b"], patterns = ["log.*"])
    vu.redis.command("TARGET", "PUBLISH", "a b", "hello")
    s.receive(timeout = "30s")
    return s.close()
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step(visit)])`)
	run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Debug: &b})
	for _, want := range []string{`> SUBSCRIBE "a b"; PSUBSCRIBE log.*`, `< hello`, `> UNSUBSCRIBE; PUNSUBSCRIBE`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}
