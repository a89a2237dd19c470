package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	hostile "hyperscale/runtime/protocol/hostile/ssh"
)

// sftpHostile plays an entry of the catalogue of SSH servers, and returns what went wrong. The first step meets
// the behaviour, and the second one gets the right answer.
func sftpHostile(t *testing.T, e *hostile.Entry, by askedBy, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	timeout := 30 * time.Second
	if e.Late {
		timeout = deadline
	}
	ask := func(name string, verb hostile.Verb, timeout time.Duration, body string) string {
		data := ""
		if verb == hostile.Put || verb == hostile.CopyPut {
			data = ", \"tea\" * 1000"
		}
		of := fmt.Sprintf(`%s(h, %q%s, timeout = "%dms"`, verb, hostile.Path, data, timeout.Milliseconds())
		if by == askedFunction {
			return fmt.Sprintf("step(%q, lambda vu: vu.%s)),", name, of)
		}
		expect := ""
		if by == askedKept && body != "" {
			expect = fmt.Sprintf(", expect = [body_contains(%q)]", body)
		}
		return fmt.Sprintf("step(%q, %s)%s),", name, of, expect)
	}
	next := hostile.Get
	if strings.HasPrefix(string(e.Verb), "scp") {
		next = hostile.CopyGet
	}
	body := ""
	if e.Verb == hostile.Get || e.Verb == hostile.CopyGet || e.Verb == hostile.List {
		body = hostile.Next
	}
	w := loadFile(t, "", fmt.Sprintf(`
h = sftp.client(%q, password = %q, host_keys = %q)
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [
	%s
	step("pause", lambda vu: vu.sleep("10ms")),
	%s
])`, s.URL(), hostile.Password, s.HostKey(), ask("a", e.Verb, timeout, body), ask("b", next, 30*time.Second, hostile.Next)))
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
	a, b := r.Stats.Steps[0], r.Stats.Steps[2]
	kind, conns := string(e.Want), 2
	if e.Reuse {
		conns = 1
	}
	switch {
	case a.Started != 1 || kind == "" && a.OK != 1 || kind != "" && kinds(a)[kind]+kinds(a)[string(e.Or)] != 1 || (a.TimedOut > 0) != e.Late:
		return fmt.Errorf("ok %d, timed out %d: %v, want %q", a.OK, a.TimedOut, a.Errors, kind)
	case b.OK != 1:
		return fmt.Errorf("the next operation: %v", b.Errors)
	case s.Connections() != conns:
		return fmt.Errorf("%d connections, want %d", s.Connections(), conns)
	case strings.Contains(fmt.Sprint(r.Stats), hostile.Password):
		return errors.New("the result has the password in it")
	}
	return nil
}

// Every behaviour of the catalogue of SSH servers, whether answers are counted, read by expect, or read by a
// function.
func TestCatalogueOfSSH(t *testing.T) {
	t.Parallel()
	all := hostile.All()
	faults := make([]error, int(askedWays)*len(all))
	slots := make(chan struct{}, 16)
	var running sync.WaitGroup
	for i := range faults {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			e, by := hostile.All()[i/int(askedWays)], askedBy(i%int(askedWays))
			// A busy machine needs longer: one right outcome is enough.
			for deadline := 500 * time.Millisecond; deadline < 10*time.Second; deadline *= 3 {
				if faults[i] = sftpHostile(t, &e, by, deadline); faults[i] == nil || !e.Late {
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

// With 1, 64 and 500 users each connection authenticates once, and each operation has its answer.
func TestManyUsersOfSSH(t *testing.T) {
	t.Parallel()
	for _, vus := range []uint64{1, 64, 500} {
		s, err := hostile.Start(&hostile.Entry{})
		if err != nil {
			t.Fatal(err)
		}
		w := loadFile(t, "", fmt.Sprintf(`
h = sftp.client(%q, password = %q, host_keys = "any")
workflow(name = "test", vus = %d, vu_iterations = 3, duration = "60s", steps = [step("get", sftp.get(h, "/data/next"))])`, s.URL(), hostile.Password, vus))
		got := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 40 * time.Second}).Stats.Steps[0]
		s.Close()
		if got.OK != 3*vus || got.Sent != 3*vus || s.Users() != int(vus) || s.Connections() != int(vus) {
			t.Errorf("%d users: ok %d, sent %d, %d connections of %d users: %v", vus, got.OK, got.Sent, s.Connections(), s.Users(), got.Errors)
		}
	}
}
