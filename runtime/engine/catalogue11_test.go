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
	hostile "hyperscale/runtime/protocol/hostile/redis"
)

// subscribedBy is how a session reaches a hostile server.
type subscribedBy int

const (
	subscribedPlain  subscribedBy = iota // RESP2, without a greeting
	subscribedGreets                     // RESP3 behind HELLO
	subscribedTLS                        // RESP2 in TLS
	subscribedWays
)

// subscriptionHostile plays an entry of the catalogue of Redis servers that sessions subscribe to, and
// returns what went wrong. A function opens sessions until one of them has brought the right message.
func subscriptionHostile(t *testing.T, e hostile.Entry, by subscribedBy, deadline time.Duration) error {
	client := "redis.client(%q)"
	switch by {
	case subscribedGreets:
		e.Ask.Greets = true
		client = fmt.Sprintf("redis.client(%%q, user = %q, password = %q, protocol = 3, database = %s)", hostile.User, hostile.Password, hostile.Database)
	case subscribedTLS:
		e.Ask.TLS = true
	}
	s, err := hostile.Start(&e)
	if err != nil {
		return err
	}
	defer s.Close()
	timeout := 30 * time.Second
	if e.Want.Late() {
		timeout = deadline
	}
	w := loadFile(t, "", fmt.Sprintf(`
r = `+client+`
def work(vu):
    for i in range(4):
        s = vu.redis.subscribe(r, [%q], timeout = "%dms", name = "feed")
        for j in range(100):
            m = s.receive(timeout = "%dms")
            if m.error:
                break
            if m.data == %q:
                return s.close()
        s.close()
    fail("no session was right")
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", %s, steps = [step("work", work)])`,
		s.URL(), hostile.Channel, timeout.Milliseconds(), timeout.Milliseconds(), hostile.Following, anyTLS))
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	r := run(t, ctx, Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: timeout})
	steps := byName(r.Stats.Steps)
	got := steps["feed"]
	all, counts := measured(got), s.Counts()
	kind, bad := string(e.Want.Kind), uint64(0)
	if kind != "" {
		bad = 1
	}
	switch {
	case steps["work"].OK != 1:
		return fmt.Errorf("%v, sessions %v", steps["work"].Errors, got.Errors)
	case got.OK != 1 || got.Failed+got.TimedOut != bad || kinds(got)[kind] != bad:
		return fmt.Errorf("ok %d, failed %d, timed out %d: %v, want %q", got.OK, got.Failed, got.TimedOut, got.Errors, kind)
	case all[plan.MeasureMessagesReceived].Count != uint64(e.Want.Messages)+1:
		return fmt.Errorf("received %d, want %d and the right one", all[plan.MeasureMessagesReceived].Count, e.Want.Messages)
	case counts.Reused != (e.Want.Reuse == hostile.ReuseMust):
		return fmt.Errorf("reused %v", counts.Reused)
	case strings.Contains(fmt.Sprint(r.Stats), hostile.Password):
		return errors.New("the result has the password in it")
	case s.Breach() != "":
		return errors.New(s.Breach())
	}
	return nil
}

// Every behaviour of the catalogue of servers that sessions subscribe to: in RESP2, behind a greeting in
// RESP3, and in TLS.
func TestCatalogueOfSubscriptions(t *testing.T) {
	t.Parallel()
	all := hostile.Subscriptions()
	faults := make([]error, int(subscribedWays)*len(all))
	slots := make(chan struct{}, 32)
	var running sync.WaitGroup
	for i := range faults {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			e, by := all[i/int(subscribedWays)], subscribedBy(i%int(subscribedWays))
			// A busy machine needs longer: one right outcome is enough.
			for deadline := 300 * time.Millisecond; deadline < 10*time.Second; deadline *= 3 {
				if faults[i] = subscriptionHostile(t, e, by, deadline); faults[i] == nil || !e.Want.Late() {
					return
				}
			}
		})
	}
	running.Wait()
	for i, err := range faults {
		if err != nil {
			t.Errorf("%s, path %d: %v", all[i/int(subscribedWays)].Name, i%int(subscribedWays), err)
		}
	}
}
