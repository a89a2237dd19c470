package gate

import (
	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

func (m *Machine) endIfDone(env node.Env, j *entry) {
	if !j.State.Terminal() && j.Done() {
		m.endSubjobs(env, j)
	}
}

// endSubjobs ends a job whose subjobs have all ended.
func (m *Machine) endSubjobs(env node.Env, j *entry) {
	e := j.Ending()
	for _, state := range e.Via {
		j.Become(state, "")
	}
	m.end(env, j, e.To, e.Reason)
}

// end makes a job's end durable: its result goes to a majority as a file, then its
// last state; then the register needs no owner any more.
func (m *Machine) end(env node.Env, j *entry, to message.JobState, reason string) {
	j.Elapsed, j.Ended = env.Now().Sub(j.Born), env.Now()
	for _, p := range j.Subjobs {
		j.Elapsed = max(j.Elapsed, p.Result.Duration) // its gate may have been away
	}
	j.Become(to, reason)
	merged := j.Merged()
	file := encoded(merged)
	j.ResultFile, j.ResultBytes = fileOf(file), len(file)
	var counted []*job.Subjob
	for _, p := range j.Subjobs {
		p.Release(m.places)
		p.Progress = nil
		p.File = message.FileDigest{} // its result is in the job's
		if p.End == job.Open {
			counted = append(counted, p) // this write holds it, whatever became of its own
		}
	}
	m.specBytes -= j.Drop()
	j.SpecFile = message.FileDigest{}
	j.StopWatching()
	m.leaveActive(j)
	env.CancelTimer(node.KeyID(node.PartGate, node.GateJob, j.ID))
	m.save(env, &put{job: j, files: [][]byte{file}, then: tag{act: actRelease, result: merged, counted: counted}})
	m.schedule(env)
}

// keepEnded files a job that has ended, and its result within the bounds.
func (m *Machine) keepEnded(env node.Env, j *entry) {
	m.history.Add(&j.Job)
	for o := m.history.Excess(); o != nil; o = m.history.Excess() {
		reached(env, "gate/result-dropped")
		m.group.Files.Drop(env, o.ResultFile)
		m.history.ForgetResult(o)
	}
}
