package engine

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/hostile/kafka/kafkatest"
)

// together is a client whose batches go when so many records of one byte are in them.
func together(records int) string {
	return fmt.Sprintf(`kafka.client("TARGET", linger = "1m", batch_size = %d)`, 24*records)
}

// gather runs a workflow of users against brokers.
func gather(t *testing.T, c *kafkatest.Cluster, vus uint64, text string) map[string]message.StepStats {
	t.Helper()
	w := loadFile(t, c.URL(), text)
	r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 20 * time.Second})
	if r.State != message.WorkflowCompleted {
		t.Fatal(r.State, r.Error)
	}
	return byName(r.Stats.Steps)
}

// The records of several users go in one batch, which a consumer finds: as many batches, and as many records.
func TestRecordsGoTogether(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		vus, each uint64
		batch     int
		batches   uint64
	}{{1, 3, 1, 3}, {8, 4, 8, 4}, {64, 1, 16, 4}, {64, 4, 64, 4}, {500, 1, 100, 5}, {500, 2, 500, 2}} {
		c := kafkatest.Start(t, "-topics", "orders:1")
		steps := gather(t, c, tt.vus, fmt.Sprintf(`workflow(name = "test", vus = %d, vu_iterations = %d, duration = "60s", steps = [step("put", kafka.produce(%s, "orders", "x"))])`, tt.vus, tt.each, together(tt.batch)))
		n := tt.vus * tt.each
		all := measured(steps["put"])
		if got := steps["put"]; got.OK != n || got.Sent != n || all[plan.MeasureRecords].Count != n || all[plan.MeasureMessagesSent].Count != n || all[plan.MeasureBatches].Count != tt.batches || c.End("orders") != n {
			t.Errorf("%d users: ok %d, sent %d, %d records in %d batches, the broker has %d: %v", tt.vus, got.OK, got.Sent, all[plan.MeasureRecords].Count, all[plan.MeasureBatches].Count, c.End("orders"), got.Errors)
		}
		read := gather(t, c, 1, fmt.Sprintf(`workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("take", kafka.consume("TARGET", ["orders"], start = "earliest", count = %d))])`, n))
		if got := measured(read["take"]); got[plan.MeasureRecords].Count != n || got[plan.MeasureBatches].Count != tt.batches {
			t.Errorf("%d users: a consumer reads %d records in %d batches", tt.vus, got[plan.MeasureRecords].Count, got[plan.MeasureBatches].Count)
		}
	}
}

// A record that does not fit begins the next batch of its partition, and those behind it without keys join that one.
func TestARecordThatDoesNotFitIsNotAlone(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, "-topics", "orders:3")
	steps := gather(t, c, 8, `workflow(name = "test", vus = 8, vu_iterations = 1, duration = "60s", steps = [step("put", kafka.produce(kafka.client("TARGET", linger = "2s", batch_size = 60), "orders", "x"))])`)
	if got := measured(steps["put"]); steps["put"].OK != 8 || got[plan.MeasureBatches].Count != 4 {
		t.Errorf("ok %d, in %d batches, want 8 in 4 of two: %v", steps["put"].OK, got[plan.MeasureBatches].Count, steps["put"].Errors)
	}
}

// Each record of a batch has the place that it has in the log, and a latency from its own start.
func TestRecordsOfABatchAreTheirOwn(t *testing.T) {
	t.Parallel()
	for _, acks := range []string{"all", "1"} {
		c := kafkatest.Start(t, "-topics", "orders:2")
		steps := gather(t, c, 8, strings.ReplaceAll(`
k = kafka.client("TARGET", linger = "1m", batch_size = 192)
def put(vu):
    r = vu.kafka.produce(k, "orders", "%d" % vu.id, acks = "ACKS", name = "produce")
    log = vu.kafka.consume("TARGET", ["orders"], start = "earliest", count = 8).json()
    for one in log:
        if one["partition"] == r.json()["partition"] and one["offset"] == r.json()["offset"]:
            if one["value"] == "%d" % vu.id:
                return r
    fail("its record is elsewhere")
workflow(name = "test", vus = 8, vu_iterations = 1, duration = "60s", steps = [step("put", put)])`, "ACKS", acks))
		if got := steps["put"]; got.OK != 8 {
			t.Errorf("acks %s: ok %d: %v, %v", acks, got.OK, got.Errors, steps["produce"].Errors)
		}
	}
	c := kafkatest.Start(t, "-topics", "orders:1")
	steps := gather(t, c, 2, `
k = kafka.client("TARGET", linger = "1m", batch_size = 48)
def put(vu):
    if vu.id % 2 == 1:
        vu.sleep("400ms")
    return vu.kafka.produce(k, "orders", "x", name = ["first", "second"][vu.id % 2])
workflow(name = "test", vus = 2, vu_iterations = 1, duration = "60s", steps = [step("put", put)])`)
	first, second := steps["first"].Latency.Max, steps["second"].Latency.Max
	if steps["first"].OK != 1 || steps["second"].OK != 1 || first < uint64(300*time.Millisecond) || second >= first {
		t.Errorf("%v and %v: %v", time.Duration(first), time.Duration(second), steps)
	}
}

