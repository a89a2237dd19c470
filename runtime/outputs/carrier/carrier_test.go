package carrier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
)

// place is a sink that does what a test says.
type place struct {
	mu     sync.Mutex
	fault  error
	does   func(ctx context.Context, b outputs.Batch) outputs.Outcome
	got    []outputs.Row
	closed bool
}

func (p *place) Check(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

func (p *place) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	p.mu.Lock()
	does := p.does
	p.mu.Unlock()
	out := outputs.Delivered()
	if does != nil {
		out = does(ctx, b)
	}
	if out.Verdict == outputs.VerdictDelivered {
		p.mu.Lock()
		p.got = append(p.got, b.Rows...)
		p.mu.Unlock()
	}
	return out
}

func (p *place) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

func (p *place) say(does func(context.Context, outputs.Batch) outputs.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.does = does
}

// jobs counts the rows that the place has, by job.
func (p *place) jobs() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]int{}
	for i := range p.got {
		all[p.got[i].Job]++
	}
	return all
}

// answers are what a carrier tells its machine.
type answers struct {
	mu  sync.Mutex
	all []node.Delivered
}

func (a *answers) tell(d node.Delivered) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, d)
}

// of are the answers to one delivery.
func (a *answers) of(id node.DeliveryID) (of []node.Delivered) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range a.all {
		if d.ID == id {
			of = append(of, d)
		}
	}
	return of
}

// last waits for the last answer to a delivery.
func (a *answers) last(t *testing.T, id node.DeliveryID) (d node.Delivered) {
	t.Helper()
	require.Eventually(t, func() bool {
		of := a.of(id)
		if len(of) == 0 || of[len(of)-1].Verdict == node.DeliveryTrying {
			return false
		}
		d = of[len(of)-1]
		return true
	}, time.Minute, time.Millisecond)
	return d
}

// read makes rows of a batch such as "job 3".
func read(b []byte, _ bool) (rows []outputs.Row, err error) {
	var job string
	var n int
	if _, err := fmt.Sscanf(strings.TrimSpace(string(b)), "%s %d", &job, &n); err != nil {
		return nil, err
	}
	for i := range n {
		rows = append(rows, outputs.Row{Kind: outputs.RowWindow, Job: job, Workflow: "w", Step: "s", StepKind: message.StepRequest,
			From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second, Figures: &outputs.Figures{Begun: 10}})
	}
	return rows, nil
}

func sinkOf(t *testing.T, name string, delivery outputs.Delivery, p outputs.Sink) Sink {
	t.Helper()
	s, err := outputs.Placed(&outputs.Kind{Name: "fake", Delivery: delivery, Limits: outputs.Limits{Rows: 3}}, "x")
	require.NoError(t, err)
	return Sink{Name: name, Settings: s, Place: p}
}

func carrying(t *testing.T, memory int, sinks ...Sink) (*Carrier, *answers) {
	t.Helper()
	a := &answers{}
	r := New(Config{Self: "gate-2", Sinks: sinks, Pace: outputstest.Pace(), Read: read, Tell: a.tell, Logger: slog.New(slog.DiscardHandler), Memory: memory})
	t.Cleanup(r.Close)
	return r, a
}

func batch(job string, rows int) []byte { return fmt.Appendf(nil, "%s %d", job, rows) }

// TestDeliveriesOfManyJobsHaveTheirOwnEnds: jobs share a sink, and each hears of its own rows.
func TestDeliveriesOfManyJobsHaveTheirOwnEnds(t *testing.T) {
	house, hook := &place{}, &place{}
	house.say(func(_ context.Context, b outputs.Batch) outputs.Outcome {
		if b.Rows[0].Job == "bad" {
			return outputs.Rejected([]int{0}, "no such column")
		}
		return outputs.Delivered()
	})
	r, a := carrying(t, 0, sinkOf(t, "warehouse", outputs.Exact, house), sinkOf(t, "hook", outputs.AtLeastOnce, hook))
	r.Deliver(node.Delivery{ID: 1, Sink: "warehouse", Batch: batch("a", 7)})
	r.Deliver(node.Delivery{ID: 2, Sink: "warehouse", Batch: batch("bad", 3), Again: true})
	r.Deliver(node.Delivery{ID: 3, Sink: "hook", Batch: batch("a", 7), Again: true})
	r.Deliver(node.Delivery{ID: 4, Sink: "other", Batch: batch("a", 7)})
	r.Deliver(node.Delivery{ID: 5, Sink: "hook", Batch: []byte("?")})
	require.Equal(t, node.Delivered{ID: 1, Verdict: node.DeliveryDone}, a.last(t, 1))
	require.Equal(t, node.Delivered{ID: 2, Verdict: node.DeliveryDone, Why: "no such column", Rejected: 1, RejectedRequests: 10}, a.last(t, 2))
	require.Equal(t, node.Delivered{ID: 3, Verdict: node.DeliveryDone, Twice: 7}, a.last(t, 3))
	require.Equal(t, node.Delivered{ID: 4, Verdict: node.DeliveryUnconfigured, Why: "sink other is not configured on gate-2"}, a.last(t, 4))
	require.Equal(t, node.DeliveryFailed, a.last(t, 5).Verdict)
	require.Equal(t, map[string]int{"a": 7}, house.jobs())
	require.Equal(t, map[string]int{"a": 7}, hook.jobs())
	stats := r.Stats()
	require.Equal(t, []any{"warehouse", "fake", uint64(10), uint64(9), uint64(1), 0, 0}, []any{stats[0].Sink, stats[0].Kind, stats[0].Total.Rows, stats[0].Total.Delivered, stats[0].Total.Rejected, stats[0].Waiting, stats[0].Bytes})
	require.Equal(t, uint64(7), stats[1].Total.PerhapsTwice)
}

