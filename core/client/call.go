package client

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// what names a command's operation of the job API; empty if it has none.
func (c *command) what() string {
	switch c.kind {
	case kindSubmit:
		return "submit"
	case kindQuery:
		return "status"
	case kindCancel:
		if len(c.cancel.Workflows) > 0 {
			return "status" // the job goes on: its state is what the answer says
		}
		return "cancel"
	case kindWatch:
		return "result"
	}
	return ""
}

// called reports to observers that an operation begins, with its first send.
func (m *Machine) called(env node.Env, c *command) {
	if c.call != 0 || c.what() == "" {
		return
	}
	m.calls++
	c.call = m.calls
	e := event.ClientCalled{Call: c.call, What: c.what(), Job: c.job}
	if c.kind == kindSubmit {
		e.Payload = payload(c.submit)
	}
	env.Emit(e)
}

// returned reports its answer to observers.
func (m *Machine) returned(env node.Env, c *command, state message.JobState, result uint64) {
	if c.call != 0 {
		env.Emit(event.ClientReturned{Call: c.call, What: c.what(), Job: c.job, OK: true, State: state, Result: result})
	}
}

// told reports to observers how a workflow ended, as a watch learns it.
func (m *Machine) told(env node.Env, c *command, e *message.WorkflowEnded) {
	env.Emit(event.ClientTold{Call: c.call, Job: c.job, Number: e.Number, Workflow: e.Workflow, State: e.State, Started: e.Started})
}

// refused reports to observers that nothing changed. After an earlier try without an answer the
// client does not know that, and stays silent. But a rejection may prove it: no gate accepts a
// job under a key that belongs to another payload.
func (m *Machine) refused(env node.Env, c *command, code message.Code) {
	changes := c.kind == kindSubmit || c.kind == kindCancel
	if c.call == 0 || code == message.CodeUnknownWorkflow || changes && c.exposed && code != message.CodeKeyMismatch && code != message.CodeUnknownJob {
		return
	}
	env.Emit(event.ClientReturned{Call: c.call, What: c.what(), Job: c.job, Code: code})
}

// payload returns the digest of a submission's content, without its key and request.
func payload(s *message.JobSubmit) uint64 {
	bare := *s
	bare.Request, bare.Key = message.RequestID{}, ""
	return bare.Digest()
}

// digestOf returns a result's digest, the same for every client.
func digestOf(r *message.JobResult) uint64 {
	bare := *r
	bare.Request = message.RequestID{}
	return bare.Digest()
}
