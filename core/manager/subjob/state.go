package subjob

import "hyperscale/core/message"

// Reason returns why something failed, or a default text.
func Reason(why string) string {
	if why == "" {
		return "it failed without a reason"
	}
	return why
}

// EndOf maps the decided end of a subjob to the end of its workflows.
func EndOf(s message.JobState) message.WorkflowState {
	if s == message.JobTimedOut {
		return message.WorkflowTimedOut
	}
	return message.WorkflowCancelled
}

// JoinReason joins two reasons, if they differ.
func JoinReason(a, b string) string {
	if a == "" || a == b {
		return b
	}
	if b == "" || len(a) > 1000 {
		return a
	}
	return a + "; " + b
}

// PathOfSubjob is a legal path to a state.
func PathOfSubjob(to message.JobState) []message.JobState {
	path := []message.JobState{message.JobSubmitted}
	switch to {
	case message.JobNone:
		return nil
	case message.JobSubmitted:
		return path
	case message.JobCancelling:
		return append(path, to)
	case message.JobCancelled:
		return append(path, message.JobCancelling, to)
	}
	path = append(path, message.JobQueued)
	switch to {
	case message.JobQueued:
		return path
	case message.JobFailed, message.JobTimedOut, message.JobDispatching:
		return append(path, to)
	}
	path = append(path, message.JobDispatching, message.JobRunning)
	if to == message.JobRunning {
		return path
	}
	path = append(path, message.JobCompleting)
	if to == message.JobCompleting {
		return path
	}
	return append(path, to)
}

// PathOfWorkflow is a workflow's legal path to a state.
func PathOfWorkflow(to message.WorkflowState) []message.WorkflowState {
	path := []message.WorkflowState{message.WorkflowPending}
	switch to {
	case message.WorkflowNone:
		return nil
	case message.WorkflowPending:
		return path
	case message.WorkflowAssigned:
		return append(path, to)
	case message.WorkflowRunning:
		return append(path, message.WorkflowAssigned, to)
	case message.WorkflowCompleted:
		return append(path, message.WorkflowAssigned, message.WorkflowRunning, to)
	}
	return append(path, to)
}
