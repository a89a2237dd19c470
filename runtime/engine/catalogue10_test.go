package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/plan"
	hostile "hyperscale/runtime/protocol/hostile/kafka"
)

// kafkaHostile plays an entry of the catalogue of Kafka brokers, and returns what went wrong. The first step
// meets the behaviour, the second one gets a right answer, and then the first step's next operation proves
// that: it stays without an answer until the run is cancelled.
func kafkaHostile(t *testing.T, e *hostile.Entry, by askedBy, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	timeout := 30 * time.Second
	if e.Want.Waits() {
		timeout = deadline
	}
	ask := func(name string, timeout time.Duration, body string) string {
		verb, of := "produce", fmt.Sprintf(`k, %q, "k" * %d, timeout = "%dms"`, hostile.Topic, max(e.Size, 1), timeout.Milliseconds())
		if e.Reads {
			verb, of = "consume", fmt.Sprintf(`k, [%q], start = "earliest", within = "%dms", timeout = "%dms"`, hostile.Topic, timeout.Milliseconds()-1, timeout.Milliseconds())
		}
		if e.Group {
			of += fmt.Sprintf(", group = %q", hostile.Group)
		}
		if by == askedFunction {
			return fmt.Sprintf("step(%q, lambda vu: vu.kafka.%s(%s)),", name, verb, of)
		}
		expect := ""
		if by == askedKept && body != "" {
			expect = fmt.Sprintf(", expect = [body_contains(%q)]", body)
		}
		return fmt.Sprintf("step(%q, kafka.%s(%s)%s),", name, verb, of, expect)
	}
	iterations := ""
	if e.Once {
		iterations = "iterations = 1, "
	}
	next := hostile.Next
	if e.Reads {
		next = hostile.NextRead
	}
	w := loadFile(t, "", fmt.Sprintf(`
k = kafka.client(%q, sasl = kafka.scram(%q, %q))
workflow(name = "test", vus = 1, %sduration = "60s", steps = [
	%s
	step("pause", lambda vu: vu.sleep("%dms")),
	%s
])`, s.URL(), hostile.User, hostile.Password, iterations, ask("a", timeout, e.Want.Body), max(1, e.Pause.Milliseconds()), ask("b", 30*time.Second, next)))
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	proved := make(chan bool, 1)
	go func() {
		select {
		case <-s.Proved():
			proved <- true
		case <-ctx.Done():
			proved <- false
		}
		cancel()
	}()
	r := run(t, ctx, Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: timeout})
	cancel()
	got := r.Stats.Steps[0]
	kind, bad := string(e.Want.Kind), got.Failed+got.TimedOut
	switch {
	case got.Started != got.OK+bad+got.Cancelled:
		return fmt.Errorf("ok %d, failed %d, timed out %d, cancelled %d of %d", got.OK, got.Failed, got.TimedOut, got.Cancelled, got.Started)
	case kind == "" && (got.OK != 1 || bad > 0), kind != "" && (got.OK > 0 || kinds(got)[kind] < 1 || bad > 1 && !e.Want.Waits() || (got.TimedOut > 0) != e.Want.Waits()):
		return fmt.Errorf("ok %d, failed %d, timed out %d: %v, want %q", got.OK, got.Failed, got.TimedOut, got.Errors, kind)
	case strings.Contains(fmt.Sprint(r.Stats), hostile.Password):
		return errors.New("the result has the password in it")
	case e.Once:
		return nil
	case !<-proved:
		return errors.New("no next operation was right")
	}
	b := r.Stats.Steps[2]
	counts := s.Counts()
	throttled := uint64(0)
	for _, step := range r.Stats.Steps {
		throttled += measured(step)[plan.MeasureThrottled].Count
	}
	switch {
	case b.OK < 1 || b.OK > 1 && !e.Want.Waits() || b.Failed+b.TimedOut > 0:
		return fmt.Errorf("the next operation: ok %d of %d: %v", b.OK, b.Started, b.Errors)
	case s.Breach() != "":
		return errors.New(s.Breach())
	case e.Want.Reuse != hostile.ReuseEither && counts.Reused != (e.Want.Reuse == hostile.ReuseMust):
		return fmt.Errorf("reused %v", counts.Reused)
	case by != askedFunction && throttled != e.Want.Throttled:
		return fmt.Errorf("%d answers that ask to wait, want %d", throttled, e.Want.Throttled)
	case got.Sent+b.Sent+uint64(e.Want.Again) != uint64(counts.Records):
		return fmt.Errorf("%d records are sent, and %d came", got.Sent+b.Sent, counts.Records)
	}
	return nil
}

// Every behaviour of the catalogue of Kafka brokers, whether answers are counted, read by expect, or read by
// a function.
func TestCatalogueOfKafka(t *testing.T) {
	all := hostile.All()
	faults := make([]error, int(askedWays)*len(all))
	slots := make(chan struct{}, 32)
	var running sync.WaitGroup
	for i := range faults {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			e, by := &all[i/int(askedWays)], askedBy(i%int(askedWays))
			// A busy machine needs longer: one right outcome is enough.
			for deadline := 300 * time.Millisecond; deadline < 10*time.Second; deadline *= 3 {
				if faults[i] = kafkaHostile(t, e, by, deadline); faults[i] == nil || !e.Want.Waits() && e.Pause == 0 {
					return
				}
			}
		})
	}
	running.Wait()
	for i, err := range faults {
		if err != nil {
			t.Errorf("%s, path %d: %v", all[i/int(askedWays)].Name, i%int(askedWays), err)
		}
	}
}
