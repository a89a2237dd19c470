package manager

import (
	"hyperscale/core/archive"
	"hyperscale/core/ledger"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// tag says what follows once the ledger has persisted something. The fields after the first are
// those that the step needs.
type tag struct {
	step     step
	subjob   *subjob.Subjob
	workflow *subjob.Workflow
	shard    *subjob.Shard
	claim    *subjob.Claim
	dispatch *message.JobDispatch // of the claim whose file was stored
	result   *message.ShardResult // of the shard
	rows     *subjob.Leased       // of the shard
	lost     *subjob.Lost         // of the shard, whose last report is fetched
	passes   []subjob.Pass        // that a barrier lets pass
	to       subjob.Lessee        // which gets the rows
	fence    message.Fence        // under which it gets them
	epoch    uint64               // of the job
	why      string               // for which an epoch was adopted, or a shard was lost
	from     node.Instant         // when a lost shard may be dispatched again
}

// step names what follows.
type step uint8

const (
	epochAdopted step = iota + 1
	stopRecorded
	overRecorded
	abortRecorded
	workflowEnded
	resultRecorded
	shardLost
	workflowCut
	attemptPassed
	shardCounted
	shardEnded
	rowsLeased
	barrierReleased

	claimKept
	shardKept
	lastReportKept
	resultKept

	recordFetched
	dispatchFetched
	resultFetched
	shardFetched
	lastReportFetched

	strayRead
)

// persisted handles all that the ledger has persisted since the last call.
func (m *Machine) persisted(env node.Env) {
	if m.ledger.Quiet() {
		return
	}
	for o, ok := m.ledger.Next(); ok; o, ok = m.ledger.Next() {
		switch o.Kind {
		case ledger.Committed:
			m.onCommitted(env, &o.Tag)
		case ledger.Kept, ledger.Refused:
			m.onKept(env, &o.Tag, o.File, o.Err)
		case ledger.Fetched, ledger.Unread, ledger.Gone:
			m.onFetched(env, &o)
		case ledger.Read:
			m.onStrayRead(env, &o)
		case ledger.Late:
			m.ledger.KeepAgain(env, o.Job, m.subjobs[o.Job].Files())
		}
	}
}

// onCommitted handles a record that is on a majority.
func (m *Machine) onCommitted(env node.Env, t *tag) {
	switch t.step {
	case epochAdopted:
		m.onEpochAdopted(env, t.subjob, t.epoch, t.why)
	case stopRecorded:
		m.onStopped(env, t.subjob)
	case overRecorded:
		m.onOver(env, t.subjob)
	case abortRecorded:
		m.onAborted(env, t.workflow)
	case workflowEnded:
		m.onWorkflowEnded(env, t.workflow)
	case resultRecorded:
		m.onResultRecorded(env, t.subjob)
	case shardLost:
		m.onLost(env, t.shard, t.why, t.from)
	case workflowCut:
		m.onCut(env, t.workflow)
	case attemptPassed:
		m.send(env, t.shard.Workflow, t.shard)
	case shardCounted:
		m.onCounted(env, t.shard, t.result)
	case shardEnded:
		m.onEnded(env, t.shard)
	case rowsLeased:
		m.onRowsLeased(env, t)
	case barrierReleased:
		m.onReleased(env, t)
	}
}

// onKept handles a file that a majority has, or that the archive refused.
func (m *Machine) onKept(env node.Env, t *tag, file message.FileDigest, err error) {
	switch t.step {
	case claimKept:
		m.onClaimKept(env, t.claim, t.dispatch, err)
	case shardKept:
		m.onShardKept(env, t.shard, t.result, file, err)
	case lastReportKept:
		m.onLastReportKept(env, t, file, err)
	case resultKept:
		m.onResultKept(env, t.subjob, file, err)
	}
}

// onFetched handles a file that a subjob needs, or the failure to fetch it.
func (m *Machine) onFetched(env node.Env, o *ledger.Outcome[tag]) {
	p := o.Tag.subjob
	switch {
	case m.subjobs[p.Job] != p || p.Lost != "" || !m.holds(env, p):
	case o.Kind == ledger.Gone:
		m.onGone(env, &o.Tag)
	case o.Kind == ledger.Unread:
		m.onUnread(env, &o.Tag, o.File, o.Err)
	case o.Tag.step == recordFetched:
		m.onRecordFetched(env, p, o.Bytes)
	default:
		m.onFileFetched(env, &o.Tag, o.File, o.Bytes)
	}
}

// flush writes the records that this step has changed. It says whether there was any.
func (m *Machine) flush(env node.Env) bool {
	jobs := m.ledger.Changed()
	for _, job := range jobs {
		record := m.subjobs[job].Record(env.Now())
		if len(record) < m.config.SpillAt {
			m.ledger.Write(env, job, record)
		} else {
			m.ledger.Write(env, job, subjob.Spilled(archive.DigestOf(record)), record)
		}
	}
	m.persisted(env) // a record that was refused for long reports so
	return len(jobs) > 0
}
