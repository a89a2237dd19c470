package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/kafka/kafkatest"
)

// consume runs a step that reads so often for each user, and returns its figures.
// Each user has a consumer of its own, and operations of its own: one that took another's would find nothing left.
func consume(t *testing.T, url, ask string, vus, each uint64) message.StepStats {
	t.Helper()
	if !strings.Contains(ask, "expect") {
		ask += ")"
	} else {
		ask += "]"
	}
	w := loadFile(t, url, fmt.Sprintf("workflow(name = \"test\", vu_iterations = %d, vus = %d, duration = \"60s\", steps = [step(\"take\", kafka.consume(\"TARGET\", %s)])", each, vus, ask))
	return run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps[0]
}

// What consumers count is what the brokers have: each user reads each record once, in every coding, from
// leaders on several brokers.
func TestConsumersReadWhatKafkaHas(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, "-brokers", "3", "-topics", "orders:7,log:1")
	for _, compression := range []string{"none", "gzip", "snappy", "zstd", "lz4"} {
		if got := produce(t, c.URL(), fmt.Sprintf(", compression = %q", compression), `"orders", "hello" * 50`, 10, 100); got.OK != 100 {
			t.Fatalf("%s: %v", compression, got.Errors)
		}
	}
	for _, vus := range []uint64{1, 64, 500} {
		got := consume(t, c.URL(), `["orders"], count = 500, start = "earliest", within = "15s"`, vus, 1)
		all := measured(got)
		if got.OK != vus || got.Sent != vus || all[plan.MeasureRecords].Count != 500*vus || all[plan.MeasureBatches].Count != 500*vus || all[plan.MeasureEndToEnd].Times.Count != 500*vus {
			t.Errorf("%d users: ok %d, sent %d, %d records: %v", vus, got.OK, got.Sent, all[plan.MeasureRecords].Count, got.Errors)
		}
	}
}

// The lag of a consumer is what its partition has behind each answer. A record of 700,000 bytes leaves no room for
// another one in an answer, so five of them are four, three, two, one and none.
func TestConsumersTellTheirLag(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, "-topics", "orders:1,log:2")
	if got := produce(t, c.URL(), "", `"orders", "x" * 700000`, 1, 5); got.OK != 5 {
		t.Fatal(got.Errors)
	}
	const ask = `count = 5, within = "15s"`
	for name, got := range map[string]message.StepStats{
		"1 alone": consume(t, c.URL(), `["orders"], start = "earliest", `+ask, 1, 1), "8 alone": consume(t, c.URL(), `["orders"], start = "earliest", `+ask, 8, 1),
		"a group": join(context.Background(), t, c.URL(), ask, 1, 1),
	} {
		lag := measured(got)[plan.MeasureConsumerLag]
		if h := lag.Times; lag.Kind != message.MeasureAmounts || h.Count != 5*got.OK || h.Min != 0 || h.Max != 4000 || h.Sum != 10_000*got.OK || got.OK != got.Started {
			t.Errorf("%s: ok %d of %d, %v", name, got.OK, got.Started, lag)
		}
	}
	got := consume(t, c.URL(), `["log"], count = 0`, 1, 3)
	if h := measured(got)[plan.MeasureConsumerLag].Times; h.Count != 6 || h.Max != 0 {
		t.Errorf("at the end of two partitions: %v", h)
	}
}

// A consumer goes on where its user's last operation stopped, in steps and in functions alike; one that begins
// at the latest record reads what is written from then on.
func TestConsumersGoOn(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, "-brokers", "2", "-topics", "orders:2,log:1")
	produce(t, c.URL(), "", `"log", "old"`, 1, 1)
	w := loadFile(t, c.URL(), `
def look(vu):
    first = vu.kafka.consume("TARGET", ["log", "orders"], count = 0, name = "look")
    if first.json() != []:
        fail("%s" % first.json())
    for i in range(3):
        at = vu.kafka.produce("TARGET", "orders", "tea-%d" % i, key = "k", headers = {"h": "v"}, name = "put").json()
        vu.kafka.produce("TARGET", "orders", b"\x00\xff", key = "k", name = "put")
        got = []
        for j in range(8):
            if len(got) < 2:
                got += vu.kafka.consume("TARGET", ["log", "orders"], name = "take").json()
        if len(got) != 2 or got[0]["value"] != "tea-%d" % i or got[0]["key"] != "k" or got[0]["offset"] != at["offset"] or got[0]["partition"] != at["partition"]:
            fail("%s behind %s" % (got, at))
        if got[0]["headers"] != [{"name": "h", "value": "v"}] or got[0]["timestamp"] < 1 or got[1]["value_base64"] != "AP8=" or got[1]["topic"] != "orders":
            fail("%s" % got)
    return first
workflow(name = "test", vus = 1, iterations = 2, duration = "60s", steps = [step("look", look)])`)
	got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}).Stats
	steps := byName(got.Steps)
	if n := measured(steps["take"])[plan.MeasureRecords].Count; n != 12 || steps["look"].OK != 2 {
		t.Errorf("%d records are read: %v", n, got.Steps)
	}
}

