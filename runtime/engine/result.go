package engine

import (
	"fmt"
	"hyperscale/core/load/schedule"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/protocol/http1"
)

// Bounds beyond which the generator, not the target, was the bottleneck.
const (
	busyMost = 950_000 // millionths of a second's time
	lagMost  = 5 * time.Millisecond
	lagRank  = 990_000 // the quantile that lagMost speaks of
)

// judgedLeast is the shortest time that can be busy as a whole: an iteration of a millisecond
// does nothing but work, and saturates nothing.
const judgedLeast = 100 * time.Millisecond

// generator watches how well the load is generated.
type generator struct {
	lag     stats.Histogram
	busyMax uint32
	second  time.Duration // when the current second began
	idle    time.Duration // of the current second
}

// turn ends a second that is over. A run shorter than one is judged whole by finish.
func (g *generator) turn(now time.Duration) {
	if now-g.second >= time.Second {
		g.judge(now)
	}
}

func (g *generator) finish(now time.Duration) {
	if g.busyMax == 0 && now > g.second {
		g.judge(now)
	}
}

func (g *generator) judge(now time.Duration) {
	busy := max(0, now-g.second-g.idle)
	length := max(now-g.second, judgedLeast)
	g.busyMax = max(g.busyMax, uint32(busy*1_000_000/length))
	g.second, g.idle = now, 0
}

func (g *generator) message(d schedule.Figures) message.Generator {
	return message.Generator{
		Lag: g.lag.Wire(), BusyMax: g.busyMax,
		Saturated: g.busyMax > busyMost || time.Duration(g.lag.Quantile(lagRank)) > lagMost,
		Begun:     d.Begun, Waited: d.Waited, Dropped: d.Lost,
	}
}

// snapshot copies everything measured so far.
func (l *loop) snapshot(g *generator, elapsed time.Duration) message.Stats {
	d := l.iterations.Figures()
	out := message.Stats{
		Active: d.Active, Elapsed: elapsed, Generator: g.message(d), Steps: make([]message.StepStats, 0, len(l.accounts)),
		Logs: slices.Clone(l.logs), Rows: l.rows.iterations(),
	}
	for i := range l.accounts {
		out.Steps = append(out.Steps, l.accounts[i].stats(elapsed))
		out.Steps[i].Dropped = d.Dropped[i]
	}
	return out
}

// result judges a run that has ended.
func result(all message.Stats, cancelled bool) *message.ExecResult {
	out := &message.ExecResult{State: message.WorkflowCompleted, Duration: all.Elapsed, Stats: all}
	if cancelled {
		out.State = message.WorkflowCancelled
		return out
	}
	if reason := unreached(all.Steps); reason != "" {
		out.State, out.Error = message.WorkflowFailed, reason
	}
	return out
}

// unreached tells why no request ever reached the target, or nothing if one did: a run
// without a single connection is no measurement.
func unreached(steps []message.StepStats) string {
	var failed uint64
	var first message.ErrorCount
	for _, s := range steps {
		if s.Kind != message.StepRequest && s.Kind != message.StepFunction {
			continue
		}
		if s.OK > 0 || len(s.Statuses) > 0 {
			return ""
		}
		for _, e := range s.Errors {
			if !unconnected(http1.Kind(e.Kind)) {
				return ""
			}
			if e.Count > first.Count {
				first = e
			}
			failed += e.Count
		}
	}
	if failed == 0 {
		return ""
	}
	if strings.HasPrefix(first.Kind, string(http1.KindTLS)) { // its example says what to do
		return fmt.Sprintf("not one of %d TLS handshakes succeeded (%s): %s", failed, first.Kind, first.Example)
	}
	return fmt.Sprintf("not one of %d requests reached the target (%s): %s: check that it runs and that the URL is right", failed, first.Kind, first.Example)
}

func unconnected(kind http1.Kind) bool {
	switch kind {
	case http1.KindRefused, http1.KindConnectTimeout, http1.KindUnreachable, http1.KindDNS, http1.KindLocal,
		http1.KindTLS, http1.KindTLSAlert, http1.KindTLSAuthority, http1.KindTLSName, http1.KindTLSExpired:
		return true
	}
	return false
}

// teller hands figures to a slow listener without making the load wait: while the
// listener is busy, newer figures replace older ones.
type teller struct {
	news chan *message.Stats
	done chan struct{}
}

func newTeller(tell func(*message.Stats)) *teller {
	if tell == nil {
		return nil
	}
	t := &teller{news: make(chan *message.Stats, 1), done: make(chan struct{})}
	go func() {
		defer close(t.done)
		for s := range t.news {
			tell(s)
		}
	}()
	return t
}

// tell is called from one goroutine.
func (t *teller) tell(s message.Stats) {
	select {
	case <-t.news:
	default:
	}
	t.news <- &s
}

func (t *teller) close() {
	if t != nil {
		close(t.news)
		<-t.done
	}
}
