package audience

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Bounds are the settings of a gate's audience.
type Bounds struct {
	Watchers int           // clients that follow jobs; also the bound on greeted clients
	PushMin  time.Duration // between two pushes to one watcher, unless its job has ended
}

// Watcher is a client that follows a job.
type Watcher struct {
	Stream  node.StreamID
	Request message.RequestID
	Job     message.JobID
	Told    uint32 // ends of workflows that the client has, or that its stream carries

	pushed  node.Instant // when the gate last sent it a push
	known   bool         // pushed is set
	joined  bool         // its client has asked again since: a reader that joins wants the plan, too
	waiting bool         // for the next push
}

// First says that the watcher has got no push since it asked.
func (w *Watcher) First() bool { return !w.known || w.joined }

// Pushed records a push.
func (w *Watcher) Pushed(now node.Instant) { w.pushed, w.known, w.joined = now, true, false }

// Audience holds the clients that follow jobs.
type Audience struct {
	bounds    Bounds
	count     int
	watchers  map[message.JobID][]*Watcher
	following map[node.StreamID][]message.JobID
	greeted   map[node.StreamID]bool // clients that know the set of gates
	pending   []*Watcher             // watchers that wait for a push
	pushing   bool                   // the timer of the next push is set
}

// New returns an empty audience.
func New(b Bounds) *Audience {
	return &Audience{
		bounds: b, watchers: map[message.JobID][]*Watcher{}, following: map[node.StreamID][]message.JobID{}, greeted: map[node.StreamID]bool{},
	}
}

// Greeted says whether a client knows the set of gates.
func (a *Audience) Greeted(s node.StreamID) bool { return a.greeted[s] }

// Greet records that a client knows the set of gates, and says whether there was room.
func (a *Audience) Greet(s node.StreamID) bool {
	if len(a.greeted) >= a.bounds.Watchers {
		return false
	}
	a.greeted[s] = true
	return true
}

// Len counts the watchers.
func (a *Audience) Len() int { return a.count }

// Of lists the watchers of a job.
func (a *Audience) Of(job message.JobID) []*Watcher { return a.watchers[job] }

// Follow adds a client as a watcher of a job, under its newest request. It returns nil if there
// is no room; again says whether the client watched the job before.
func (a *Audience) Follow(job message.JobID, q *Ask) (w *Watcher, again bool) {
	all := a.watchers[job]
	if at := slices.IndexFunc(all, func(o *Watcher) bool { return o.Stream == q.Stream }); at >= 0 {
		all[at].Request, all[at].Told, all[at].joined = q.Request, q.After, true
		return all[at], true
	}
	if a.count >= a.bounds.Watchers {
		return nil, false
	}
	a.count++
	w = &Watcher{Stream: q.Stream, Request: q.Request, Job: job, Told: q.After}
	a.following[q.Stream] = append(a.following[q.Stream], job)
	a.watchers[job] = append(all, w)
	return w, false
}

// Broken drops the client of a broken stream.
func (a *Audience) Broken(s node.StreamID) {
	for _, job := range a.following[s] {
		before := a.watchers[job]
		rest := slices.DeleteFunc(slices.Clone(before), func(w *Watcher) bool { return w.Stream == s })
		a.set(job, rest)
		a.count -= len(before) - len(rest)
	}
	delete(a.following, s)
	delete(a.greeted, s)
}

// Unfollow drops all watchers of a job.
func (a *Audience) Unfollow(job message.JobID) {
	for _, w := range a.watchers[job] {
		rest := slices.DeleteFunc(a.following[w.Stream], func(o message.JobID) bool { return o == job })
		if len(rest) == 0 {
			delete(a.following, w.Stream)
		} else {
			a.following[w.Stream] = rest
		}
	}
	a.count -= len(a.watchers[job])
	delete(a.watchers, job)
}

func (a *Audience) set(job message.JobID, rest []*Watcher) {
	if len(rest) == 0 {
		delete(a.watchers, job)
	} else {
		a.watchers[job] = rest
	}
}

// Soon says that a watcher got a push so recently that it waits for the next one.
func (a *Audience) Soon(w *Watcher, now node.Instant) bool {
	return w.known && now.Sub(w.pushed) < a.bounds.PushMin
}

// Wait lets a watcher wait for the next push, and says whether the caller must set the timer.
func (a *Audience) Wait(w *Watcher) (arm bool) {
	if w.waiting {
		return false
	}
	w.waiting = true
	if len(a.pending) >= 2*a.bounds.Watchers { // most of them are gone
		a.pending = slices.DeleteFunc(a.pending, func(o *Watcher) bool { return !a.follows(o) })
	}
	a.pending = append(a.pending, w)
	arm, a.pushing = !a.pushing, true
	return arm
}

// Take removes the watchers that wait for a push, and lists those that still watch.
func (a *Audience) Take() []*Watcher {
	a.pushing = false
	pending := a.pending
	a.pending = nil
	for _, w := range pending {
		w.waiting = false
	}
	return slices.DeleteFunc(pending, func(o *Watcher) bool { return !a.follows(o) })
}

func (a *Audience) follows(w *Watcher) bool { return slices.Contains(a.watchers[w.Job], w) }

// Sizes reports the ledgers next to their bounds.
func (a *Audience) Sizes(tell node.Tell) {
	tell("gate/watchers", a.count, a.bounds.Watchers)
	tell("gate/following", len(a.following), a.bounds.Watchers)
	tell("gate/greeted", len(a.greeted), a.bounds.Watchers)
	tell("gate/pending", len(a.pending), 2*a.bounds.Watchers)
}

// Rests reports the ledgers at rest: no job has a watcher.
func (a *Audience) Rests(tell node.Tell) {
	watchers := 0
	//lint:orderfree a sum
	for _, all := range a.watchers {
		watchers += len(all)
	}
	tell("gate/pending", len(a.pending), 0)
	tell("gate/following", len(a.following), 0)
	tell("gate/watchers", a.count, 0)
	tell("gate/watched jobs", len(a.watchers), 0)
	tell("gate/watchers of jobs", watchers, 0)
}
