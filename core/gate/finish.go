package gate

import (
	"fmt"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/queue"
	"hyperscale/core/gate/result"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// count takes the result of a subjob. The result also proves that a manager took the subjob up,
// if its acceptance has not arrived yet.
func (m *driver) count(env node.Env, in *node.Input, j *entry, p *job.Subjob, r *message.SubjobResult) {
	p.Release(m.places)
	p.Accepted, p.Result, p.Fault = true, &r.Subjob, r.Fault
	p.AnswerTo(in.From, in.Stream)
	p.Become(env.Now(), job.Done)
	m.note(env, p, p.Fault.Cluster())
	if j.Done() {
		m.endSubjobs(env, j)
		return
	}
	if m.endIfEnough(env, j) {
		return
	}
	file := encoded(r)
	p.File = archive.DigestOf(file)
	j.Ends.Note(&j.Job)
	m.save(env, j, tag{counted: []*job.Subjob{p}}, file)
	m.runIfAccepted(env, j)
	m.arm(env, j)
}

// confirmCounted acknowledges results that are on a majority now.
func (m *driver) confirmCounted(env node.Env, j *entry, counted []*job.Subjob) {
	for _, p := range counted {
		if p.End == job.Counted {
			continue
		}
		p.End = job.Counted
		env.Emit(event.SubjobCounted{
			Job: j.ID, Fence: p.Fence, Datacenter: p.Datacenter, Manager: p.From, State: p.Result.State, Started: result.Started(p.Result),
		})
		ack := &message.SubjobResultAck{Job: j.ID, Fence: p.Fence}
		if p.AckBy != "" {
			m.group.Links.Post(env, p.AckBy, ack)
		} else {
			env.Send(p.AckTo, ack)
		}
	}
}

// endSubjob ends a subjob without a report of a manager.
func (m *driver) endSubjob(env node.Env, j *entry, p *job.Subjob, to message.JobState, reason string) {
	p.Release(m.places)
	m.giveUpSubjob(env, j, p, to, reason)
	if m.endIfDone(env, j); j.State.Terminal() {
		return
	}
	j.Ends.Note(&j.Job)
	if len(p.Result.Workflows) == 0 {
		m.save(env, j, tag{})
	} else {
		file := encoded(&message.SubjobResult{Job: j.ID, Fence: p.Fence, Subjob: *p.Result, Fault: p.Fault})
		p.File = archive.DigestOf(file)
		m.save(env, j, tag{}, file)
	}
	m.runIfAccepted(env, j)
	m.arm(env, j)
}

func (m *driver) giveUpSubjob(env node.Env, j *entry, p *job.Subjob, to message.JobState, reason string) {
	j.GiveUp(p, to, reason, env.Now())
	if p.Fault.Cluster() {
		m.note(env, p, true)
	}
	job.EffortOf(&j.Job).Bare(p)
}

// confirmGivenUp publishes ends without a result that are on a majority now. A gate that was paused
// past its lease may end a subjob that its successor has counted: no majority takes that end.
func confirmGivenUp(env node.Env, j *entry, givenUp []*job.Subjob) {
	for _, p := range givenUp {
		if p.Told {
			continue
		}
		p.Told = true
		env.Emit(event.SubjobGivenUp{Job: j.ID, Datacenter: p.Datacenter, State: p.Result.State, Started: result.Started(p.Result)})
	}
}

// endIfEnough ends a job by best effort: enough of its datacenters have completed, and its time is over.
// The others count nowhere. Their managers learn it from the answers to their heartbeats, once a
// majority has the job's end.
func (m *driver) endIfEnough(env node.Env, j *entry) bool {
	if at, enough := job.EffortOf(&j.Job).EndsAt(); !enough || env.Now() < at {
		return false
	}
	reached(env, "gate/best-effort")
	want := j.Spec.BestEffort
	for _, p := range j.Subjobs {
		if p.Phase != job.Done {
			p.Release(m.places)
			m.giveUpSubjob(env, j, p, message.JobCancelled, fmt.Sprintf("left out by best effort: it had not completed %v after the job's dispatch, when %d had", want.After, want.Least))
		}
	}
	m.endSubjobs(env, j)
	return true
}

func (m *driver) endIfDone(env node.Env, j *entry) {
	if !j.State.Terminal() && j.Done() {
		m.endSubjobs(env, j)
	}
}

// endSubjobs ends a job whose subjobs have all ended.
func (m *driver) endSubjobs(env node.Env, j *entry) {
	e := j.Ending()
	for _, state := range e.Via {
		j.Become(state, "")
	}
	j.Dead = e.Dead
	m.end(env, j, e.To, e.Reason)
}

// end makes a job's end durable: the gate puts the result on a majority as a file, then the
// terminal state. After that it releases the register.
func (m *driver) end(env node.Env, j *entry, to message.JobState, reason string) {
	j.Elapsed, j.Ended = env.Now().Sub(j.Born), env.Now()
	for _, p := range j.Subjobs {
		j.Elapsed = max(j.Elapsed, p.Result.Duration) // its gate may have been down
	}
	j.Become(to, reason)
	j.Ends.Complete(&j.Job)
	merged := j.Merged()
	file := encoded(merged)
	j.ResultFile, j.ResultBytes = archive.DigestOf(file), len(file)
	job.Bury(&j.Job)
	j.Freed = files(j)
	var counted []*job.Subjob
	for _, p := range j.Subjobs {
		p.Release(m.places)
		p.Progress = nil
		p.File = message.FileDigest{} // the job's result contains it
		if p.End == job.Open {
			counted = append(counted, p) // this write makes it durable, whether its own write succeeds or not
		}
	}
	m.specBytes -= j.Drop()
	j.SpecFile = message.FileDigest{}
	j.StopWatching()
	m.leaveActive(j)
	env.CancelTimer(node.KeyID(node.PartGate, node.GateJob, j.ID))
	m.save(env, j, tag{act: actRelease, result: merged, counted: counted}, file)
	m.schedule(env)
}

// files lists the files that a job needs until its end, and that nothing needs after it.
func files(j *entry) (all []message.FileDigest) {
	none := message.FileDigest{}
	if j.SpecFile != none && !j.Letter.Is() {
		all = append(all, j.SpecFile)
	}
	for _, p := range j.Subjobs {
		if p.File != none {
			all = append(all, p.File)
		}
	}
	return all
}

// onQueueTimer ends queued jobs that have waited too long.
func (m *driver) onQueueTimer(env node.Env) {
	now := env.Now()
	m.pushMoved(env, m.queue.Age(now))
	for _, t := range m.queue.All() {
		switch j := m.jobs[t.Job]; m.queue.Judge(t, m.places, now) {
		case queue.TooOld:
			reached(env, "gate/queue-age")
			j.Dead = true
			m.endQueued(env, j, message.JobTimedOut, "waited in the queue for "+now.Sub(t.Since).String())
		case queue.TooLate:
			reached(env, "gate/queue-late")
			m.endQueued(env, j, message.JobTimedOut, fmt.Sprintf("did not begin within its deadline of %v", j.Spec.Deadline))
		case queue.Nowhere:
			reached(env, "gate/queue-nowhere")
			j.Dead = true
			m.endQueued(env, j, message.JobFailed, "nowhere to run: "+t.Reason(m.places))
		}
	}
	if m.queue.Len() > 0 {
		m.queueTimer(env)
	}
	m.schedule(env) // it looks again earlier if the throttle lets no job go now
	m.countWanted(env)
}

func (m *driver) endQueued(env node.Env, j *entry, to message.JobState, reason string) {
	m.leaveQueue(env, j)
	m.end(env, j, to, reason)
}
