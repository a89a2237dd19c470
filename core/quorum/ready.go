package quorum

import (
	"hyperscale/core/archive"
	"hyperscale/core/election"
	"hyperscale/core/health"
	"hyperscale/core/lease"
	"hyperscale/core/node"
	"hyperscale/core/swim"
)

// Ready is one event of the group: exactly one field is set.
type Ready struct {
	Lease  *lease.Outcome
	File   *archive.Outcome
	Vote   *election.Outcome
	Member *swim.Change // a member changed
	Drift  *Drift
	Seat   *Seat
}

// Drift reports a member's clock that drifts against this node's faster than both together may.
type Drift struct {
	Member node.ID
	health.Finding
}

// round is what Ready has taken from the parts and not yet handed out.
type round struct {
	begun   bool
	leases  []lease.Outcome
	files   []archive.Outcome
	votes   []election.Outcome
	changes []swim.Change
	left    stage
}

// stage is the part from which Ready takes next. The order follows the role's actions: a grant
// may need a file that is here at once.
type stage int

const (
	stageLeases stage = iota
	stageFiles
	stageVotes
	stageChanges
	stageSeats
	stageEnd
)

// Ready returns the next event of this round; false ends the round. What a role does with one
// may cause others, in this round or the next.
func (m *Member) Ready(env node.Env) (Ready, bool) {
	r := &m.round
	if !r.begun {
		r.begun = true
		m.Leases.Flush(env) // this member's messages to itself may have an outcome, too
	}
	for ; r.left < stageEnd; r.left++ {
		if o, ok := m.next(env); ok {
			return o, true
		}
	}
	m.fitness(env)
	m.round = round{}
	return Ready{}, false
}

// next returns an event of the part of this stage, if one remains.
func (m *Member) next(env node.Env) (Ready, bool) {
	r := &m.round
	switch r.left {
	case stageLeases:
		if len(r.leases) == 0 {
			r.leases = m.Leases.Take()
		}
		for o, ok := pop(&r.leases); ok; o, ok = pop(&r.leases) {
			if o.Kind != lease.Moved {
				return Ready{Lease: o}, true
			}
			if c := &m.change; c.writes {
				c.end(Seat{Tag: c.tag, Set: o.Set, Known: 1})
				c.nonce, c.writes = 0, false
			}
		}
	case stageFiles:
		if r.files == nil {
			r.files = m.Files.Take()
		}
		if o, ok := pop(&r.files); ok {
			return Ready{File: o}, true
		}
	case stageVotes:
		if r.votes == nil {
			r.votes = m.Election.Take()
		}
		if o, ok := pop(&r.votes); ok {
			return Ready{Vote: o}, true
		}
	case stageChanges:
		if r.changes == nil {
			r.changes = m.Swim.Take()
		}
		for c, ok := pop(&r.changes); ok; c, ok = pop(&r.changes) {
			if o, matters := m.compares(env, c); matters {
				return o, true
			}
		}
	case stageSeats:
		if s, ok := pop(&m.change.ended); ok {
			return Ready{Seat: s}, true
		}
	}
	return Ready{}, false
}

// compares compares clocks, and passes on changes of members.
func (m *Member) compares(env node.Env, c *swim.Change) (Ready, bool) {
	switch c.Kind {
	case swim.ChangeMember:
		if c.To == swim.Removed {
			m.clocks.Forget(c.Member.ID)
		}
		return Ready{Member: c}, true
	case swim.ChangeSample:
		s := health.Sample{Sent: c.Sample.Sent, Received: c.Sample.Received, Uptime: c.Sample.Uptime}
		if f, found := m.clocks.Observe(env, c.Member.ID, c.Member.Run(), s); found {
			return Ready{Drift: &Drift{c.Member.ID, f}}, true
		}
	}
	return Ready{}, false
}

func pop[T any](list *[]T) (*T, bool) {
	if len(*list) == 0 {
		return nil, false
	}
	first := &(*list)[0]
	*list = (*list)[1:]
	return first, true
}
