package gate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/result"
	"hyperscale/core/ledger"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// publisher sends statuses and results to the clients that follow a job.
type publisher struct{ store }

// follow sends a client the job's status now and after each change.
func (m *publisher) follow(env node.Env, j *entry, a *audience.Ask) {
	switch w, again := m.audience.Follow(j.ID, a); {
	case w == nil:
		reached(env, "gate/watchers-full")
		env.Emit(event.Shed{Reason: event.ShedBound, What: "watch", Why: "too many watchers"})
		m.refuseForRoom(env, a.Stream, a.Request, message.CodeOverloaded, fmt.Sprintf("%d clients watch jobs, the bound is %d", m.audience.Len(), m.config.WatchersMax))
	case again:
		m.push(env, j, w)
	default:
		m.pushNow(env, j)
	}
}

// pushNow sends the status to every watcher of a job. A watcher that got one a moment ago waits
// for the next push, unless the job has ended.
func (m *publisher) pushNow(env node.Env, j *entry) {
	watchers := m.audience.Of(j.ID)
	if len(watchers) == 0 || !j.Ready {
		return
	}
	if m.resultComes(env, j) {
		return // they get the status together with the result
	}
	for _, w := range watchers {
		if m.audience.Soon(w, env.Now()) && !j.Shown.Terminal() {
			m.wait(env, w)
			continue
		}
		m.push(env, j, w)
	}
	if j.Shown.Terminal() {
		m.audience.Unfollow(j.ID)
	}
}

// push sends the status, and the result after it if the job has ended. It never sends a
// terminal state before its result. A gate that may have lost the job sends nothing.
func (m *publisher) push(env node.Env, j *entry, w *audience.Watcher) {
	switch {
	case !j.Shown.Terminal() && !m.holds(env, j):
		m.wait(env, w)
		return
	case m.resultComes(env, j):
		return
	}
	if !j.Shown.Terminal() && !node.Calm(env, w.Stream) {
		m.wait(env, w) // it reads slowly: the next status is newer
		return
	}
	status := m.status(env, j)
	status.Request = w.Request
	if w.First() && j.Spec != nil {
		result.Promise(status, &j.Spec.Plan)
	}
	w.Pushed(env.Now())
	env.Send(w.Stream, status)
	if !j.Shown.Terminal() || j.Result != nil {
		pushEnds(env, j, w)
	}
	switch {
	case !j.Shown.Terminal():
	case j.Result == nil:
		refuse(env, w.Stream, w.Request, message.CodeResultForgotten, fmt.Sprintf("job %v ended %v", j.ID, j.Shown))
	default:
		whole := *j.Result
		whole.Request, whole.Sinks = w.Request, status.Sinks
		env.Send(w.Stream, &whole)
		j.Sent = true
	}
}

// pushEnds tells a watcher once how each workflow ended that a majority knows of.
func pushEnds(env node.Env, j *entry, w *audience.Watcher) {
	for _, e := range j.Ends.After(&j.Job, w.Told) {
		w.Told, e.Request = e.Number, w.Request
		env.Send(w.Stream, e)
	}
}

// status returns the state of a job as a majority has it.
func (m *publisher) status(env node.Env, j *entry) *message.JobStatus {
	j.Sequence++
	s := &message.JobStatus{
		Job: j.ID, Name: j.Name, Sequence: j.Sequence, State: j.Shown, Reason: j.Last.Reason,
		Elapsed: j.ElapsedAt(env.Now()).Round(time.Microsecond), Takeovers: j.Takeovers,
	}
	s.Sinks = j.Rows.Reports(env.Now().Sub(j.Born), m.config.Sinks)
	if j.Shown == message.JobQueued && j.State == message.JobQueued {
		s.Position, s.Reason = j.Turn.Position(), j.Turn.Reason(m.places)
	}
	if j.Shown.Terminal() {
		if m.resultHere(j) {
			s.Datacenters = result.Bare(j.Result.Result.Datacenters)
		}
		return s
	}
	for _, p := range j.Subjobs {
		s.Datacenters = append(s.Datacenters, p.Shown())
	}
	result.FitStatus(s)
	return s
}

// reports returns the newest figures of each datacenter, uncut; after the end those of the result.
func (m *publisher) reports(j *entry) (places []message.DatacenterResult) {
	if j.Shown.Terminal() {
		if !m.resultHere(j) {
			return nil
		}
		whole := message.DatacenterResult{Name: result.Everywhere, Workflows: j.Result.Result.Workflows}
		return append(slices.Clone(j.Result.Result.Datacenters), whole)
	}
	for _, p := range j.Subjobs {
		places = append(places, p.Shown())
	}
	return places
}

