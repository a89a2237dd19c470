package gate

import (
	"errors"
	"strings"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// start begins with what this gate's own disk says of datacenters; jobs follow
// from their registers.
func (m *Machine) start(env node.Env) {
	env.SetTimer(node.Key(node.PartGate, node.GateSweep), m.config.SweepInterval)
	for _, r := range env.Store().Load(datacenterPrefix) {
		m.places.Add(strings.TrimPrefix(r.Key, datacenterPrefix), env.Now())
	}
	m.startGroup(env)
	m.drainedBefore(env)
}

// fetch is a file that a job cannot go on without, or a result that clients wait
// for.
type fetch struct {
	job    *entry
	subjob *job.Subjob // whose counted result it is; nil for the program or the job's result
	file   message.FileDigest
	gone   int // rounds in which every gate has said that it does not have it
}

// goneMax is after how many such rounds a file is given up: a majority of the disks
// that kept it is lost.
const goneMax = 10

// adopt takes a record over: the job is rebuilt from it and from the files that
// it names, and resumed when all are here.
func (m *Machine) adopt(env node.Env, o lease.Outcome, asks []*audience.Ask) {
	rec, err := job.ReadRecord(o.Job, o.Record)
	if err != nil {
		env.Emit(event.Ignored{Peer: env.Self().ID, Message: "record", Why: err.Error()})
		m.group.Leases.Abandon(env, o.Job)
		m.refuseQuorum(env, asks, err)
		return
	}
	j := &entry{Job: job.FromRecord(o.Job, &rec, env.Now(), env.Self().Incarnation)}
	m.number = max(m.number, j.Turn.Number)
	j.Own(o.Token)
	j.Takeover = true
	j.waiting.Put(asks)
	for _, a := range asks {
		a.Again = true
	}
	m.makeRoom()
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
	j.Loading = 1
	m.fetch(env, fetch{job: j, file: j.SpecFile})
	for _, p := range j.Subjobs {
		if p.End == job.Counted {
			j.Loading++
			m.fetch(env, fetch{job: j, subjob: p, file: p.File})
		}
	}
}

func (m *Machine) fetch(env node.Env, f fetch) {
	m.ticket++
	m.fetches[m.ticket] = f
	m.group.Files.Fetch(env, f.file, m.ticket)
}

func (m *Machine) onFile(env node.Env, o archive.Outcome) {
	switch o.Kind {
	case archive.Kept:
		m.onKept(env, o.Ticket)
	case archive.Fetched:
		m.onFetched(env, o)
	case archive.Failed:
		if _, ok := m.fetches[o.Ticket]; ok {
			m.onFetched(env, o)
		} else {
			m.onNotKept(env, o.Ticket, o.Err)
		}
	}
}

func (m *Machine) onFetched(env node.Env, o archive.Outcome) {
	f, ok := m.fetches[o.Ticket]
	delete(m.fetches, o.Ticket)
	j := f.job
	if !ok || m.jobs[j.ID] != j {
		return
	}
	if j.Ready {
		m.onResultHere(env, j, o)
		return
	}
	if o.Err == nil {
		o.Err = m.load(f, o.Bytes)
	}
	if errors.Is(o.Err, archive.ErrMissing) {
		if f.gone++; f.gone >= goneMax {
			m.giveUp(env, j)
			return
		}
	}
	if o.Err != nil { // a majority has it: somebody who does is not reached yet
		m.unread = append(m.unread, f)
		m.retryLater(env)
		return
	}
	if j.Loading--; j.Loading == 0 {
		m.resume(env, j)
	}
}

// load keeps what a file holds.
func (m *Machine) load(f fetch, b []byte) error {
	j := f.job
	if f.subjob == nil {
		spec, err := decoded[*message.JobSubmit](b)
		if err == nil && j.Spec == nil {
			j.Spec, j.SpecSize = spec, spec.Size()
			m.specBytes += j.SpecSize
		}
		return err
	}
	result, err := decoded[*message.SubjobResult](b)
	if err == nil {
		f.subjob.Result = &result.Subjob
	}
	return err
}

// giveUp ends a job whose program, or a result of which, is on no gate's disk any
// more.
func (m *Machine) giveUp(env node.Env, j *entry) {
	const why = "a file that its record names is on no gate's disk any more"
	reached(env, "gate/given-up")
	if j.Spec == nil {
		j.Spec = &message.JobSubmit{}
	}
	j.Loading, j.Ready, j.Takeover = 0, true, false
	emit(env, j.ID, j.Last)
	for _, p := range j.Subjobs {
		if p.Result == nil {
			p.End = job.Open
			p.Release(m.places)
			p.GiveUp(message.JobFailed, why, j.Started, env.Now())
		}
	}
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

// resume tells the last transition again and puts the job where it belongs.
func (m *Machine) resume(env node.Env, j *entry) {
	j.Ready, j.Takeover = true, false
	emit(env, j.ID, j.Last)
	switch {
	case j.State.Terminal():
		m.keepEnded(env, j)
		m.group.Leases.Release(env, j.ID)
	case j.State == message.JobQueued:
		m.enqueue(env, j)
		m.schedule(env)
	default:
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

// see returns a job that has ended for good, whoever owned it, or nil.
func (m *Machine) see(env node.Env, id message.JobID, token message.LeaseToken, released bool, record []byte) *entry {
	if !released {
		return nil
	}
	rec, err := job.ReadRecord(id, record)
	if err != nil || !rec.Last.To.Terminal() {
		return nil
	}
	if !m.makeRoom() {
		return nil
	}
	j := &entry{Job: job.FromRecord(id, &rec, env.Now(), env.Self().Incarnation)}
	m.number = max(m.number, j.Turn.Number)
	j.Own(token)
	j.Ready = true
	m.jobs[id] = j
	m.keepEnded(env, j)
	return j
}

// seeAll learns of the ends that this gate's disk, or its fellows' before it, knows.
func (m *Machine) seeAll(env node.Env) {
	var fresh []*entry
	for _, id := range m.group.Leases.Known() {
		if m.jobs[id] != nil {
			continue
		}
		if seen, ok := m.group.Leases.Seen(env.Now(), id); ok && len(m.jobs) < m.config.JobsMax {
			if j := m.see(env, id, seen.Token, seen.Released, seen.Record); j != nil {
				fresh = append(fresh, j)
			}
		}
	}
	if len(fresh) > 0 { // in the order of acceptance, as far as it is known
		m.history.Sort()
	}
}
