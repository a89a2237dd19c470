package subjob

import (
	"testing"

	"hyperscale/core/message"
)

// A subjob failed of the cluster only if nothing of it failed of its program.
func TestOnlyTheClustersFailuresAreTheClusters(t *testing.T) {
	failed := func(result *message.ShardResult, dispatches int) *Shard {
		return &Shard{State: message.WorkflowFailed, Verdict: Verdict{Result: result}, Retries: Retries{Dispatches: dispatches}}
	}
	of := func(f message.Fault) *message.ShardResult { return &message.ShardResult{Fault: f} }
	flow := func(state message.WorkflowState, depends []uint32, shards ...*Shard) *Workflow {
		return &Workflow{State: state, Plan: &message.WorkflowPlan{Depends: depends}, Shards: shards}
	}
	cancelled := &Shard{State: message.WorkflowCancelled}
	for _, x := range []struct {
		what  string
		stop  message.JobState
		flows []*Workflow
		want  message.Fault
	}{
		{"a shard spent its dispatches", 0, []*Workflow{flow(message.WorkflowFailed, nil, failed(nil, 5), cancelled)}, message.FaultLost},
		{"a worker rejected the program", 0, []*Workflow{flow(message.WorkflowFailed, nil, failed(nil, 1))}, message.FaultProgram},
		{"no executor could start", 0, []*Workflow{flow(message.WorkflowFailed, nil, failed(of(message.FaultSpawn), 1))}, message.FaultSpawn},
		{"no memory was left", 0, []*Workflow{flow(message.WorkflowFailed, nil, failed(of(message.FaultMemory), 1))}, message.FaultMemory},
		{"the program failed", 0, []*Workflow{flow(message.WorkflowFailed, nil, failed(of(message.FaultProgram), 1))}, message.FaultProgram},
		{"executors died of it", 0, []*Workflow{flow(message.WorkflowFailed, nil, failed(of(message.FaultExecutor), 2))}, message.FaultProgram},
		{"an older worker says nothing", 0, []*Workflow{flow(message.WorkflowFailed, nil, failed(of(message.FaultNone), 1))}, message.FaultProgram},
		{"one shard failed of each", 0, []*Workflow{flow(message.WorkflowFailed, nil, failed(nil, 5), failed(of(message.FaultProgram), 1))}, message.FaultProgram},
		{"one workflow failed of each", 0, []*Workflow{flow(message.WorkflowFailed, nil, failed(nil, 5)), flow(message.WorkflowFailed, nil, failed(of(message.FaultProgram), 1))}, message.FaultProgram},
		{"the others depend on it", 0, []*Workflow{flow(message.WorkflowFailed, nil, failed(nil, 5)), flow(message.WorkflowFailed, []uint32{0})}, message.FaultLost},
		{"a condition ended the other before it began", 0, []*Workflow{flow(message.WorkflowFailed, nil, failed(nil, 5)), flow(message.WorkflowFailed, nil)}, message.FaultProgram},
		{"its figures do not add up", 0, []*Workflow{flow(message.WorkflowFailed, nil, &Shard{State: message.WorkflowCompleted})}, message.FaultProgram},
		{"no gate was heard", message.JobFailed, nil, message.FaultLost},
	} {
		p := &Subjob{Workflows: x.flows, Stop: Pending{Durable: x.stop}}
		for _, f := range x.flows {
			f.Subjob = p
		}
		if got := p.Fault(func(s *Shard) bool { return s.Dispatches >= 5 }); got != x.want {
			t.Errorf("%s: %v, want %v", x.what, got, x.want)
		}
	}
}
