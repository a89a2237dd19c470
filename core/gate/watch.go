package gate

import (
	"fmt"
	"slices"

	"hyperscale/core/event"
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

func (m *Machine) onWatch(env node.Env, in *node.Input, w *message.JobWatch) {
	j := m.jobs[w.Job]
	if j == nil || !j.onDisk {
		m.refuse(env, in.Stream, w.Request, message.CodeUnknownJob, "job "+w.Job.String())
		return
	}
	at := slices.IndexFunc(j.watchers, func(o *watcher) bool { return o.stream == in.Stream })
	if at >= 0 {
		j.watchers[at].request = w.Request
		m.push(env, j.watchers[at])
		return
	}
	if m.watchers >= m.config.WatchersMax {
		env.Emit(event.Shed{What: "watch", Why: "too many watchers"})
		m.refuseForRoom(env, in.Stream, w.Request, message.CodeQueueFull, fmt.Sprintf("%d clients watch jobs, the bound is %d", m.watchers, m.config.WatchersMax))
		return
	}
	m.watchers++
	m.following[in.Stream] = append(m.following[in.Stream], j)
	j.watchers = append(j.watchers, &watcher{stream: in.Stream, request: w.Request, job: j})
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
	if len(j.watchers) == 0 || !j.onDisk {
		return
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

// push sends the status, and the result behind it once there is one.
func (m *Machine) push(env node.Env, w *watcher) {
	w.pushed, w.told = env.Now(), true
	status := m.status(env, w.job)
	status.Request = w.request
	env.Send(w.stream, status)
	if w.job.shown.Terminal() {
		result := m.resultOf(w.job)
		result.Request = w.request
		env.Send(w.stream, result)
	}
}

// resultOf returns a copy of the job's result, or what is left of one that was
// swept.
func (m *Machine) resultOf(j *job) *message.JobResult {
	if j.result == nil {
		return &message.JobResult{Result: message.Result{
			Job: j.id, Name: j.name, State: j.shown, Duration: j.elapsed,
			Error: "its figures are no longer kept: watch a job while it runs, or raise gate.results_max",
		}}
	}
	result := *j.result
	return &result
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