// What does not come in time, what brokers refuse, and what moves: each is the operation's, and the next one
// reads on.
func TestConsumersThatFail(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, "-brokers", "2", "-topics", "orders:2,empty:2,one:1")
	produce(t, c.URL(), "", `"orders", "x", partition = 0`, 1, 10)
	produce(t, c.URL(), "", `"one", "x"`, 1, 10)
	for name, tt := range map[string]struct{ ask, kind string }{
		"few":     {`["empty"], within = "120ms"`, "few_records"},
		"few, in": {`["orders"], count = 11, within = "120ms", start = "earliest"`, "few_records"},
		"missing": {`["nothing"], within = "100ms"`, "server UNKNOWN_TOPIC_OR_PARTITION"},
	} {
		if got := consume(t, c.URL(), tt.ask, 1, 1); kinds(got)[tt.kind] != 1 {
			t.Errorf("%s: ok %d: %v", name, got.OK, got.Errors)
		}
	}
	for code, name := range map[int]string{1: "OFFSET_OUT_OF_RANGE", 6: "NOT_LEADER_OR_FOLLOWER", 29: "TOPIC_AUTHORIZATION_FAILED"} {
		c.Fault(kafkatest.Fetch, code, 2)
		got := consume(t, c.URL(), `["one"], count = 10, start = "earliest", within = "5s"`, 1, 3)
		if all := measured(got); kinds(got)["server "+name] != 2 || got.OK != 1 || all[plan.MeasureRecords].Count != 10 || got.Sent != 3 {
			t.Errorf("%s: ok %d, sent %d, %d records: %v", name, got.OK, got.Sent, all[plan.MeasureRecords].Count, got.Errors)
		}
	}
	c.Fault(kafkatest.ListOffsets, 29, 1)
	if got := consume(t, c.URL(), `["one"], count = 10, start = "earliest", within = "5s"`, 1, 2); kinds(got)["server TOPIC_AUTHORIZATION_FAILED"] != 1 || got.OK != 1 || got.Sent != 1 {
		t.Errorf("ok %d, sent %d: %v", got.OK, got.Sent, got.Errors)
	}
	t.Run("code", func(t *testing.T) {
		got := consume(t, c.URL(), `["nothing"]), expect = [code("UNKNOWN_TOPIC_OR_PARTITION")`, 1, 1)
		if got.OK != 1 {
			t.Errorf("ok %d: %v", got.OK, got.Errors)
		}
	})
	t.Run("a leader moves", func(t *testing.T) {
		w := loadFile(t, c.URL(), `
def take(vu):
    for i in range(3):
        r = vu.kafka.consume("TARGET", ["one"], start = "earliest", count = 10, within = "100ms", name = "take %d" % i)
        vu.kafka.produce("TARGET", "empty", "%d" % i)
        if i < 2:
            vu.sleep("1500ms")
    return r
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("take", take)])`)
		c.Move("one", 0, 0)
		moved := make(chan struct{})
		go func() {
			defer close(moved)
			for c.End("empty") == 0 {
				time.Sleep(time.Millisecond)
			}
			c.Move("one", 0, 1)
			if c.End("empty") != 1 {
				t.Error("the leader moves too late")
			}
		}()
		steps := byName(run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps)
		<-moved
		if steps["take 0"].OK != 1 || kinds(steps["take 1"])["server NOT_LEADER_OR_FOLLOWER"] != 1 || kinds(steps["take 2"])["few_records"] != 1 {
			t.Errorf("%v, %v, %v", steps["take 0"], steps["take 1"], steps["take 2"])
		}
	})
	t.Run("a run breaks", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		w := loadFile(t, c.URL(), `workflow(name = "test", vus = 64, duration = "60s", steps = [step("take", kafka.consume("TARGET", ["empty"], within = "10s"))])`)
		if got := run(t, ctx, Config{Workflow: w, VUs: 64, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps[0]; got.Cancelled != 64 || got.Started != 64 {
			t.Errorf("%v", got)
		}
	})
}

// What a producer of librdkafka writes, in each coding, is read whole: each record once.
func TestRecordsOfLibrdkafkaAreRead(t *testing.T) {
	t.Parallel()
	m := kafkatest.StartMock(t, "orders")
	want := 0
	for _, compression := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		m.Write("orders", compression, 100)
		want += 100
	}
	m.Read(want)
	w := loadFile(t, m.URL(), fmt.Sprintf(`
def take(vu):
    r = vu.kafka.consume("TARGET", ["orders"], start = "earliest", count = %d, within = "15s", name = "read")
    got = {}
    for m in r.json():
        got[m["key"] + m["value"]] = 1
    if len(got) != %d or got.get("zstd7" + "tea " * 50) != 1 or got.get("none99" + "tea " * 50) != 1:
        fail("%%d records, of which %%d differ: %%s" %% (len(r.json()), len(got), r.json()[:2]))
    return r
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("take", take)])`, want, want))
	got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}).Stats
	steps := byName(got.Steps)
	if all := measured(steps["read"]); steps["take"].OK != 1 || all[plan.MeasureRecords].Count != uint64(want) {
		t.Errorf("%d records: %v", all[plan.MeasureRecords].Count, got.Steps)
	}
}
