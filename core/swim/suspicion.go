package swim

import (
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// suspicion is against one member at one incarnation. Its first deadline depends on what is
// known when it begins; later it only moves earlier.
type suspicion struct {
	since     node.Instant
	deadline  node.Instant
	due       node.Instant // of the timer: the deadline, or an earlier appeal
	low, high time.Duration
	by        node.ID   // its accuser
	latest    node.ID   // the last member that confirmed it: news carry this one
	confirmed []node.ID // the other members that confirmed it, each once
	needed    int       // confirmations that shorten it to low
	proof     proof
	heard     bool // this node has asked the suspect for its last refutation
	retold    bool // sent again at half of low
}

// proof is the worth of a verdict of this node.
type proof uint8

const (
	enough   proof = iota
	lacking        // this node paused since: the verdict waits for one more request
	demanded       // the verdict waits for the answer, or has waited for one
)

func suspicionKey(i uint32) node.TimerKey {
	return node.KeyN(node.PartSwim, node.SwimSuspect, uint64(i))
}

// becomeSuspect begins a suspicion against an alive member.
func (g *tracker) becomeSuspect(env node.Env, i uint32, by node.ID, reason string) {
	r := &g.table.records[i]
	if r.state != Alive || i == 0 {
		node.Bug("swim: %s is %v and becomes suspect", r.who.ID, r.state)
	}
	low, high := g.bounds(g.live)
	s := &suspicion{since: env.Now(), due: env.Now(), low: low, high: high, by: by, latest: by}
	// Any member but the suspect and the accuser can confirm. In a group of three that is one,
	// and waiting for three would mean waiting for the cap.
	s.needed = min(g.config.Confirmations, g.live-2)
	g.suspicions.add(g.table.records, i, s)
	g.set(i, r.incarnation, Suspect)
	s.deadline = s.since.Add(shrunk(low, high, 0, s.needed))
	g.await(env, i, s, appealAfter*g.config.ProbeInterval)
	g.tell(env, i, classSuspect)
	g.changed(env, i, Alive, Suspect, by, reason)
	g.weigh(env)
}

// confirm counts another accuser.
func (g *tracker) confirm(env node.Env, i uint32, by node.ID) {
	s := g.suspicion(i)
	if !g.config.HealthSuspicion || len(s.confirmed) >= s.needed || by == s.by || by == "" ||
		by == g.table.records[i].who.ID || slices.Contains(s.confirmed, by) {
		return
	}
	s.confirmed = append(s.confirmed, by)
	s.latest = by
	at := s.since.Add(shrunk(s.low, s.high, len(s.confirmed), s.needed))
	if g.config.Appeal && !s.heard {
		at = max(at, env.Now().Add(g.config.ProbeTimeout)) // a cut has healed, and a member from beyond it confirms: this leaves the suspect time to answer both
	}
	if at < s.deadline && s.proof != demanded {
		s.deadline = at
		g.await(env, i, s, max(0, at.Sub(env.Now())))
	}
	g.tell(env, i, classSuspect)
}

// appealAfter is in intervals of probes: others have confirmed a real death by then.
const appealAfter = 3

// await sets the timer to the verdict, or to an earlier appeal. If no other member sees what
// this node saw, this node may be the one that is cut off from the suspect.
func (g *tracker) await(env node.Env, i uint32, s *suspicion, appeal time.Duration) {
	left := max(0, s.deadline.Sub(env.Now()))
	if g.config.Appeal && !s.retold {
		left = min(left, max(0, s.since.Add(s.low/2).Sub(env.Now())))
	}
	if g.config.Appeal && s.lone(g.table.records[0].who.ID) {
		left = min(left, appeal)
	}
	if g.config.Appeal && !s.heard {
		left = min(left, max(0, s.deadline.Add(-g.ahead()).Sub(env.Now())))
	}
	g.arm(env, i, s, left)
}

// arm sets the timer, and notes whether the last one fired late, for any purpose: an appeal, a
// repeated suspicion, a last request, or a verdict that a confirmation brings forward.
func (g *tracker) arm(env node.Env, i uint32, s *suspicion, left time.Duration) {
	if g.stopped(env.Now().Sub(s.due)) {
		s.proof = lacking
	}
	s.due = env.Now().Add(left)
	env.SetTimer(suspicionKey(i), left)
}

// askers is how many of the members that learnt a suspicion by gossip ask the suspect for its
// last refutation. In a small group all do, because a few may be asleep and forward no
// refutation. In a larger one only so many do, or each death would cost a message per member.
const askers = 16

func (g *tracker) asks(env node.Env) bool {
	n := uint64(max(1, len(g.table.records)-1))
	return n <= askers || env.Rand(node.PurposeProbe).Chance(askers, n)
}

// ahead returns how long before a verdict this node asks the suspect: an answer to one member
// must reach all of a large group.
func (g *tracker) ahead() time.Duration {
	if len(g.table.records)-1 <= askers {
		return g.config.ProbeTimeout
	}
	return 3 * g.config.ProbeTimeout
}

// lone reports that no other member saw what this node saw.
func (s *suspicion) lone(self node.ID) bool {
	return len(s.confirmed) == 0 && s.by == self
}

// onSuspicion gives the verdict. If any timer of the suspicion fired late, this node did not
// run and may have missed the refutation. Then it asks the suspect, and waits until it has run
// for a ProbeTimeout.
func (g *tracker) onSuspicion(env node.Env, i uint32) {
	s := g.suspicion(i)
	if s == nil {
		return
	}
	if env.Now() < s.deadline {
		if !s.retold && env.Now() >= s.since.Add(s.low/2) {
			s.retold = true
			g.retell(env, i)
		}
		if g.config.Appeal && !s.heard && env.Now() >= s.deadline.Add(-g.ahead()) {
			s.heard = true
			if s.by == g.table.records[0].who.ID || g.asks(env) {
				g.confront(env, i)
			}
		} else if s.lone(g.table.records[0].who.ID) && env.Now() >= s.since.Add(appealAfter*g.config.ProbeInterval) {
			g.confront(env, i)
		}
		g.await(env, i, s, g.config.ProbeInterval)
		return
	}
	if s.proof == lacking || g.stopped(env.Now().Sub(s.due)) {
		g.bump(1)
		env.Emit(event.Reached{What: "swim/late-verdict"})
		g.confront(env, i)
		g.arm(env, i, s, g.config.ProbeTimeout)
		s.proof = demanded
		return
	}
	// Other members that probe a dead member confirm the suspicion. No confirmation arrives if
	// this node's messages are lost.
	untold := g.config.Distrust && g.config.HealthSuspicion && s.needed > 0 && len(s.confirmed) == 0
	if untold {
		env.Emit(event.Reached{What: "swim/untold-verdict"})
	}
	g.becomeGone(env, i, Dead, g.table.records[i].incarnation, ending{by: s.by, reason: "suspicion was not refuted", since: env.Now(), untold: untold})
}

// acquit ends a suspicion, with any outcome.
func (g *tracker) acquit(env node.Env, i uint32) {
	g.suspicions.drop(g.table.records, i)
	env.CancelTimer(suspicionKey(i))
}
