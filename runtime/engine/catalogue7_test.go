package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	hostile "hyperscale/runtime/protocol/hostile/mysql"
)

// queryHostile plays an entry of the catalogue of MySQL servers, and returns what went wrong. The first
// step meets the behaviour, the second one gets a right answer, and then the first step's next operation
// proves that: it stays without an answer until the run is cancelled.
func queryHostile(t *testing.T, e *hostile.Entry, by askedBy, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	expects := func(body string) string {
		if by != askedKept || body == "" {
			return ""
		}
		return fmt.Sprintf(", expect = [body_contains(%q)]", clipped(strings.ToValidUTF8(body, "")))
	}
	timeout := 30 * time.Second
	if e.Want.Late() {
		timeout = deadline
	}
	ask := func(name, word string, timeout time.Duration, body string) string {
		of := fmt.Sprintf(`db, "select %s", timeout = "%dms"`, word, timeout.Milliseconds())
		if e.Ask.Prepared && name == "a" {
			of = fmt.Sprintf(`db, "select ?", args = [key], timeout = "%dms"`, timeout.Milliseconds())
		}
		if by == askedFunction {
			return fmt.Sprintf("step(%q, lambda vu: vu.sql.query(%s)),", name, of)
		}
		return fmt.Sprintf("step(%q, sql.query(%s)%s),", name, of, expects(body))
	}
	iterations, mode := "", "simple"
	if e.Ask.Once {
		iterations = "iterations = 1, "
	}
	if e.Ask.Prepared {
		mode = "prepared"
	}
	w := loadFile(t, "", fmt.Sprintf(`
db = sql.client(%q, user = %q, password = %q, statements = %q)
key = "k" * %d
workflow(name = "test", vus = 1, %sduration = "60s", steps = [
	%s
	step("pause", lambda vu: vu.sleep("%dms")),
	%s
])`, s.URL(), hostile.User, hostile.Password, mode, max(e.Ask.Size, 1), iterations, ask("a", "1", timeout, e.Want.Body), max(1, e.Ask.Pause.Milliseconds()), ask("b", "2", 30*time.Second, hostile.Next)))
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
	case kind == "" && (got.OK != 1 || bad > 0), kind != "" && (got.OK > 0 || kinds(got)[kind] < 1 || bad > 1 && !e.Want.Late() || (got.TimedOut > 0) != e.Want.Late()):
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
	switch {
	case b.OK < 1 || b.OK > 1 && !e.Want.Late() || b.Failed+b.TimedOut > 0:
		return fmt.Errorf("the next operation: ok %d of %d: %v", b.OK, b.Started, b.Errors)
	case s.Breach() != "":
		return errors.New(s.Breach())
	case e.Want.Reuse != hostile.ReuseEither && counts.Reused != (e.Want.Reuse == hostile.ReuseMust):
		return fmt.Errorf("reused %v", counts.Reused)
	case got.Sent+b.Sent < uint64(counts.Operations), e.Server.Greeting == nil && e.Server.Prepare == nil && got.Sent+b.Sent > uint64(counts.Operations):
		return fmt.Errorf("%d operations are sent, and %d came", got.Sent+b.Sent, counts.Operations)
	case e.Server.Prepare != nil && e.Want.Late() && got.Sent+b.Sent != uint64(counts.Operations):
		return fmt.Errorf("an operation counts as sent that is not: %d and %d, and %d came", got.Sent, b.Sent, counts.Operations)
	}
	return nil
}

// Every behaviour of the catalogue of MySQL servers, whether answers are counted, read by expect, or
// read by a function.
func TestCatalogueOfMySQL(t *testing.T) {
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
				if faults[i] = queryHostile(t, e, by, deadline); faults[i] == nil || !e.Want.Late() && e.Ask.Pause == 0 {
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
