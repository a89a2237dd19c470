package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/hostile/authority"
	hostile "hyperscale/runtime/protocol/hostile/websocket"
	"hyperscale/runtime/protocol/http1"
)

// converse plays an entry of the catalogue of WebSocket servers, and returns what went wrong. The
// first step meets the behaviour, the second one gets a right answer, and then the first step's next
// message proves that: it stays without an answer until the run is cancelled.
func converse(t *testing.T, e *hostile.Entry, kept bool, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	offers := ""
	if e.Ask.Compressed {
		offers += ", compression = True"
	}
	for i, name := range e.Ask.Protocols {
		if i == 0 {
			offers += ", protocols = ["
		}
		offers += strconv.Quote(name) + ", "
	}
	if len(e.Ask.Protocols) > 0 {
		offers += "]"
	}
	expects, right := "", ""
	if kept {
		expects, right = fmt.Sprintf(", expect = [body_contains(%q)]", clipped(e.Want.Message)), fmt.Sprintf(", expect = [body_contains(%q)]", hostile.Next)
		if e.Want.Binary || e.Want.Message == "" {
			expects = ", expect = [status(101)]"
		}
	}
	timeout := 30 * time.Second
	if e.Want.Late() {
		timeout = deadline
	}
	text := fmt.Sprintf(`
ask = ["x" * %d]
workflow(name = "test", vus = 1, duration = "60s", http = http.client(tls = tls(verify = False)), steps = [
	step("a", websocket.exchange(%q, send = ask, timeout = "%dms"%s)%s),
	step("pause", lambda vu: vu.sleep("%dms")),
	step("b", websocket.exchange(%q, send = ["ping"], timeout = "30s"%s)%s),
])`, max(e.Ask.Size, 4), s.URL(), timeout.Milliseconds(), offers, expects, max(1, e.Ask.Pause.Milliseconds()), s.URL(), offers, right)
	w := loadFile(t, "", text)
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	if e.Ask.Once {
		w = loadFile(t, "", fmt.Sprintf(`workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("a", websocket.exchange(%q, send = ["ping"]))])`, s.URL()))
	}
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
	kind := string(e.Want.Kind)
	if e.Want.Kind == http1.KindStatus {
		kind = measure.StatusKind(e.Want.Status)
	}
	bad := got.Failed + got.TimedOut
	switch {
	case got.Started != got.OK+bad+got.Cancelled:
		return fmt.Errorf("ok %d, failed %d, timed out %d, cancelled %d of %d", got.OK, got.Failed, got.TimedOut, got.Cancelled, got.Started)
	case kind == "" && (got.OK != 1 || bad > 0), kind != "" && (got.OK > 0 || kinds(got)[kind] < 1 || bad > 1 && !e.Want.Late() || (got.TimedOut > 0) != e.Want.Late()):
		return fmt.Errorf("ok %d, failed %d, timed out %d: %v, want %q", got.OK, got.Failed, got.TimedOut, got.Errors, kind)
	case e.Want.Status != 0 && !counts(got.Statuses, e.Want.Status, bad):
		return fmt.Errorf("statuses %+v, the server answered the upgrade with %d", got.Statuses, e.Want.Status)
	case e.Ask.Once:
		return nil
	case !<-proved:
		return errors.New("no next exchange was right")
	}
	b := r.Stats.Steps[2]
	reused := s.Counts().Reused
	switch {
	case b.OK < 1 || b.OK > 1 && !e.Want.Late() || b.Failed+b.TimedOut > 0:
		return fmt.Errorf("the next exchange: ok %d of %d: %v", b.OK, b.Started, b.Errors)
	case s.Breach() != "":
		return errors.New(s.Breach())
	case e.Want.Reuse != hostile.ReuseEither && reused != (e.Want.Reuse == hostile.ReuseMust):
		return fmt.Errorf("reused %v", reused)
	}
	return nil
}

// counts reports whether a status was counted so often.
func counts(all []message.StatusCount, status int, n uint64) bool {
	return slices.ContainsFunc(all, func(c message.StatusCount) bool { return int(c.Status) == status && c.Count == n })
}

// clipped is a part of a message that fits a file.
func clipped(s string) string { return s[:min(len(s), 40)] }

// Every behaviour of the catalogue of WebSocket servers, whether messages are counted or read.
func TestCatalogueOfWebSocket(t *testing.T) {
	t.Parallel()
	authority.Roots()
	all := hostile.All()
	faults := make([]error, 2*len(all))
	slots := make(chan struct{}, 16)
	var running sync.WaitGroup
	for i := range faults {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			// A busy machine needs longer: one right outcome is enough.
			for deadline := 300 * time.Millisecond; deadline < 10*time.Second; deadline *= 3 {
				if faults[i] = converse(t, &all[i/2], i%2 == 1, deadline); faults[i] == nil || !all[i/2].Want.Late() && all[i/2].Ask.Pause == 0 {
					return
				}
			}
		})
	}
	running.Wait()
	for i, err := range faults {
		if err != nil {
			t.Errorf("%s, kept %v: %v", all[i/2].Name, i%2 == 1, err)
		}
	}
}
