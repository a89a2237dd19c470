package checker

import (
	"time"

	"hyperscale/checker/linear"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// GroupGates is the group of registers that own whole jobs (T11).
const GroupGates = "gates"

// registerOf names a lease register.
type registerOf struct {
	group string
	job   message.JobID
}

// register is what is known of one.
type register struct {
	highest message.LeaseToken
	grants  [grantsKept]grant // the last ones, for T1 beyond the drift bound, and T11
	granted int
	windows []window // of those who may act now: one, if all is well
	ended   time.Duration
	calls   *linear.Partition[linear.Register, linear.RegisterOp]
}

// grantsKept bounds how far back T1 looks beyond the drift bound, and is how many T11
// takes for too many.
const grantsKept = 8

// grant is one, with what the clocks of all nodes that were known read then: an
// attempt that began later on its own node's clock began after it.
type grant struct {
	token message.LeaseToken
	node  node.ID
	at    time.Duration
	marks []mark
}

type mark struct {
	node        node.ID
	incarnation uint64
	read        node.Instant
}

// window is the time in which one life of one node acts for a job.
type window struct {
	node        node.ID
	incarnation uint64
	life        message.LeaseLife
	token       message.LeaseToken
	until       node.Instant  // on its own clock
	at          time.Duration // when it was granted or extended last,
	local       node.Instant  // and what its clock read then, 0 if that was not told
}

func (c *Checker) register(group string, job message.JobID) *register {
	key := registerOf{group, job}
	r := c.registers[key]
	if r == nil {
		r = &register{}
		c.registers[key] = r
	}
	return r
}

// clock reads a node's clock as it is now; running is false for an incarnation that
// is over, known is false if nobody can tell.
func (c *Checker) clock(id node.ID, incarnation uint64) (now node.Instant, running, known bool) {
	if n := c.nodes[id]; n != nil && (n.incarnation > incarnation || n.incarnation == incarnation && n.died) {
		return 0, false, true
	}
	if c.assume.Clock == nil {
		return 0, false, false
	}
	now, running = c.assume.Clock(id, incarnation)
	return now, running, true
}

// drift is the bound in parts per million.
func (c *Checker) drift() int64 {
	if c.assume.DriftPPM > 0 {
		return c.assume.DriftPPM
	}
	return 10_000
}

// valid says whether a window is open now, as far as can be told for sure: without
// anybody's clock it is taken to run as fast as the drift bound allows.
func (c *Checker) valid(w *window, at time.Duration) bool {
	now, running, known := c.clock(w.node, w.incarnation)
	if known {
		return running && now < w.until
	}
	return w.local != 0 && at-w.at < scale(w.until.Sub(w.local), 1_000_000, 1_000_000+c.drift())
}

// scale returns d * by / of, rounded down, for a d of up to years.
func scale(d time.Duration, by, of int64) time.Duration {
	return d/time.Duration(of)*time.Duration(by) + d%time.Duration(of)*time.Duration(by)/time.Duration(of)
}

func (c *Checker) onLeaseGranted(r Record, e event.LeaseGranted) {
	g := c.register(e.Group, e.Job)
	c.opens(r, e.Job, e.Token, e.Until)
	if e.Group != GroupGates {
		c.places[r.Node] = e.Group // the managers of a datacenter
	} else if j := c.jobs[e.Job]; j != nil {
		j.moved = true // to another gate, or back to the same one, which takes its record over
	}
	c.ordersGrant(r, g, e)
	c.excludes(r, g, e.Job, e.Token)
	g.drop(r.Node)
	g.windows = append(g.windows, window{r.Node, r.Incarnation, e.Life, e.Token, e.Until, r.At, r.Local})
}

// ordersGrant judges T1. Within the drift bound grants are in the order of their
// tokens. Beyond it a window may be granted while an older attempt, under a lower
// token, is on its way: only what began after a grant must be higher.
func (c *Checker) ordersGrant(r Record, g *register, e event.LeaseGranted) {
	if !c.assume.Beyond && g.granted > 0 && !g.highest.Less(e.Token) {
		c.violate("T1", r, "job %v in %s was granted to %s under %v after %v", e.Job, e.Group, r.Node, e.Token, g.highest)
	}
	for i := range min(g.granted, grantsKept) {
		switch old := &g.grants[i]; {
		case !c.assume.Beyond:
		case old.token == e.Token:
			c.violate("T1", r, "job %v in %s was granted to %s under %v, as it had been to %s", e.Job, e.Group, r.Node, e.Token, old.node)
		case e.Token.Less(old.token) && old.before(r, e.Began):
			c.violate("T1", r, "job %v in %s was granted to %s under %v by an attempt that began after %v had been granted to %s", e.Job, e.Group, r.Node, e.Token, old.token, old.node)
		}
	}
	next := &g.grants[g.granted%grantsKept]
	*next = grant{token: e.Token, node: r.Node, at: r.At, marks: next.marks[:0]}
	if c.assume.Beyond {
		next.marks = c.marks(next.marks)
	}
	g.granted++
	if g.highest.Less(e.Token) {
		g.highest = e.Token
	}
}

// marks reads all clocks. Beyond the drift bound nothing else tells what began when.
func (c *Checker) marks(to []mark) []mark {
	if c.assume.Clock == nil {
		return to
	}
	//lint:orderfree each mark is looked up by its node
	for id, n := range c.nodes {
		if now, running := c.assume.Clock(id, n.incarnation); running {
			to = append(to, mark{id, n.incarnation, now})
		}
	}
	return to
}

// before says that an attempt, which began when its node's clock read so, began
// after the grant.
func (g *grant) before(r Record, began node.Instant) bool {
	for _, m := range g.marks {
		if m.node == r.Node {
			return m.incarnation < r.Incarnation || m.incarnation == r.Incarnation && m.read < began
		}
	}
	return false
}

// excludes judges T2 at the moment at which a window opens or grows: no other one
// is open. One whose incarnation is over is void.
func (c *Checker) excludes(r Record, g *register, job message.JobID, token message.LeaseToken) {
	if c.assume.Beyond {
		return
	}
	for i := range g.windows {
		w := &g.windows[i]
		if w.node == r.Node && w.incarnation == r.Incarnation || !c.valid(w, r.At) {
			continue
		}
		c.violate("T2", r, "%s acts for job %v under %v while %s may act under %v until its clock reads %v", r.Node, job, token, w.node, w.token, time.Duration(w.until))
	}
}

// drop forgets windows of a node: it has another, or none.
func (g *register) drop(id node.ID) {
	kept := g.windows[:0]
	for _, w := range g.windows {
		if w.node != id {
			kept = append(kept, w)
		}
	}
	g.windows = kept
}

func (c *Checker) onLeaseExtended(r Record, e event.LeaseExtended) {
	g := c.register(e.Group, e.Job)
	for i := range g.windows {
		w := &g.windows[i]
		if w.node == r.Node && w.incarnation == r.Incarnation && w.token == e.Token {
			w.until, w.at, w.local = max(w.until, e.Until), r.At, r.Local
			c.opens(r, e.Job, e.Token, w.until)
			c.excludes(r, g, e.Job, e.Token)
			return
		}
	}
	c.violate("T2", r, "%s extended its lease of job %v under %v, which it does not hold", r.Node, e.Job, e.Token)
}

func (c *Checker) onLeaseEnded(r Record, e event.LeaseEnded) {
	c.shuts(r, e)
	g := c.register(e.Group, e.Job)
	for i := range g.windows {
		if w := &g.windows[i]; w.node == r.Node && w.incarnation == r.Incarnation && w.token == e.Token {
			g.windows = append(g.windows[:i], g.windows[i+1:]...)
			g.ended = r.At
			return
		}
	}
}

// owns says that a node was the last to be granted a job.
func (c *Checker) owns(id node.ID, job message.JobID) bool {
	g := c.registers[registerOf{GroupGates, job}]
	return g != nil && g.granted > 0 && g.grants[(g.granted-1)%grantsKept].node == id
}

// owned judges T11 of a job that has not ended: it has a holder, or had one less
// than bound ago. A history without leases tells nothing.
func (c *Checker) owned(now, bound time.Duration, o Open) {
	g := c.registers[registerOf{GroupGates, o.Job}]
	if g == nil || g.granted == 0 {
		return
	}
	last := max(g.ended, o.Accepted)
	for i := range g.windows {
		w := &g.windows[i]
		if c.mayHold(w, now) {
			return
		}
		last = max(last, w.at)
	}
	if last <= now-bound {
		c.violate("T11", Record{At: now, Node: o.Gate}, "job %v, %v, has had no holder since %v", o.Job, o.State, last)
	}
}

// mayHold is valid, where what cannot be told counts for the holder.
func (c *Checker) mayHold(w *window, at time.Duration) bool {
	now, running, known := c.clock(w.node, w.incarnation)
	if known {
		return running && now < w.until
	}
	return w.local == 0 || at-w.at < scale(w.until.Sub(w.local), 1_000_000, 1_000_000-c.drift())
}
