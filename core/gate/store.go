package gate

import (
	"cmp"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// put is one write to a job's register and what follows it: first the files that
// it names go to a majority, then the record does, then anybody is told.
type put struct {
	job     *entry
	upTo    int // transitions that the record holds
	record  []byte
	files   [][]byte // that the record newly names
	missing int      // of them that no majority has
	ticket  uint64   // of the update, 0 until it is sent
	then    tag
}

// act is what a gate does once a majority has a record.
type act uint8

// Acts that follow a write.
const (
	actNone    act = iota
	actSend        // dispatch subjobs
	actCancel      // cancel all subjobs
	actAbort       // abort a workflow
	actRelease     // let the register of an ended job go
)

// tag says what follows a write, beside what follows each.
type tag struct {
	act     act
	send    []*job.Subjob      // of actSend
	abort   *job.Abort         // of actAbort
	result  *message.JobResult // of actRelease
	counted []*job.Subjob      // whose results the write makes durable
}

// save writes the job's record as it is now. Records go out in the order of the
// calls, so that none names a file of a later one.
func (m *Machine) save(env node.Env, p *put) {
	j := p.job
	p.upTo = j.Decided()
	p.record = j.Record(env.Now())
	p.missing = len(p.files)
	j.open = append(j.open, p)
	for _, b := range p.files {
		m.keep(env, p, b)
	}
	m.issue(env, j)
}

// keep sends a file to a majority, for a write that names it.
func (m *Machine) keep(env node.Env, p *put, b []byte) {
	m.ticket++
	m.kept[m.ticket] = keeping{p, b}
	m.group.Files.Keep(env, b, m.ticket)
}

// keepAgain keeps the files of a write that waited too long for an earlier one: the
// fellows that have them may be about to sweep them.
func (m *Machine) keepAgain(env node.Env, p *put) bool {
	for _, b := range p.files {
		if m.group.Files.Stale(env, fileOf(b)) {
			env.Emit(event.Reached{What: "gate/kept-again"})
			p.missing++
			m.keep(env, p, b)
		}
	}
	return p.missing > 0
}

// keeping is a file on its way, for the write that waits for it.
type keeping struct {
	put   *put
	bytes []byte
}

// issue sends the writes whose files, and those of all before them, are kept.
func (m *Machine) issue(env node.Env, j *entry) {
	for _, p := range j.open {
		switch {
		case p.ticket != 0:
			continue
		case p.missing > 0, m.keepAgain(env, p):
			return
		}
		m.ticket++
		p.ticket = m.ticket
		if !j.Ready {
			m.acquire(env, j, p.record)
			return
		}
		m.group.Leases.Update(env, j.ID, p.record, p.ticket)
	}
}

// onKept goes on with the write that waited for a file, unless its job is another
// gate's by now.
func (m *Machine) onKept(env node.Env, ticket uint64) {
	k, ok := m.kept[ticket]
	if !ok {
		return
	}
	delete(m.kept, ticket)
	k.put.missing--
	if j := k.put.job; m.jobs[j.ID] == j {
		m.issue(env, j)
	}
}

// onNotKept tries again what a job that runs cannot do without, and refuses a job
// that nobody was told of.
func (m *Machine) onNotKept(env node.Env, ticket uint64, err error) {
	k, ok := m.kept[ticket]
	if !ok {
		return
	}
	delete(m.kept, ticket)
	j := k.put.job
	switch {
	case m.jobs[j.ID] != j:
	case !j.Ready:
		m.rejected(env, j, message.CodeStoreFull, "keep the program: "+err.Error())
	default:
		m.unkept = append(m.unkept, k)
		m.retryLater(env)
	}
}

// onUpdated: a majority has the record of a ticket, or a later one.
func (m *Machine) onUpdated(env node.Env, j *entry, ticket uint64) {
	for m.jobs[j.ID] == j && len(j.open) > 0 && j.open[0].ticket != 0 && j.open[0].ticket <= ticket {
		p := j.open[0]
		j.open = j.open[1:]
		m.onPut(env, p)
	}
}

func (m *Machine) onPut(env node.Env, p *put) {
	j := p.job
	m.confirmCounted(env, j, p.then.counted)
	tell(env, j, p.upTo)
	m.perform(env, j, &p.then)
	answerCancels(env, j)
	m.pushNow(env, j)
	if len(j.open) == 0 {
		m.serveAll(env, j)
	}
}

// perform does what a write was for.
func (m *Machine) perform(env node.Env, j *entry, t *tag) {
	switch t.act {
	case actSend:
		m.sendSaved(env, j, t.send)
	case actCancel:
		for _, p := range j.Subjobs {
			m.sendCancel(env, j, p)
		}
	case actAbort:
		tellAbort(env, j, t.abort)
		m.sendAborts(env, j)
		m.arm(env, j)
	case actRelease:
		j.Result = t.result
		m.keepEnded(env, j)
		for _, p := range j.Subjobs {
			p.Result = nil // it is in the job's
		}
		m.group.Leases.Release(env, j.ID)
	}
}

// remember writes a record of this gate's own. It is no job's: it may be lost.
func (m *Machine) remember(env node.Env, key string, value []byte) {
	m.token++
	env.Store().Put([]node.Record{{Key: key, Value: value}}, m.token)
	m.writes++
}

// onStored counts a write of this gate's own.
func (m *Machine) onStored(env node.Env, in *node.Input) {
	m.writes--
	if in.Err != nil {
		env.Emit(event.StoreFailed{What: "remember a datacenter, or an order to drain", Err: in.Err.Error()})
	}
}

// onDisk watches how the disk is, whoever wrote to it.
func (m *Machine) onDisk(env node.Env, in *node.Input) {
	if in.Err == nil {
		m.storeFailed = false
		return
	}
	m.storeFailed = true
	m.retryLater(env)
	for _, j := range m.unkeptJobs() {
		m.rejected(env, j, message.CodeStoreFull, "the gate's disk refuses writes")
	}
}

// unkeptJobs are those that nobody was told of and whose program is on no majority,
// in the order of their submission.
func (m *Machine) unkeptJobs() []*entry {
	var all []*entry
	if m.accepting == 0 {
		return nil
	}
	//lint:orderfree sorted below by a total order
	for _, j := range m.jobs {
		if !j.Ready && len(j.open) > 0 && j.open[0].missing > 0 {
			all = append(all, j)
		}
	}
	slices.SortFunc(all, func(a, b *entry) int { return cmp.Compare(a.Turn.Number, b.Turn.Number) })
	return all
}

func (m *Machine) retryLater(env node.Env) {
	env.SetTimer(node.Key(node.PartGate, node.GateRetry), m.config.StoreRetry)
}

// onStoreRetry sends the files again that were refused, asks for those again that
// nobody had, and writes a mark that only tells whether the disk is well.
func (m *Machine) onStoreRetry(env node.Env) {
	again := m.unkept
	m.unkept = nil
	for _, k := range again {
		if m.jobs[k.put.job.ID] == k.put.job {
			reached(env, "gate/file-kept-again")
			m.keep(env, k.put, k.bytes)
		}
	}
	unread := m.unread
	m.unread = nil
	for _, f := range unread {
		if m.jobs[f.job.ID] == f.job {
			reached(env, "gate/file-asked-again")
			m.fetch(env, f)
		}
	}
	if m.storeFailed {
		m.remember(env, probeKey, []byte{1})
		m.rememberDraining(env)
	}
}
