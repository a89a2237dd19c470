package workers

import (
	"time"

	"hyperscale/core/load/barrier"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/sim"
)

// gathering is the script of an executor whose users wait at the first barrier of the plan, again and
// again.
type gathering struct {
	users    []meeting
	waits    barrier.Waits
	met      uint64        // waits that have begun
	patience time.Duration // of one wait
	between  time.Duration // from the end of a wait to the next one
	ended    func(released bool, took time.Duration)
}

var _ sim.Script = (*gathering)(nil)

// meeting is what one user does.
type meeting struct {
	wait    uint64        // 0: it is elsewhere
	since   time.Duration // when its wait began
	next    time.Duration // when its next one begins
	leaving bool
}

// leaveMax is how long a user whose time is over waits for the manager's word, as executors do.
const leaveMax = 1500 * time.Millisecond

// Act implements sim.Script.
func (g *gathering) Act(now time.Duration, told node.Message) (says []node.Message, next time.Duration) {
	if a, ok := told.(*message.ExecReleased); ok {
		for _, end := range g.waits.Take(barrier.Answer{Number: a.Report, Released: a.Released}) {
			for i := range g.users {
				if u := &g.users[i]; u.wait == end.ID {
					g.end(u, now, end.Released)
				}
			}
		}
	}
	next = now + g.patience
	for i := range g.users {
		next = min(next, g.move(&g.users[i], now))
	}
	if r, news := g.waits.Report(); news {
		says = append(says, &message.ExecWaits{Of: 1, Report: r.Number, Arrived: r.Arrived, Left: r.Left})
	}
	return says, next
}

// move lets a user come, leave or give up if that is due, and returns when the next of these is.
func (g *gathering) move(u *meeting, now time.Duration) time.Duration {
	switch {
	case u.wait == 0 && now >= u.next:
		g.met++
		u.wait, u.since, u.leaving = g.met, now, false
		g.waits.Arrive(u.wait)
	case u.wait != 0 && !u.leaving && now >= u.since+g.patience:
		u.leaving = true
		g.waits.Leave(u.wait)
	case u.leaving && now >= u.since+g.patience+leaveMax:
		g.waits.Abandon(u.wait)
		g.end(u, now, false)
	}
	switch {
	case u.wait == 0:
		return u.next
	case u.leaving:
		return u.since + g.patience + leaveMax
	}
	return u.since + g.patience
}

func (g *gathering) end(u *meeting, now time.Duration, released bool) {
	g.ended(released, now-u.since)
	u.wait, u.leaving, u.next = 0, false, now+g.between
}
