package gate

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/queue"
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
	job    *job
	subjob *subjob // whose counted result it is; nil for the program or the job's result
	file   message.FileDigest
	gone   int // rounds in which every gate has said that it does not have it
}

// goneMax is after how many such rounds a file is given up: a majority of the disks
// that kept it is lost.
const goneMax = 10

// adopt takes a record over: the job is rebuilt from it and from the files that
// it names, and resumed when all are here.
func (m *Machine) adopt(env node.Env, o lease.Outcome, asks []*audience.Ask) {
	rec, err := readRecord(o.Job, o.Record)
	if err != nil {
		env.Emit(event.Ignored{Peer: env.Self().ID, Message: "record", Why: err.Error()})
		m.leases.Abandon(env, o.Job)
		m.refuseQuorum(env, asks, err)
		return
	}
	j := m.fromRecord(env, o.Job, &rec)
	m.own(j, o.Token)
	j.takeover = true
	j.waiting.Put(asks)
	for _, a := range asks {
		a.Again = true
	}
	m.makeRoom()
	m.jobs[j.id] = j
	if j.state.Terminal() {
		m.resume(env, j)
		return
	}
	for _, p := range j.subjobs {
		if !p.counted {
			p.fence.JobEpoch = j.epoch
		}
	}
	j.loading = 1
	m.fetch(env, fetch{job: j, file: j.specFile})
	for _, p := range j.subjobs {
		if p.counted {
			j.loading++
			m.fetch(env, fetch{job: j, subjob: p, file: p.file})
		}
	}
}

