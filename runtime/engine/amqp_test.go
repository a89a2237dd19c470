package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/amqp/amqptest"
	"hyperscale/runtime/protocol/hostile/authority"
)

// One RabbitMQ serves all of these, as it takes seconds to start.
func TestAMQP(t *testing.T) {
	t.Parallel()
	s := amqptest.Start(t)
	for name, test := range map[string]func(*testing.T, *amqptest.Server){
		"queues agree": queuesAgree, "a run breaks": queuesAgreeWhenARunBreaks, "consumers": consumersAgree, "users": usersOfAMQP, "stamps": stampsOfAMQP, "errors of sessions": consumersFail,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
	for _, client := range amqpClients {
		t.Run("channels"+client, func(t *testing.T) { channelsOfAMQP(t, s, client) })
		t.Run("late"+client, func(t *testing.T) { lateOfAMQP(t, s, client) })
	}
}

// amqpClients are what amqp.client has beside its URL: users with connections of their own, and those that share.
var amqpClients = []string{"", fmt.Sprintf(", connections = %d", sharedConnections)}

// ask runs a step of AMQP so many times, and returns its figures. Client is what amqp.client has beside its URL.
func askAMQP(t *testing.T, url, client, ask string, vus, n uint64) message.StepStats {
	t.Helper()
	w := loadFile(t, url, fmt.Sprintf("q = amqp.client(\"TARGET\"%s)\nworkflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", steps = [step(\"ask\", amqp.%s])", client, n, vus, ask))
	return run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
}

// What a run counts is what the server's queues have: the messages that they got, and those that were taken.
func queuesAgree(t *testing.T, s *amqptest.Server) {
	own := s.Dial()
	own.Declare("agree")
	for _, tt := range []struct {
		name, ask   string
		vus         []uint64
		before, got int // messages of the queue; of an operation: those that it gets, or loses
		bad         uint64
		kind        string
		want        string // a measure that counts each operation
	}{
		{"publish", `publish(q, key = "agree", body = "hello")`, []uint64{1, 64}, 0, 1, 0, "", plan.MeasureUnconfirmed},
		{"confirm", `publish(q, key = "agree", body = "hello", confirm = True)`, []uint64{1, 64, 500}, 0, 1, 0, "", plan.MeasureConfirmLatency},
		{"all", `publish(q, exchange = "amq.direct", key = "agree", body = b"\x00\xff" * 100000, headers = {"k": "v"}, properties = {"content_type": "x", "expiration": "60000"}, priority = 3, confirm = True, mandatory = True, persistent = True)`, []uint64{1}, 0, 1, 0, "", plan.MeasureConfirmLatency},
		{"returned", `publish(q, exchange = "amq.direct", key = "none", body = "hello", confirm = True, mandatory = True)`, []uint64{1, 64}, 0, 0, 1, "server 312", plan.MeasureReturned},
		{"nowhere", `publish(q, exchange = "amq.direct", key = "none", confirm = True)`, []uint64{1}, 0, 0, 0, "", plan.MeasureConfirmLatency},
		{"get", `get(q, "agree"), expect = [body_contains("hello")]`, []uint64{1, 64}, 200, -1, 0, "", plan.MeasureMessagesReceived},
		{"get auto", `get(q, "agree", ack = "auto")`, []uint64{1}, 200, -1, 0, "", plan.MeasureMessagesReceived},
		{"get empty", `get(q, "agree")`, []uint64{1}, 0, 0, 0, "", ""},
	} {
		for i := range len(amqpClients) * len(tt.vus) {
			vus, client := tt.vus[i/len(amqpClients)], amqpClients[i%len(amqpClients)]
			own.Purge("agree")
			own.Fill("agree", "hello", tt.before)
			if tt.name == "all" {
				own.Bind("agree", "amq.direct", "agree")
			}
			n := 2 * vus
			r := relayTo(t, s.Address())
			got := askAMQP(t, "amqp://"+r.address(), client, tt.ask+")", vus, n)
			if is := r.accepted.Load(); client != "" && is != min(vus, sharedConnections) {
				t.Errorf("%s/%d: %d connections", tt.name, vus, is)
			}
			if got.OK != n*(1-tt.bad) || got.Started != n || got.Sent != n || kinds(got)[tt.kind] != n*tt.bad || len(got.Statuses) > 0 {
				t.Fatalf("%s/%d: ok %d of %d, sent %d: %v %v", tt.name, vus, got.OK, got.Started, got.Sent, got.Errors, got.Statuses)
			}
			all := measured(got)
			if has := int(own.Settled("agree")); has != tt.before+int(n)*tt.got {
				t.Errorf("%s/%d: the queue has %d, want %d", tt.name, vus, has, tt.before+int(n)*tt.got)
			}
			if tt.want != "" && all[tt.want].Count+all[tt.want].Times.Count != n {
				t.Errorf("%s/%d: %s counts %d", tt.name, vus, tt.want, all[tt.want].Count)
			}
			if strings.HasPrefix(tt.ask, "publish") && all[plan.MeasureMessagesSent].Count != n || all[plan.MeasureLateAnswers].Count > 0 || all[plan.MeasureServerErrors].Count > 0 {
				t.Errorf("%s/%d: %d sent, %d late, %d errors", tt.name, vus, all[plan.MeasureMessagesSent].Count, all[plan.MeasureLateAnswers].Count, all[plan.MeasureServerErrors].Count)
			}
		}
	}
}

// However a run ends, no message counts that its queue did not get, and what the queue got counts.
func queuesAgreeWhenARunBreaks(t *testing.T, s *amqptest.Server) {
	own := s.Dial()
	all := []string{`publish(q, key = "KEY", body = "hello")`, `publish(q, key = "KEY", body = "hello", confirm = True, mandatory = True)`}
	for i := range len(all) * len(amqpClients) {
		ask, client, queue, think := all[i%len(all)], amqpClients[i/len(all)], fmt.Sprint("breaks", i), ""
		if client != "" { // so that buffers hold no more than the server reads while connections wait for its goodbye
			think = "think = \"20ms\", "
		}
		own.Declare(queue)
		w := loadFile(t, s.URL(), fmt.Sprintf("q = amqp.client(\"TARGET\"%s)\nworkflow(name = \"test\", vus = 64, %sduration = \"60s\", steps = [step(\"ask\", amqp.%s)])", client, think, strings.ReplaceAll(ask, "KEY", queue)))
		ctx, cancel := context.WithCancel(context.Background())
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			for n, _ := own.Length(queue); n < 1000; n, _ = own.Length(queue) {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		r := run(t, ctx, Config{Workflow: w, VUs: 64, Duration: time.Minute})
		got := r.Stats.Steps[0]
		<-asked
		sent, has := measured(got)[plan.MeasureMessagesSent].Count, own.Settled(queue)
		if lacks := len(r.Stats.Logs) > 0 && strings.Contains(r.Stats.Logs[0], "it may lack"); lacks && sent > has && !strings.Contains(ask, "confirm") {
			t.Logf("a busy server lacks %d of %d: %s", sent-has, sent, r.Stats.Logs[0])
		} else if sent != has || got.Failed > 0 || got.Started != got.OK+got.Failed+got.TimedOut+got.Cancelled {
			t.Errorf("%s%s: sent %d messages, the queue has %d; %d started: %v", ask, client, sent, has, got.Started, got.Errors)
		}
		own.Purge(queue)
	}
}

// What consumers acknowledge is gone, and what they do not comes again: each message is with one of them.
func consumersAgree(t *testing.T, s *amqptest.Server) {
	own := s.Dial()
	const members, messages, again = 4, 200, 10
	w := loadFile(t, s.URL(), fmt.Sprintf(`
q = amqp.client("TARGET")
def setup(vu):
    r = vu.amqp.declare(q, queue = "work", exchange = "orders", type = "topic", key = "orders.*", durable = False, auto_delete = False, arguments = {"x-max-length": 10000, "x-overflow": "reject-publish"})
    if r.json()["queue"] != "work":
        fail("wrong queue: " + r.text())
    for i in range(%d):
        vu.amqp.publish(q, exchange = "orders", key = "orders.new", body = "hello", headers = {"k": "v"}, properties = {"correlation_id": "7"}, confirm = True, name = "put")
def receive(vu):
    c = vu.amqp.consume(q, "work", prefetch = 5, name = "take")
    got, back = 0, 0
    for i in range(1000):
        m = c.receive(timeout = "1s")
        if m.error:
            break
        if m.exchange != "orders" or m.key != "orders.new" or m.headers["k"] != "v" or m.headers["correlation-id"] != "7" or m.data != "hello":
            fail("wrong: %%s %%s %%s" %% (m.key, m.headers, m.data))
        if not m.redelivered and back < %d:
            back += 1
            if not c.nack(m):
                fail("it is over")
        else:
            c.ack(m)
            got += 1
    if c.ping(timeout = "2s").error:
        fail("no answer to a ping")
    r = c.close()
    if r.error:
        fail(r.error)
    return r
workflow(name = "test", vus = %d, iterations = %d, duration = "60s", setup = setup, steps = [step("ask", receive)])`, messages, again, members, members))
	r := run(t, context.Background(), Config{Workflow: w, VUs: members, Duration: time.Minute, Timeout: 20 * time.Second})
	steps := byName(r.Stats.Steps)
	if ask := steps["ask"]; ask.OK != members {
		t.Fatalf("%d ok: %v %v %v", ask.OK, ask.Errors, steps["take"].Errors, r.Stats.Logs)
	}
	all := measured(steps["take"])
	if got, redelivered := all[plan.MeasureMessagesReceived].Count, all[plan.MeasureRedelivered].Count; got != messages+redelivered || redelivered == 0 || redelivered > members*again {
		t.Errorf("received %d, of them %d again", got, redelivered)
	}
	if n := own.Settled("work"); n > 0 {
		t.Errorf("%d messages are left", n)
	}
	own.Fill("work", "hello", 50)
	w = loadFile(t, s.URL(), `
def receive(vu):
    c = vu.amqp.consume("TARGET", "work", ack = "auto", name = "take")
    for i in range(20):
        if c.receive().data != "hello":
            fail("wrong")
    return c.close()
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("ask", receive)])`)
	r = run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second})
	all = measured(byName(r.Stats.Steps)["take"])
	if got, left := all[plan.MeasureMessagesReceived].Count, own.Settled("work"); got+left != 50 || got < 20 {
		t.Errorf("received %d, %d are left", got, left)
	}
	own.Fill("work", "hello", int(50-own.Settled("work")))
	w = loadFile(t, s.URL(), `
def receive(vu):
    c = vu.amqp.consume("TARGET", "work", prefetch = 7, name = "take")
    c.ack(c.receive())
    c.nack(c.receive(), requeue = False)
    return c.close()
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("ask", receive)])`)
	run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second})
	if left := own.Settled("work"); left != 48 {
		t.Errorf("one is acknowledged and one rejected of 50, and %d are left", left)
	}
}

