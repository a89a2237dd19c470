package manager

import (
	"fmt"

	"hyperscale/core/event"
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
	if !m.holds(env, p) || p.missing > 0 || p.dispatch == nil {
		return
	}
	switch {
	case a.Fence.JobEpoch < max(p.epoch, p.fence.JobEpoch):
		m.refuseStale(env, l, a.Job, a.Fence, p, "abort")
		return
	case a.Fence.Attempt != 0 || int(a.Workflow) >= len(p.workflows):
		env.Emit(event.Ignored{Peer: l.Peer.ID, Message: "SubjobAbort", Why: fmt.Sprintf("it has no subjob's fence, or the subjob no workflow %d", a.Workflow)})
		return
	}
	p.gate = l.Addr
	if a.Fence.JobEpoch > max(p.epoch, p.fence.JobEpoch) {
		m.adoptEpoch(env, p, a.Fence.JobEpoch, "abort")
	}
	f := p.workflows[a.Workflow]
	if p.result != nil || p.asked != message.JobNone || f.end != message.WorkflowNone || f.failure != "" || f.abort != "" {
		m.touch(env, p) // it is told how the workflow stands
		return
	}
	f.abort = a.Reason
	env.Emit(event.Acted{Shard: message.ShardID{Job: p.job}, Subjob: true, Fence: p.fence, What: "abort"})
	m.commit(env, p, func(env node.Env) {
		if f.end != message.WorkflowNone {
			return // it was about to
		}
		if f.failure == "" {
			f.failure = f.abort
		}
		if p.asked == message.JobNone {
			m.stopWorkflow(env, f)
		}
	})
}