// The error of a batch is that of each of its records, and of no other one.
func TestBatchesFail(t *testing.T) {
	t.Parallel()
	for _, client := range []string{`linger = "1m", batch_size = 192`, `linger = "1m", batch_size = 192, idempotent = True`} {
		c := kafkatest.Start(t, "-topics", "orders:1")
		c.Fault(kafkatest.Produce, 10, 1)
		got := gather(t, c, 8, fmt.Sprintf(`workflow(name = "test", vus = 8, vu_iterations = 2, duration = "60s", steps = [step("put", kafka.produce(kafka.client("TARGET", %s), "orders", "x"))])`, client))["put"]
		all := measured(got)
		if kinds(got)["server MESSAGE_TOO_LARGE"] != 8 || got.OK != 8 || got.Sent != 16 || c.End("orders") != 8 || all[plan.MeasureRecords].Count != 8 || all[plan.MeasureBatches].Count != 1 {
			t.Errorf("%s: ok %d, sent %d: %v; the broker has %d: %v", client, got.OK, got.Sent, got.Errors, c.End("orders"), all)
		}
	}
	c := kafkatest.Start(t, "-brokers", "2", "-topics", "orders:1")
	c.Move("orders", 0, 1)
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		for c.End("orders") < 4 {
			time.Sleep(time.Millisecond)
		}
		c.Move("orders", 0, 0)
	}()
	steps := gather(t, c, 4, `
k = kafka.client("TARGET", linger = "1m", batch_size = 96)
def put(vu):
    for i in range(3):
        r = vu.kafka.produce(k, "orders", "x", name = "put %d" % i)
        vu.sleep("1500ms")
    return r
workflow(name = "test", vus = 4, vu_iterations = 1, duration = "60s", steps = [step("put", put)])`)
	<-moved
	if steps["put 0"].OK != 4 || kinds(steps["put 1"])["server NOT_LEADER_OR_FOLLOWER"] != 4 || steps["put 2"].OK != 4 || c.End("orders") != 8 {
		t.Errorf("%v, %v, %v: the brokers have %d", steps["put 0"], steps["put 1"], steps["put 2"], c.End("orders"))
	}
}

// The time of a record ends alone: its batch goes without it if it can, and the others keep theirs.
func TestRecordsOfABatchTimeOutAlone(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, "-topics", "orders:1")
	c.Slow(kafkatest.Produce, 2500)
	steps := gather(t, c, 2, `
k = kafka.client("TARGET", linger = "1m", batch_size = 48)
def put(vu):
    return vu.kafka.produce(k, "orders", "x", name = ["short", "long"][vu.id % 2], timeout = ["1s", "20s"][vu.id % 2])
workflow(name = "test", vus = 2, vu_iterations = 1, duration = "60s", steps = [step("put", put)])`)
	short, long := steps["short"], steps["long"]
	if short.TimedOut != 1 || short.Sent != 1 || measured(short)[plan.MeasureLateAnswers].Count != 1 || measured(short)[plan.MeasureRecords].Count != 0 ||
		long.OK != 1 || measured(long)[plan.MeasureRecords].Count != 1 || c.End("orders") != 2 {
		t.Errorf("%v, %v: the broker has %d", short, long, c.End("orders"))
	}
	steps = gather(t, c, 2, `
k = kafka.client("TARGET", linger = "1500ms")
def put(vu):
    return vu.kafka.produce(k, "orders", "x", name = ["short", "long"][vu.id % 2], timeout = ["300ms", "20s"][vu.id % 2])
workflow(name = "test", vus = 2, vu_iterations = 1, duration = "60s", steps = [step("put", put)])`)
	if short, long = steps["short"], steps["long"]; short.TimedOut != 1 || short.Sent != 0 || long.OK != 1 || c.End("orders") != 3 {
		t.Errorf("%v, %v: the broker has %d", short, long, c.End("orders"))
	}
}

