package gate

import (
	"cmp"
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/lease"
	"hyperscale/core/ledger"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// ownership acts on what majorities decide: whose a job is, which record and which file
// they have.
type ownership struct {
	desk
	vacant map[message.JobID]node.Instant // since when the leader has seen them so
}

func (m *ownership) onLease(env node.Env, o lease.Outcome) {
	switch o.Kind {
	case lease.Ready:
		m.alarm = "" // what kept it out is over
		m.seeAll(env)
		m.group.Files.Mend(env, m.filesInUse(env))
	case lease.Granted:
		m.onGranted(env, o)
	case lease.Denied:
		m.onDenied(env, o)
	case lease.Waiting:
		m.onWaiting(env, o)
	case lease.Updated:
		if j := m.jobs[o.Job]; j != nil && j.Ready && j.Token == o.Token {
			m.circuit.worked()
			m.ledger.OnLease(&o)
			m.settleLedger(env)
		}
	case lease.Lost:
		if j := m.jobs[o.Job]; j != nil && j.Ready && j.Token == o.Token {
			m.disown(env, j, "")
		}
	case lease.Read:
		m.onRead(env, o)
	case lease.Vacant:
		m.onVacant(env, o)
	case lease.SetDiffers, lease.Alarm:
		m.onAlarm(o)
	}
}

// onGranted makes this gate the owner. Its own record stands if nobody had another
// one; else what a majority has goes in place of all that is remembered.
func (m *ownership) onGranted(env node.Env, o lease.Outcome) {
	m.circuit.worked()
	j := m.jobs[o.Job]
	switch {
	case j != nil && j.Ready && j.Shown.Terminal():
		m.group.Leases.Release(env, o.Job)
		return
	case o.Fresh && j != nil && !j.Takeover && !m.ledger.Idle(o.Job):
		j.Own(o.Token)
		m.accepted(env, j)
		return
	case o.Fresh: // nobody waits for it any more, or a majority has forgotten it
		m.group.Leases.Release(env, o.Job)
		if j != nil {
			m.unload(env, j)
		}
		return
	}
	var asks []*audience.Ask
	if j != nil {
		asks = j.waiting.All(m.audience.Of(j.ID))
		m.unload(env, j)
	}
	m.adopt(env, o, asks)
}

// accepted: the job is this gate's, and a majority has its first record.
func (m *ownership) accepted(env node.Env, j *entry) {
	m.accepting--
	j.Ready = true
	j.Turn.Since = env.Now()
	m.enqueue(env, j)
	m.ledger.Granted(env, j.ID)
	m.settleLedger(env) // a cancellation that has waited takes it out of the queue again
	m.schedule(env)
}

// onDenied: another gate has it. What was submitted here meanwhile is its to answer.
func (m *ownership) onDenied(env node.Env, o lease.Outcome) {
	if o.Err == nil {
		m.circuit.worked()
	}
	j := m.jobs[o.Job]
	if j == nil || j.Ready {
		return
	}
	asks := m.unload(env, j)
	if o.Err != nil && o.Holder == "" {
		m.refuseQuorum(env, asks, o.Err)
		return
	}
	for _, a := range asks {
		m.refuseOwner(env, a.Stream, a.Request, o.Job, o.Holder)
	}
}

// onWaiting: no majority answers. Clients are told; only what has been
// acknowledged is tried for further.
func (m *ownership) onWaiting(env node.Env, o lease.Outcome) {
	m.circuit.failed(env.Now())
	j := m.jobs[o.Job]
	if j == nil || j.Ready {
		return
	}
	if j.Takeover {
		m.refuseQuorum(env, j.waiting.TakeAsks(), o.Err)
		return
	}
	m.group.Leases.Abandon(env, o.Job)
	m.refuseQuorum(env, m.unload(env, j), o.Err)
}

// onVacant takes over what nobody owns, or what its owner hands to this gate. What
// is about to stop leaves it to others, if there are any.
func (m *ownership) onVacant(env node.Env, o lease.Outcome) {
	if m.retiring() && m.fellowAlive() {
		return
	}
	switch j := m.jobs[o.Job]; {
	case j == nil:
		if !m.makeRoom() {
			reached(env, "gate/takeover-shed")
			env.Emit(event.Shed{What: "takeover of job " + o.Job.String(), Why: fmt.Sprintf("%d jobs are not ended, the bound is %d", len(m.jobs), m.config.JobsMax)})
			return // for another gate, or for later: the leader goes on looking for what nobody owns
		}
		m.jobs[o.Job] = &entry{Job: job.Job{ID: o.Job, Takeover: true}}
	case !j.Ready && !j.Takeover, j.Ready && m.holds(env, j):
		return // its acquisition is on its way, or was granted
	}
	m.group.Leases.Acquire(env, o.Job, nil)
}

// disown stops acting for a job at once: another gate may be its owner.
func (m *ownership) disown(env node.Env, j *entry, holder node.Addr) {
	if j.Shown.Terminal() {
		return // told, and on a majority: it needs no owner
	}
	asks := j.waiting.All(m.audience.Of(j.ID))
	m.unload(env, j)
	for _, a := range asks {
		m.refuseOwner(env, a.Stream, a.Request, j.ID, holder)
	}
	m.schedule(env)
}

// rejected forgets a job that was never acknowledged.
func (m *ownership) rejected(env node.Env, j *entry, code message.Code, detail string) {
	env.Emit(event.Shed{What: "submit", Why: detail})
	for _, a := range m.unload(env, j) {
		m.refuseForRoom(env, a.Stream, a.Request, code, detail)
	}
}

// settleLedger acts on what the ledger came to.
func (m *ownership) settleLedger(env node.Env) {
	if m.ledger.Quiet() {
		return
	}
	for o, ok := m.ledger.Next(); ok; o, ok = m.ledger.Next() {
		switch o.Kind {
		case ledger.Committed:
			m.onCommitted(env, &o.Tag)
		case ledger.Refused:
			m.onRefusedFile(env, m.jobs[o.Job], o.Err)
		case ledger.Fetched, ledger.Unread, ledger.Gone:
			m.onFetched(env, &o)
		}
	}
}

// onCommitted tells what a majority has, and does what the write was for.
func (m *ownership) onCommitted(env node.Env, t *tag) {
	j := t.job
	m.confirmCounted(env, j, t.counted)
	tell(env, j, t.upTo)
	m.perform(env, j, t)
	answerCancels(env, j)
	m.pushNow(env, j)
	if m.ledger.Idle(j.ID) {
		m.serveAll(env, j)
	}
}

// perform does what a write was for.
func (m *ownership) perform(env node.Env, j *entry, t *tag) {
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
		m.ledger.Close(j.ID)
		m.group.Leases.Release(env, j.ID)
	}
}

