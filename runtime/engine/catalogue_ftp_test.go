package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hyperscale/runtime/protocol/hostile/authority"
	hostile "hyperscale/runtime/protocol/hostile/ftp"
)

// ftpHostile plays an entry of the catalogue of FTP servers, and returns what went wrong. The first step meets the
// behaviour, and the second one gets a whole file.
func ftpHostile(t *testing.T, e *hostile.Entry, by askedBy, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	timeout := 30 * time.Second
	if e.Want.Waits() {
		timeout = deadline
	}
	ask := func(name string, timeout time.Duration, put int) string {
		of := fmt.Sprintf("get(f, \"x\", timeout = \"%dms\")", timeout.Milliseconds())
		if put > 0 {
			of = fmt.Sprintf("put(f, \"x\", \"x\" * %d, timeout = \"%dms\")", put, timeout.Milliseconds())
		}
		expect := ""
		switch {
		case by == askedFunction:
			return fmt.Sprintf("step(%q, lambda vu: vu.ftp.%s),", name, of)
		case by == askedKept && put == 0:
			expect = fmt.Sprintf(", expect = [body_contains(%q)]", hostile.Next)
		}
		return fmt.Sprintf("step(%q, ftp.%s%s),", name, of, expect)
	}
	secure := `"never"`
	if e.TLS {
		_, _, ca := authority.Files()
		secure = fmt.Sprintf("tls(ca = %q)", ca)
	}
	w := loadFile(t, "", fmt.Sprintf(`
f = ftp.client(%q, password = "geheim", tls = %s)
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [
	%s
	step("pause", lambda vu: vu.sleep("20ms")),
	%s
])`, s.URL(), secure, ask("a", timeout, e.Put), ask("b", 30*time.Second, 0)))
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: timeout})
	got, b := r.Stats.Steps[0], r.Stats.Steps[2]
	kind, counts := string(e.Want.Kind), s.Counts()
	switch {
	case got.Started != 1 || got.Started != got.OK+got.Failed+got.TimedOut:
		return fmt.Errorf("ok %d, failed %d, timed out %d, cancelled %d of %d", got.OK, got.Failed, got.TimedOut, got.Cancelled, got.Started)
	case kind == "" && got.OK != 1, kind != "" && kinds(got)[kind] != 1, (got.TimedOut > 0) != e.Want.Waits():
		return fmt.Errorf("ok %d, timed out %d: %v, want %q", got.OK, got.TimedOut, got.Errors, kind)
	case e.Gone:
		return nil
	case b.OK != 1:
		return fmt.Errorf("the next operation: ok %d of %d: %v", b.OK, b.Started, b.Errors)
	case s.Breach() != "":
		return errors.New(s.Breach())
	case (counts.Last == 1) != e.Want.Same:
		return fmt.Errorf("the next operation came on connection %d", counts.Last)
	case e.Put == 0 && got.Sent+b.Sent != uint64(counts.Commands) || got.OK+b.OK < uint64(counts.Done):
		return fmt.Errorf("%d are sent and %d came, %d are good and %d whole", got.Sent+b.Sent, counts.Commands, got.OK+b.OK, counts.Done)
	}
	return nil
}

// Every behaviour of the catalogue of FTP servers, whether files are counted, read by expect, or read by a
// function.
func TestCatalogueOfFTP(t *testing.T) {
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
				if faults[i] = ftpHostile(t, e, by, deadline); faults[i] == nil || !e.Want.Waits() {
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
