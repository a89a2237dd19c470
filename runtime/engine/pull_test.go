package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/nats/natstest"
)

// pulls is a server with a stream of so many messages, and a consumer of it.
func pulls(t *testing.T, messages int) (*natstest.Server, *natstest.Client) {
	s := natstest.Start(t, streams)
	own := s.Dial("")
	own.Stream("ORDERS", "orders.>", "")
	own.Fill("orders.new", "hello", messages)
	own.Consumer("ORDERS", "c", "")
	return s, own
}

// pulled runs sessions until a receive brings nothing. Body is what a function does with m.
func pulled(t *testing.T, ctx context.Context, url string, vus uint64, batch int, body string) map[string]message.StepStats {
	w := loadFile(t, url, fmt.Sprintf(`
n = nats.client("TARGET")
def work(vu):
    s = vu.nats.pull(n, stream = "ORDERS", consumer = "c", batch = %d, within = "2s", name = "take")
    for i in range(100000):
        m = s.receive(timeout = "1500ms")
        if m.error:
            break
        if m.subject != "orders.new" or m.data != "hello" or m.sequence < 1:
            fail("wrong: %%s" %% m)
        %s
    return s.close()
workflow(name = "test", vus = %d, iterations = %d, duration = "60s", steps = [step("work", work)])`, batch, body, vus, vus))
	return byName(run(t, ctx, Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps)
}

// What sessions pull and acknowledge is what the consumer counts, and what they send what the server took.
func TestPullsAgreeWithNATS(t *testing.T) {
	t.Parallel()
	for _, vus := range []uint64{1, 64} {
		for _, batch := range []int{1, 100} {
			t.Run(fmt.Sprintf("%d/%d", vus, batch), func(t *testing.T) {
				t.Parallel()
				const messages = 2000
				s, own := pulls(t, messages)
				before, _ := s.Settled()
				steps := pulled(t, context.Background(), s.URL(), vus, batch, "s.ack(m)")
				in, _ := s.Settled()
				all, c := measured(steps["take"]), own.Consumed("ORDERS", "c")
				if steps["work"].OK != vus || steps["take"].OK != vus {
					t.Fatalf("%v %v", steps["work"].Errors, steps["take"].Errors)
				}
				received, acks, asked := all[plan.MeasureMessagesReceived].Count, all[plan.MeasureAcks].Count, all[plan.MeasurePulls].Count
				if received != messages || acks != messages || c.Delivered.Consumer != messages || c.AckFloor.Consumer != messages || c.AckFloor.Stream != messages || c.AckPending+c.Pending > 0 {
					t.Errorf("received %d, acknowledged %d; the consumer: %+v", received, acks, c)
				}
				if sent := all[plan.MeasureMessagesSent].Count; sent != in-before || sent != vus+asked+acks {
					t.Errorf("sent %d messages, %d of them requests; the server took %d", sent, asked, in-before)
				}
				if asked < messages/uint64(batch) || all[plan.MeasureRedelivered].Count > 0 {
					t.Errorf("%d requests, %d redelivered", asked, all[plan.MeasureRedelivered].Count)
				}
			})
		}
	}
}

// A message that is not wanted yet comes again and counts so, one that is never wanted does not.
func TestSettlementsAgreeWithNATS(t *testing.T) {
	t.Parallel()
	const messages = 300
	s, own := pulls(t, messages)
	steps := pulled(t, context.Background(), s.URL(), 4, 10, `
        if m.sequence % 10 == 0:
            s.progress(m)
        if m.sequence % 10 == 1:
            s.term(m)
        elif m.sequence % 10 < 5 and m.deliveries == 1:
            s.nak(m)
        elif m.sequence % 10 == 5 and m.deliveries < 3:
            s.nak(m, delay = "50ms")
        else:
            s.ack(m)`)
	all, c := measured(steps["take"]), own.Consumed("ORDERS", "c")
	for measure, want := range map[string]uint64{plan.MeasureTerms: messages / 10, plan.MeasureNaks: messages * 6 / 10, plan.MeasureRedelivered: messages * 6 / 10, plan.MeasureAcks: messages * 9 / 10, plan.MeasureMessagesReceived: messages * 16 / 10} {
		if got := all[measure].Count; got != want {
			t.Errorf("%s: %d, want %d: %v", measure, got, want, steps["take"].Errors)
		}
	}
	if c.Delivered.Consumer != messages*16/10 || c.AckFloor.Stream != messages || c.AckPending+c.Pending > 0 {
		t.Errorf("the consumer: %+v", c)
	}
}

// However a run ends, no message counts that the consumer did not send, and no acknowledgement that was
// not sent is taken.
func TestPullsAgreeWhenARunBreaks(t *testing.T) {
	t.Parallel()
	for _, vus := range []uint64{1, 64} {
		t.Run(fmt.Sprint(vus), func(t *testing.T) {
			t.Parallel()
			s, own := pulls(t, 60_000)
			ctx, cancel := context.WithCancel(context.Background())
			other := s.Dial("")
			asked := make(chan struct{})
			go func() {
				defer close(asked)
				for other.Consumed("ORDERS", "c").Delivered.Consumer < 3000 {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
			steps := pulled(t, ctx, s.URL(), vus, 100, "s.ack(m)")
			<-asked
			s.Settled()
			all, c := measured(steps["take"]), own.Consumed("ORDERS", "c")
			// A message that the server could not write goes out again under a new sequence of the consumer:
			// only the stream's sequence counts each message once, as the pending ones do.
			received, acks, taken := all[plan.MeasureMessagesReceived].Count, all[plan.MeasureAcks].Count, c.Delivered.Stream-c.AckPending
			t.Logf("received %d of %d, acknowledged %d, taken %d", received, c.Delivered.Consumer, acks, taken)
			if received > c.Delivered.Consumer || c.Delivered.Consumer-received > 100*vus || taken > acks || acks > received || acks == 0 {
				t.Errorf("received %d, acknowledged %d; the consumer: %+v", received, acks, c)
			}
			if got := steps["take"]; got.Started != got.OK+got.Failed+got.TimedOut+got.Cancelled {
				t.Errorf("%d started: %v", got.Started, got)
			}
		})
	}
}

// What a server refuses, and a consumer that is deleted under a function which waits.
func TestPullsThatNATSRefuses(t *testing.T) {
	t.Parallel()
	s, own := pulls(t, 0)
	own.Consumer("ORDERS", "narrow", `,"max_waiting":1,"max_batch":10`)
	own.Consumer("ORDERS", "doomed", "")
	if got := own.Ask("$JS.API.CONSUMER.DURABLE.CREATE.ORDERS.pushes", `{"stream_name":"ORDERS","config":{"durable_name":"pushes","deliver_subject":"there","deliver_policy":"all","ack_policy":"explicit","replay_policy":"instant"}}`); got == "" {
		t.Fatal(got)
	}
	plain := natstest.Start(t, "")
	for name, tt := range map[string]struct {
		url, of, kind string
		vus           uint64
	}{
		"no stream":       {s.URL(), `stream = "NONE", consumer = "c"`, "server 10059", 1},
		"no consumer":     {s.URL(), `stream = "ORDERS", consumer = "none"`, "server 10014", 1},
		"a push consumer": {s.URL(), `stream = "ORDERS", consumer = "pushes"`, "value", 1},
		"a large batch":   {s.URL(), `stream = "ORDERS", consumer = "narrow", batch = 11`, "server 409", 1},
		"two that wait":   {s.URL(), `stream = "ORDERS", consumer = "narrow", batch = 1`, "server 409", 2},
		"no JetStream":    {plain.URL(), `stream = "ORDERS", consumer = "c"`, "server 503", 1},
		"deleted":         {s.URL(), `stream = "ORDERS", consumer = "doomed"`, "server 409", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := loadFile(t, tt.url, fmt.Sprintf(`
n = nats.client("TARGET")
def work(vu):
    s = vu.nats.pull(n, %s, name = "take")
    m = s.receive(timeout = "1s")
    if %q == "deleted":
        vu.nats.request(n, "$JS.API.CONSUMER.DELETE.ORDERS.doomed")
        m = s.receive(timeout = "10s")
    return s.close()
workflow(name = "test", vus = %d, iterations = %d, duration = "60s", steps = [step("work", work)])`, tt.of, name, tt.vus, tt.vus))
			got := byName(run(t, context.Background(), Config{Workflow: w, VUs: tt.vus, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps)["take"]
			if kinds(got)[tt.kind] != 1 || got.OK != tt.vus-1 {
				t.Errorf("ok %d: %v, want %q", got.OK, got.Errors, tt.kind)
			}
		})
	}
}
