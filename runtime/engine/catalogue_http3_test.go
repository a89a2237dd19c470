package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	hostile "hyperscale/runtime/protocol/hostile/http3"
)

// http3Hostile plays an entry of the catalogue of HTTP/3 servers, and returns what went wrong. The first step
// meets the behaviour, and the second one gets a right answer.
func http3Hostile(t *testing.T, e *hostile.Entry, by askedBy, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	ask := func(name string, body int, timeout time.Duration) string {
		of := fmt.Sprintf(`http.get(%q, timeout = "%dms")`, s.URL(), timeout.Milliseconds())
		if body > 0 {
			of = fmt.Sprintf(`http.post(%q, body = "b" * %d, timeout = "%dms")`, s.URL(), body, timeout.Milliseconds())
		}
		switch by {
		case askedFunction:
			return fmt.Sprintf("step(%q, lambda vu: vu.%s)", name, of)
		case askedKept:
			return fmt.Sprintf(`step(%q, %s, extract = {"first": regex("(.)")})`, name, of)
		}
		return fmt.Sprintf("step(%q, %s)", name, of)
	}
	timeout := 30 * time.Second
	if e.Want.Late {
		timeout = deadline
	}
	next := 10 * time.Second
	if e.Want.Once {
		next = timeout
	}
	client := `http.client(version = "3")`
	w := loadFile(t, "", fmt.Sprintf("workflow(name = \"test\", iterations = 1, vus = 1, duration = \"60s\", http = %s, steps = [%s, %s])",
		client, ask("a", e.Body, timeout), ask("b", 0, next)))
	if e.Want.Kind != "tls_authority" {
		w.HTTP.Insecure = true
	}
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: timeout})
	a, b := r.Stats.Steps[0], r.Stats.Steps[1]
	kind := string(e.Want.Kind)
	switch {
	case kind == "" && a.OK != 1, kind != "" && (a.OK > 0 || kinds(a)[kind] != 1):
		return fmt.Errorf("ok %d of %d: %v, want %q", a.OK, a.Started, a.Errors, kind)
	case (a.TimedOut > 0) != e.Want.Late:
		return fmt.Errorf("%d timed out", a.TimedOut)
	case e.Want.Once:
		return nil
	case b.OK != 1:
		return fmt.Errorf("the next request: %v", b.Errors)
	case kind == "" && a.BytesIn < uint64(e.Want.Body):
		return fmt.Errorf("%d bytes in, want %d", a.BytesIn, e.Want.Body)
	case s.Same() != e.Want.Same:
		return fmt.Errorf("the next request came on the same connection: %v", s.Same())
	case e.Server.Early && s.Asked() != b.Sent, !e.Server.Early && s.Asked() != a.Sent+b.Sent:
		return fmt.Errorf("%d and %d sent, and %d came whole", a.Sent, b.Sent, s.Asked())
	}
	if e.Server.Early && a.Sent > 0 {
		return errors.New("a request that the server did not take counts as sent")
	}
	return nil
}

// Every behaviour of the catalogue of HTTP/3 servers, whether answers are counted, read by expect, or read by
// a function.
func TestCatalogueOfHTTP3(t *testing.T) {
	all := hostile.All()
	faults := make([]error, int(askedWays)*len(all))
	slots := make(chan struct{}, 16)
	var running sync.WaitGroup
	for i := range faults {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			e, by := &all[i/int(askedWays)], askedBy(i%int(askedWays))
			// A busy machine needs longer: one right outcome is enough.
			for deadline := 300 * time.Millisecond; deadline < 30*time.Second; deadline *= 3 {
				if faults[i] = http3Hostile(t, e, by, deadline); faults[i] == nil || !e.Want.Late && !e.Server.Race {
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
