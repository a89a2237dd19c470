package manager

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// fetchSpill brings a record that is kept as a file. Until it is here nothing can
// be done with the subjob; without it nobody can.
func (m *tenure) fetchSpill(env node.Env, o *lease.Outcome, c *subjob.Claim, file message.FileDigest) {
	empty := &subjob.Subjob{Job: o.Job, Fence: message.Fence{SubjobEpoch: o.Token.Packed()}, Missing: 1, Orders: c, State: message.JobQueued}
	m.install(env, empty)
	m.ledger.Fetch(env, o.Job, file, tag{step: recordFetched, subjob: empty})
}

// onRecordFetched takes a subjob over whose record is a file.
func (m *tenure) onRecordFetched(env node.Env, empty *subjob.Subjob, record []byte, err error) {
	if err != nil {
		m.handBack(env, empty, err)
		return
	}
	m.lapse(env, empty)
	m.takeOver(env, empty.Job, empty.Fence.SubjobEpoch, empty.Orders, record)
}

// handBack gives up a register whose files this manager cannot get: another one
// may. Nothing ran here.
func (m *tenure) handBack(env node.Env, p *subjob.Subjob, err error) {
	env.Emit(event.StoreFailed{What: "fetch what job " + p.Job.String() + " stands on", Err: err.Error()})
	m.lapse(env, p)
	m.group.Leases.Abandon(env, p.Job)
}

// takeOver goes on with a subjob that somebody held before, this manager's former
// incarnation or another one, from its record.
func (m *tenure) takeOver(env node.Env, job message.JobID, epoch uint64, c *subjob.Claim, record []byte) {
	p, err := subjob.Decode(job, record, env.Now())
	if err != nil {
		env.Emit(event.StoreFailed{What: "take over job " + job.String(), Err: err.Error()})
		m.group.Leases.Abandon(env, job)
		return
	}
	p.Fence.SubjobEpoch = epoch
	m.install(env, p)
	until := p.Granted.Add(m.config.patience())
	p.Reopen(env.Now(), until)
	m.wake(env, until)
	m.gather(env, p, c)
	if m.subjobs[p.Job] == p {
		m.beatAll(env)
		if p.Missing > 0 { // else gathered has done so
			m.meetAll(env)
		}
	}
}

// gather brings the files that a subjob's record names; with the last of them it is
// whole.
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

// use takes what a file of a subjob holds.
func (t *tag) use(bytes []byte) error {
	body, err := message.Decode(bytes)
	if err != nil {
		return err
	}
	ok := false
	switch t.step {
	case resultFetched:
		t.subjob.Result, ok = body.(*message.SubjobResult)
	case dispatchFetched:
		p := t.subjob
		p.Dispatch, ok = body.(*message.JobDispatch)
		ok = ok && (len(p.Workflows) == 0 || len(p.Workflows) == len(p.Dispatch.Plan.Workflows))
	case shardFetched:
		t.shard.Result, ok = body.(*message.ShardResult)
	}
	if !ok {
		return subjob.ErrRecord
	}
	return nil
}

// onFileFetched goes on with a subjob that waits for a file.
func (m *tenure) onFileFetched(env node.Env, t *tag, file message.FileDigest, bytes []byte, err error) {
	if err == nil {
		err = t.use(bytes)
	}
	if err != nil {
		m.handBack(env, t.subjob, fmt.Errorf("file %v: %w", file, err))
		return
	}
	m.gathered(env, t.subjob, t.claim)
}

// gathered makes a subjob that is whole go on.
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
		// Whoever gave it has been passed, as the record says.
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
	}
	m.meetAll(env)
	m.place(env)
}
