package client

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// what names an operation of the job API; empty for a command that is none.
func (c *command) what() string {
	switch c.kind {
	case kindSubmit:
		return "submit"
	case kindQuery:
		return "status"
	case kindCancel:
		return "cancel"
	case kindWatch:
		return "result"
	}
	return ""
}

// called tells observers that an operation begins, with its first send.
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

// returned tells them of its answer.
func (m *Machine) returned(env node.Env, c *command, state message.JobState, result uint64) {
	if c.call != 0 {
		env.Emit(event.ClientReturned{Call: c.call, What: c.what(), Job: c.job, OK: true, State: state, Result: result})
	}
}

// refused tells them that nothing was done. After an earlier try without an answer the
// client does not know that, and stays silent, unless the refusal itself says
// so: no job is accepted under a key that belongs to another payload.
func (m *Machine) refused(env node.Env, c *command, code message.Code) {
	changes := c.kind == kindSubmit || c.kind == kindCancel
	if c.call == 0 || changes && c.exposed && code != message.CodeKeyMismatch && code != message.CodeUnknownJob {
		return
	}
	env.Emit(event.ClientReturned{Call: c.call, What: c.what(), Job: c.job, Code: code})
}

// payload is the digest of what a submission carries, whatever key and request it
// travels under.
func payload(s *message.JobSubmit) uint64 {
	bare := *s
	bare.Request, bare.Key = message.RequestID{}, ""
	return bare.Digest()
}

// digestOf names a result, for all that asked.
func digestOf(r *message.JobResult) uint64 {
	bare := *r
	bare.Request = message.RequestID{}
	return bare.Digest()
}