// A run that ends while records wait for others sends none of them, and counts none.
func TestRunsEndBeforeBatches(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	w := loadFile(t, c.URL(), `workflow(name = "test", vus = 8, duration = "300ms", graceful_stop = "200ms", steps = [step("put", kafka.produce(kafka.client("TARGET", linger = "1m"), "orders", "x"))])`)
	got := run(t, context.Background(), Config{Workflow: w, VUs: 8, Duration: 300 * time.Millisecond, Timeout: 20 * time.Second}).Stats.Steps[0]
	if got.Started != 8 || got.Cancelled != 8 || got.Sent != 0 || c.End("orders") != 0 {
		t.Errorf("%v: the broker has %d", got, c.End("orders"))
	}
}

// More batches are ready at once than a broker may have under way: the others wait for their turn, and each gets it.
func TestBatchesWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, "-topics", "orders:16")
	steps := gather(t, c, 16, `
k = kafka.client("TARGET", linger = "1ms")
workflow(name = "test", vus = 16, vu_iterations = 2, duration = "60s", steps = [step("put", lambda vu: vu.kafka.produce(k, "orders", "x", partition = vu.id % 16, timeout = "10s", name = "produce"))])`)
	if got := steps["produce"]; got.OK != 32 || measured(got)[plan.MeasureBatches].Count != 32 || c.End("orders") != 32 {
		t.Errorf("ok %d of %d in %d batches, the broker has %d: %v", got.OK, got.Started, measured(got)[plan.MeasureBatches].Count, c.End("orders"), got.Errors)
	}
}

// A function cancels the run, and the acknowledgement of a batch is read behind it in the same turn: the broker has the
// records, so they are good. The answers of the function and of the broker come, in this order, while another function
// holds the loop.
func TestAcknowledgedRecordsOfACutRunAreGood(t *testing.T) {
	t.Parallel()
	const trials = 5 // a busy machine sends the batch too late for one of them
	for trial := range trials {
		c := kafkatest.Start(t, "-topics", "orders:1")
		c.Slow(kafkatest.Produce, 1000)
		holds, answered := make(chan struct{}), make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hold" {
				time.Sleep(400 * time.Millisecond) // the batch sets out
				return
			}
			<-holds
			w.(http.Flusher).Flush()
			close(answered)
		}))
		w := loadFile(t, c.URL(), `
k = kafka.client("TARGET", linger = "1m", batch_size = 48)
workflow(name = "test", vus = 2, vu_iterations = 1, duration = "60s", steps = [parallel(step("put", kafka.produce(k, "orders", "x")), step("f", lambda vu: None))])`)
		r := perform(t, t.Context(), Config{Workflow: w, VUs: 2, Duration: time.Minute, Timeout: 30 * time.Second}, map[int]func(*play) workflow.Outcome{1: func(p *play) workflow.Outcome {
			if p.id == 0 {
				out := fetch(s.URL + "/cancel")(p)
				p.client.(client).l.Halt.Cancelled.Store(true)
				return out
			}
			out := fetch(s.URL + "/hold")(p)
			close(holds)
			<-answered
			for range 200 {
				if c.End("orders") == 2 {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			time.Sleep(200 * time.Millisecond) // the broker answers behind that
			return out
		}})
		s.Close()
		got := r.Stats.Steps[0]
		if c.End("orders") == 2 && got.OK == 2 {
			return
		}
		if trial == trials-1 {
			t.Errorf("ok %d, cancelled %d of %d, and the broker has %d: %v", got.OK, got.Cancelled, got.Started, c.End("orders"), got.Errors)
		}
	}
}

// BenchmarkRecords is a record of 128 bytes, of 64 users at once: each in a batch of its own, and gathered. The
// brokers are a process of their own.
func BenchmarkRecords(b *testing.B) {
	for name, client := range map[string]string{"alone": "", "gathered": `, linger = "1ms"`} {
		b.Run(name, func(b *testing.B) {
			c := kafkatest.Start(b, "-blackhole")
			w := loadFile(b, c.URL(), fmt.Sprintf(`workflow(name = "test", vus = 64, duration = "60s", steps = [step("put", kafka.produce(kafka.client("TARGET"%s), "orders", "x" * 128))])`, client))
			w.Plan.Iterations = uint64(b.N)
			b.ReportAllocs()
			b.ResetTimer()
			before := processorTime()
			r := run(b, b.Context(), Config{Workflow: w, VUs: 64, Seed: 1, Timeout: 20 * time.Second})
			b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
			if got := r.Stats.Steps[0]; got.OK != uint64(b.N) {
				b.Fatalf("ok %d: %v", got.OK, got.Errors)
			}
		})
	}
}
