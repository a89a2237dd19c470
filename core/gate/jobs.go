package gate

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/places"
	"hyperscale/core/gate/queue"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// memory is what a gate keeps in memory: jobs, datacenters, managers, and the clients that
// follow jobs.
type memory struct {
	base
	jobs     map[message.JobID]*entry
	history  *job.History
	letters  event.LettersKept // as last reported
	number   uint64            // of the newest job
	places   *places.Places
	audience *audience.Audience
}

// entry is a job at this gate, with the requests that wait for it.
type entry struct {
	job.Job
	waiting audience.Waiting
	holder  queue.Holder // that has a place of the queue with it; zero: none, or not known

	dispatched node.Instant // by this gate, last; zero: by another one
	here       bool         // this gate ended it, since its own start
}

// tell emits the job's transitions up to the given count: they are on a majority now.
func tell(env node.Env, j *entry, upTo int) {
	for _, t := range j.Confirm(upTo) {
		if t.From == message.JobNone && j.Spec != nil {
			env.Emit(event.JobSubmitted{Job: j.ID, Name: j.Name, Subject: j.Owner, Rank: j.Spec.Rank, File: j.SpecFile})
		}
		emit(env, j.ID, t)
	}
}

// tellEnds emits how workflows of the job ended: it is on a majority.
func tellEnds(env node.Env, j *entry, ended []record.Ended) {
	for i := range ended {
		e := &ended[i]
		number := uint32(len(j.Ends.Known()) - len(ended) + i + 1)
		env.Emit(event.WorkflowEnded{Job: j.ID, Epoch: j.Epoch, Number: number, Workflow: e.Workflow, State: e.State, Started: e.Started})
	}
}

func emit(env node.Env, id message.JobID, t job.Transition) {
	env.Emit(event.JobChanged{Job: id, From: t.From, To: t.To, Reason: t.Reason})
}

// see returns a job that has ended for good, whichever gate owned it. It returns nil for
// others. The gate does not hold a job that it has buried.
func (m *memory) see(env node.Env, id message.JobID, token message.LeaseToken, released bool, record []byte) *entry {
	if !released {
		return nil
	}
	rec, err := job.ReadRecord(id, record)
	if err != nil || !rec.Last.To.Terminal() {
		return nil
	}
	j := &entry{Job: job.FromRecord(id, &rec, env.Now(), env.Now(), env.Self().Incarnation)}
	j.Own(token)
	j.Ready = true
	if rec.Buried() {
		reached(env, "gate/buried-asked")
		j.Last.Reason = fmt.Sprintf("only its key and its end are remembered, as more than gate.jobs_max = %d jobs have followed", m.config.JobsMax)
		j.Sequence = (env.Self().Incarnation+1)<<32 - 2 // above those of all statuses before
		return j
	}
	if !m.makeRoom(env) {
		return nil
	}
	m.number = max(m.number, j.Turn.Number)
	m.jobs[id] = j
	m.keepEnded(env, j)
	return j
}

// seeAll loads the ended jobs that this gate's acceptor knows. It buries those for which there is
// no room, and forgets released registers that tell of no job.
func (m *memory) seeAll(env node.Env) {
	var fresh []*entry
	for _, id := range m.group.Leases.Known() {
		if m.jobs[id] != nil {
			continue
		}
		seen, ok := m.group.Leases.Seen(env.Now(), id)
		if !ok || !seen.Released {
			continue
		}
		if len(seen.Record) == 0 { // a gate acquired what all others had forgotten
			m.group.Leases.Forget(env, id)
			continue
		}
		if len(m.jobs) < m.config.JobsMax {
			if j := m.see(env, id, seen.Token, seen.Released, seen.Record); j != nil {
				fresh = append(fresh, j)
			}
			continue
		}
		if rec, err := job.ReadRecord(id, seen.Record); err == nil && rec.Last.To.Terminal() {
			j := job.FromRecord(id, &rec, env.Now(), env.Now(), env.Self().Incarnation)
			m.inter(env, &j)
		}
	}
	if len(fresh) > 0 { // in the order of acceptance, as far as the records say
		m.history.Sort()
	}
}

// makeRoom buries the oldest ended job if one more job would be too many. It says whether there
// is room.
func (m *memory) makeRoom(env node.Env) bool {
	if j := m.history.Oldest(); j != nil && len(m.jobs) >= m.config.JobsMax {
		m.bury(env, j)
	}
	return len(m.jobs) < m.config.JobsMax
}

// bury keeps of an ended job its key and its end alone.
func (m *memory) bury(env node.Env, j *job.Job) {
	file := j.ResultFile
	m.evict(j)
	j.ResultFile = file
	m.inter(env, j)
}

// inter keeps the key and the end of a job alone, in the tombstone of its register. The files of
// the job go, too. A register that is not released yet remains: seeAll finds it again.
func (m *memory) inter(env node.Env, j *job.Job) {
	if !m.group.Leases.Bury(env, j.ID, j.Epitaph()) {
		reached(env, "gate/not-buried")
		return
	}
	m.group.Files.Drop(env, j.ResultFile)
	m.group.Files.Drop(env, j.Letter.Program)
	m.free(env, j)
}

// free deletes the files that a job needed until its end. Its end is on a majority: no gate reads
// them any more, and another job has others, since a program contains its job's key.
func (m *memory) free(env node.Env, j *job.Job) {
	for _, d := range j.Freed {
		m.group.Files.Drop(env, d)
	}
	j.Freed = nil
}

// keepEnded keeps a job that has ended, and its result, or its letter, within the bounds.
func (m *memory) keepEnded(env node.Env, j *entry) {
	m.history.Add(&j.Job)
	for o := m.history.Excess(); o != nil; o = m.history.Excess() {
		reached(env, "gate/result-dropped")
		m.group.Files.Drop(env, o.ResultFile)
		m.history.ForgetResult(o)
	}
	for o := m.history.Surplus(); o != nil; o = m.history.Surplus() {
		reached(env, "gate/letter-dropped")
		m.bury(env, o)
	}
}

// forget leaves a tombstone of the job, so that late messages do not revive it.
func (m *memory) forget(env node.Env, j *job.Job) {
	m.evict(j)
	if m.group.Leases.Forget(env, j.ID) {
		m.group.Files.Drop(env, j.Letter.Program)
	}
}

// evict removes a job from memory only: the register still knows how it ended.
func (m *memory) evict(j *job.Job) {
	m.history.Remove(j)
	m.audience.Unfollow(j.ID)
	delete(m.jobs, j.ID)
}

// countLetters reports how many dead letters this gate has, if that has changed.
func (m *memory) countLetters(env node.Env) {
	n, bytes := m.history.Letters()
	if now := (event.LettersKept{Letters: uint64(n), Bytes: uint64(bytes)}); now != m.letters {
		m.letters = now
		env.Emit(now)
	}
}