// A stamp tells how old a message is, also where nothing else of its header is read.
func stampsOfAMQP(t *testing.T, s *amqptest.Server) {
	s.Dial().Declare("stamps")
	w := loadFile(t, s.URL(), `
q = amqp.client("TARGET")
def take(vu):
    c = vu.amqp.consume(q, "stamps", ack = "auto", name = "take")
    c.receive()
    return c.close()
workflow(name = "test", vus = 1, iterations = 5, duration = "60s", feed = feed.list([{"key": "stamps"}]), steps = [
    step("put", amqp.publish(q, key = "${key}", body = "x", headers = {"k": "${key}"}, stamp = True, confirm = True)),
    step("get", amqp.get(q, "stamps")),
    step("foreign", amqp.publish(q, key = "stamps", body = "x", headers = {"Hyperscale-Stamp": "00c0ffee00c0ffee-1"}, confirm = True)),
    step("look", amqp.get(q, "stamps"), expect = [body_contains("x")]),
    step("again", amqp.publish(q, key = "stamps", body = "x", stamp = True)),
    step("ask", take),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second})
	for step, counts := range map[string][2]uint64{"get": {5, 0}, "look": {0, 5}, "take": {5, 0}} {
		aged(t, r, step, counts[0], counts[1])
	}
}

// Every way to prove a user, with and without TLS, and what a server answers to a wrong proof.
func usersOfAMQP(t *testing.T, s *amqptest.Server) {
	s.Dial().Declare("users")
	certificate, key := authority.Client(amqptest.User)
	_, _, ca := authority.Files()
	for name, tt := range map[string]struct{ client, more, kind string }{
		"guest":           {`"URL"`, "", ""},
		"password":        {`"URL", user = "app", password = "geheim"`, "", ""},
		"in the URL":      {`"URL".replace("://", "://app:geheim@")`, "", ""},
		"both":            {`"URL".replace("://", "://app@"), password = "geheim"`, "", ""},
		"virtual host":    {`"URL/other", user = "app", password = "geheim"`, `exchange = "amq.direct", `, ""},
		"wrong":           {`"URL", user = "app", password = "falsch"`, "", "auth"},
		"no such host":    {`"URL/none", user = "app", password = "geheim"`, "", "server 530"},
		"not its host":    {`"URL/other"`, "", "server 530"},
		"may not publish": {`"URL", user = "reader", password = "geheim"`, "", "server 403"},
	} {
		for _, url := range []string{s.URL(), s.SecureURL()} {
			if url == s.SecureURL() && tt.kind != "" && name != "wrong" {
				continue
			}
			client := strings.ReplaceAll(tt.client, "URL", url)
			w := loadFile(t, "", fmt.Sprintf("q = amqp.client(%s)\nworkflow(name = \"test\", vus = 1, iterations = 2, duration = \"60s\", %s, steps = [step(\"ask\", amqp.publish(q, %skey = \"users\", confirm = True))])", client, anyTLS, tt.more))
			got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps[0]
			if tt.kind == "" && got.OK != 2 || tt.kind != "" && kinds(got)[tt.kind] != 2 || strings.Contains(fmt.Sprint(got), "geheim") {
				t.Errorf("%s by %s: ok %d: %v", name, url, got.OK, got.Errors)
			}
		}
	}
	for name, user := range map[string]string{"app": "", "unknown": "auth"} {
		if name != amqptest.User {
			certificate, key = authority.Client(name)
		}
		w := loadFile(t, s.SecureURL(), fmt.Sprintf(`
q = amqp.client("TARGET", auth = "external", tls = tls(certificate = %q, key = %q, ca = %q))
workflow(name = "test", vus = 1, iterations = 2, duration = "60s", steps = [step("ask", amqp.publish(q, key = "users", confirm = True))])`, certificate, key, ca))
		got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps[0]
		if user == "" && got.OK != 2 || user != "" && kinds(got)[user] != 2 {
			t.Errorf("the certificate of %s: ok %d: %v", name, got.OK, got.Errors)
		}
		certificate, key = authority.Client(amqptest.User)
	}
}

// A missing exchange closes the channel of its user alone, and the next operation of that user goes on by the
// same connection.
func channelsOfAMQP(t *testing.T, s *amqptest.Server, client string) {
	own := s.Dial()
	own.Declare("channels")
	own.Purge("channels")
	w := loadFile(t, s.URL(), `
q = amqp.client("TARGET"`+client+`)
def ask(vu):
    for i in range(20):
        if vu.id == 1:
            r = vu.amqp.publish(q, exchange = "none", key = "x", confirm = True, name = "wrong")
            if "NOT_FOUND" not in r.error:
                fail(r.error)
        vu.amqp.publish(q, key = "channels", confirm = True, name = "right")
    return vu.amqp.get(q, "channels", name = "get")
def blind(vu):
    vu.amqp.publish(q, exchange = "none", key = "x", name = "blind")
    vu.sleep("300ms")
    return vu.amqp.publish(q, key = "channels", confirm = True, name = "behind")
workflow(name = "test", vus = 8, iterations = 8, duration = "60s", steps = [step("ask", ask), step("blind", blind)])`)
	steps := byName(run(t, context.Background(), Config{Workflow: w, VUs: 8, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps)
	right, wrong, blind := steps["right"], steps["wrong"], steps["blind"]
	if right.OK != 8*20 || right.Failed > 0 || kinds(wrong)["server 404"] != wrong.Started || wrong.Started%20 != 0 || steps["get"].OK != 8 {
		t.Errorf("right %d of %d, wrong %v: %v", right.OK, right.Started, wrong.Errors, right.Errors)
	}
	all := measured(blind)
	if all[plan.MeasureUnconfirmed].Count != 8 || all[plan.MeasureServerErrors].Count != 8 {
		t.Errorf("blind: %d unconfirmed, %d errors", all[plan.MeasureUnconfirmed].Count, all[plan.MeasureServerErrors].Count)
	}
	if n := own.Settled("channels"); n != 8*20 {
		t.Errorf("the queue has %d", n)
	}
	for _, p := range steps["behind"].Phases {
		if p.Phase == message.PhaseConnect {
			t.Error("an operation behind an error connects")
		}
	}
}

// A message that a given-up operation fetched goes back to its queue.
func lateOfAMQP(t *testing.T, s *amqptest.Server, client string) {
	own := s.Dial()
	own.Declare("late")
	own.Purge("late")
	own.Fill("late", "hello", 100)
	w := loadFile(t, s.URL(), `
q = amqp.client("TARGET"`+client+`)
def ask(vu):
    for i in range(50):
        vu.amqp.get(q, "late", name = "get", timeout = "1ms")
    vu.sleep("200ms")
    return vu.amqp.get(q, "late", name = "next")
workflow(name = "test", vus = 16, iterations = 16, duration = "60s", steps = [step("ask", ask)])`)
	steps := byName(run(t, context.Background(), Config{Workflow: w, VUs: 16, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps)
	got := measured(steps["get"])[plan.MeasureMessagesReceived].Count + measured(steps["next"])[plan.MeasureMessagesReceived].Count
	if left := own.Settled("late"); got+left != 100 || steps["next"].OK != 16 {
		t.Errorf("%d messages were got, %d are left: %v, %v", got, left, steps["get"].Errors, steps["next"].Errors)
	}
}

// How a consumer ends that its server ends.
func consumersFail(t *testing.T, s *amqptest.Server) {
	own := s.Dial()
	own.Declare("fails")
	own.Declare("deleted")
	for name, tt := range map[string]struct{ body, kind string }{
		"no queue":  {`vu.amqp.consume("TARGET", "none", name = "take")`, "server 404"},
		"deleted":   {`vu.amqp.consume("TARGET", "deleted", name = "take").receive(timeout = "10s")`, "server cancel"},
		"exclusive": {`[vu.amqp.consume("TARGET", "fails", exclusive = True, name = "other"), vu.amqp.consume("TARGET", "fails", name = "take")]`, "server 403"},
	} {
		w := loadFile(t, s.URL(), "def ask(vu):\n    "+tt.body+"\nworkflow(name = \"test\", vus = 1, iterations = 1, duration = \"60s\", steps = [step(\"ask\", ask)])")
		if name == "deleted" {
			go func() {
				for _, consumers := own.Length("deleted"); consumers == 0; _, consumers = own.Length("deleted") {
					time.Sleep(5 * time.Millisecond)
				}
				own.Delete("deleted")
			}()
		}
		steps := byName(run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps)
		if kinds(steps["take"])[tt.kind] != 1 {
			t.Errorf("%s: %v", name, steps["take"].Errors)
		}
	}
}
