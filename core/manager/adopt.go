package manager

import (
	"cmp"
	"errors"
	"fmt"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// fetchSpill fetches a record that is stored as a file. Until the record arrives, the manager
// cannot act for the subjob.
func (m *tenure) fetchSpill(env node.Env, o *lease.Outcome, c *subjob.Claim, file message.FileDigest) {
	empty := &subjob.Subjob{Job: o.Job, Fence: message.Fence{SubjobEpoch: o.Token.Packed()}, Fetching: subjob.Fetching{Missing: 1, Orders: c}, State: message.JobQueued, Accepted: m.group.Leases.Written(env.Now(), o.Job, o.Record)}
	m.install(env, empty)
	m.ledger.Fetch(env, o.Job, file, tag{step: recordFetched, subjob: empty})
}

// onRecordFetched takes a subjob over whose record is a file.
func (m *tenure) onRecordFetched(env node.Env, empty *subjob.Subjob, record []byte) {
	m.lapse(env, empty)
	m.takeOver(env, empty.Job, empty.Fence.SubjobEpoch, empty.Orders, record, empty.Accepted)
}

// onUnread handles a file that could not be read. If all managers lack it now, onRetry asks
// them again. If only this manager may lack it, or cannot read it, it hands the subjob back. No
// manager can use a file of another job, which only a member that lies can name in a record.
func (m *tenure) onUnread(env node.Env, t *tag, file message.FileDigest, err error) {
	why := fmt.Errorf("file %v: %w", file, err)
	switch {
	case errors.Is(err, subjob.ErrForeign):
		m.giveUp(env, t, "the job's record names a file of another job as "+t.loss())
	case !errors.Is(err, archive.ErrMissing):
		m.handBack(env, t.subjob, why)
		return
	}
	env.Emit(event.StoreFailed{What: "fetch what job " + t.subjob.Job.String() + " stands on", Err: why.Error()})
}

// onGone handles a file of which all managers have reported often enough that they lack it.
func (m *tenure) onGone(env node.Env, t *tag) {
	m.giveUp(env, t, "a majority of the managers lost their disks, and with them "+t.loss())
}

// giveUp starts the end of a subjob that lost a file. This manager stops renewing the subjob's
// shards. Its workers stop them before retryLost ends the subjob.
func (m *tenure) giveUp(env node.Env, t *tag, why string) {
	p := t.subjob
	p.Lost, p.Quiet = why, env.Now().Add(m.config.patience())
	env.Emit(event.Reached{What: "manager/given-up"})
}

// loss says which part of a subjob the lost file held.
func (t *tag) loss() string {
	switch t.step {
	case recordFetched:
		return "the record of the job's share"
	case dispatchFetched:
		return "the job's program"
	case lastReportFetched:
		return fmt.Sprintf("the last report of a lost attempt of shard %d of workflow %d", t.shard.ID.Ordinal, t.shard.ID.Workflow)
	case shardFetched:
		return fmt.Sprintf("the result of shard %d of workflow %d", t.shard.ID.Ordinal, t.shard.ID.Workflow)
	}
	return "the result of the job's share"
}

// retryLost ends a subjob that lost a file, once its workers have stopped its shards and no
// write of its record is under way.
func (m *tenure) retryLost(env node.Env, p *subjob.Subjob) {
	if p.Lost == "" || p.Missing == 0 || !m.holds(env, p) {
		return
	}
	m.ledger.Resend(env, p.Job)
	if env.Now() >= p.Quiet && m.ledger.Idle(p.Job) {
		m.endLost(env, p)
	}
}

// endLost ends a subjob that lost a file, as FAILED unless its record names another end. The
// result has no figures, as those that are left are not the sum of all runs. A lost record
// named the gate and the job's epoch: orders of a gate name them instead. Without orders, the
// gate that owns the job rejects the result as stale and names its epoch.
func (m *tenure) endLost(env node.Env, p *subjob.Subjob) {
	for _, f := range p.Workflows {
		for _, s := range f.Shards {
			m.detach(s)
		}
	}
	p.Workflows, p.Missing = nil, 0
	p.Dispatch, p.File, p.Result, p.Kept = nil, message.FileDigest{}, nil, message.FileDigest{}
	p.Why = subjob.JoinReason(p.Why, p.Lost+": submit the job again")
	p.Stop = subjob.Pending{Decided: cmp.Or(p.Stop.Decided, message.JobFailed)}
	p.Derive(env.Now())
	m.announce(env, p)
	if c := p.Orders; c != nil {
		p.Gate, p.Orders = c.Gate, nil
		if c.Epoch() > 0 {
			m.adoptEpoch(env, p, c.Epoch(), "result")
		} else {
			env.Emit(event.Reached{What: "manager/lost-epoch"})
		}
	}
	m.stopSubjob(env, p)
}

// handBack gives up a register whose files this manager cannot fetch: another manager may have
// them. No shard of it was dispatched here.
func (m *tenure) handBack(env node.Env, p *subjob.Subjob, err error) {
	env.Emit(event.StoreFailed{What: "fetch what job " + p.Job.String() + " stands on", Err: err.Error()})
	m.lapse(env, p)
	m.group.Leases.Abandon(env, p.Job)
}

// takeOver continues a subjob from its record. Another manager held it before, or this manager
// before its restart.
func (m *tenure) takeOver(env node.Env, job message.JobID, epoch uint64, c *subjob.Claim, record []byte, written node.Instant) {
	p, err := subjob.Decode(job, record, written)
	if err != nil {
		env.Emit(event.StoreFailed{What: "take over job " + job.String(), Err: err.Error()})
		m.group.Leases.Abandon(env, job)
		return
	}
	p.Fence.SubjobEpoch = epoch
	m.install(env, p)
	until := p.Granted.Add(m.config.patience())
	p.Reopen(env.Now(), until)
	if p.Stop.Decided != message.JobNone {
		p.Stop.Clear = until // the former holder may have ended what a lost worker still runs
	}
	m.wake(env, until)
	m.gather(env, p, c)
	if m.subjobs[p.Job] == p {
		m.beatAll(env)
		if p.Missing > 0 { // otherwise gathered has done so
			m.meetAll(env)
		}
	}
}

// gather fetches the files that a subjob's record names. With the last of them the subjob is
// complete.
func (m *tenure) gather(env node.Env, p *subjob.Subjob, c *subjob.Claim) {
	p.Missing = 1
	if p.Kept != (message.FileDigest{}) {
		m.bring(env, p.Kept, tag{step: resultFetched, subjob: p, claim: c})
	} else {
		if p.File != (message.FileDigest{}) {
			m.bring(env, p.File, tag{step: dispatchFetched, subjob: p, claim: c})
		}
		for _, f := range p.Workflows {
			for _, s := range f.Shards {
				for _, l := range s.Lost {
					if l.Counted {
						m.bring(env, l.File, tag{step: lastReportFetched, subjob: p, shard: s, lost: l, claim: c})
					}
				}
				if s.Kept != nil {
					m.bring(env, s.Kept.File, tag{step: shardFetched, subjob: p, shard: s, claim: c})
				}
			}
		}
	}
	m.gathered(env, p, c)
}

func (m *tenure) bring(env node.Env, file message.FileDigest, t tag) {
	if bytes, ok := m.group.Files.Have(file); ok && t.use(bytes) == nil {
		return
	}
	t.subjob.Missing++
	m.ledger.Fetch(env, t.subjob.Job, file, t)
}

// use decodes a file and stores it in the subjob.
func (t *tag) use(bytes []byte) error {
	body, err := message.Decode(bytes)
	if err != nil {
		return err
	}
	p := t.subjob
	switch t.step {
	case resultFetched:
		return take(&p.Result, body, func(r *message.SubjobResult) bool { return r.Job == p.Job })
	case dispatchFetched:
		err := take(&p.Dispatch, body, func(d *message.JobDispatch) bool { return d.Job == p.Job })
		if err == nil && len(p.Workflows) > 0 && len(p.Workflows) != len(p.Dispatch.Plan.Workflows) {
			return subjob.ErrRecord
		}
		return err
	case shardFetched:
		return take(&t.shard.Result, body, func(r *message.ShardResult) bool { return r.Shard == t.shard.ID })
	case lastReportFetched:
		return take(&t.lost.Report, body, func(r *message.ShardResult) bool { return r.Shard == t.shard.ID })
	}
	return subjob.ErrRecord
}

// take stores the content of a file that is of the kind and of the job that the record means.
func take[T message.Body](into *T, body message.Body, mine func(T) bool) error {
	m, ok := body.(T)
	switch {
	case !ok:
		return subjob.ErrRecord
	case !mine(m):
		return subjob.ErrForeign
	}
	*into = m
	return nil
}

// onFileFetched continues a subjob that waits for a file.
func (m *tenure) onFileFetched(env node.Env, t *tag, file message.FileDigest, bytes []byte) {
	if err := t.use(bytes); err != nil {
		m.onUnread(env, t, file, err)
		return
	}
	m.gathered(env, t.subjob, t.claim)
}

// gathered continues a subjob whose files are all there.
func (m *tenure) gathered(env node.Env, p *subjob.Subjob, c *subjob.Claim) {
	if p.Missing--; p.Missing > 0 {
		return
	}
	if p.Dispatch != nil {
		if len(p.Workflows) == 0 {
			p.Unfold()
			for _, f := range p.Workflows {
				f.State = message.WorkflowPending
			}
		}
		p.Bind()
	}
	p.Derive(env.Now())
	m.announce(env, p)
	switch {
	case c.Cancel != nil && c.Cancel.Fence.JobEpoch < max(p.Epoch, p.Fence.JobEpoch):
		// A later gate owns the job now, as the record says.
		if l := m.gates.To(c.Gate); l != nil && l.Stands {
			m.refuseStale(env, l, p.Job, c.Cancel.Fence, p, "cancel")
		}
		m.answer(env, p)
	case c.Cancel != nil:
		m.cancel(env, p, c.Cancel)
	case c.Epoch() > p.Fence.JobEpoch:
		p.Gate = c.Gate
		m.adoptEpoch(env, p, c.Epoch(), "dispatch")
	default:
		m.answer(env, p)
	}
	if p.Result == nil {
		m.setRunTimeout(env, p)
		m.resume(env, p)
		m.settleLosses(env, p)
	}
	m.meetAll(env)
	m.place(env)
}
