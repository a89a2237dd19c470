package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/mqtt/mqtttest"
)

// What a run counts is what the server counted: the messages that it took, by topic and in all, and the
// connections that clients opened and ended.
func TestMessagesAgreeWithMQTT(t *testing.T) {
	t.Parallel()
	s := mqtttest.Start(t, "")
	var packets uint64
	for at, tt := range []struct{ client, ask string }{
		{`version = "3.1.1"`, `publish(m, "TOPIC", "hello")`},
		{`version = "3.1.1"`, `publish(m, "TOPIC", "hello", qos = 1)`},
		{`version = "3.1.1"`, `publish(m, "TOPIC", b"\x00\xff", qos = 2, retain = True)`},
		{`version = "5"`, `publish(m, "TOPIC", "hello", headers = {"k": "v"})`},
		{`version = "5", client_id = "load-${vu}", keep_alive = "5s"`, `publish(m, "TOPIC", "hello", qos = 1)`},
		{`version = "5"`, `publish(m, "TOPIC", "hello", qos = 2)`},
		{`version = "5", client_id = "storm-${vu}"`, `connect(m)`},
	} {
		for _, vus := range []uint64{1, 64, 500} {
			if vus == 500 && at < 3 {
				continue // what differs from 64 users differs in any version
			}
			n, topic := 2*vus, fmt.Sprintf("t/%d/%d", at, vus)
			t.Run(tt.ask+topic, func(t *testing.T) {
				connected, goodbyes := s.Connected(""), s.Goodbyes("")
				w := loadFile(t, s.URL(), fmt.Sprintf("m = mqtt.client(\"TARGET\", %s)\nworkflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", steps = [step(\"ask\", mqtt.%s)])", tt.client, n, vus, strings.Replace(tt.ask, "TOPIC", topic, 1)))
				got := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
				s.Settled(0)
				if got.OK != n || got.Started != n || got.Sent != n || len(got.Statuses) > 0 {
					t.Fatalf("ok %d of %d, sent %d: %v %v", got.OK, got.Started, got.Sent, got.Errors, got.Statuses)
				}
				measures := measured(got)
				sent, opened := measures[plan.MeasureMessagesSent].Count, s.Connected("")-connected
				if welcomed := measures[plan.MeasureConnectLatency].Times.Count; welcomed != opened || s.Goodbyes("")-goodbyes != opened {
					t.Errorf("%d connections measured, %d opened, %d ended", welcomed, opened, s.Goodbyes("")-goodbyes)
				}
				packets += 2 * opened // CONNECT and DISCONNECT
				if strings.HasPrefix(tt.ask, "connect") {
					if opened != n || sent != 0 {
						t.Errorf("%d connections, want %d; %d messages", opened, n, sent)
					}
					return
				}
				if packets += n; strings.Contains(tt.ask, "qos = 2") {
					packets += n // a PUBREL each
				}
				if took := s.Received(topic); sent != n || took != n || opened > vus {
					t.Errorf("sent %d messages, the server took %d, want %d; %d connections", sent, took, n, opened)
				}
				if acks := measures[plan.MeasureAckLatency].Times.Count; strings.Contains(tt.ask, "qos") != (acks == n) {
					t.Errorf("%d acknowledgements", acks)
				}
				if late := measures[plan.MeasureLateAnswers].Count; late > 0 {
					t.Errorf("%d late answers", late)
				}
			})
		}
	}
	if counted := s.Packets(); counted != packets {
		t.Errorf("the server counts %d packets, and %d were sent", counted, packets)
	}
}

// However a run ends, no message counts that the server did not get, and what it got counts.
func TestMessagesAgreeWhenARunOfMQTTBreaks(t *testing.T) {
	t.Parallel()
	s := mqtttest.Start(t, "")
	for qos := range 3 {
		for _, vus := range []uint64{1, 64, 500} {
			topic := fmt.Sprintf("b/%d/%d", qos, vus)
			t.Run(topic, func(t *testing.T) {
				w := loadFile(t, s.URL(), fmt.Sprintf("workflow(name = \"test\", vus = %d, duration = \"60s\", steps = [step(\"ask\", mqtt.publish(\"TARGET\", %q, \"hello\", qos = %d))])", vus, topic, qos))
				ctx, cancel := context.WithCancel(context.Background())
				asked := make(chan struct{})
				go func() {
					defer close(asked)
					for s.Received(topic) < 500 {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
				got := run(t, ctx, Config{Workflow: w, VUs: vus, Duration: time.Minute}).Stats.Steps[0]
				<-asked
				s.Settled(0)
				if sent, took := measured(got)[plan.MeasureMessagesSent].Count, s.Received(topic); sent != took || got.Failed > 0 {
					t.Errorf("sent %d messages, the server took %d; %d failed: %v", sent, took, got.Failed, got.Errors)
				}
				if got.Started != got.OK+got.Failed+got.TimedOut+got.Cancelled {
					t.Errorf("%d started: %v", got.Started, got)
				}
			})
		}
	}
}

// Every way to prove a user, with and without TLS; and what a server answers to a wrong proof, or to a
// message that the user may not send.
func TestUsersOfMQTT(t *testing.T) {
	t.Parallel()
	users := mqtttest.Passwords(t, "app:geheim\n")
	rights := mqtttest.File{Name: "acl", Text: "user app\ntopic readwrite open/#\n"}
	s := mqtttest.Start(t, "allow_anonymous false\npassword_file DIR/passwords\nacl_file DIR/acl\nmax_packet_size 2000", users, rights)
	for name, tt := range map[string]struct{ client, ask, kind string }{
		"password":      {`mqtt.client("URL", user = "app", password = "geheim")`, `"open/a", "x", qos = 1`, ""},
		"in the URL":    {`mqtt.client("URL".replace("://", "://app:geheim@"), version = "3.1.1")`, `"open/a", "x", qos = 2`, ""},
		"wrong":         {`mqtt.client("URL", user = "app", password = "falsch")`, `"open/a", "x"`, "auth"},
		"wrong, 3.1.1":  {`mqtt.client("URL", user = "app", password = "falsch", version = "3.1.1")`, `"open/a", "x"`, "auth"},
		"none":          {`mqtt.client("URL")`, `"open/a", "x"`, "auth"},
		"not permitted": {`mqtt.client("URL", user = "app", password = "geheim")`, `"secret", "x", qos = 1`, "server not authorized"},
		"nor by QoS 2":  {`mqtt.client("URL", user = "app", password = "geheim")`, `"secret", "x", qos = 2`, "server not authorized"},
		"too large":     {`mqtt.client("URL", user = "app", password = "geheim")`, `"open/a", "x" * 2000`, "value"},
	} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, secure), func(t *testing.T) {
				url := s.URL()
				if secure {
					url = s.SecureURL()
				}
				w := loadFile(t, url, fmt.Sprintf("m = %s\nworkflow(name = \"test\", vus = 1, iterations = 2, duration = \"60s\", %s, steps = [step(\"ask\", mqtt.publish(m, %s))])", strings.ReplaceAll(tt.client, "URL", "TARGET"), anyTLS, tt.ask))
				got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps[0]
				if tt.kind == "" && got.OK != 2 || tt.kind != "" && kinds(got)[tt.kind] != 2 || strings.Contains(fmt.Sprint(got), "geheim") {
					t.Errorf("ok %d: %v", got.OK, got.Errors)
				}
			})
		}
	}
	t.Run("certificate", func(t *testing.T) {
		certificate, key := authority.Client("app")
		for options, kind := range map[string]string{fmt.Sprintf("tls(verify = False, certificate = %q, key = %q)", certificate, key): "", "tls(verify = False)": "auth"} {
			w := loadFile(t, s.CertifiedURL(), fmt.Sprintf(`workflow(name = "test", vus = 1, iterations = 2, duration = "60s", steps = [step("ask", mqtt.publish(mqtt.client("TARGET", tls = %s), "open/a", "x", qos = 1))])`, options))
			got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute}).Stats.Steps[0]
			if kind == "" && got.OK != 2 || kind != "" && got.Failed != 2 {
				t.Errorf("%q: ok %d: %v", kind, got.OK, got.Errors)
			}
		}
	})
}

