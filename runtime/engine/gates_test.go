package engine

import (
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/load/barrier"
	"hyperscale/core/message"
)

// gatherer is a manager of one process: it releases waits once so many are open.
type gatherer struct {
	lessor
	users  uint64
	silent bool
	mu     sync.Mutex
	answer barrier.Answer
	last   barrier.Report
}

func (g *gatherer) Report(_ uint32, r barrier.Report) {
	g.mu.Lock()
	g.last = r
	if open := r.Arrived - r.Left - g.answer.Released; !g.silent && open <= r.Arrived {
		g.answer.Released += open - open%g.users
	}
	g.answer.Number = r.Number
	g.mu.Unlock()
	g.lessor.mu.Lock()
	defer g.lessor.mu.Unlock()
	if g.wake != nil {
		g.wake()
	}
}

func (g *gatherer) Answered(uint32) (a barrier.Answer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.silent {
		return a
	}
	return g.answer
}

const meeting = `
rush = barrier("rush", users = 4, timeout = "300ms")
def visit(vu):
    vu.sleep("%dms" % (10 + 10 * vu.id))
    return vu.http.get("URL/?id=%s" % ("all" if vu.wait(rush) else "alone"))
workflow(name = "w", vus = VUS, duration = "1s", timeout = "5s", steps = [step(visit)])
`

// Users pass together once all are there, and the time that they wait is no latency.
func TestUsersWaitForEachOther(t *testing.T) {
	g := &gatherer{users: 4}
	r, s := counted(t, strings.ReplaceAll(meeting, "VUS", "8"), func(c *Config) { c.Lessor, c.Gatherer = g, g })
	b := r.Stats.Barriers
	if r.State != message.WorkflowCompleted || len(b) != 1 || b[0].Name != "rush" || b[0].Released == 0 || b[0].Released%4 != 0 {
		t.Fatalf("%v %s, %+v", r.State, r.Error, b)
	}
	if all := s.all(); uint64(all["all"]) != b[0].Released || uint64(all["alone"]) != b[0].TimedOut+b[0].Ended {
		t.Errorf("the server saw %v, the figures are %+v", all, b[0])
	}
	if max := time.Duration(r.Stats.Steps[0].Latency.Max); max > 290*time.Millisecond {
		t.Errorf("a request took %v: it waited at no server", max)
	}
	if g.last.Arrived != g.answer.Released+g.last.Left {
		t.Errorf("at the end %+v is reported, of which %d were released: others would count on them", g.last, g.answer.Released)
	}
}

// Too few users wait no longer than the barrier's time, and a manager that never answers makes that
// two seconds more at most.
func TestUsersDoNotWaitForEver(t *testing.T) {
	for _, silent := range []bool{false, true} {
		g := &gatherer{users: 4, silent: silent}
		r, s := counted(t, strings.ReplaceAll(strings.ReplaceAll(meeting, "VUS", "3"), `duration = "1s"`, `iterations = 3`), func(c *Config) { c.Lessor, c.Gatherer = g, g })
		b := r.Stats.Barriers
		if r.State != message.WorkflowCompleted || len(b) != 1 || b[0].TimedOut != 3 || b[0].Released != 0 || s.all()["alone"] != 3 {
			t.Errorf("silent %v: %v %s, %+v, the server saw %v", silent, r.State, r.Error, b, s.all())
		}
		// Behind two seconds lies what a busy machine takes.
		if least, most := 300*time.Millisecond, 10*time.Second; r.Duration < least || r.Duration > most {
			t.Errorf("silent %v: it took %v, want %v to %v", silent, r.Duration, least, most)
		}
	}
}