// onRefusedFile tries again later what a job that runs cannot do without, and refuses a job
// that no gate acknowledged.
func (m *ownership) onRefusedFile(env node.Env, j *entry, err error) {
	if !j.Ready {
		m.rejected(env, j, message.CodeStoreFull, "keep the program: "+err.Error())
		return
	}
	m.retryLater(env)
}

// onDisk watches how the disk is, whoever wrote to it.
func (m *ownership) onDisk(env node.Env, in *node.Input) {
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
func (m *ownership) unkeptJobs() []*entry {
	var all []*entry
	if m.accepting == 0 {
		return nil
	}
	//lint:orderfree sorted below by a total order
	for _, j := range m.jobs {
		if !j.Ready && m.ledger.Gathering(j.ID) {
			all = append(all, j)
		}
	}
	slices.SortFunc(all, func(a, b *entry) int { return cmp.Compare(a.Turn.Number, b.Turn.Number) })
	return all
}

// onStoreRetry sends the files again that were refused, asks for those again that
// nobody had, and writes a mark that only tells whether the disk is well.
func (m *ownership) onStoreRetry(env node.Env) {
	m.ledger.Retry(env)
	if m.storeFailed {
		m.remember(env, probeKey, []byte{1})
		m.rememberDraining(env)
	}
}

// onKeepTimeout: no majority keeps the program of a job that nobody was told of.
func (m *ownership) onKeepTimeout(env node.Env, j *entry) {
	if j.Takeover || !m.ledger.Gathering(j.ID) {
		return // its register tells
	}
	m.circuit.failed(env.Now())
	m.refuseQuorum(env, m.unload(env, j), lease.ErrQuorumUnavailable)
}

func (m *ownership) onJobTimer(env node.Env, id message.JobID) {
	j := m.jobs[id]
	switch {
	case j == nil || j.Ready && (j.State.Terminal() || j.State == message.JobQueued):
		return
	case !j.Ready:
		m.onKeepTimeout(env, j)
		return
	case !m.holds(env, j):
		env.SetTimer(node.KeyID(node.PartGate, node.GateJob, j.ID), m.config.CancelRetry) // until it is told to be lost
		return
	case j.Stopping():
		m.resendCancels(env, j)
	case env.Now().Sub(j.Started) >= j.RunTimeout:
		m.expire(env, j)
	default:
		if j.Aborting() && env.Now().Sub(j.Resend) >= m.config.CancelRetry {
			m.sendAborts(env, j)
		}
		for _, p := range slices.Clone(j.Subjobs) {
			m.nudge(env, j, p)
		}
	}
	m.arm(env, j)
}
