package pressure

import (
	"time"

	"hyperscale/core/node"
	"hyperscale/core/retry"
)

// Bounds of an interval.
const (
	Most      = 5 * time.Second        // longer ones look like an end of the run
	WaitMax   = 200 * time.Millisecond // of a report in the mailbox: above it, the node is behind
	CalmAfter = 5                      // seconds without such waits until the interval is halved
	Levels    = 4                      // doublings: from half a second beyond Most
	tick      = time.Second
)

// Gauge is what a node tells its peers. Zero values of the fields that are not exported are ready.
type Gauge struct {
	Base      time.Duration // interval that a peer has by itself
	PerSecond int           // reports a second that this node wants, above zero

	level int
	calm  int           // ticks
	worst time.Duration // wait of this tick
	began node.Instant  // of this tick; zero: no report has come
	over  bool          // reports waited in this tick
}

// Waited notes how long a report waited in the mailbox.
func (g *Gauge) Waited(now node.Instant, d time.Duration) {
	g.settle(now)
	g.worst = max(g.worst, d)
	if d > WaitMax && !g.over { // the peers hear it with their next answers, not a second later
		g.over, g.calm = true, 0
		g.level = min(g.level+1, Levels)
	}
}

// settle ends the ticks that are over. One without reports is calm.
func (g *Gauge) settle(now node.Instant) {
	if g.began == 0 {
		g.began = now
	}
	for passed := now.Sub(g.began); passed >= tick; passed -= tick {
		switch {
		case g.worst > WaitMax/2:
			g.calm = 0
		case g.level > 0:
			if g.calm++; g.calm == CalmAfter {
				g.level, g.calm = g.level-1, 0
			}
		}
		g.worst, g.over = 0, false
		if g.began = g.began.Add(tick); g.level == 0 {
			g.began = now.Add(-passed % tick)
			return
		}
	}
}

// Every is the interval at which each of a number of peers reports; zero: as it likes.
func (g *Gauge) Every(now node.Instant, peers int) time.Duration {
	g.settle(now)
	every := max(g.Base, time.Duration(peers)*time.Second/time.Duration(g.PerSecond))
	if every = (retry.Backoff{Base: every, Cap: Most}).Bound(int(g.level)); every <= g.Base {
		return 0
	}
	return every
}

// Behind says that reports have waited of late.
func (g *Gauge) Behind() bool { return g.level > 0 }
