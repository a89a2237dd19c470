package gate

import (
	"errors"
	"fmt"
	"slices"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/gate/result"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// watcher is a client that follows a job.
type watcher struct {
	stream  node.StreamID
	request message.RequestID
	job     *job
	pushed  node.Instant
	told    bool // pushed is set
	waiting bool // for the next push
}

// follow has a client told of a job, now and whenever it changes.
func (m *Machine) follow(env node.Env, j *job, a *ask) {
	at := slices.IndexFunc(j.watchers, func(o *watcher) bool { return o.stream == a.stream })
	if at >= 0 {
		j.watchers[at].request = a.request
		m.push(env, j.watchers[at])
		return
	}
	if m.watchers >= m.config.WatchersMax {
		reached(env, "gate/watchers-full")
		env.Emit(event.Shed{What: "watch", Why: "too many watchers"})
		m.refuseForRoom(env, a.stream, a.request, message.CodeQueueFull, fmt.Sprintf("%d clients watch jobs, the bound is %d", m.watchers, m.config.WatchersMax))
		return
	}
	m.watchers++
	m.following[a.stream] = append(m.following[a.stream], j)
	j.watchers = append(j.watchers, &watcher{stream: a.stream, request: a.request, job: j})
	m.pushNow(env, j)
}

// dropWatchers forgets those whose stream broke.
func (m *Machine) dropWatchers(s node.StreamID) {
	for _, j := range m.following[s] {
		before := len(j.watchers)
		j.watchers = slices.DeleteFunc(j.watchers, func(w *watcher) bool { return w.stream == s })
		m.watchers -= before - len(j.watchers)
	}
	delete(m.following, s)
}

// pushNow tells every watcher of a job; those that were told a moment ago are
// told by the next push, unless it has ended.
func (m *Machine) pushNow(env node.Env, j *job) {
	if len(j.watchers) == 0 || !j.ready {
		return
	}
	if m.resultComes(env, j) {
		return // they are told when it is here
	}
	for _, w := range j.watchers {
		if w.told && env.Now().Sub(w.pushed) < m.config.PushMin && !j.shown.Terminal() {
			m.wait(env, w)
			continue
		}
		m.push(env, w)
	}
	if j.shown.Terminal() {
		m.unfollow(j)
	}
}

// unfollow lets all watchers of a job go.
func (m *Machine) unfollow(j *job) {
	for _, w := range j.watchers {
		rest := slices.DeleteFunc(m.following[w.stream], func(o *job) bool { return o == j })
		if len(rest) == 0 {
			delete(m.following, w.stream)
		} else {
			m.following[w.stream] = rest
		}
	}
	m.watchers -= len(j.watchers)
	j.watchers = nil
}

// push sends the status, and the result behind it once there is one: nobody is shown
// an end without figures as if there had been none. Who has the job no more, for all
// it knows, tells nothing of it.
func (m *Machine) push(env node.Env, w *watcher) {
	switch {
	case !w.job.shown.Terminal() && !m.holds(env, w.job):
		m.wait(env, w)
		return
	case m.resultComes(env, w.job):
		return
	}
	status := m.status(env, w.job)
	status.Request = w.request
	if !w.told && w.job.spec != nil {
		result.Promise(status, &w.job.spec.Plan)
	}
	w.pushed, w.told = env.Now(), true
	env.Send(w.stream, status)
	switch {
	case !w.job.shown.Terminal():
	case w.job.result == nil:
		m.refuse(env, w.stream, w.request, message.CodeResultForgotten, fmt.Sprintf("job %v ended %v", w.job.id, w.job.shown))
	default:
		whole := *w.job.result
		whole.Request = w.request
		env.Send(w.stream, &whole)
	}
}

// resultComes says that a job has ended and its result is on its way here.
func (m *Machine) resultComes(env node.Env, j *job) bool {
	return j.shown.Terminal() && !m.resultHere(j) && m.wantResult(env, j)
}

// resultHere says whether a job's result can be told, and reads it if this gate's
// own disk has it.
func (m *Machine) resultHere(j *job) bool {
	if j.result != nil || j.resultFile == (message.FileDigest{}) {
		return j.result != nil
	}
	if b, ok := m.files.Have(j.resultFile); ok {
		j.result, _ = decoded[*message.JobResult](b)
	}
	return j.result != nil
}

// wantResult asks the fellows for a result, and says whether it may come.
func (m *Machine) wantResult(env node.Env, j *job) bool {
	if j.resultFile == (message.FileDigest{}) {
		return false
	}
	if j.loading == 0 {
		j.loading = 1
		m.ticket++
		m.fetches[m.ticket] = fetch{job: j, file: j.resultFile}
		m.files.Borrow(env, j.resultFile, m.ticket)
	}
	return true
}

// onResultHere tells those who wait what there is of a result. Gates that are away
// may have it: who waits asks again.
func (m *Machine) onResultHere(env node.Env, j *job, o archive.Outcome) {
	j.loading = 0
	result, err := decoded[*message.JobResult](o.Bytes)
	switch {
	case o.Err == nil && err == nil:
		j.result = result
	case o.Err != nil && !errors.Is(o.Err, archive.ErrMissing):
		for _, w := range j.watchers {
			m.refuseForRoom(env, w.stream, w.request, message.CodeQuorumUnavailable, "the result cannot be read: "+o.Err.Error())
		}
		m.unfollow(j)
		return
	default:
		m.forgetResult(j)
	}
	m.pushNow(env, j)
}

// pushLater tells all watchers with the next push.
func (m *Machine) pushLater(env node.Env, j *job) {
	for _, w := range j.watchers {
		m.wait(env, w)
	}
}

func (m *Machine) wait(env node.Env, w *watcher) {
	if w.waiting {
		return
	}
	w.waiting = true
	if len(m.pending) >= 2*m.config.WatchersMax { // most of them are gone
		m.pending = slices.DeleteFunc(m.pending, func(o *watcher) bool { return !slices.Contains(o.job.watchers, o) })
	}
	m.pending = append(m.pending, w)
	if !m.pushing {
		m.pushing = true
		env.SetTimer(node.Key(node.PartGate, node.GatePush), m.config.PushInterval)
	}
}

func (m *Machine) onPush(env node.Env) {
	m.pushing = false
	pending := m.pending
	m.pending = nil
	for _, w := range pending {
		w.waiting = false
		if slices.Contains(w.job.watchers, w) {
			m.push(env, w)
		}
	}
}