// Each member of a group gets its share, and all of them together every message once, whatever the quality
// of service: what sessions receive is what the server gave.
func TestSubscriptionsAgreeWithMQTT(t *testing.T) {
	t.Parallel()
	s := mqtttest.Start(t, "")
	const members, messages = 3, 60
	for _, version := range []string{"3.1.1", "5"} {
		for qos := range 3 {
			t.Run(fmt.Sprintf("%s/%d", version, qos), func(t *testing.T) {
				topic := fmt.Sprintf("s/%s/%d", version, qos)
				headers := map[string]string{"5": `headers = {"k": "v"}, stamp = True, `}[version]
				foreign := map[string]string{"5": `headers = {"Hyperscale-Stamp": "00c0ffee00c0ffee-1"}, `}[version]
				w := loadFile(t, s.URL(), fmt.Sprintf(`
m = mqtt.client("TARGET", version = %[1]q, client_id = "sub-${vu}")
p = mqtt.client("TARGET", version = %[1]q)
def receive(vu):
    s = vu.mqtt.subscribe(m, ["$share/g/%[2]s", "other/#"], qos = %[3]d, name = "all")
    got = 0
    for i in range(%[4]d + 1):
        d = s.receive(timeout = "5s")
        if d.error or d.topic == "other/end":
            break
        if d.topic != "%[2]s" or d.data != "hello" or d.reply != "" or d.retained or d.headers.get("k", "v") != "v":
            fail("wrong: %%s %%s" %% (d.topic, d.data))
        got += 1
    if s.ping(timeout = "2s").error:
        fail("no answer to a ping")
    r = s.close()
    if r.error:
        fail(r.error)
    return r
def send(vu):
    vu.sleep("200ms")
    for i in range(%[4]d):
        vu.mqtt.publish(p, "%[2]s", "hello", qos = %[3]d, %[5]sname = "send")
    return vu.mqtt.publish(p, "other/end", "over", qos = %[3]d, %[7]sname = "end")
def either(vu):
    return send(vu) if vu.id == 1 else receive(vu)
workflow(name = "test", vus = %[6]d, iterations = %[6]d, duration = "60s", steps = [step("ask", either)])`, version, topic, qos, messages, headers, members+1, foreign))
				r := run(t, context.Background(), Config{Workflow: w, VUs: members + 1, Duration: time.Minute, Timeout: 20 * time.Second})
				s.Settled(0)
				steps := byName(r.Stats.Steps)
				if ask := steps["ask"]; ask.OK != members+1 {
					t.Fatalf("%d ok: %v %v", ask.OK, ask.Errors, steps["all"].Errors)
				}
				all := measured(steps["all"])
				if got := all[plan.MeasureMessagesReceived].Count; got != messages+members || s.Gave(topic) != messages || s.Received(topic) != messages || all[plan.MeasureDuplicates].Count > 0 {
					t.Errorf("received %d, the server took %d and gave %d", got, s.Received(topic), s.Gave(topic))
				}
				if version == "5" {
					aged(t, r, "all", messages, members)
				} else if len(headers)+len(all[plan.MeasureEndToEnd].Name) > 0 {
					t.Errorf("3.1.1 has no stamps: %v", all[plan.MeasureEndToEnd])
				}
			})
		}
	}
}

