package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/plan"
	hostile "hyperscale/runtime/protocol/hostile/amqp"
)

// amqpHostile plays an entry of the catalogue of AMQP servers, and returns what went wrong. The first step
// meets the behaviour, the second one gets a right answer, and then the first step's next operation proves
// that: it stays without an answer until the run is cancelled.
func amqpHostile(t *testing.T, e *hostile.Entry, by askedBy, client string, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	timeout := 30 * time.Second
	if e.Want.Waits() {
		timeout = deadline
	}
	ask := func(name string, verb hostile.Verb, timeout time.Duration, size int, body string) string {
		of := fmt.Sprintf(`publish(q, key = "jobs", body = "k" * %d, confirm = True, mandatory = %s, timeout = "%dms"`, size, map[bool]string{true: "True", false: "False"}[verb == hostile.Mandatory], timeout.Milliseconds())
		if verb == hostile.Get {
			of = fmt.Sprintf(`get(q, "jobs", timeout = "%dms"`, timeout.Milliseconds())
		}
		if by == askedFunction {
			return fmt.Sprintf("step(%q, lambda vu: vu.amqp.%s)),", name, of)
		}
		expect := ""
		if by == askedKept && body != "" {
			expect = fmt.Sprintf(", expect = [body_contains(%q)]", clipped(body))
		}
		return fmt.Sprintf("step(%q, amqp.%s)%s),", name, of, expect)
	}
	iterations := ""
	if e.Ask.Once {
		iterations = "iterations = 1, "
	}
	w := loadFile(t, "", fmt.Sprintf(`
q = amqp.client(%q, user = %q, password = %q%s)
workflow(name = "test", vus = 1, %sduration = "60s", steps = [
	%s
	step("pause", lambda vu: vu.sleep("%dms")),
	%s
])`, s.URL(), hostile.User, hostile.Password, client, iterations, ask("a", e.Ask.Verb, timeout, max(e.Ask.Size, 1), e.Want.Body), max(1, e.Ask.Pause.Milliseconds()), ask("b", hostile.Get, 30*time.Second, 1, hostile.Next)))
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
	case e.Ask.Once:
		return nil
	case !<-proved:
		return errors.New("no next operation was right")
	}
	b := r.Stats.Steps[2]
	counts := s.Counts()
	late, told := uint64(0), uint64(0)
	for _, step := range r.Stats.Steps {
		all := measured(step)
		late, told = late+all[plan.MeasureLateAnswers].Count, told+all[plan.MeasureServerErrors].Count
	}
	switch {
	case b.OK < 1 || b.OK > 1 && !e.Want.Waits() || b.Failed+b.TimedOut > 0:
		return fmt.Errorf("the next operation: ok %d of %d: %v", b.OK, b.Started, b.Errors)
	case s.Breach() != "":
		return errors.New(s.Breach())
	case e.Want.Reuse != hostile.ReuseEither && counts.Reused != (e.Want.Reuse == hostile.ReuseMust):
		return fmt.Errorf("reused %v", counts.Reused)
	case late != e.Want.Late && by != askedFunction, told != e.Want.Told && by != askedFunction:
		return fmt.Errorf("%d late answers and %d errors, want %d and %d", late, told, e.Want.Late, e.Want.Told)
	case got.Sent+b.Sent < uint64(counts.Messages), e.Server.Greeting == nil && got.Sent+b.Sent > uint64(counts.Messages):
		return fmt.Errorf("%d messages are sent, and %d came", got.Sent+b.Sent, counts.Messages)
	}
	return nil
}

// Every behaviour of the catalogue of AMQP servers, whether answers are counted, read by expect, or read by
// a function.
func TestCatalogueOfAMQP(t *testing.T) {
	all := hostile.All()
	clients := []string{"", ", connections = 1"}
	faults := make([]error, len(clients)*int(askedWays)*len(all))
	slots := make(chan struct{}, 32)
	var running sync.WaitGroup
	for i := range faults {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			e, by, client := &all[i/int(askedWays)%len(all)], askedBy(i%int(askedWays)), clients[i/int(askedWays)/len(all)]
			// A busy machine needs longer: one right outcome is enough.
			for deadline := 300 * time.Millisecond; deadline < 10*time.Second; deadline *= 3 {
				if faults[i] = amqpHostile(t, e, by, client, deadline); faults[i] == nil || !e.Want.Waits() && e.Ask.Pause == 0 {
					return
				}
			}
		})
	}
	running.Wait()
	for i, err := range faults {
		if err != nil {
			t.Errorf("%s, path %d%s: %v", all[i/int(askedWays)%len(all)].Name, i%int(askedWays), clients[i/int(askedWays)/len(all)], err)
		}
	}
}

