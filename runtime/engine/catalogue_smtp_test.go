package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hyperscale/core/plan"
	hostile "hyperscale/runtime/protocol/hostile/smtp"
)

// mailHostile plays an entry of the catalogue of mail servers, and returns what went wrong. The first step
// meets the behaviour, and the second one gets a right answer.
func mailHostile(t *testing.T, e *hostile.Entry, by askedBy, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	timeout := 30 * time.Second
	if e.Want.Waits() {
		timeout = deadline
	}
	ask := func(name string, timeout time.Duration, size, recipients int, body string) string {
		of := fmt.Sprintf(`send(s, sender = "a@x.test", to = ["b%%d@y.test" %% i for i in range(%d)], body = "0123456789\n" * %d, timeout = "%dms")`, recipients, size/11, timeout.Milliseconds())
		if by == askedFunction {
			return fmt.Sprintf("step(%q, lambda vu: vu.smtp.%s),", name, of)
		}
		expect := ""
		if by == askedKept {
			expect = fmt.Sprintf(", expect = [body_contains(%q)]", body)
		}
		return fmt.Sprintf("step(%q, smtp.%s%s),", name, of, expect)
	}
	secure := `"never"`
	if e.TLS {
		secure = `"required", tls = tls(verify = False)`
	}
	w := loadFile(t, "", fmt.Sprintf(`
s = smtp.client(%q, starttls = %s)
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [
	%s
	step("pause", lambda vu: vu.sleep("%dms")),
	%s
])`, s.URL(), secure, ask("a", timeout, e.Size, max(1, e.Recipients), "accepted"), max(1, e.Pause.Milliseconds()), ask("b", 30*time.Second, 0, 1, hostile.Next)))
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: timeout})
	got, b := r.Stats.Steps[0], r.Stats.Steps[2]
	kind, bad := string(e.Want.Kind), got.Failed+got.TimedOut
	counts := s.Counts()
	var ok, refused, sent uint64
	for _, step := range r.Stats.Steps {
		refused += measured(step)[plan.MeasureRecipientsRefused].Count
	}
	ok, sent = got.OK+b.OK, got.Sent+b.Sent
	switch {
	case got.Started != 1 || got.Started != got.OK+bad:
		return fmt.Errorf("ok %d, failed %d, timed out %d, cancelled %d of %d", got.OK, got.Failed, got.TimedOut, got.Cancelled, got.Started)
	case kind == "" && got.OK != 1, kind != "" && kinds(got)[kind] != 1, (got.TimedOut > 0) != e.Want.Waits():
		return fmt.Errorf("ok %d, timed out %d: %v, want %q", got.OK, got.TimedOut, got.Errors, kind)
	case refused != e.Want.Refused:
		return fmt.Errorf("%d recipients are refused, want %d", refused, e.Want.Refused)
	case e.Gone:
		return nil
	case b.OK != 1:
		return fmt.Errorf("the next operation: ok %d of %d: %v", b.OK, b.Started, b.Errors)
	case s.Breach() != "":
		return errors.New(s.Breach())
	case (counts.Last == 1) != (e.Want.Reuse == hostile.ReuseMust):
		return fmt.Errorf("the next operation came on connection %d", counts.Last)
	case sent < uint64(counts.Messages) || ok < uint64(counts.Accepted):
		return fmt.Errorf("%d are sent and %d came, %d are good and %d accepted", sent, counts.Messages, ok, counts.Accepted)
	}
	return nil
}

// Every behaviour of the catalogue of mail servers, whether answers are counted, read by expect, or read by a
// function.
func TestCatalogueOfMail(t *testing.T) {
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
				if faults[i] = mailHostile(t, e, by, deadline); faults[i] == nil || !e.Want.Waits() && e.Pause == 0 {
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