// A connection that says nothing lives by pings, before the clock begins and behind; and retained messages
// come first.
func TestMQTTKeepsAlive(t *testing.T) {
	t.Parallel()
	s := mqtttest.Start(t, "")
	w := loadFile(t, s.URL(), `
m = mqtt.client("TARGET", keep_alive = "1s")
def open(vu):
    vu.vars["s"] = vu.mqtt.subscribe(m, "kept/#", name = "kept")
def wait(vu):
    first = vu.mqtt.publish(m, "kept/a", "here", qos = 1, retain = True, stamp = True, name = "put")
    got = vu.vars["s"].receive(timeout = "2s")
    late = vu.mqtt.subscribe(m, "kept/#", name = "late")
    again = late.receive(timeout = "2s")
    if got.retained or not again.retained or again.data != "here":
        fail("retained: %s, then %s" % (got.retained, again.retained))
    vu.sleep("2500ms")
    second = vu.mqtt.publish(m, "kept/a", "still", qos = 1, stamp = True, name = "put")
    for s in [vu.vars["s"], late]:
        d = s.receive(timeout = "2s")
        if d.error or d.data != "still":
            fail(d.error or d.data)
    r = late.close()
    return second
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", vu_setup = open, steps = [step("ask", wait)])`)
	got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 10 * time.Second})
	steps := byName(got.Stats.Steps)
	s.Settled(0)
	aged(t, got, "kept", 2, 0)
	aged(t, got, "late", 1, 0) // what the server had kept is as old as it wants
	if steps["ask"].OK != 1 || s.Connected("") != 3 {
		t.Errorf("%v %v; %d connections", steps["ask"].Errors, steps["kept"].Errors, s.Connected(""))
	}
}

