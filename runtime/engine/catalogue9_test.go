package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hyperscale/core/plan"
	hostile "hyperscale/runtime/protocol/hostile/nats"
)

// pullHostile plays an entry of the catalogue of NATS servers that sessions pull from, and returns what went
// wrong. A function opens sessions until one of them has brought the right message.
func pullHostile(t *testing.T, e *hostile.Entry, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	timeout := 30 * time.Second
	if e.Want.Waits() {
		timeout = deadline
	}
	w := loadFile(t, "", fmt.Sprintf(`
n = nats.client(%q, user = %q, password = %q)
def work(vu):
    for i in range(4):
        s = vu.nats.pull(n, stream = %q, consumer = %q, batch = %d, timeout = "%dms", name = "take")
        for j in range(100):
            m = s.receive(timeout = "%dms")
            if m.error:
                break
            if m.data not in ("hi", %q) or not s.ack(m) and m.data != "hi":
                fail("wrong: %%s" %% m.data)
            if m.data == %q:
                return s.close()
        s.close()
    fail("no session was right")
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("work", work)])`,
		s.URL(), hostile.User, hostile.Password, hostile.Orders, hostile.Consumer, hostile.PullBatch, timeout.Milliseconds(), timeout.Milliseconds(), hostile.Next, hostile.Next))
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	steps := byName(run(t, ctx, Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: timeout}).Stats.Steps)
	got, all := steps["take"], measured(steps["take"])
	received, acks, counts := all[plan.MeasureMessagesReceived].Count, all[plan.MeasureAcks].Count, s.Counts()
	kind, bad := string(e.Want.Kind), uint64(0)
	if kind != "" {
		bad = 1
	}
	switch {
	case steps["work"].OK != 1:
		return fmt.Errorf("%v, sessions %v", steps["work"].Errors, got.Errors)
	case got.OK < 1 || got.Failed+got.TimedOut != bad || kinds(got)[kind] != bad:
		return fmt.Errorf("ok %d, failed %d, timed out %d: %v, want %q", got.OK, got.Failed, got.TimedOut, got.Errors, kind)
	case received != uint64(e.Want.Messages)+1:
		return fmt.Errorf("received %d, want %d and the right one", received, e.Want.Messages)
	case all[plan.MeasureRedelivered].Count != e.Want.Redelivered || all[plan.MeasureLateAnswers].Count != e.Want.Late:
		return fmt.Errorf("%d redelivered, %d late, want %d and %d", all[plan.MeasureRedelivered].Count, all[plan.MeasureLateAnswers].Count, e.Want.Redelivered, e.Want.Late)
	case counts.Reused != (e.Want.Reuse == hostile.ReuseMust):
		return fmt.Errorf("reused %v", counts.Reused)
	case kind == "" && (acks != received || acks != uint64(counts.Settled)), acks > received || acks < uint64(counts.Settled):
		return fmt.Errorf("acknowledged %d of %d, the server took %d", acks, received, counts.Settled)
	case s.Breach() != "":
		return errors.New(s.Breach())
	}
	return nil
}

// Every behaviour of the catalogue of servers that sessions pull from.
func TestCatalogueOfPulls(t *testing.T) {
	t.Parallel()
	all := hostile.Pulls()
	faults := make([]error, len(all))
	var running sync.WaitGroup
	for i := range all {
		running.Go(func() {
			// A busy machine needs longer: one right outcome is enough.
			for deadline := 300 * time.Millisecond; deadline < 10*time.Second; deadline *= 3 {
				if faults[i] = pullHostile(t, &all[i], deadline); faults[i] == nil || !all[i].Want.Waits() {
					return
				}
			}
		})
	}
	running.Wait()
	for i, err := range faults {
		if err != nil {
			t.Errorf("%s: %v", all[i].Name, err)
		}
	}
}
