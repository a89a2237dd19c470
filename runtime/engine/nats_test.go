package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/nats/natstest"
)

const streams = "jetstream { store_dir: \"STORE\" }"

// What a run counts is what the server counted: the messages that it took and gave, and the last number of
// its stream.
func TestMessagesAgreeWithNATS(t *testing.T) {
	s := natstest.Start(t, streams)
	own := s.Dial("")
	own.Stream("ORDERS", "orders.>", "")
	own.Stream("FULL", "full", `,"max_msgs":1,"discard":"new"`)
	s.Dial("").Echo("svc.echo", nil)
	own.Ask("full", "the only one")
	for _, vus := range []uint64{1, 64, 500} {
		for name, tt := range map[string]struct {
			ask           string
			in, out, last uint64 // of an operation: messages that the server takes and gives, and stores
			bad           uint64
			kind          string
		}{
			"publish":   {`publish(n, "plain", "hello")`, 1, 0, 0, 0, ""},
			"headers":   {`publish(n, "plain", b"\x00\xff", headers = {"k": "v"}, flush = True)`, 1, 0, 0, 0, ""},
			"flush":     {`publish(n, "plain", "hello", flush = True)`, 1, 0, 0, 0, ""},
			"stream":    {`publish(n, "orders.new", "hello", stream = True)`, 1, 1, 1, 0, ""},
			"request":   {`request(n, "svc.echo", "hello"), expect = [body_contains("hello")`, 2, 2, 0, 0, ""},
			"unheard":   {`request(n, "svc.none", "hello")`, 1, 0, 0, 1, "server 503"},
			"no stream": {`publish(n, "plain", "hello", stream = True)`, 1, 0, 0, 1, "server 503"},
			"full":      {`publish(n, "full", "hello", stream = True)`, 1, 1, 0, 1, "server 10077"},
		} {
			t.Run(fmt.Sprintf("%s/%d", name, vus), func(t *testing.T) {
				in, _ := s.Settled()
				last := own.LastSequence("ORDERS")
				in++ // the question
				n := 2 * vus
				ask, expect, _ := strings.Cut(tt.ask, ", expect")
				if expect != "" {
					expect = ", expect" + expect + "]"
				}
				w := loadFile(t, s.URL(), fmt.Sprintf("n = nats.client(\"TARGET\")\nworkflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", steps = [step(\"ask\", nats.%s%s)])", n, vus, ask, expect))
				got := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
				if got.OK != n*(1-tt.bad) || got.Started != n || got.Sent != n || kinds(got)[tt.kind] != n*tt.bad || len(got.Statuses) > 0 {
					t.Fatalf("ok %d of %d, sent %d: %v %v", got.OK, got.Started, got.Sent, got.Errors, got.Statuses)
				}
				all := measured(got)
				took, _ := s.Settled()
				if sent := all[plan.MeasureMessagesSent].Count; sent != n || took-in != n*tt.in {
					t.Errorf("sent %d messages, the server took %d, want %d", sent, took-in, n*tt.in)
				}
				if stored := own.LastSequence("ORDERS") - last; stored != n*tt.last {
					t.Errorf("the stream has %d more, want %d", stored, n*tt.last)
				}
				if late := all[plan.MeasureLateAnswers].Count; late > 0 {
					t.Errorf("%d late answers", late)
				}
			})
		}
	}
}

// However a run ends, no message counts that the server did not get, and what it got counts.
func TestMessagesAgreeWhenARunBreaks(t *testing.T) {
	for _, verb := range []string{`publish(n, "orders.new", "hello")`, `publish(n, "orders.new", "hello", stream = True)`, `request(n, "svc.echo", "hello")`} {
		for i, vus := range []uint64{1, 64, 500, 64, 500} {
			client := ""
			if i > 2 {
				client = fmt.Sprintf(", connections = %d", sharedConnections)
			}
			t.Run(fmt.Sprintf("%s/%d%s", verb[:7], vus, client), func(t *testing.T) {
				s := natstest.Start(t, streams)
				own := s.Dial("")
				own.Stream("ORDERS", "orders.>", "")
				s.Dial("").Echo("svc.echo", nil)
				before, _ := s.Settled()
				w := loadFile(t, s.URL(), fmt.Sprintf("n = nats.client(\"TARGET\"%s)\nworkflow(name = \"test\", vus = %d, duration = \"60s\", steps = [step(\"ask\", nats.%s)])", client, vus, verb))
				ctx, cancel := context.WithCancel(context.Background())
				asked := make(chan struct{})
				go func() {
					defer close(asked)
					for in, _ := s.Counts(); in < before+3000; in, _ = s.Counts() {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
				got := run(t, ctx, Config{Workflow: w, VUs: vus, Duration: time.Minute}).Stats.Steps[0]
				<-asked
				in, _ := s.Settled()
				sent, took := measured(got)[plan.MeasureMessagesSent].Count, in-before
				if strings.HasPrefix(verb, "request") {
					if replies := took - sent; replies < got.OK || replies > sent {
						t.Errorf("sent %d messages, the server took %d; ok %d", sent, took, got.OK)
					}
				} else if sent != took || got.Failed > 0 {
					t.Errorf("sent %d messages, the server took %d; %d failed: %v", sent, took, got.Failed, got.Errors)
				}
				if strings.Contains(verb, "stream") && own.LastSequence("ORDERS") != sent {
					t.Errorf("sent %d messages, the stream has %d", sent, own.LastSequence("ORDERS"))
				}
				if got.Started != got.OK+got.Failed+got.TimedOut+got.Cancelled {
					t.Errorf("%d started: %v", got.Started, got)
				}
			})
		}
	}
}

// A request that times out keeps its connection: its late answer is counted, and the next request gets its
// own.
func TestLateRepliesOfNATS(t *testing.T) {
	s := natstest.Start(t, "")
	delayed := s.Dial("")
	held := make(chan string, 1)
	delayed.Echo("svc.slow", func(data string) bool {
		if data == "first" {
			held <- data
			time.Sleep(700 * time.Millisecond)
		}
		return false
	})
	before, _ := s.Settled()
	w := loadFile(t, s.URL(), `
n = nats.client("TARGET")
def ask(vu):
    a = vu.nats.request(n, "svc.slow", "first", name = "first", timeout = "200ms")
    vu.sleep("1500ms")
    return vu.nats.request(n, "svc.slow", "second", name = "second", expect = [body_contains("second")])
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("ask", ask)])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second})
	steps := byName(r.Stats.Steps)
	first, second := steps["first"], steps["second"]
	if first.TimedOut != 1 || second.OK != 1 || measured(first)[plan.MeasureLateAnswers].Count != 1 || measured(second)[plan.MeasureLateAnswers].Count != 0 {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if in, _ := s.Settled(); in-before != 4 {
		t.Errorf("the server took %d messages", in-before)
	}
	for _, p := range second.Phases {
		if p.Phase == message.PhaseConnect {
			t.Errorf("the second request connects: %v", second.Phases)
		}
	}
}

func byName(all []message.StepStats) map[string]message.StepStats {
	out := map[string]message.StepStats{}
	for _, s := range all {
		out[s.Name[strings.LastIndexByte(s.Name, '/')+1:]] = s // a function's request stands below its step
	}
	return out
}

// Every way to prove a user, with and without TLS; and what a server answers to a wrong proof, or to a
// message that the user may not send.
func TestUsersOfNATS(t *testing.T) {
	const seed, public = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY", "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
	users := `authorization { users: [ {user: app, password: geheim, permissions: {publish: {deny: "secret"}, subscribe: ">"}}, {nkey: ` + public + `} ] }`
	for name, tt := range map[string]struct {
		config, client, ask, kind string
	}{
		"password":   {users, `nats.client("URL", user = "app", password = "geheim")`, `"open", flush = True`, ""},
		"in the URL": {users, `nats.client("URL".replace("://", "://app:geheim@"))`, `"open", flush = True`, ""},
		"wrong":      {users, `nats.client("URL", user = "app", password = "falsch")`, `"open", flush = True`, "auth"},
		"none":       {users, `nats.client("URL")`, `"open", flush = True`, "auth"},
		"nkey":       {users, `nats.client("URL", nkey = "` + seed + `")`, `"open", flush = True`, ""},
		"token":      {"authorization { token: geheim }", `nats.client("URL", token = "geheim")`, `"open", flush = True`, ""},
		"permission": {users, `nats.client("URL", user = "app", password = "geheim")`, `"secret", flush = True`, "server permissions violation"},
		"too large":  {"max_payload: 100", `nats.client("URL")`, `"open", data = "x" * 101`, "value"},
	} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, secure), func(t *testing.T) {
				config := tt.config
				if secure {
					config += "\ntls { cert_file: \"CERT\", key_file: \"KEY\" }"
				}
				s := natstest.Start(t, config)
				url := s.URL()
				if secure {
					url = s.SecureURL()
				}
				w := loadFile(t, url, fmt.Sprintf("n = %s\nworkflow(name = \"test\", vus = 1, iterations = 2, duration = \"60s\", %s, steps = [step(\"ask\", nats.publish(n, %s))])", strings.ReplaceAll(tt.client, "URL", "TARGET"), anyTLS, tt.ask))
				got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps[0]
				if tt.kind == "" && got.OK != 2 || tt.kind != "" && kinds(got)[tt.kind] != 2 || strings.Contains(fmt.Sprint(got), "geheim") || strings.Contains(fmt.Sprint(got), seed) {
					t.Errorf("ok %d: %v", got.OK, got.Errors)
				}
			})
		}
	}
	t.Run("credentials", func(t *testing.T) {
		s, credentials := natstest.Operate(t, "")
		for _, tt := range []struct{ text, kind string }{{credentials, ""}, {strings.Replace(credentials, "BEGIN NATS USER JWT-----\ne", "BEGIN NATS USER JWT-----\nf", 1), "auth"}} {
			w := loadFile(t, s.URL(), fmt.Sprintf(`workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("ask", nats.publish(nats.client("TARGET", credentials = %q), "a", flush = True))])`, tt.text))
			if got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute}).Stats.Steps[0]; tt.kind == "" && got.OK != 1 || tt.kind != "" && kinds(got)[tt.kind] != 1 {
				t.Errorf("%q: ok %d: %v", tt.kind, got.OK, got.Errors)
			}
		}
	})
	t.Run("TLS that is not there", func(t *testing.T) {
		s := natstest.Start(t, "")
		w := loadFile(t, s.SecureURL(), `workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("ask", nats.publish("TARGET", "a"))])`)
		if got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute}).Stats.Steps[0]; kinds(got)["tls"] != 1 {
			t.Errorf("%v", got.Errors)
		}
	})
	t.Run("TLS that the server wants", func(t *testing.T) {
		s := natstest.Start(t, "tls { cert_file: \"CERT\", key_file: \"KEY\" }")
		w := loadFile(t, s.URL(), `workflow(name = "test", vus = 1, iterations = 1, duration = "60s", `+anyTLS+`, steps = [step("ask", nats.publish("TARGET", "a", flush = True))])`)
		if got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute}).Stats.Steps[0]; got.OK != 1 {
			t.Errorf("%v", got.Errors)
		}
	})
}

// Each member of a queue group gets its share, and all of them together every message once: what sessions
// receive is what the server gave.
func TestSubscriptionsAgreeWithNATS(t *testing.T) {
	s := natstest.Start(t, "")
	before, given := s.Settled()
	const members, messages = 4, 200
	w := loadFile(t, s.URL(), fmt.Sprintf(`
n = nats.client("TARGET")
def receive(vu):
    s = vu.nats.subscribe(n, "orders.*", queue = "w", name = "all")
    got = 0
    for i in range(%d):
        m = s.receive(timeout = "3s")
        if m.error:
            break
        if m.subject != "orders.new" or m.headers["k"] != "v" or m.data != "hello" or m.reply != "":
            fail("wrong: %%s %%s" %% (m.subject, m.data))
        got += 1
    if s.ping(timeout = "2s").error:
        fail("no answer to a ping")
    r = s.close()
    if r.error:
        fail(r.error)
    return r
def send(vu):
    vu.sleep("500ms")
    for i in range(%d):
        r = vu.nats.publish(n, "orders.new", "hello", headers = {"k": "v"}, flush = True, stamp = True, name = "send")
    return r
def either(vu):
    return send(vu) if vu.id == 1 else receive(vu)
workflow(name = "test", vus = %d, iterations = %d, duration = "60s", steps = [step("ask", either)])`, messages, messages, members+1, members+1))
	r := run(t, context.Background(), Config{Workflow: w, VUs: members + 1, Duration: time.Minute, Timeout: 20 * time.Second})
	steps := byName(r.Stats.Steps)
	in, out := s.Settled()
	if ask := steps["ask"]; ask.OK != members+1 {
		t.Fatalf("%d ok: %v %v", ask.OK, ask.Errors, steps["all"].Errors)
	}
	if got := measured(steps["all"])[plan.MeasureMessagesReceived].Count; got != messages || out-given != messages || in-before != messages {
		t.Errorf("received %d, the server took %d and gave %d", got, in-before, out-given)
	}
	aged(t, r, "all", messages, 0)
}

// A second message with an id is acknowledged, and not stored.
func TestDuplicatesOfAStream(t *testing.T) {
	s := natstest.Start(t, streams)
	own := s.Dial("")
	own.Stream("ORDERS", "orders.>", "")
	w := loadFile(t, s.URL(), `workflow(name = "test", vus = 1, iterations = 10, duration = "60s", steps = [step("ask", nats.publish("TARGET", "orders.new", "x", stream = True, id = "same"), expect = [json_is("$.stream", "ORDERS")])])`)
	got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute}).Stats.Steps[0]
	if again := measured(got)[plan.MeasureDuplicates].Count; got.OK != 10 || again != 9 || own.LastSequence("ORDERS") != got.OK-again {
		t.Errorf("ok %d, %d again, %d stored: %v", got.OK, again, own.LastSequence("ORDERS"), got.Errors)
	}
}

// aged checks that of the messages which a step received so many had a stamp of this machine, and so many another:
// no message is older than the run.
func aged(t *testing.T, r *message.ExecResult, step string, own, foreign uint64) {
	t.Helper()
	all := measured(byName(r.Stats.Steps)[step])
	if ages := all[plan.MeasureEndToEnd].Times; ages.Count != own || own > 0 && (ages.Min == 0 || ages.Max > uint64(r.Stats.Elapsed)) || all[plan.MeasureStampsUnknown].Count != foreign {
		t.Errorf("%d of %d messages have an age, from %d to %d in a run of %d; %d of %d have none", ages.Count, own, ages.Min, ages.Max, r.Stats.Elapsed, all[plan.MeasureStampsUnknown].Count, foreign)
	}
}