// One client identifier serves one connection: a second one of this process is refused before it throws the
// first one out, and one of elsewhere is explained.
func TestClientsOfMQTTAreTheirOwn(t *testing.T) {
	t.Parallel()
	s := mqtttest.Start(t, "")
	w := loadFile(t, s.URL(), `
m = mqtt.client("TARGET", client_id = "dev-${vu}")
def prepare(vu):
    r = vu.mqtt.publish(m, "a", "x", qos = 1, name = "prepare")
    if r.error:
        fail(r.error)
def twice(vu):
    s = vu.mqtt.subscribe(m, "a", name = "first")
    r = vu.mqtt.publish(m, "a", "x", qos = 1, name = "second")
    s.close()
    if "client_id" not in r.error or "dev-%d" % vu.id not in r.error:
        fail("second: %s" % r.error)
    return vu.mqtt.publish(m, "a", "x", qos = 1, name = "third")
workflow(name = "test", vus = 2, iterations = 2, duration = "60s", setup = prepare, teardown = prepare, steps = [step("ask", twice)])`)
	steps := byName(run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: time.Minute, Timeout: 10 * time.Second}).Stats.Steps)
	s.Settled(0)
	if steps["ask"].OK != 2 || kinds(steps["second"])["value"] != 2 || steps["third"].OK != 2 || s.Connected("dev-0")+s.Connected("dev-1") != 4 || steps["prepare"].OK == 0 || steps["prepare"].Failed > 0 {
		t.Errorf("%v %v %v %v; %d connections", steps["ask"].Errors, steps["second"].Errors, steps["third"].Errors, steps["prepare"].Errors, s.Connected("dev-"))
	}
	for _, version := range []string{"5", "3.1.1"} { // mosquitto gives no reason
		w := loadFile(t, s.URL(), fmt.Sprintf(`
def taken(vu):
    s = vu.mqtt.subscribe(mqtt.client("TARGET", client_id = "same", version = %[1]q), "a", name = "taken")
    d = s.receive(timeout = "20s")
    return s.close()
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("ask", taken)])`, version))
		done, before := make(chan struct{}), s.Connected("same")
		go func() {
			defer close(done)
			for s.Connected("same") == before {
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(200 * time.Millisecond)
			other := loadFile(t, s.URL(), fmt.Sprintf(`workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("ask", mqtt.connect(mqtt.client("TARGET", client_id = "same", version = %q)))])`, version))
			if r, err := Run(context.Background(), Config{Workflow: other, VUs: 1, Duration: time.Minute, Timeout: 5 * time.Second}); err != nil || r.Stats.Steps[0].OK != 1 {
				t.Errorf("%v", err)
			}
		}()
		got := byName(run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute}).Stats.Steps)["taken"]
		<-done
		if kinds(got)["closed"] != 1 || !strings.Contains(fmt.Sprint(got.Errors), "client_id") {
			t.Errorf("%s: %v", version, got.Errors)
		}
	}
}
