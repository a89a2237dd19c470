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

// produce runs a step, and returns its figures.
func produce(t *testing.T, url, client, ask string, vus, n uint64) message.StepStats {
	t.Helper()
	w := loadFile(t, url, fmt.Sprintf("k = kafka.client(\"TARGET\"%s)\nworkflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", %s, steps = [step(\"put\", kafka.produce(k, %s))])", client, n, vus, anyTLS, ask))
	return run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps[0]
}

// What a run counts is what the brokers have: each record that they acknowledged, and no other.
func TestRecordsAgreeWithKafka(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, "-brokers", "3", "-topics", "orders:3,one:1")
	for _, vus := range []uint64{1, 64, 500} {
		for name, tt := range map[string]struct {
			client, ask       string
			acked, stored, ok uint64 // of an operation
			kind              string
		}{
			"all":       {"", `"orders", "hello", key = "${n}"`, 1, 1, 1, ""},
			"leader":    {"", `"one", b"\x00\xff", headers = {"k": "v"}, acks = 1`, 1, 1, 1, ""},
			"none":      {"", `"orders", "hello", acks = 0`, 0, 1, 1, ""},
			"zstd":      {`, compression = "zstd"`, `"orders", "hello" * 100`, 1, 1, 1, ""},
			"gzip":      {`, compression = "gzip"`, `"orders", "hello" * 100`, 1, 1, 1, ""},
			"snappy":    {`, compression = "snappy"`, `"orders", "hello" * 100, partition = 2`, 1, 1, 1, ""},
			"lz4":       {`, compression = "lz4"`, `"orders", "hello" * 100`, 1, 1, 1, ""},
			"counted":   {`, idempotent = True`, `"orders", "hello"`, 1, 1, 1, ""},
			"tombstone": {"", `"one", key = "gone"`, 1, 1, 1, ""},
			"gathered":  {`, linger = "5ms"`, `"orders", "hello"`, 1, 1, 1, ""},
			"by key":    {`, linger = "5ms", batch_size = 400, compression = "zstd"`, `"orders", "hello" * 10, key = "${n}"`, 1, 1, 1, ""},
			"silent":    {`, linger = "2ms"`, `"orders", "hello", acks = 0`, 0, 1, 1, ""},
			"numbered":  {`, linger = "2ms", idempotent = True`, `"orders", "hello"`, 1, 1, 1, ""},
			"nowhere":   {`, linger = "2ms"`, `"nothing", "hello"`, 0, 0, 0, "server UNKNOWN_TOPIC_OR_PARTITION"},
			"missing":   {"", `"nothing", "hello"`, 0, 0, 0, "server UNKNOWN_TOPIC_OR_PARTITION"},
			"partition": {"", `"one", "hello", partition = 1`, 0, 0, 0, "value"},
		} {
			t.Run(fmt.Sprintf("%s/%d", name, vus), func(t *testing.T) {
				before := c.End("orders") + c.End("one")
				n := 2 * vus
				ask := strings.ReplaceAll(tt.ask, `key = "${n}"`, `key = "n"`)
				got := produce(t, c.URL(), tt.client, ask, vus, n)
				all := measured(got)
				if got.OK != n*tt.ok || got.Started != n || got.Sent != n*tt.stored || kinds(got)[tt.kind] != n*(1-tt.ok) {
					t.Fatalf("ok %d of %d, sent %d: %v", got.OK, got.Started, got.Sent, got.Errors)
				}
				if sent, acked := all[plan.MeasureMessagesSent].Count, all[plan.MeasureRecords].Count; sent != n*tt.stored || acked != n*tt.acked {
					t.Errorf("%d sent, %d acknowledged", sent, acked)
				}
				for until := time.Now().Add(5 * time.Second); c.End("orders")+c.End("one")-before != n*tt.stored; time.Sleep(5 * time.Millisecond) {
					if time.Now().After(until) { // nothing answers acks = 0
						t.Fatalf("the brokers have %d more records, want %d", c.End("orders")+c.End("one")-before, n*tt.stored)
					}
				}
			})
		}
	}
}

// However a run ends, no record counts that the brokers did not get, and what they got counts.
func TestRecordsAgreeWhenARunBreaks(t *testing.T) {
	t.Parallel()
	for _, acks := range []string{`"all"`, "0", "0 behind TLS", `"all" together`, "0 together"} {
		for _, vus := range []uint64{1, 64, 500} {
			acks, secure := strings.CutSuffix(acks, " behind TLS")
			acks, gathers := strings.CutSuffix(acks, " together")
			if secure && vus == 500 {
				continue
			}
			t.Run(fmt.Sprintf("acks %s/%d, TLS %v, together %v", acks, vus, secure, gathers), func(t *testing.T) {
				args := []string{"-brokers", "2"}
				if secure {
					args = append(args, "-cert", "CERT", "-key", "KEY")
				}
				c := kafkatest.Start(t, args...)
				url := c.URL()
				if secure {
					url = c.SecureURL()
				}
				client := `"TARGET"`
				if gathers {
					client = `kafka.client("TARGET", linger = "2ms")`
				}
				w := loadFile(t, url, fmt.Sprintf("workflow(name = \"test\", vus = %d, duration = \"60s\", %s, steps = [step(\"put\", kafka.produce(%s, \"orders\", \"x\" * 100, acks = %s))])", vus, anyTLS, client, acks))
				ctx, cancel := context.WithCancel(context.Background())
				put := make(chan struct{})
				go func() {
					defer close(put)
					for c.End("orders") < 2000 {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
				got := run(t, ctx, Config{Workflow: w, VUs: vus, Duration: time.Minute}).Stats.Steps[0]
				<-put
				all := measured(got)
				sent, acked := all[plan.MeasureMessagesSent].Count, all[plan.MeasureRecords].Count
				for until := time.Now().Add(5 * time.Second); c.End("orders") != sent && time.Now().Before(until); {
					time.Sleep(5 * time.Millisecond)
				}
				if end := c.End("orders"); sent != end || acked > end || acks != "0" && acked != got.OK || got.Failed > 0 || got.Sent != sent {
					t.Errorf("%d sent (%d operations), %d acknowledged, %d ok, the brokers have %d: %v", sent, got.Sent, acked, got.OK, end, got.Errors)
				}
				if got.Started != got.OK+got.Failed+got.TimedOut+got.Cancelled {
					t.Errorf("%d started: %v", got.Started, got)
				}
			})
		}
	}
}

// A leader that moves fails the records that went to the old one, and the next ones find the new one: nothing
// is sent twice, and nothing gets lost that counts.
func TestLeadersMove(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, "-brokers", "3", "-topics", "orders:1")
	w := loadFile(t, c.URL(), `
def put(vu):
    for i in range(3):
        r = vu.kafka.produce("TARGET", "orders", "x", name = "put %d" % i)
        vu.sleep("1500ms")
    return r
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("put", put)])`)
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		for c.End("orders") == 0 {
			time.Sleep(time.Millisecond)
		}
		c.Move("orders", 0, 0)
		c.Move("orders", 0, 1)
		c.Move("orders", 0, 2)
		if c.End("orders") != 1 {
			t.Error("the leader moves too late")
		}
	}()
	steps := byName(run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps)
	<-moved
	second := kinds(steps["put 1"])["server NOT_LEADER_OR_FOLLOWER"] + steps["put 1"].OK // the last broker may have led it before
	if steps["put 0"].OK != 1 || second != 1 || steps["put 2"].OK != 1 || c.End("orders") != 2+steps["put 1"].OK {
		t.Errorf("%v, %v, %v; the brokers have %d", steps["put 0"], steps["put 1"], steps["put 2"], c.End("orders"))
	}
}

// Errors of brokers are those of the operation, by their names; and what is not there is asked elsewhere.
func TestBrokersThatFail(t *testing.T) {
	t.Parallel()
	t.Run("codes", func(t *testing.T) {
		c := kafkatest.Start(t)
		for code, name := range map[int]string{6: "NOT_LEADER_OR_FOLLOWER", 10: "MESSAGE_TOO_LARGE", 19: "NOT_ENOUGH_REPLICAS", 29: "TOPIC_AUTHORIZATION_FAILED"} {
			before := c.End("orders")
			c.Fault(kafkatest.Produce, code, 3)
			got := produce(t, c.URL(), "", `"orders", "x"`, 1, 10)
			if kinds(got)["server "+name] != 3 || got.OK != 7 || c.End("orders")-before != 7 || got.Sent != 10 {
				t.Errorf("%s: ok %d, %v; the broker has %d more", name, got.OK, got.Errors, c.End("orders")-before)
			}
		}
		before := c.End("orders")
		c.Fault(kafkatest.Produce, 10, 3) // behind an error a counted record is that of another producer
		if got := produce(t, c.URL(), ", idempotent = True", `"orders", "x"`, 2, 20); kinds(got)["server MESSAGE_TOO_LARGE"] != 3 || got.OK != 17 || c.End("orders")-before != 17 {
			t.Errorf("ok %d, %v; the broker has %d more", got.OK, got.Errors, c.End("orders")-before)
		}
		c.Fault(kafkatest.Metadata, 5, 1)
		if got := produce(t, c.URL(), "", `"orders", "x"`, 1, 3); kinds(got)["server LEADER_NOT_AVAILABLE"] != 1 || got.OK != 2 || got.Sent != 2 {
			t.Errorf("ok %d, sent %d: %v", got.OK, got.Sent, got.Errors)
		}
	})
	t.Run("seeds", func(t *testing.T) {
		c := kafkatest.Start(t)
		url := strings.Replace(c.URL(), "://", "://127.0.0.1:1,127.0.0.1:2,", 1)
		if got := produce(t, url, "", `"orders", "x"`, 8, 80); got.OK != 80 || c.End("orders") != 80 {
			t.Errorf("ok %d, %v; the broker has %d", got.OK, got.Errors, c.End("orders"))
		}
		if got := produce(t, "kafka://127.0.0.1:1,127.0.0.1:2", "", `"orders", "x"`, 1, 2); kinds(got)["refused"] != 2 || got.Started != 2 {
			t.Errorf("%v", got.Errors)
		}
	})
	t.Run("a broker stops", func(t *testing.T) {
		c := kafkatest.Start(t, "-brokers", "3")
		w := loadFile(t, c.URL(), `workflow(name = "test", vus = 8, iterations = 3000, duration = "60s", steps = [step("put", kafka.produce("TARGET", "orders", "x"))])`)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			for c.End("orders") < 500 {
				time.Sleep(time.Millisecond)
			}
			c.Stop(1)
		}()
		got := run(t, context.Background(), Config{Workflow: w, VUs: 8, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps[0]
		<-stopped
		end, acked := c.End("orders"), measured(got)[plan.MeasureRecords].Count
		if acked != got.OK || got.OK+got.Failed != 3000 || end < acked || end > measured(got)[plan.MeasureMessagesSent].Count || got.OK < 2900 {
			t.Errorf("ok %d, %d acknowledged, the brokers have %d: %v", got.OK, acked, end, got.Errors)
		}
	})
	t.Run("late", func(t *testing.T) {
		c := kafkatest.Start(t)
		c.Slow(kafkatest.Produce, 2500)
		w := loadFile(t, c.URL(), `
def put(vu):
    vu.kafka.produce("TARGET", "orders", "x", name = "first", timeout = "1s")
    return vu.kafka.produce("TARGET", "orders", "x", name = "second")
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("put", put)])`)
		steps := byName(run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps)
		first, second := steps["first"], steps["second"]
		if first.TimedOut != 1 || first.Sent != 1 || second.OK != 1 || measured(first)[plan.MeasureRecords].Count != 0 || measured(second)[plan.MeasureRecords].Count != 1 {
			t.Errorf("first %v, second %v", first, second)
		}
	})
}

// Every way to prove a user, with and without TLS. A wrong proof makes kfake close the connection, where Kafka
// answers SASL_AUTHENTICATION_FAILED: hostile servers do that.
func TestUsersOfKafka(t *testing.T) {
	t.Parallel()
	const users = "PLAIN:app:geheim,SCRAM-SHA-256:app:geheim,SCRAM-SHA-512:app:geheim"
	for _, secure := range []bool{false, true} {
		args := []string{"-users", users}
		if secure {
			args = append(args, "-cert", "CERT", "-key", "KEY")
		}
		c := kafkatest.Start(t, args...)
		for sasl, kind := range map[string]string{
			`kafka.plain("app", "geheim")`: "", `kafka.scram("app", "geheim")`: "", `kafka.scram("app", "geheim", hash = "sha-512")`: "",
			`kafka.plain("app", "falsch")`: "closed", `kafka.scram("app", "falsch")`: "closed", `kafka.scram("none", "geheim", hash = "sha-512")`: "closed", "None": "closed",
		} {
			url, client := c.URL(), ", sasl = "+sasl
			switch {
			case secure:
				url = c.SecureURL()
			case strings.HasPrefix(sasl, "kafka.plain"):
				continue // the language rejects it
			}
			if sasl == "None" {
				client = ""
			}
			got := produce(t, url, client, `"orders", "x"`, 2, 4)
			if kind == "" && got.OK != 4 || kind != "" && kinds(got)[kind] != 4 || strings.Contains(fmt.Sprint(got), "geheim") {
				t.Errorf("%s, TLS %v: ok %d: %v", sasl, secure, got.OK, got.Errors)
			}
		}
	}
}

// A token proves a user behind TLS, and a broker that does not take one says why. kfake has no OAUTHBEARER: the
// answers are those of bench/servers, by RFC 7628.
func TestTokensOfKafka(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, "-token", "to.k-en==", "-cert", "CERT", "-key", "KEY")
	for sasl, kind := range map[string]string{`kafka.oauthbearer("to.k-en==")`: "", `kafka.oauthbearer("expired")`: "auth", `kafka.scram("app", "geheim")`: "auth"} {
		got := produce(t, c.SecureURL(), ", sasl = "+sasl, `"orders", "x"`, 2, 4)
		text := fmt.Sprint(got)
		if kind == "" && got.OK != 4 || kind != "" && (kinds(got)[kind] != 4 || strings.Contains(sasl, "expired") && !strings.Contains(text, `invalid_token`)) || strings.Contains(text, `"expired"`) {
			t.Errorf("%s: ok %d: %v", sasl, got.OK, got.Errors)
		}
	}
}

// The brokers of librdkafka, which share no code with kfake, take what is sent, and its consumer reads that
// whole: each record once, in each coding.
func TestRecordsReachLibrdkafka(t *testing.T) {
	t.Parallel()
	m := kafkatest.StartMock(t, "orders")
	want := 0
	all := []string{"none", "gzip", "snappy", "zstd", "lz4", "gathered"}
	for _, compression := range all {
		client := fmt.Sprintf(", compression = %q, idempotent = True", compression)
		if compression == "gathered" {
			client = `, compression = "lz4", linger = "5ms", idempotent = True`
		}
		ask := fmt.Sprintf(`"orders", "%s " * 20 + "end", key = "key", headers = {"a": "b"}`, compression)
		if got := produce(t, m.URL(), client, ask, 8, 100); got.OK != 100 {
			t.Fatalf("%s: ok %d: %v", compression, got.OK, got.Errors)
		}
		want += 100
	}
	records := map[string]int{}
	for _, r := range m.Read(want) {
		records[r]++
	}
	for _, compression := range all {
		if n := records["key|a=b|"+strings.Repeat(compression+" ", 20)+"end"]; n != 100 || len(records) != len(all) {
			t.Errorf("%s: %d records: %v", compression, n, records)
		}
	}
}
