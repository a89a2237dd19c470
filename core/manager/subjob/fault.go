package subjob

import "hyperscale/core/message"

// Fault says of what a FAILED subjob failed. The fault is the cluster's only if each failed
// workflow failed of the cluster, or depends on one that did: a subjob whose program fails as well
// would fail again. A shard without a result is lost once it has spent its bounds.
func (p *Subjob) Fault(spent func(*Shard) bool) message.Fault {
	if p.Stop.Durable == message.JobFailed { // its manager cut it off, or lost its files
		return message.FaultLost
	}
	cluster := message.FaultNone
	for _, f := range p.Workflows {
		if f.State != message.WorkflowFailed || len(f.Shards) == 0 && f.depends() {
			continue
		}
		fault := f.fault(spent)
		if !fault.Cluster() {
			return message.FaultProgram
		}
		cluster = fault
	}
	return cluster
}

// depends says that a workflow never began since another one has not completed.
func (f *Workflow) depends() bool {
	for _, on := range f.Plan.Depends {
		if f.Subjob.Workflows[on].State != message.WorkflowCompleted {
			return true
		}
	}
	return false
}

// fault is that of the workflow's failed shards; they fail a workflow together.
func (f *Workflow) fault(spent func(*Shard) bool) message.Fault {
	cluster := message.FaultNone
	for _, s := range f.Shards {
		fault := message.FaultProgram
		switch {
		case s.State != message.WorkflowFailed:
			continue
		case s.Result != nil:
			fault = s.Result.Fault
		case spent(s):
			fault = message.FaultLost
		}
		if !fault.Cluster() {
			return message.FaultProgram
		}
		cluster = fault
	}
	return cluster
}
