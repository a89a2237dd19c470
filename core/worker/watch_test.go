package worker

import (
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node/nodetest"
)

// A worker that was stopped for an hour kills no executor when it wakes: what they said meanwhile
// waits for it. Awake, it kills one that says nothing for 40 s, and not before.
func TestAPauseOfTheWorkerIsNoSilence(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.RenewalTimeout, c.Silence = 24*time.Hour, 24*time.Hour })
	x := d.dispatch(0, 1, 1, 1)
	d.ExecSays(x.runs[0].id, &message.ExecStarted{VUs: 1})
	kills := func() int { return len(d.ExecCalls(nodetest.ExecKilled)) }
	for range 5 {
		d.m.tick.Arm(d.Now().Add(-time.Hour), d.m.config.ProgressInterval) // an hour ago
		d.Advance(d.m.config.ProgressInterval)
	}
	if d.Advance(39 * time.Second); kills() > 0 || x.phase != running {
		t.Errorf("%d executors are killed, and their worker was awake for 39 s", kills())
	}
	if d.Advance(time.Second); kills() != 1 || x.fault != message.FaultExecutor || !strings.Contains(x.failure, "said nothing for 40s") {
		t.Errorf("%d executors are killed after 40 s awake; fault %v, %q", kills(), x.fault, x.failure)
	}
}

// An extension moves no deadline of the execution, and one that has reported is not watched.
func TestAnExtensionIsNoRenewal(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.RenewalTimeout, c.Silence = time.Minute, 24*time.Hour })
	x := d.dispatch(0, 1, 1, 1)
	until := x.until
	for done := range uint32(5) {
		d.ExecSays(x.runs[0].id, &message.ExecAlive{Asks: true, Done: done + 1})
	}
	if x.until != until {
		t.Errorf("it may run until %v, and %v before it asked", x.until, until)
	}
	if d.Advance(until.Sub(d.Now())); !x.lapsed {
		t.Error("it runs on without a renewal")
	}
	x = newDesk(t, nil).dispatch(0, 1, 1, 1)
	x.runs[0].result = &message.ExecResult{}
	if x.watchRuns(d, time.Hour); x.phase != running {
		t.Error("it has reported, and is killed")
	}
}
