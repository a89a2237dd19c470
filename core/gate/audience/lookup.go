package audience

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Lookups holds the jobs that the gate looks up on a majority, and the requests that wait for
// them.
type Lookups struct {
	jobs, asks int // bounds: lookups at once, and requests of each
	open       map[message.JobID]*lookup
}

// lookup is a job that this gate does not own.
type lookup struct {
	ticket uint64
	asks   []*Ask
}

// NewLookups returns an empty set with bounds on jobs, and on requests for each job.
func NewLookups(jobs, asks int) *Lookups {
	return &Lookups{jobs: jobs, asks: asks, open: map[message.JobID]*lookup{}}
}

// Len counts the jobs in lookup.
func (l *Lookups) Len() int { return len(l.open) }

// Room says whether a request may wait, and whether the caller must start the lookup of its
// job.
func (l *Lookups) Room(job message.JobID) (room, first bool) {
	if one := l.open[job]; one != nil {
		return len(one.asks) < l.asks, false
	}
	return len(l.open) < l.jobs, true
}

// Open starts a lookup under a ticket.
func (l *Lookups) Open(job message.JobID, ticket uint64) { l.open[job] = &lookup{ticket: ticket} }

// Add lets a request wait for the lookup of its job.
func (l *Lookups) Add(job message.JobID, a *Ask) {
	one := l.open[job]
	one.asks = append(one.asks, a)
}

// Take ends the lookup of a ticket, and returns the requests that wait for it.
func (l *Lookups) Take(job message.JobID, ticket uint64) (asks []*Ask, ok bool) {
	one := l.open[job]
	if one == nil || one.ticket != ticket {
		return nil, false
	}
	delete(l.open, job)
	return one.asks, true
}

// Sizes reports the lookups next to their bound.
func (l *Lookups) Sizes(tell node.Tell) { tell("gate/lookups", len(l.open), l.jobs) }
