package manager

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
)

// onPartAbort ends one workflow of a subjob, FAILED, once a majority knows. What gates
// do not hear an end of they send again, to whoever holds the subjob by then.
func (m *Machine) onSubjobAbort(env node.Env, l *uplink.Link, a *message.SubjobAbort) {
	p := m.subjobs[a.Job]
	if p == nil {
		if holder, ok := m.elsewhere(env, a.Job); ok {
			m.refuseHolder(env, l, a.Job, a.Fence, holder)
		}
		return
	}
	if !m.holds(env, p) || p.Missing > 0 || p.Dispatch == nil {
		return
	}
	switch {
	case a.Fence.JobEpoch < max(p.Epoch, p.Fence.JobEpoch):
		m.refuseStale(env, l, a.Job, a.Fence, p, "abort")
		return
	case a.Fence.Attempt != 0 || int(a.Workflow) >= len(p.Workflows):
		env.Emit(event.Ignored{Peer: l.Peer.ID, Message: "SubjobAbort", Why: fmt.Sprintf("it has no subjob's fence, or the subjob no workflow %d", a.Workflow)})
		return
	}
	p.Gate = l.Addr
	if a.Fence.JobEpoch > max(p.Epoch, p.Fence.JobEpoch) {
		m.adoptEpoch(env, p, a.Fence.JobEpoch, "abort")
	}
	f := p.Workflows[a.Workflow]
	if p.Result != nil || p.Stop.Decided != message.JobNone || f.End != message.WorkflowNone || f.Failure != "" || f.Abort != "" {
		m.touch(env, p) // it is told how the workflow stands
		return
	}
	f.Abort = a.Reason
	env.Emit(event.Acted{Shard: message.ShardID{Job: p.Job}, Subjob: true, Fence: p.Fence, What: "abort"})
	m.commit(p, tag{step: abortRecorded, workflow: f})
}

// onAborted: a majority has the abort.
func (m *Machine) onAborted(env node.Env, f *subjob.Workflow) {
	if f.End != message.WorkflowNone {
		return // it was about to
	}
	if f.Failure == "" {
		f.Failure = f.Abort
	}
	if f.Subjob.Stop.Decided == message.JobNone {
		m.stopWorkflow(env, f)
	}
}
