package gate

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"hyperscale/core/admission"
	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/retry"
)

// majorityFuse is that of the circuit around majorities, which spares clients a timeout each.
func majorityFuse() retry.Fuse {
	return retry.Fuse{Failures: 3, Window: 30 * time.Second, Reset: 10 * time.Second}
}

// retryAfterMax bounds how long a gate believes a manager that says when to ask again.
const retryAfterMax = 30 * time.Second

// failing says that the circuit is open for a reason that may still hold: a request has failed of
// late, or too few gates are connected. An open circuit stays open until a request comes, and a trial that is on its
// way has not failed.
func (m *base) failing(now node.Instant) bool {
	if !m.circuit.Open() || m.circuit.Left(now) > 0 && !m.circuit.Tries() {
		return m.circuit.Open()
	}
	connected := 1
	for _, l := range m.group.Links.All() {
		if l.Stands {
			connected++
		}
	}
	return 2*connected <= len(m.group.Members())
}

// majorityFailed counts a request that reached no majority.
func (m *base) majorityFailed(env node.Env) {
	if m.circuit.Failed(majorityFuse(), env.Now()) {
		env.Emit(event.CircuitChanged{State: "open"})
		reached(env, "gate/circuit-opened")
	}
}

// majorityWorked closes the circuit: a majority has answered.
func (m *base) majorityWorked(env node.Env) {
	if m.circuit.Worked() {
		env.Emit(event.CircuitChanged{State: "closed"})
		reached(env, "gate/circuit-closed")
	}
}

// circuitRefuses rejects a request while the circuit is open.
func (m *base) circuitRefuses(env node.Env, a *audience.Ask) bool {
	left := m.circuit.Try(majorityFuse(), env.Now())
	if left == 0 {
		if m.circuit.Open() {
			env.Emit(event.CircuitChanged{State: "half-open"})
			reached(env, "gate/circuit-trial")
		}
		return false
	}
	m.readings.refused.Add()
	env.Emit(event.Shed{Reason: event.ShedQuorum, What: "request", Why: "majorities of the gates have failed"})
	env.Send(a.Stream, &message.Refused{
		Request: a.Request, Code: message.CodeCircuitOpen, RetryAfter: left,
		Detail: fmt.Sprintf("%d majorities of the %d gates failed within %v", majorityFuse().Failures, len(m.group.Members()), majorityFuse().Window),
	})
	return true
}

// later returns after what time a client that was refused for lack of room may try again.
func (m *base) later(env node.Env) time.Duration { return jittered(env, m.config.RetryAfter) }

// jittered returns a time from least to its double, so that clients do not come back together.
func jittered(env node.Env, least time.Duration) time.Duration {
	return env.Rand(node.PurposeJitter).Duration(least, 2*least).Round(time.Millisecond)
}

// appointed is the time of the entrance, which gives each request its own, and a fourth at most.
func appointed(env node.Env, at time.Duration) time.Duration {
	at = max(time.Second, at)
	return env.Rand(node.PurposeJitter).Duration(at, at+at/4).Round(time.Millisecond)
}

// permits rejects a client's message that its certificate does not allow. Every message of clients
// passes here, in production and in the simulator; the catalogue says what each needs.
func (m *base) permits(env node.Env, in *node.Input) bool {
	needs := message.Needs(in.Message.Kind())
	if in.From.Grant.Right.Has(needs) {
		return true
	}
	m.forbid(env, in.Stream, message.RequestOf(in.Message), in.From.ID, in.From.Grant,
		fmt.Sprintf("%s needs the right of %s (hyperscale://role/%v)", message.Name(in.Message.Kind()), holder(needs), needs), in.Message.Kind())
	return false
}

// holder names who has a right.
func holder(r node.Right) string {
	if r == node.RightOperate {
		return "an " + r.String()
	}
	return "a " + r.String()
}

// owns rejects a client that changes another one's job.
func (m *base) owns(env node.Env, j *entry, a *audience.Ask) bool {
	if a.Grant.Owns(j.Owner) {
		return true
	}
	detail := fmt.Sprintf("job %v belongs to %q", j.ID, j.Owner)
	if j.Owner == "" {
		detail = fmt.Sprintf("the owner of job %v is not known", j.ID)
	}
	kind := message.KindJobCancel
	if a.What == audience.Replay {
		kind = message.KindJobReplay
	}
	m.forbid(env, a.Stream, a.Request, a.From, a.Grant, detail+", and only an operator (hyperscale://role/operator) changes jobs of others", kind)
	return false
}

// forbid rejects what a client has no right to.
func (m *base) forbid(env node.Env, s node.StreamID, r message.RequestID, from node.ID, g node.Grant, detail string, kind node.Kind) {
	detail += fmt.Sprintf("; the certificate of %q is that of %s", g.Subject, holder(g.Right))
	env.Emit(event.Ignored{Peer: from, Message: message.Name(kind), Why: "its certificate does not allow it: " + detail})
	refuse(env, s, r, message.CodeForbidden, detail)
}

