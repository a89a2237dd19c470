package subjob

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// Lost is an attempt that its manager gave up.
type Lost struct {
	message.LostAttempt
	Fence  message.Fence
	File   message.FileDigest   // its last report, if that counts
	Report *message.ShardResult // the same; nil: none counts, or its file is on its way
	record.Unknown
}

func (l *Lost) record() record.Lost {
	return record.Lost{
		Attempt: l.Attempt, Worker: l.Worker, Reason: l.Reason, Started: l.Started, OK: l.OK,
		Fence: l.Fence, File: l.File, From: l.From, Until: l.Until, Unreplaced: l.Unreplaced, Unreported: l.Unreported, Fault: l.Fault, Unknown: l.Unknown,
	}
}

func (s *Shard) lost(r *record.Lost) *Lost {
	return &Lost{Fence: r.Fence, File: r.File, Unknown: r.Unknown, LostAttempt: message.LostAttempt{
		Shard: s.ID, Attempt: r.Attempt, Worker: r.Worker, Reason: r.Reason, Started: r.Started, OK: r.OK,
		Counted: r.File != message.FileDigest{}, From: r.From, Until: r.Until, Unreplaced: r.Unreplaced, Unreported: r.Unreported, Fault: r.Fault,
	}}
}

// GiveUp describes the current attempt as lost: its worker has stopped it by that time. Its
// last report counts if the attempt that replaces it continues there.
func (s *Shard) GiveUp(why string, stopped node.Instant) *Lost {
	started, ok := Measured(s.Progress)
	l := &Lost{Fence: s.Fence, LostAttempt: message.LostAttempt{
		Shard: s.ID, Attempt: s.Fence.Attempt, Worker: string(s.Worker), Reason: why, Started: started, OK: ok, From: s.Joined, Until: s.Joined,
		Fault: s.Fault,
	}}
	if s.Progress != nil && s.continues(&s.Progress.Stats) {
		l.Until = max(l.Until, s.Progress.Stats.Elapsed)
		l.Report = &message.ShardResult{
			Shard: s.ID, Fence: s.Fence, State: message.WorkflowCancelled, Error: why, Duration: s.Progress.Stats.Elapsed, Stats: stats.Settle(s.Progress.Stats),
		}
	}
	if s.Written {
		l.Unreported = s.within(s.Joined+stopped.Sub(s.began())) - l.Until
	}
	l.Unreported = max(0, l.Unreported)
	return l
}

// Vanish describes an attempt that a former holder may have dispatched and that no worker reports.
// Nothing is known of it but its bound.
func (s *Shard) Vanish(stopped node.Instant) *Lost {
	l := &Lost{LostAttempt: message.LostAttempt{
		Shard: s.ID, Reason: "no worker reports it since its manager was lost", From: s.Reached(), Until: s.Reached(),
	}}
	l.Unreported = max(0, stopped.Sub(s.Zero())-l.Until)
	return l
}

// Rows is how many rows of its feed the attempt is known to have taken.
func (l *Lost) Rows() uint64 {
	if l.Report == nil {
		return 0
	}
	return l.Report.Stats.Rows
}

// Discard drops the last report: it counts nowhere.
func (l *Lost) Discard() {
	l.Report = nil
	l.Unreported += l.Until - l.From
	l.Until = l.From
}

// Reached is the workflow's time up to which the lost attempts of a shard have reported.
func (s *Shard) Reached() (until time.Duration) {
	for _, l := range s.Lost {
		until = max(until, l.Until)
	}
	return until
}

// began returns the earliest time at which the current attempt may have begun.
func (s *Shard) began() node.Instant {
	if s.Dispatched != 0 {
		return s.Dispatched
	}
	return s.Zero()
}

// within bounds a time of the workflow by the end of the current attempt's load.
func (s *Shard) within(t time.Duration) time.Duration {
	p := s.Workflow.Plan
	if p == nil || p.Duration == 0 {
		return t
	}
	end := p.Duration + p.GracefulStop
	if p.GracefulStop == 0 {
		end += message.GracefulStopDefault
	}
	if s.Anew {
		end += s.Joined
	}
	return min(t, end)
}

// continues says whether an attempt continues what another one did: load by the clock, or
// iterations that send requests. Other functions run again from their beginning.
func (s *Shard) continues(done *message.Stats) bool {
	if s.Workflow.Plan == nil || s.Workflow.Plan.Duration > 0 {
		return s.Workflow.Plan != nil
	}
	for i := range done.Steps {
		if step := &done.Steps[i]; step.Sent > 0 || step.Kind.Requests() && step.Started > 0 {
			return true
		}
	}
	return false
}

// Zero returns when the workflow's time was zero for a shard: by its reports, else by those of the
// other shards, else when the manager placed the workflow.
func (s *Shard) Zero() node.Instant {
	zero := s.Origin
	for _, other := range s.Workflow.Shards {
		if s.Origin == 0 && other.Origin != 0 && (zero == 0 || other.Origin < zero) {
			zero = other.Origin
		}
	}
	if zero == 0 {
		return s.Workflow.Started
	}
	return zero
}

// Heard notes the workflow's time of a report that has just come.
func (s *Shard) Heard(now node.Instant, elapsed time.Duration) {
	if at := now.Add(-elapsed); s.Origin == 0 || at < s.Origin {
		s.Origin = max(1, at)
	}
}

// Resume says where the next attempt joins its workflow; zero for the first one. The load begins
// anew if its time is over and none of it is known, and so do iterations without requests.
func (s *Shard) Resume(now node.Instant) (r message.Resume) {
	if len(s.Lost) == 0 {
		return r
	}
	d := s.Workflow.Plan.Duration
	r.Elapsed = max(1, s.Reached(), now.Sub(s.Zero()))
	r.Anew = d == 0 || r.Elapsed >= d
	for _, l := range s.Lost {
		if l.Report != nil {
			r.Anew = false
			r.Begun += l.Report.Stats.Generator.Begun
		}
	}
	return r
}

// Over says that the time of a lost shard's workflow is over and that the other shards have ended:
// no further attempt can add load.
func (s *Shard) Over(now node.Instant) bool {
	known := slices.ContainsFunc(s.Lost, func(l *Lost) bool { return l.Report != nil })
	if d := s.Workflow.Plan.Duration; d == 0 || !known || now.Sub(s.Zero()) < d {
		return false
	}
	for _, other := range s.Workflow.Shards {
		if other != s && !other.State.Terminal() && s.within(now.Sub(s.Zero())) == now.Sub(s.Zero()) {
			return false
		}
	}
	return true
}

// Parts returns the figures of which those of a shard consist: what counts of its lost attempts,
// then those of its result, or of its current attempt's last report. The last one alone states
// what was due without an attempt.
func (s *Shard) Parts() []*message.Stats {
	lost := s.Lost
	if s.Losing != nil {
		lost = append(lost[:len(lost):len(lost)], s.Losing)
	}
	var all []*message.Stats
	var offered uint64
	for _, l := range lost {
		if l.Report != nil {
			part := l.Report.Stats
			offered += part.Generator.Begun + part.Generator.Dropped
			part.Generator.Missed = 0
			all = append(all, &part)
		}
	}
	last := s.Figures()
	if last != nil && last.Generator.Missed > 0 {
		part := *last
		part.Generator.Missed -= min(part.Generator.Missed, offered)
		last = &part
	}
	if last != nil {
		all = append(all, last)
	}
	return all
}