// Load returns what a scraper shows of load: the jobs that this gate runs, the oldest first, then those
// that it has ended so recently, the newest first, and at most so many. It says how many running ones
// it leaves out. Figures of datacenters that no result counts are not in it. It changes nothing, so the
// runtime may ask between two inputs; the figures are those of the reports, uncut and not copied.
func (m *publisher) Load(now node.Instant, recent time.Duration, most int) (all []*message.JobStatus, left int) {
	if m.group == nil {
		return nil, 0
	}
	var running []*entry
	//lint:orderfree sorted below by a total order
	for _, j := range m.jobs {
		if j.Ready && !j.Shown.Terminal() && len(j.Subjobs) > 0 && m.holdsAt(now, j) {
			running = append(running, j)
		}
	}
	slices.SortFunc(running, func(a, b *entry) int { return cmp.Compare(a.Turn.Number, b.Turn.Number) })
	left = max(0, len(running)-most)
	for _, j := range running[:len(running)-left] {
		s := loadOf(j, now)
		for _, p := range j.Subjobs {
			s.Datacenters = append(s.Datacenters, p.Shown())
		}
		all = append(all, s)
	}
	for _, o := range m.endedSince(now, recent) {
		j := m.jobs[o.ID]
		if len(all) == most || j == nil {
			break
		}
		if !j.here || !j.Ran {
			continue
		}
		s := loadOf(j, now)
		if j.Result != nil {
			missing := j.Result.Result.Missing
			s.Datacenters = slices.DeleteFunc(slices.Clone(j.Result.Result.Datacenters), func(d message.DatacenterResult) bool { return slices.Contains(missing, d.Name) })
		}
		all = append(all, s)
	}
	return all, left
}

// endedSince returns the jobs that ended less than so long ago, the newest end first.
func (m *publisher) endedSince(now node.Instant, recent time.Duration) []*job.Job {
	all := m.history.Since(now, recent)
	//lint:orderfree sorted below by a total order
	for _, j := range m.jobs {
		if j.Rows.Delivering && now.Sub(j.Ended) < recent {
			all = append(all, &j.Job)
		}
	}
	slices.SortFunc(all, func(a, b *job.Job) int {
		return cmp.Or(cmp.Compare(b.Ended, a.Ended), cmp.Compare(b.Turn.Number, a.Turn.Number), a.ID.Compare(b.ID))
	})
	return all
}

func loadOf(j *entry, now node.Instant) *message.JobStatus {
	return &message.JobStatus{Job: j.ID, Name: j.Name, State: j.Shown, Elapsed: j.ElapsedAt(now), Takeovers: j.Takeovers}
}

// resultComes says that a job has ended and that this gate is still fetching its result.
func (m *publisher) resultComes(env node.Env, j *entry) bool {
	return j.Shown.Terminal() && !m.resultHere(j) && m.wantResult(env, j)
}

// resultHere says whether the gate can send a job's result. It reads the result from its own
// disk if necessary.
func (m *publisher) resultHere(j *entry) bool {
	if j.Result != nil || j.ResultFile == (message.FileDigest{}) {
		return j.Result != nil
	}
	if b, ok := m.group.Files.Have(j.ResultFile); ok {
		j.Result, _ = resultFrom(j, b)
	}
	return j.Result != nil
}

// resultFrom reads the result that a job's record names.
func resultFrom(j *entry, b []byte) (*message.JobResult, error) {
	r, err := decoded[*message.JobResult](b)
	if err == nil && r.Result.Job != j.ID {
		return nil, record.ErrForeign
	}
	return r, err
}

// wantResult fetches a result from the other gates, and says whether it may arrive.
func (m *publisher) wantResult(env node.Env, j *entry) bool {
	if j.ResultFile == (message.FileDigest{}) {
		return false
	}
	if j.Loading == 0 {
		j.Loading = 1
		m.ledger.Borrow(env, j.ID, j.ResultFile, tag{act: actShow, job: j})
	}
	return true
}

// onResultHere answers the clients that wait for a result. If a gate that is down may have it,
// they ask again later.
func (m *publisher) onResultHere(env node.Env, j *entry, o *ledger.Outcome[tag]) {
	j.Loading = 0
	result, err := resultFrom(j, o.Bytes)
	switch {
	case o.Err == nil && err == nil:
		j.Result = result
	case o.Err != nil && !errors.Is(o.Err, archive.ErrMissing):
		for _, w := range m.audience.Of(j.ID) {
			m.refuseForRoom(env, w.Stream, w.Request, message.CodeQuorumUnavailable, "the result cannot be read: "+o.Err.Error())
		}
		m.audience.Unfollow(j.ID)
		return
	default:
		m.history.ForgetResult(&j.Job)
	}
	m.pushNow(env, j)
}

// pushLater includes all watchers of a job in the next push.
func (m *publisher) pushLater(env node.Env, j *entry) {
	for _, w := range m.audience.Of(j.ID) {
		m.wait(env, w)
	}
}

func (m *publisher) wait(env node.Env, w *audience.Watcher) {
	if m.audience.Wait(w) {
		env.SetTimer(node.Key(node.PartGate, node.GatePush), m.config.PushInterval)
	}
}

func (m *publisher) onPush(env node.Env) {
	for _, w := range m.audience.Take() {
		m.push(env, m.jobs[w.Job], w)
	}
}
