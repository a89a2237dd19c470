package journey

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// JobOf returns the job that a message is about; zero for none, or several.
func JobOf(m node.Message) message.JobID {
	switch m := m.(type) {
	case *message.JobAck:
		return m.Job
	case *message.JobWatch:
		return m.Job
	case *message.JobQuery:
		return m.Job
	case *message.JobStatus:
		return m.Job
	case *message.WorkflowEnded:
		return m.Job
	case *message.JobResult:
		return m.Result.Job
	case *message.JobCancel:
		return m.Job
	case *message.JobCancelAck:
		return m.Job
	case *message.JobDispatch:
		return m.Job
	case *message.JobAccepted:
		return m.Job
	case *message.JobRefused:
		return m.Job
	case *message.JobProgress:
		return m.Job
	case *message.SubjobResult:
		return m.Job
	case *message.SubjobResultAck:
		return m.Job
	case *message.SubjobCancel:
		return m.Job
	}
	return sliceOf(m).Job
}

// sliceOf returns the shard that a message is about, or a zero one.
func sliceOf(m node.Message) message.ShardID {
	switch m := m.(type) {
	case *message.ShardDispatch:
		return m.Shard
	case *message.ShardAccepted:
		return m.Shard
	case *message.ShardRefused:
		return m.Shard
	case *message.ShardProgress:
		return m.Shard
	case *message.ShardResult:
		return m.Shard
	case *message.ShardResultAck:
		return m.Shard
	case *message.ShardCancel:
		return m.Shard
	case *message.ExecStart:
		return m.Shard
	}
	return message.ShardID{}
}

// RequestOf returns the request that a client's submission and its answers share: before a gate
// accepts a job, the job has no ID. It returns zero for other messages.
func RequestOf(m node.Message) message.RequestID {
	switch m := m.(type) {
	case *message.JobSubmit:
		return m.Request
	case *message.JobAck:
		return m.Request
	case *message.Refused:
		return m.Request
	}
	return message.RequestID{}
}

// JobOfEvent returns the job that an event is about, or zero.
func JobOfEvent(e node.Event) message.JobID {
	switch e := e.(type) {
	case event.JobChanged:
		return e.Job
	case event.SubjobChanged:
		return e.Job
	case event.WorkflowChanged:
		return e.Job
	case event.SubjobCounted:
		return e.Job
	case event.SubjobDispatched:
		return e.Job
	case event.Acted:
		return e.Shard.Job
	case event.FenceRefused:
		return e.Shard.Job
	case event.ShardStarted:
		return e.Shard.Job
	case event.CoreFreed:
		return e.Shard.Job
	case event.ShardEnded:
		return e.Shard.Job
	case event.ShardCounted:
		return e.Shard.Job
	case event.SegmentCounted:
		return e.Shard.Job
	case event.SubjobGivenUp:
		return e.Job
	case event.JobSubmitted:
		return e.Job
	case event.SubjobLate:
		return e.Job
	case event.BudgetSpent:
		return e.Job
	case event.ShardDispatched:
		return e.Shard.Job
	case event.ShardLost:
		return e.Shard.Job
	case event.ExecutorGone:
		return e.Shard.Job
	}
	return message.JobID{}
}

// Routine says that a message only keeps nodes connected, or carries figures that the next one
// repeats. Such a message is interesting only when it is lost.
func Routine(m node.Message) bool {
	switch m.(type) {
	case *message.ManagerHeartbeat, *message.WorkerHeartbeat, *message.HeartbeatAck, *message.ClientPing, *message.ClientPong:
		return true
	}
	return false
}

// Progress says that a message reports a job's progress.
func Progress(m node.Message) bool {
	switch m.(type) {
	case *message.JobStatus, *message.JobProgress, *message.ShardProgress:
		return true
	}
	return false
}