func (m *Machine) fetch(env node.Env, f fetch) {
	m.ticket++
	m.fetches[m.ticket] = f
	m.files.Fetch(env, f.file, m.ticket)
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
	if !ok || m.jobs[j.id] != j {
		return
	}
	if j.ready {
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
	if j.loading--; j.loading == 0 {
		m.resume(env, j)
	}
}

// load keeps what a file holds.
func (m *Machine) load(f fetch, b []byte) error {
	j := f.job
	if f.subjob == nil {
		spec, err := decoded[*message.JobSubmit](b)
		if err == nil && j.spec == nil {
			j.spec, j.specSize = spec, spec.Size()
			m.specBytes += j.specSize
		}
		return err
	}
	result, err := decoded[*message.SubjobResult](b)
	if err == nil {
		f.subjob.result = &result.Subjob
	}
	return err
}

// giveUp ends a job whose program, or a result of which, is on no gate's disk any
// more.
func (m *Machine) giveUp(env node.Env, j *job) {
	const why = "a file that its record names is on no gate's disk any more"
	reached(env, "gate/given-up")
	if j.spec == nil {
		j.spec = &message.JobSubmit{}
	}
	j.loading, j.ready, j.takeover = 0, true, false
	emitLast(env, j)
	for _, p := range j.subjobs {
		if p.result == nil {
			p.counted = false
			m.markEnded(env, j, p, message.JobFailed, why)
		}
	}
	switch {
	case j.state == message.JobCancelling:
		m.end(env, j, message.JobCancelled, why)
	case j.state == message.JobRunning:
		j.become(message.JobCompleting, "")
		m.end(env, j, message.JobFailed, why)
	default:
		m.end(env, j, message.JobFailed, why)
	}
	m.serveAll(env, j)
}

// fromRecord makes a job of its record; its time stood still since that was
// written.
func (m *Machine) fromRecord(env node.Env, id message.JobID, rec *jobRecord) *job {
	now := env.Now()
	j := &job{
		id: id, key: rec.Key, digest: rec.Digest, name: rec.Name, runTimeout: rec.RunTimeout,
		state: rec.Last.To, shown: rec.Last.To, reason: rec.Last.Reason, last: rec.Last,
		turn: queue.Turn{Job: id, Number: rec.Number, Named: rec.Named, Since: now},
		born: now.Add(-rec.Elapsed), ran: rec.Ran, started: now.Add(-rec.RunFor), cancelled: now, resend: now,
		elapsed: rec.Elapsed, ended: now, closed: rec.Closed, aborts: rec.Aborts,
		specFile: message.FileDigest(rec.Spec), resultFile: message.FileDigest(rec.Result), resultBytes: rec.ResultBytes,
		// Above what the incarnation before this one can have told.
		sequence: env.Self().Incarnation << 32,
	}
	for i := range rec.Subjobs {
		p := loadedSubjob(&rec.Subjobs[i], now)
		p.renewed, p.named = now, now // the gate before may have named it, within its own window, which is over
		if j.state.Terminal() && p.phase != subjobDone {
			p.phase, p.counted = subjobDone, p.accepted // its result is in the job's
		}
		j.subjobs = append(j.subjobs, p)
	}
	m.number = max(m.number, j.turn.Number)
	return j
}

// loadedPart waits for its manager to tell of it, if any can know of it.
func loadedSubjob(r *subjobRecord, now node.Instant) *subjob {
	p := &subjob{
		datacenter: r.Datacenter, manager: r.Manager, fence: message.Fence(r.Fence), file: message.FileDigest(r.Counted),
		ever: true, accepted: r.Accepted, losses: r.Losses, since: now, sent: now,
	}
	switch {
	case r.Counted != (fileName{}):
		p.phase, p.counted = subjobDone, true
	case r.State.Terminal():
		p.phase, p.unheard = subjobDone, true
		p.result = &message.DatacenterResult{Name: r.Datacenter, State: r.State, Error: r.Error}
	default:
		p.phase = subjobAdopting // what a majority knows may have been sent
	}
	return p
}

// resume tells the last transition again and puts the job where it belongs.
func (m *Machine) resume(env node.Env, j *job) {
	j.ready, j.takeover = true, false
	emitLast(env, j)
	switch {
	case j.state.Terminal():
		m.keepEnded(env, j)
		m.leases.Release(env, j.id)
	case j.state == message.JobQueued:
		m.enqueue(env, j)
		m.schedule(env)
	default:
		m.resumeAborts(env, j)
		m.active = append(m.active, j)
		if j.state == message.JobCancelling {
			m.stopSubjobs(env, j)
		}
		m.endIfDone(env, j)
		m.arm(env, j)
	}
	m.serveAll(env, j)
}

// see returns a job that has ended for good, whoever owned it, or nil.
func (m *Machine) see(env node.Env, id message.JobID, token message.LeaseToken, released bool, record []byte) *job {
	if !released {
		return nil
	}
	rec, err := readRecord(id, record)
	if err != nil || !rec.Last.To.Terminal() {
		return nil
	}
	if !m.makeRoom() {
		return nil
	}
	j := m.fromRecord(env, id, &rec)
	m.own(j, token)
	j.ready = true
	m.jobs[id] = j
	m.keepEnded(env, j)
	return j
}

// seeAll learns of the ends that this gate's disk, or its fellows' before it, knows.
func (m *Machine) seeAll(env node.Env) {
	var fresh []*job
	for _, id := range m.leases.Known() {
		if m.jobs[id] != nil {
			continue
		}
		if seen, ok := m.leases.Seen(env.Now(), id); ok && len(m.jobs) < m.config.JobsMax {
			if j := m.see(env, id, seen.Token, seen.Released, seen.Record); j != nil {
				fresh = append(fresh, j)
			}
		}
	}
	if len(fresh) > 0 { // in the order of acceptance, as far as it is known
		slices.SortStableFunc(m.ended, byEnd)
		slices.SortStableFunc(m.results, byEnd)
	}
}

// byEnd orders jobs by their ends, then by their acceptance.
func byEnd(a, b *job) int {
	return cmp.Or(cmp.Compare(a.ended, b.ended), cmp.Compare(a.turn.Number, b.turn.Number), a.id.Compare(b.id))
}