// While RabbitMQ blocks publishers it answers nothing, also no question whether it is there. Publications that time out
// meanwhile leave their connection: another one would not know of the block.
func TestBlockedPublishersKeepTheirConnection(t *testing.T) {
	t.Parallel()
	blocks := slices.IndexFunc(hostile.All(), func(e hostile.Entry) bool { return e.Name == "publishers that are blocked" })
	greets := hostile.All()[blocks].Server.Greeting
	mute := func(s *hostile.Session) bool {
		greets(s)
		s.Say("\x01\x00\x01\x00\x00\x00\x08\x00\x14\x00\x0b\x00\x00\x00\x00\xce") // channel.open-ok
		b := make([]byte, 4096)
		for {
			if n, err := s.Read(b); err != nil || bytes.Contains(b[:n], []byte("\x00\x0a\x00\x32")) { // connection.close
				return false
			}
		}
	}
	const late = 4
	// A busy machine needs longer to connect: one right outcome is enough.
	for deadline := 200 * time.Millisecond; ; deadline *= 3 {
		s, err := hostile.Start(&hostile.Entry{Server: hostile.Behaviour{Greeting: mute}})
		if err != nil {
			t.Fatal(err)
		}
		w := loadFile(t, s.URL(), fmt.Sprintf(`
q = amqp.client("TARGET", user = %q, password = %q, connections = 1)
workflow(name = "test", vus = 1, iterations = %d, duration = "60s", steps = [step("a", amqp.publish(q, key = "jobs", body = "k", confirm = True, timeout = "%dms"))])`,
			hostile.User, hostile.Password, late, deadline.Milliseconds()))
		got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: deadline}).Stats.Steps[0]
		connections := s.Counts().Connections
		if s.Close(); got.TimedOut == late && connections == 1 {
			return
		}
		if deadline > 3*time.Second {
			t.Fatalf("%d of %d timed out, on %d connections: %v", got.TimedOut, got.Started, connections, got.Errors)
		}
	}
}

// RabbitMQ that blocks a connection reads nothing of it, also no get that was sent before. Gets that time out meanwhile
// leave the connection, with a channel of its own and with a shared one.
func TestBlockedConnectionsAreNotGivenUp(t *testing.T) {
	t.Parallel()
	const blocked = "\x01\x00\x00\x00\x00\x00\x08\x00\x0a\x00\x3c\x03low\xce" // connection.blocked
	mute := func(s *hostile.Session) bool {
		b := make([]byte, 4096)
		for {
			if n, err := s.Read(b); err != nil || bytes.Contains(b[:n], []byte("\x00\x0a\x00\x32")) { // connection.close
				return false
			}
		}
	}
	const late = 5
	for _, client := range []string{"", ", connections = 1"} {
		// A busy machine needs longer to connect: one right outcome is enough.
		for deadline := 200 * time.Millisecond; ; deadline *= 3 {
			s, err := hostile.Start(&hostile.Entry{Server: hostile.Behaviour{Answer: blocked, Then: mute}})
			if err != nil {
				t.Fatal(err)
			}
			w := loadFile(t, s.URL(), fmt.Sprintf(`
q = amqp.client("TARGET", user = %q, password = %q%s)
workflow(name = "test", vus = 1, iterations = %d, duration = "60s", steps = [step("a", amqp.get(q, "jobs", timeout = "%dms"))])`,
				hostile.User, hostile.Password, client, late, deadline.Milliseconds()))
			got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: deadline}).Stats.Steps[0]
			connections := s.Counts().Connections
			if s.Close(); got.TimedOut == late && connections == 1 {
				break
			}
			if deadline > 3*time.Second {
				t.Fatalf("%q: %d of %d timed out, on %d connections: %v", client, got.TimedOut, got.Started, connections, got.Errors)
			}
		}
	}
}