// What a place that never answers may have of a former owner's batch is lost, by rows and by their requests.
func TestABatchThatMayBeThereIsLostToAPlaceThatNeverAnswers(t *testing.T) {
	r, a := carrying(t, 0, sinkOf(t, "agent", outputs.AtMostOnce, &place{}))
	r.Deliver(node.Delivery{ID: 1, Sink: "agent", Batch: batch("a", 7), Again: true})
	d := a.last(t, 1)
	require.Equal(t, [4]uint64{7, 70, 0, 0}, [4]uint64{d.Lost, d.LostRequests, d.Rejected, d.Twice})
	require.Equal(t, node.DeliveryDone, d.Verdict)
}

// TestASinkThatIsAwayIsTriedAgain, tells why now and then, and delivers once it is back.
func TestASinkThatIsAwayIsTriedAgain(t *testing.T) {
	p := &place{}
	p.say(func(context.Context, outputs.Batch) outputs.Outcome { return outputs.Again(0, "connection refused") })
	r, a := carrying(t, 0, sinkOf(t, "warehouse", outputs.Exact, p))
	r.Deliver(node.Delivery{ID: 1, Sink: "warehouse", Batch: batch("a", 2)})
	require.Eventually(t, func() bool { return len(a.of(1)) > 0 }, time.Minute, time.Millisecond)
	require.Equal(t, []node.Delivered{{ID: 1, Verdict: node.DeliveryTrying, Why: "connection refused"}}, a.of(1)) // each try would be a flood
	s := r.Stats()[0]
	require.Equal(t, []any{1, len(batch("a", 2)), true, true, "connection refused"}, []any{s.Waiting, s.Bytes, s.Behind > 0, s.Tries > 0, s.Why})
	p.say(nil)
	require.Equal(t, node.DeliveryDone, a.last(t, 1).Verdict)
	require.Equal(t, map[string]int{"a": 2}, p.jobs())
	s = r.Stats()[0]
	require.Equal(t, []any{0, 0, time.Duration(0), ""}, []any{s.Waiting, s.Bytes, s.Behind, s.Why})
}

// TestCredentialsThatStayRejectedFailTheDelivery, and the sink is tried for the next one.
func TestCredentialsThatStayRejectedFailTheDelivery(t *testing.T) {
	p := &place{}
	p.say(func(context.Context, outputs.Batch) outputs.Outcome { return outputs.Denied("password rejected") })
	r, a := carrying(t, 0, sinkOf(t, "warehouse", outputs.Exact, p), sinkOf(t, "hook", outputs.AtLeastOnce, p))
	r.Deliver(node.Delivery{ID: 1, Sink: "warehouse", Batch: batch("a", 5)})
	r.Deliver(node.Delivery{ID: 3, Sink: "hook", Batch: batch("a", 5), Again: true})
	require.Equal(t, node.Delivered{ID: 1, Verdict: node.DeliveryFailed, Why: "password rejected"}, a.last(t, 1))
	require.Equal(t, node.Delivered{ID: 3, Verdict: node.DeliveryFailed, Why: "password rejected", Twice: 5}, a.last(t, 3))
	require.WithinDuration(t, time.Now(), r.Stats()[0].LostAt, time.Minute)
	p.say(nil)
	r.Deliver(node.Delivery{ID: 2, Sink: "warehouse", Batch: batch("b", 5)})
	require.Equal(t, node.DeliveryDone, a.last(t, 2).Verdict)
}

