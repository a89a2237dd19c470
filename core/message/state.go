package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import "fmt"

// JobState is a job's state. core/lifecycle holds the legal transitions. Values are on
// the wire: never renumber.
type JobState uint8

// The states of a job; from JobCompleted on they are terminal.
const (
	JobNone JobState = iota
	JobSubmitted
	JobQueued
	JobDispatching
	JobRunning
	JobCompleting
	JobCancelling
	JobCompleted
	JobPartial
	JobFailed
	JobCancelled
	JobTimedOut
)

// Terminal reports that no state follows.
func (s JobState) Terminal() bool { return s >= JobCompleted && s <= JobTimedOut }

func (s JobState) String() string {
	names := [...]string{"NONE", "SUBMITTED", "QUEUED", "DISPATCHING", "RUNNING", "COMPLETING", "CANCELLING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "TIMED_OUT"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("JOB_STATE_%d", uint8(s))
}

// WorkflowState is the state of a workflow, of a shard of it, or of an
// execution of a shard. Values are on the wire: never renumber.
type WorkflowState uint8

// The states of a workflow; from WorkflowCompleted on they are terminal.
const (
	WorkflowNone WorkflowState = iota
	WorkflowPending
	WorkflowAssigned
	WorkflowRunning
	WorkflowCompleted
	WorkflowFailed
	WorkflowCancelled
	WorkflowTimedOut
)

// Terminal reports that no state follows.
func (s WorkflowState) Terminal() bool { return s >= WorkflowCompleted && s <= WorkflowTimedOut }

func (s WorkflowState) String() string {
	names := [...]string{"NONE", "PENDING", "ASSIGNED", "RUNNING", "COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("WORKFLOW_STATE_%d", uint8(s))
}

// Health of a datacenter. Values are on the wire: never renumber.
type Health uint8

// The four states of a datacenter.
const (
	HealthNone Health = iota
	HealthHealthy
	HealthBusy
	HealthDegraded
	HealthUnhealthy
)

func (h Health) String() string {
	names := [...]string{"NONE", "HEALTHY", "BUSY", "DEGRADED", "UNHEALTHY"}
	if int(h) < len(names) {
		return names[h]
	}
	return fmt.Sprintf("HEALTH_%d", uint8(h))
}

// Tenancy says what else may run on the cores of a shard.
type Tenancy uint8

// The tenancies.
const (
	TenancyOwn     Tenancy = iota // nothing: each of its cores is its own
	TenancyJob                    // shards of the same job: more of its workflows run than there are cores
	TenancyLight                  // light shards of any job, CoreSeats on a core: each needs a small part of it
	TenancyMachine                // nothing, on any core of the worker, whatever cores it uses
)

// CoreSeats is how many light shards share a core.
const CoreSeats = 8
