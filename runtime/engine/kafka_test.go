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
			"tombstone": {"", `"one", key = "gone"`, 1, 1, 1, ""},
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