func refuse(env node.Env, s node.StreamID, r message.RequestID, code message.Code, detail string) {
	env.Send(s, &message.Refused{Request: r, Code: code, Detail: detail})
}

// refuseForRoom refuses a request and tells the client when to try again, with jitter.
func (m *base) refuseForRoom(env node.Env, s node.StreamID, r message.RequestID, code message.Code, detail string) {
	m.readings.refused.Add()
	env.Send(s, &message.Refused{Request: r, Code: code, Detail: detail, RetryAfter: m.later(env)})
}

// onShed refuses a client's request that found no room in the mailbox, or that the gate's entrance
// refuses.
func (m *base) onShed(env node.Env, in *node.Input) {
	var r message.RequestID
	switch stub := in.Message.(type) {
	case *message.JobSubmit:
		r = stub.Request
	case *message.JobWatch:
		r = stub.Request
	case *message.JobQuery:
		r = stub.Request
	case *message.JobReplay:
		r = stub.Request
	case *message.DatacenterQuery:
		r = stub.Request
	case *message.StatusQuery:
		r = stub.Request
	case *message.ClusterQuery:
		r = stub.Request
	case *message.DrainRequest:
		r = stub.Request
	case *message.JobListQuery:
		r = stub.Request
	case *message.BackupQuery:
		r = stub.Request
	case *message.UpgradeQuery:
		r = stub.Request
	case *message.UpgradeFinalize:
		r = stub.Request
	case *message.SeatReplace:
		r = stub.Request
	default:
		ignore(env, in, "it found no room, and no gate answers it")
		return
	}
	no := &message.Refused{Request: r, Code: message.CodeOverloaded, RetryAfter: appointed(env, in.RetryAfter)}
	gate, source, why := "gate "+string(env.Self().ID), cmp.Or(in.From.Source, string(in.From.ID)), event.ShedRefused
	switch in.Reason {
	case "":
		reached(env, "gate/mailbox-full")
		no.RetryAfter, no.Detail = m.later(env), gate+" has more messages waiting than its mailbox holds"
	case admission.RateLimit.String():
		reached(env, "gate/source-limited")
		why, no.Code = event.ShedShare, message.CodeRateLimited
		no.Detail = gate + " has too much to do, and " + source + " has sent more requests in the last seconds than one source may"
	case admission.ShareUsed.String():
		reached(env, "gate/source-share")
		why, no.Code = event.ShedShare, message.CodeRateLimited
		no.Detail = gate + " has much to do, and the requests of " + source + " that wait are its share"
	default:
		reached(env, "gate/overloaded")
		no.Detail = gate + " has more to do than it can answer soon (" + in.Reason + ")"
	}
	m.readings.refused.Add()
	env.Emit(event.ShedOf(in.Message, in.From.Role, why, message.Name(in.Message.Kind())+" of "+string(in.From.ID), no.Detail))
	env.Send(in.Stream, no)
}

// refuseOwner redirects a client to the owner of a job. The job may have no owner for a moment,
// until a dead owner's lease ends.
func (m *base) refuseOwner(env node.Env, s node.StreamID, r message.RequestID, id message.JobID, holder node.Addr) {
	if holder != "" && !m.group.Alive(holder) {
		holder = ""
	}
	refused := &message.Refused{Request: r, Code: message.CodeNotOwner, Detail: "job " + id.String(), Holder: string(holder)}
	if seen, ok := m.group.Leases.Seen(env.Now(), id); ok {
		refused.Current = message.Fence{JobEpoch: seen.Token.Packed()}
	}
	if holder == "" {
		refused.Detail += ": its owner is gone and no other gate has it yet"
		refused.RetryAfter = m.later(env)
	}
	env.Send(s, refused)
}

// refuseQuorum tells clients why no majority answered.
func (m *base) refuseQuorum(env node.Env, asks []*audience.Ask, err error) {
	code := message.CodeQuorumTimeout
	switch {
	case errors.Is(err, lease.ErrQuorumUnavailable):
		code = message.CodeQuorumUnavailable
	case errors.Is(err, lease.ErrNotMember):
		code = message.CodeNotMember
	case errors.Is(err, lease.ErrFull):
		code = message.CodeQueueFull
	case errors.Is(err, lease.ErrTooLarge):
		code = message.CodeTooLarge
	}
	for _, a := range asks {
		m.refuseForRoom(env, a.Stream, a.Request, code, err.Error())
	}
}

func ignore(env node.Env, in *node.Input, why string) {
	env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: why})
}

// reached counts a rare state; a test swarm reports states that it never visited.
func reached(env node.Env, what string) { env.Emit(event.Reached{What: what}) }

// shortened cuts another node's text to the length that a record allows.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
