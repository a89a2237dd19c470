package register

import (
	"time"

	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// GroupGates is the group of registers that own whole jobs (T11).
const GroupGates = "gates"

// Judge judges the lease registers of one history.
type Judge struct {
	nodes     *history.Nodes
	log       *history.Log
	registers map[name]*register
	opened    map[ownWindow]opened
}

// New returns a judge of an empty history.
func New(nodes *history.Nodes, log *history.Log) *Judge {
	return &Judge{nodes: nodes, log: log, registers: map[name]*register{}, opened: map[ownWindow]opened{}}
}

// name names a lease register.
type name struct {
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
}

// grantsKept bounds how far back T1 looks beyond the drift bound, and is how many T11
// takes for too many.
const grantsKept = 8

// grant is one, with what the clocks of all nodes that were known read then: an
// attempt that began later on its own node's clock began after it.
type grant struct {
	token  message.LeaseToken
	node   node.ID
	at     time.Duration
	clocks []history.Reading
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

func (j *Judge) register(group string, job message.JobID) *register {
	key := name{group, job}
	r := j.registers[key]
	if r == nil {
		r = &register{}
		j.registers[key] = r
	}
	return r
}

// valid says whether a window is surely open now: without the node's clock it takes
// that clock to run as fast as the drift bound allows.
func (j *Judge) valid(w *window, at time.Duration) bool {
	now, running, known := j.nodes.Clock(w.node, w.incarnation)
	if known {
		return running && now < w.until
	}
	return w.local != 0 && at-w.at < j.nodes.AtLeast(w.until.Sub(w.local))
}

// Granted judges T1 and T2 of a new window.
func (j *Judge) Granted(r history.Record, e event.LeaseGranted) {
	g := j.register(e.Group, e.Job)
	j.opens(r, e.Job, e.Token, e.Until)
	j.ordersGrant(r, g, e)
	j.excludes(r, g, e.Job, e.Token)
	g.drop(r.Node)
	g.windows = append(g.windows, window{r.Node, r.Incarnation, e.Life, e.Token, e.Until, r.At, r.Local})
}

// ordersGrant judges T1. Within the drift bound grants are in the order of their
// tokens. Beyond it a window may be granted while an older attempt, under a lower
// token, is on its way: only what began after a grant must be higher.
func (j *Judge) ordersGrant(r history.Record, g *register, e event.LeaseGranted) {
	if !j.nodes.Assume.DriftBeyondBound && g.granted > 0 && !g.highest.Less(e.Token) {
		j.log.Violate("T1", r, "job %v in %s was granted to %s under %v after %v", e.Job, e.Group, r.Node, e.Token, g.highest)
	}
	for i := range min(g.granted, grantsKept) {
		switch old := &g.grants[i]; {
		case !j.nodes.Assume.DriftBeyondBound:
		case old.token == e.Token:
			j.log.Violate("T1", r, "job %v in %s was granted to %s under %v, as it had been to %s", e.Job, e.Group, r.Node, e.Token, old.node)
		case e.Token.Less(old.token) && old.before(r, e.Began):
			j.log.Violate("T1", r, "job %v in %s was granted to %s under %v by an attempt that began after %v had been granted to %s", e.Job, e.Group, r.Node, e.Token, old.token, old.node)
		}
	}
	next := &g.grants[g.granted%grantsKept]
	*next = grant{token: e.Token, node: r.Node, at: r.At, clocks: next.clocks[:0]}
	if j.nodes.Assume.DriftBeyondBound { // nothing else tells what began when
		next.clocks = j.nodes.Readings(next.clocks)
	}
	g.granted++
	if g.highest.Less(e.Token) {
		g.highest = e.Token
	}
}

// before says that an attempt, which began when its node's clock read so, began
// after the grant.
func (g *grant) before(r history.Record, began node.Instant) bool {
	for _, c := range g.clocks {
		if c.Node == r.Node {
			return c.Incarnation < r.Incarnation || c.Incarnation == r.Incarnation && c.Clock < began
		}
	}
	return false
}

// excludes judges T2 at the moment at which a window opens or grows: no other one
// is open. One whose incarnation is over is void.
func (j *Judge) excludes(r history.Record, g *register, job message.JobID, token message.LeaseToken) {
	if j.nodes.Assume.DriftBeyondBound {
		return
	}
	for i := range g.windows {
		w := &g.windows[i]
		if w.node == r.Node && w.incarnation == r.Incarnation || !j.valid(w, r.At) {
			continue
		}
		j.log.Violate("T2", r, "%s acts for job %v under %v while %s may act under %v until its clock reads %v", r.Node, job, token, w.node, w.token, time.Duration(w.until))
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

// Extended judges T2 of a window that grows.
func (j *Judge) Extended(r history.Record, e event.LeaseExtended) {
	g := j.register(e.Group, e.Job)
	for i := range g.windows {
		w := &g.windows[i]
		if w.node == r.Node && w.incarnation == r.Incarnation && w.token == e.Token {
			w.until, w.at, w.local = max(w.until, e.Until), r.At, r.Local
			j.opens(r, e.Job, e.Token, w.until)
			j.excludes(r, g, e.Job, e.Token)
			return
		}
	}
	j.log.Violate("T2", r, "%s extended its lease of job %v under %v, which it does not hold", r.Node, e.Job, e.Token)
}

// Ended closes a window.
func (j *Judge) Ended(r history.Record, e event.LeaseEnded) {
	j.shuts(r, e)
	g := j.register(e.Group, e.Job)
	for i := range g.windows {
		if w := &g.windows[i]; w.node == r.Node && w.incarnation == r.Incarnation && w.token == e.Token {
			g.windows = append(g.windows[:i], g.windows[i+1:]...)
			g.ended = r.At
			return
		}
	}
}

// Owns says that a gate was the last to be granted a job.
func (j *Judge) Owns(id node.ID, job message.JobID) bool {
	g := j.registers[name{GroupGates, job}]
	return g != nil && g.granted > 0 && g.grants[(g.granted-1)%grantsKept].node == id
}

// Open is a job that has not ended.
type Open struct {
	Job      message.JobID
	Gate     node.ID
	State    message.JobState
	Accepted time.Duration
}

// Owned judges T11 of a job that has not ended: it has a holder, or had one less
// than bound ago. A history without leases tells nothing.
func (j *Judge) Owned(now, bound time.Duration, o Open) {
	g := j.registers[name{GroupGates, o.Job}]
	if g == nil || g.granted == 0 {
		return
	}
	last := max(g.ended, o.Accepted)
	for i := range g.windows {
		w := &g.windows[i]
		if j.mayHold(w, now) {
			return
		}
		last = max(last, w.at)
	}
	if last <= now-bound {
		j.log.Violate("T11", history.Record{At: now, Node: o.Gate}, "job %v, %v, has had no holder since %v", o.Job, o.State, last)
	}
}

// mayHold says whether a window may be open now: doubt counts for the holder.
func (j *Judge) mayHold(w *window, at time.Duration) bool {
	now, running, known := j.nodes.Clock(w.node, w.incarnation)
	if known {
		return running && now < w.until
	}
	return w.local == 0 || at-w.at < j.nodes.AtMost(w.until.Sub(w.local))
}
