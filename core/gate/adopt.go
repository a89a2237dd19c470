package gate

import (
	"errors"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/lease"
	"hyperscale/core/lease/level"
	"hyperscale/core/ledger"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// adopt takes a job over: it rebuilds the job from its record and fetches the files that the
// record names. Once the gate has all files, it resumes the job.
func (m *ownership) adopt(env node.Env, o lease.Outcome, asks []*audience.Ask) {
	rec, err := job.ReadRecord(o.Job, o.Record)
	if err != nil {
		env.Emit(event.Ignored{Peer: env.Self().ID, Message: "record", Why: err.Error()})
		m.group.Leases.Abandon(env, o.Job)
		m.refuseQuorum(env, asks, err)
		return
	}
	j := &entry{Job: job.FromRecord(o.Job, &rec, env.Now(), m.group.Leases.Written(env.Now(), o.Job, o.Record), env.Self().Incarnation)}
	m.number = max(m.number, j.Turn.Number)
	j.Own(o.Token)
	j.Takeover = true
	if m.group.Leases.Level() >= level.Takeovers && !j.State.Terminal() { // before, an older gate does not count
		j.Takeovers++
	}
	j.waiting.Put(asks)
	for _, a := range asks {
		a.Again = true
	}
	m.makeRoom(env)
	m.jobs[j.ID] = j
	if j.State.Terminal() {
		m.resume(env, j)
		return
	}
	for _, p := range j.Subjobs {
		if p.End != job.Counted {
			p.Fence.JobEpoch = j.Epoch
		}
	}
	m.ledger.Open(j.ID)
	j.Loading = 1
	m.ledger.Fetch(env, j.ID, j.SpecFile, tag{act: actLoad, job: j})
	for _, p := range j.Subjobs {
		if p.File != (message.FileDigest{}) {
			j.Loading++
			m.ledger.Fetch(env, j.ID, p.File, tag{act: actLoad, job: j, subjob: p})
		}
	}
}

// onFetched gives a fetched file to the job that waits for it. The gate fetches a file again
// while only gates that it cannot reach may have it.
func (m *ownership) onFetched(env node.Env, o *ledger.Outcome[tag]) {
	j := o.Tag.job
	switch {
	case m.jobs[j.ID] != j:
	case o.Tag.act == actShow:
		m.onResultHere(env, j, o)
	case o.Tag.act == actRows:
		m.onRowsHere(env, j, o)
	case o.Tag.act == actReplay:
		m.onLetterHere(env, j, o)
	case j.Ready: // the gate gave the job up because of another file
	case o.Kind == ledger.Gone:
		m.giveUp(env, j, "a file that its record names is on no gate's disk any more")
	case o.Kind == ledger.Unread:
		m.retryLater(env)
	default:
		m.readFetched(env, o)
	}
}

// readFetched gives the content of a file to the job whose record names it. The gate reads a file again
// that it cannot decode. No gate can use a file of another job, which only a member that lies can
// name in a record.
func (m *ownership) readFetched(env node.Env, o *ledger.Outcome[tag]) {
	j := o.Tag.job
	switch err := m.load(&o.Tag, o.Bytes); {
	case errors.Is(err, record.ErrForeign):
		m.giveUp(env, j, "its record names a result of another job")
	case err != nil:
		m.ledger.Again(o)
		m.retryLater(env)
	default:
		if j.Loading--; j.Loading == 0 {
			m.resume(env, j)
		}
	}
}

// load decodes a fetched file and stores its content in the job.
func (m *ownership) load(t *tag, b []byte) error {
	j := t.job
	if t.subjob == nil {
		spec, err := decoded[*message.JobSubmit](b)
		if err == nil && j.Spec == nil {
			j.Spec, j.SpecSize = spec, spec.Size()
			m.specBytes += j.SpecSize
		}
		return err
	}
	result, err := decoded[*message.SubjobResult](b)
	switch {
	case err != nil:
		return err
	case result.Job != j.ID:
		return record.ErrForeign
	}
	t.subjob.Result, t.subjob.Fault = &result.Subjob, result.Fault
	return nil
}

// giveUp ends a job when no gate has its program, or a result that it counted, on disk, or when
// none knows what it did since a backup.
func (m *ownership) giveUp(env node.Env, j *entry, why string) {
	reached(env, "gate/given-up")
	if j.Spec == nil {
		j.Spec = &message.JobSubmit{}
	}
	j.Loading, j.Ready, j.Takeover = 0, true, false
	emit(env, j.ID, j.Last)
	tellEnds(env, j, j.Ends.Known())
	for _, p := range j.Subjobs {
		if p.Result == nil {
			p.End = job.Open
			p.Release(m.places)
			j.GiveUp(p, message.JobFailed, why, env.Now())
			p.Told = true // a manager's result may have counted, until its file was lost
		}
	}
	j.Dead = j.State != message.JobCancelling
	switch {
	case j.State == message.JobCancelling:
		m.end(env, j, message.JobCancelled, why)
	case j.State == message.JobRunning:
		j.Become(message.JobCompleting, "")
		m.end(env, j, message.JobFailed, why)
	default:
		m.end(env, j, message.JobFailed, why)
	}
	m.serveAll(env, j)
}

// resume publishes the job's last transition again, and queues, continues or releases the job
// according to its state.
func (m *ownership) resume(env node.Env, j *entry) {
	if j.Restored != "" && !j.State.Terminal() {
		reached(env, "gate/restored")
		m.giveUp(env, j, job.Unknown(&j.Job))
		return
	}
	j.Ready, j.Takeover = true, false
	if !j.Buried() { // else a gate has told its end with the reason, which an epitaph lacks
		emit(env, j.ID, j.Last)
	}
	tellEnds(env, j, j.Ends.Known())
	switch {
	case j.State.Terminal():
		if !m.resumeRows(env, j) {
			m.keepEnded(env, j)
			m.group.Leases.Release(env, j.ID)
			m.free(env, &j.Job)
		}
	case j.State == message.JobQueued:
		m.resumeRows(env, j)
		m.resumeAborts(env, j)
		m.enqueue(env, j)
		m.schedule(env)
	default:
		m.resumeRows(env, j)
		m.resumeAborts(env, j)
		m.active = append(m.active, j)
		if j.State == message.JobCancelling {
			m.stopSubjobs(env, j)
		}
		m.endIfDone(env, j)
		m.arm(env, j)
	}
	m.serveAll(env, j)
}

// keepHouse acquires jobs that have been without an owner for so long that every gate must have
// missed its turn. Only a leader that hears a majority does so.
func (m *ownership) keepHouse(env node.Env) {
	if !m.group.Election.Leads(env.Now()) || !m.group.Leases.Speaks() || m.retiring() && m.fellowTakes() {
		m.vacant = nil // a new term counts from its own observations
		return
	}
	vacant := map[message.JobID]node.Instant{}
	for _, id := range m.group.Leases.Known() {
		seen, ok := m.group.Leases.Seen(env.Now(), id)
		if !ok || seen.Released || seen.Left > 0 || m.jobs[id] != nil {
			continue
		}
		since, was := m.vacant[id]
		if !was {
			since = env.Now()
		}
		if env.Now().Sub(since) >= m.config.Lease+time.Duration(len(m.group.Members()))*time.Second {
			reached(env, "gate/vacant-swept")
			m.onVacant(env, lease.Outcome{Kind: lease.Vacant, Job: id})
			continue
		}
		vacant[id] = since
	}
	m.vacant = vacant
}

// forgottenAtOnce bounds the jobs that one sweep forgets; the next sweep goes on.
const forgottenAtOnce = 4096

// onSweep drops what has passed its age.
func (m *ownership) onSweep(env node.Env) {
	now := env.Now()
	if m.group.Leases.Speaks() {
		m.seeAll(env) // before it forgets: what is being forgotten is still on the disk
	}
	for n := 0; n < forgottenAtOnce && m.group.Leases.Speaks(); n++ {
		j := m.history.Outlived(now, m.config.KeyAge, m.config.LetterAge)
		if j == nil {
			break
		}
		if now.Sub(j.Ended) < m.config.KeyAge {
			m.bury(env, j)
			continue
		}
		m.forget(env, j)
	}
	m.history.Age(now, m.config.ResultAge)
	for _, name := range m.places.Sweep(now) {
		m.remember(env, datacenterPrefix+name, nil)
		delete(m.wanted.cores, name)
		env.Emit(event.CoresWanted{Datacenter: name})
	}
	for _, a := range m.places.Silences(now) {
		m.remember(env, datacenterPrefix+a.Datacenter, silenceValue(a.For))
	}
	m.relay.Age(now, m.config.AnswerTimeout)
	m.pace(env)
	m.measure(env, true)
	m.countWanted(env)
	m.countLetters(env)
	if m.group.Leases.Speaks() {
		inUse := m.filesInUse(env)
		m.group.Files.Mend(env, inUse)
		m.group.Files.Sweep(env, inUse)
		m.keepHouse(env)
	}
	env.SetTimer(node.Key(node.PartGate, node.GateSweep), m.config.SweepInterval)
}
