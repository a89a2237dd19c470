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
	hostile "hyperscale/runtime/protocol/hostile/mqtt"
)

// mqttHostile plays an entry of the catalogue of MQTT servers, and returns what went wrong. The first step
// meets the behaviour, the second one gets a right answer, and then the first step's next operation proves
// that: it stays without an answer until the run is cancelled.
func mqttHostile(t *testing.T, e *hostile.Entry, by askedBy, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	timeout := 30 * time.Second
	if e.Want.Waits() {
		timeout = deadline
	}
	ask := func(name string, timeout time.Duration, qos, size int) string {
		of := fmt.Sprintf(`m, %q, "k" * %d, qos = %d, timeout = "%dms"`, name, size, qos, timeout.Milliseconds())
		switch by {
		case askedFunction:
			return fmt.Sprintf("step(%q, lambda vu: vu.mqtt.publish(%s)),", name, of)
		case askedKept:
			return fmt.Sprintf("step(%q, mqtt.publish(%s), expect = [latency_below(\"60s\")]),", name, of)
		}
		return fmt.Sprintf("step(%q, mqtt.publish(%s)),", name, of)
	}
	iterations, version := "", "5"
	if e.Ask.Once {
		iterations = "iterations = 1, "
	}
	if e.Ask.Older {
		version = "3.1.1"
	}
	w := loadFile(t, "", fmt.Sprintf(`
m = mqtt.client(%q, user = %q, password = %q, version = %q)
workflow(name = "test", vus = 1, %sduration = "60s", steps = [
	%s
	step("pause", lambda vu: vu.sleep("%dms")),
	%s
])`, s.URL(), hostile.User, hostile.Password, version, iterations, ask("a", timeout, max(1, e.Ask.QoS), max(e.Ask.Size, 1)), max(1, e.Ask.Pause.Milliseconds()), ask("b", 30*time.Second, 1, 1)))
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
	case kind == "" && (got.OK != 1 || bad > 0), kind != "" && (got.OK > 0 || kinds(got)[kind] < 1 || bad > 1 && !e.Want.Waits() && kind != "value" || (got.TimedOut > 0) != e.Want.Waits()):
		return fmt.Errorf("ok %d, failed %d, timed out %d: %v, want %q", got.OK, got.Failed, got.TimedOut, got.Errors, kind)
	case strings.Contains(fmt.Sprint(r.Stats), hostile.Password):
		return errors.New("the result has the password in it")
	case e.Ask.Once:
		return nil
	case !<-proved:
		return errors.New("no next operation was right")
	}
	b, counts, late := r.Stats.Steps[2], s.Counts(), uint64(0)
	for _, step := range r.Stats.Steps {
		late += measured(step)[plan.MeasureLateAnswers].Count
	}
	switch {
	case b.OK < 1 || b.Failed+b.TimedOut > 0:
		return fmt.Errorf("the next operation: ok %d of %d: %v", b.OK, b.Started, b.Errors)
	case s.Breach() != "":
		return errors.New(s.Breach())
	case e.Want.Reuse != hostile.ReuseEither && e.Want.Kind != "value" && counts.Reused != (e.Want.Reuse == hostile.ReuseMust):
		return fmt.Errorf("reused %v", counts.Reused)
	case late != e.Want.Late && by != askedFunction && kind != "flood":
		return fmt.Errorf("%d late answers, want %d", late, e.Want.Late)
	case got.Sent+b.Sent < uint64(counts.Messages), e.Server.Greeting == nil && got.Sent+b.Sent > uint64(counts.Messages):
		return fmt.Errorf("%d messages are sent, and %d came", got.Sent+b.Sent, counts.Messages)
	}
	return nil
}

// Every behaviour of the catalogue of MQTT servers, whether answers are counted, read by expect, or read by
// a function.
func TestCatalogueOfMQTT(t *testing.T) {
	t.Parallel()
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
				if faults[i] = mqttHostile(t, e, by, deadline); faults[i] == nil || !e.Want.Waits() && e.Ask.Pause == 0 {
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

// Every behaviour towards a subscription: the session ends as the entry wants, and gives its functions each
// message once.
func TestSessionsOfHostileMQTT(t *testing.T) {
	t.Parallel()
	for _, e := range hostile.Sessions() {
		t.Run(e.Name, func(t *testing.T) {
			s, err := hostile.Start(&e)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			w := loadFile(t, "", fmt.Sprintf(`
m = mqtt.client(%q, user = %q, password = %q)
def receive(vu):
    s = vu.mqtt.subscribe(m, "t", qos = 2, name = "session")
    for i in range(%d):
        d = s.receive(timeout = "20s")
        if d.error:
            break
    return s.close()
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("ask", receive)])`, s.URL(), hostile.User, hostile.Password, max(1, e.Want.Got)))
			got := byName(run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps)["session"]
			kind := string(e.Want.Kind)
			if kind == "" && got.OK != 1 || kind != "" && kinds(got)[kind] != 1 || measured(got)[plan.MeasureMessagesReceived].Count != e.Want.Got {
				t.Errorf("ok %d, %v, %d messages; want %q and %d", got.OK, got.Errors, measured(got)[plan.MeasureMessagesReceived].Count, kind, e.Want.Got)
			}
			if s.Breach() != "" {
				t.Error(s.Breach())
			}
		})
	}
}