// TestADeadSinkTakesNothingFromOthers: neither their memory nor their time, and Deliver waits for nothing.
func TestADeadSinkTakesNothingFromOthers(t *testing.T) {
	dead, alive := &place{}, &place{}
	dead.say(func(ctx context.Context, _ outputs.Batch) outputs.Outcome {
		<-ctx.Done()
		return outputs.Unclear("no answer")
	})
	large := func(job string) []byte { return append(batch(job, 1), strings.Repeat(" ", 1000)...) }
	share := 5 * inMemory * len(large("j0")) // of each sink
	r, a := carrying(t, 2*share, sinkOf(t, "dead", outputs.Exact, dead), sinkOf(t, "alive", outputs.Exact, alive))
	for id := range node.DeliveryID(20) {
		r.Deliver(node.Delivery{ID: id, Sink: "dead", Batch: large(fmt.Sprint("j", id%10))})
	}
	for id := range node.DeliveryID(20) {
		if id < 5 {
			require.Empty(t, a.of(id), "delivery %d has room", id)
			continue
		}
		d := a.last(t, id)
		require.Equal(t, node.DeliveryUnconfigured, d.Verdict)
		require.Contains(t, d.Why, "fill its share of the memory of gate-2: this one waits for room")
	}
	require.Equal(t, share/inMemory, r.Stats()[0].Bytes)
	for id := range node.DeliveryID(20) {
		r.Deliver(node.Delivery{ID: 100 + id, Sink: "alive", Batch: large("a")})
		require.Equal(t, node.DeliveryDone, a.last(t, 100+id).Verdict)
	}
	r.Forget(0)
	r.Forget(3)
	r.Deliver(node.Delivery{ID: 200, Sink: "dead", Batch: large("jb")})
	r.Deliver(node.Delivery{ID: 201, Sink: "dead", Batch: large("jb")})
	require.Empty(t, a.of(201), "what is forgotten gives its room back")
	require.Equal(t, 5, r.Stats()[0].Waiting)
}

// TestABatchAboveTheShareIsDelivered, as long as it is alone.
func TestABatchAboveTheShareIsDelivered(t *testing.T) {
	p := &place{}
	r, a := carrying(t, 8, sinkOf(t, "warehouse", outputs.Exact, p))
	r.Deliver(node.Delivery{ID: 1, Sink: "warehouse", Batch: batch("a", 200)})
	require.Equal(t, node.DeliveryDone, a.last(t, 1).Verdict)
}

// TestWhatIsForgottenIsNotAnswered: neither what waits nor what is on its way, and the sink goes on with the next one.
func TestWhatIsForgottenIsNotAnswered(t *testing.T) {
	p := &place{}
	begun := make(chan bool, 1)
	p.say(func(ctx context.Context, b outputs.Batch) outputs.Outcome {
		if b.Rows[0].Job == "c" {
			return outputs.Delivered()
		}
		begun <- true
		<-ctx.Done()
		return outputs.Unclear("no answer")
	})
	r, a := carrying(t, 0, sinkOf(t, "warehouse", outputs.Exact, p))
	for id, job := range []string{"a", "b", "c"} {
		r.Deliver(node.Delivery{ID: node.DeliveryID(id), Sink: "warehouse", Batch: batch(job, 2)})
	}
	<-begun
	r.Forget(1)
	r.Forget(0)
	r.Forget(77)
	require.Equal(t, node.DeliveryDone, a.last(t, 2).Verdict)
	require.Empty(t, a.of(0))
	require.Empty(t, a.of(1))
	require.Equal(t, map[string]int{"c": 2}, p.jobs())
	require.Equal(t, 0, r.Stats()[0].Waiting)
}

// TestARequiredSinkMakesTheGateReady: not before its check has ended well, or a delivery.
func TestARequiredSinkMakesTheGateReady(t *testing.T) {
	needed, spare := &place{fault: errors.New("no such database")}, &place{fault: errors.New("away")}
	one := sinkOf(t, "warehouse", outputs.Exact, needed)
	one.Required = true
	r, a := carrying(t, 0, one, sinkOf(t, "spare", outputs.Exact, spare))
	want := "sink warehouse, which the configuration requires, takes no rows: no such database"
	require.Eventually(t, func() bool { ok, why := r.Ready(); return !ok && why == want }, time.Minute, time.Millisecond)
	r.Deliver(node.Delivery{ID: 1, Sink: "warehouse", Batch: batch("a", 1)})
	a.last(t, 1)
	ok, why := r.Ready()
	require.True(t, ok, why)
}

// TestCloseEndsWhatWaits without an answer, and closes each place, one whose try hangs once it returns.
func TestCloseEndsWhatWaits(t *testing.T) {
	hung, idle := &place{}, &place{}
	begun, free := make(chan bool, 1), make(chan bool)
	hung.say(func(context.Context, outputs.Batch) outputs.Outcome {
		begun <- true
		<-free
		return outputs.Delivered()
	})
	r, a := carrying(t, 0, sinkOf(t, "hung", outputs.Exact, hung), sinkOf(t, "idle", outputs.Exact, idle))
	r.Deliver(node.Delivery{ID: 1, Sink: "hung", Batch: batch("a", 1)})
	<-begun
	r.Close()
	closed := func(p *place) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.closed
	}
	require.Eventually(t, func() bool { return closed(idle) }, time.Minute, time.Millisecond)
	require.False(t, closed(hung))
	close(free)
	require.Eventually(t, func() bool { return closed(hung) }, time.Minute, time.Millisecond)
	require.Empty(t, a.of(1))
}
