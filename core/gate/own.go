package gate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/lease"
	"hyperscale/core/ledger"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/output"
)

// ownership acts on decisions of majorities: who owns a job, and which record and files a
// majority has.
type ownership struct {
	desk
	vacant map[message.JobID]node.Instant // since when this leader has seen each job without an owner
}

func (m *ownership) onLease(env node.Env, o lease.Outcome) {
	switch o.Kind {
	case lease.Ready:
		m.alarm = "" // the reason why this gate could not own jobs is gone
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
			m.majorityWorked(env)
			m.ledger.OnLease(&o)
			m.settleLedger(env)
		}
	case lease.Lost: // perhaps while the files of a job that it has taken over are on their way
		if j := m.jobs[o.Job]; j != nil && j.Token == o.Token {
			m.disown(env, j, "")
		}
	case lease.Read:
		m.onRead(env, o)
	case lease.Vacant:
		m.onVacant(env, o)
	case lease.Closed:
		m.onClosed(env, o)
	case lease.SetDiffers, lease.Alarm:
		m.onAlarm(o)
	}
}

// onGranted makes this gate the owner. If the register was empty, the gate's own submission is
// its first record. Otherwise the majority's record replaces what the gate remembers.
func (m *ownership) onGranted(env node.Env, o lease.Outcome) {
	m.majorityWorked(env)
	j := m.jobs[o.Job]
	switch {
	case j != nil && j.Ready && j.Shown.Terminal() && !j.Rows.Delivering:
		m.group.Leases.Release(env, o.Job)
		return
	case o.Fresh && j != nil && !j.Takeover && !m.ledger.Idle(o.Job):
		j.Own(o.Token)
		m.accepted(env, j)
		return
	case o.Fresh: // no client waits for it any more, or a majority has forgotten it
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

// onClosed takes note of a job that ended at another gate.
func (m *ownership) onClosed(env node.Env, o lease.Outcome) {
	if j := m.jobs[o.Job]; j != nil {
		if j.Rows.Delivering && j.Token.Less(o.Token) {
			m.disown(env, j, "") // another gate has delivered the rest
			return
		}
		if j.Ready && j.Shown.Terminal() && j.Token.Less(o.Token) {
			j.Own(o.Token) // another gate has taken it over and released it once more
		}
		return // else this gate was about to take it over, or to accept it: its grant decides
	}
	switch j := m.see(env, o.Job, o.Token, true, o.Record); {
	case j == nil:
	case j.Buried(): // a gate that missed the end has acquired the tombstone's register
		m.inter(env, &j.Job)
	default:
		m.free(env, &j.Job)
	}
}

// accepted queues a job that this gate owns and whose first record is on a majority.
func (m *ownership) accepted(env node.Env, j *entry) {
	m.accepting--
	j.Ready = true
	j.Turn.Since = env.Now()
	j.Rows.Own(j.Epoch)
	m.enqueue(env, j)
	m.ledger.Granted(env, j.ID)
	m.settleLedger(env) // a cancellation that waited takes the job out of the queue again
	m.schedule(env)
}

// onDenied redirects the clients of a job that another gate owns.
func (m *ownership) onDenied(env node.Env, o lease.Outcome) {
	if o.Err == nil {
		m.majorityWorked(env)
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

// onWaiting refuses clients, since no majority answers. The gate keeps trying only for jobs
// that some gate has acknowledged.
func (m *ownership) onWaiting(env node.Env, o lease.Outcome) {
	m.majorityFailed(env)
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

// onVacant takes over a job that no gate owns, or that its owner hands to this gate. A gate
// that stops leaves the job to others, if there are any.
func (m *ownership) onVacant(env node.Env, o lease.Outcome) {
	if m.retiring() && m.fellowTakes() || m.isDeaf() && !o.Consented {
		return
	}
	switch j := m.jobs[o.Job]; {
	case j == nil:
		if !m.makeRoom(env) {
			reached(env, "gate/takeover-shed")
			env.Emit(event.Shed{Reason: event.ShedBound, What: "takeover of job " + o.Job.String(), Why: fmt.Sprintf("%d jobs are not ended, the bound is %d", len(m.jobs), m.config.JobsMax)})
			return // another gate takes it, or the leader finds it again later
		}
		m.jobs[o.Job] = &entry{Job: job.Job{ID: o.Job, Takeover: true}}
	case !j.Ready && !j.Takeover, j.Ready && m.holds(env, j):
		return // its acquisition is under way, or was granted
	}
	m.group.Leases.Acquire(env, o.Job, nil)
}

// disown stops acting for a job at once: another gate may own it.
func (m *ownership) disown(env node.Env, j *entry, holder node.Addr) {
	if j.Shown.Terminal() && !j.Rows.Delivering {
		return // its end is published and on a majority: it needs no owner
	}
	asks := j.waiting.All(m.audience.Of(j.ID))
	m.unload(env, j)
	for _, a := range asks {
		m.refuseOwner(env, a.Stream, a.Request, j.ID, holder)
	}
	m.schedule(env)
}

// rejected forgets a job that the gate never acknowledged.
func (m *ownership) rejected(env node.Env, j *entry, code message.Code, detail string) {
	env.Emit(event.Shed{Reason: event.ShedFor(code), Kind: message.KindJobSubmit, Priority: node.Normal, Role: node.RoleClient, What: "submit", Why: detail})
	for _, a := range m.unload(env, j) {
		m.refuseForRoom(env, a.Stream, a.Request, code, detail)
	}
}

// settleLedger handles the outcomes of the ledger.
func (m *ownership) settleLedger(env node.Env) {
	if m.ledger.Quiet() {
		return
	}
	for o, ok := m.ledger.Next(); ok; o, ok = m.ledger.Next() {
		switch o.Kind {
		case ledger.Committed:
			m.onCommitted(env, &o.Tag)
		case ledger.Kept:
			m.onRowsKept(env, &o)
		case ledger.Refused:
			if o.Tag.act == actRows && o.Tag.stage == output.Keeping {
				m.onRowsKept(env, &o)
				continue
			}
			m.onRefusedFile(env, m.jobs[o.Job], o.Err)
		case ledger.Fetched, ledger.Unread, ledger.Gone:
			m.onFetched(env, &o)
		}
	}
}

// onCommitted publishes what a majority has now, and performs what the write was for.
func (m *ownership) onCommitted(env node.Env, t *tag) {
	j := t.job
	m.confirmCounted(env, j, t.counted)
	confirmGivenUp(env, j, t.givenUp)
	tell(env, j, t.upTo)
	tellEnds(env, j, j.Ends.Confirm(t.ends))
	m.perform(env, j, t)
	answerCancels(env, j)
	m.pushNow(env, j)
	if m.ledger.Idle(j.ID) {
		m.serveAll(env, j)
	}
}

// perform does what the write was for.
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
		answerStops(env, j)
		m.sendAborts(env, j)
		m.arm(env, j)
	case actRelease:
		j.Result, j.here = t.result, true
		for _, p := range j.Subjobs {
			p.Result = nil // the job's result contains it
		}
		if !m.finishRows(env, j) {
			m.release(env, j)
		}
	case actRows:
		m.rowsSaved(env, j, t)
	}
}

// onRefusedFile retries a file of an acknowledged job later, and rejects a job that no gate
// acknowledged.
func (m *ownership) onRefusedFile(env node.Env, j *entry, err error) {
	switch {
	case j.Ready:
		m.retryLater(env)
	case errors.Is(err, archive.ErrFull): // other programs have come since room looked
		m.rejected(env, j, message.CodeQueueFull, m.archiveFull())
	default:
		m.rejected(env, j, message.CodeStoreFull, "keep the program: "+err.Error())
	}
}

// onDisk follows the state of the disk, whichever part of the gate wrote to it.
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

// unkeptJobs returns the jobs that no gate acknowledged and whose program is on no majority, in
// the order of their submission.
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

// onStoreRetry repeats the writes that the disk refused and the fetches that found no file. It
// also writes a probe that tells whether the disk works again.
func (m *ownership) onStoreRetry(env node.Env) {
	m.ledger.Retry(env)
	if m.storeFailed {
		m.remember(env, probeKey, []byte{1})
		m.rememberDraining(env)
	}
}

// onKeepTimeout rejects a job whose program no majority has stored in time, unless its register
// decides.
func (m *ownership) onKeepTimeout(env node.Env, j *entry) {
	if j.Takeover || !m.ledger.Gathering(j.ID) {
		return // its register decides
	}
	m.majorityFailed(env)
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
		env.SetTimer(node.KeyID(node.PartGate, node.GateJob, j.ID), m.config.CancelRetry) // until the lease reports the loss
		return
	case j.Stopping():
		m.resendCancels(env, j)
	case env.Now().Sub(j.Started) >= j.RunTimeout:
		m.expire(env, j)
	case m.endIfEnough(env, j):
		return
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
