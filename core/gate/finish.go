package gate

import (
	"strings"

	"hyperscale/core/gate/result"
	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

func (m *Machine) endIfDone(env node.Env, j *job) {
	if !j.state.Terminal() && j.done() {
		m.endSubjobs(env, j)
	}
}

// endParts ends a job whose subjobs have all ended. COMPLETING lasts as long as
// the write of the result: both transitions are in it.
func (m *Machine) endSubjobs(env node.Env, j *job) {
	var states []message.JobState
	var errors []string
	taken := false
	for _, p := range j.subjobs {
		states = append(states, p.result.State)
		taken = taken || p.accepted
		if p.result.Error != "" {
			errors = append(errors, p.datacenter+": "+p.result.Error)
		}
	}
	reason := strings.Join(errors, "; ")
	if len(reason) > result.ErrorMax {
		reason = strings.ToValidUTF8(reason[:result.ErrorMax], "")
	}
	outcome := lifecycle.Outcome(states)
	switch {
	case j.state == message.JobCancelling:
		m.end(env, j, message.JobCancelled, reason)
		return
	case j.expired && outcome != message.JobCompleted:
		m.end(env, j, message.JobTimedOut, timeoutReason(j, reason))
		return
	case j.state == message.JobDispatching && !taken:
		m.end(env, j, message.JobFailed, reason)
		return
	case outcome == message.JobCancelled:
		outcome, reason = message.JobFailed, "cancelled inside its datacenters, not by a client"
	}
	if j.state == message.JobDispatching {
		j.become(message.JobRunning, "")
	}
	j.become(message.JobCompleting, "")
	m.end(env, j, outcome, reason)
}

func timeoutReason(j *job, reason string) string {
	text := "ran longer than its timeout of " + j.runTimeout.String()
	if reason != "" {
		text += "; " + reason
	}
	return text
}

// end makes a job's end durable: its result goes to a majority as a file, then its
// last state; then the register needs no owner any more.
func (m *Machine) end(env node.Env, j *job, to message.JobState, reason string) {
	j.elapsed, j.ended = env.Now().Sub(j.born), env.Now()
	for _, p := range j.subjobs {
		j.elapsed = max(j.elapsed, p.result.Duration) // its gate may have been away
	}
	j.become(to, reason)
	merged := j.merged()
	file := encoded(merged)
	j.resultFile, j.resultBytes = fileOf(file), len(file)
	var counted []*subjob
	for _, p := range j.subjobs {
		p.release(m.places)
		p.progress = nil
		p.file = message.FileDigest{} // its result is in the job's
		if !p.unheard && !p.counted {
			counted = append(counted, p) // this write holds it, whatever became of its own
		}
	}
	m.dropSpec(j)
	j.specFile = message.FileDigest{}
	j.watches = nil // nothing is left to abort
	m.leaveActive(j)
	env.CancelTimer(node.KeyID(node.PartGate, node.GateJob, j.id))
	m.save(env, &put{what: "end a job", job: j, files: [][]byte{file}, counted: counted, final: true, then: func(env node.Env) {
		j.result = merged
		m.keepEnded(env, j)
		for _, p := range j.subjobs {
			p.result = nil // it is in the job's
		}
		m.leases.Release(env, j.id)
	}})
	m.schedule(env)
}

// merged is the job's result as its subjobs make it.
func (j *job) merged() *message.JobResult {
	r := message.Result{Job: j.id, Name: j.name, State: j.state, Error: j.reason, Duration: j.elapsed}
	for _, p := range j.subjobs {
		r.Datacenters = append(r.Datacenters, *p.result)
	}
	return result.Merge(r, &j.spec.Plan)
}

// keepEnded files a job that has ended, and its result within the bounds.
func (m *Machine) keepEnded(env node.Env, j *job) {
	m.ended = append(m.ended, j)
	if j.resultFile != (message.FileDigest{}) {
		m.results = append(m.results, j)
		m.resultSum += j.resultBytes
	}
	m.boundResults(env)
}
