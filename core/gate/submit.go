package gate

import (
	"fmt"
	"strings"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

func (m *Machine) refuse(env node.Env, s node.StreamID, r message.RequestID, code message.Code, detail string) {
	env.Send(s, &message.Refused{Request: r, Code: code, Detail: detail})
}

// refuseForRoom also tells when to come back: later, and not all at once.
func (m *Machine) refuseForRoom(env node.Env, s node.StreamID, r message.RequestID, code message.Code, detail string) {
	after := env.Rand(node.PurposeJitter).Duration(m.config.RetryAfter, 2*m.config.RetryAfter).Round(time.Millisecond)
	env.Send(s, &message.Refused{Request: r, Code: code, Detail: detail, RetryAfter: after})
}

func (m *Machine) onSubmit(env node.Env, in *node.Input, s *message.JobSubmit) {
	if j := m.keys[s.Key]; j != nil {
		m.onKnownKey(env, in, j, s)
		return
	}
	if m.stopping {
		m.refuseForRoom(env, in.Stream, s.Request, message.CodeDraining, "gate "+string(env.Self().ID)+" is shutting down")
		return
	}
	if code, detail := m.check(s); code != message.CodeNone {
		m.refuse(env, in.Stream, s.Request, code, detail)
		return
	}
	if code, detail := m.checkPlaces(s); code.Retryable() {
		m.refuseForRoom(env, in.Stream, s.Request, code, detail)
		return
	} else if code != message.CodeNone {
		m.refuse(env, in.Stream, s.Request, code, detail)
		return
	}
	if code, detail := m.room(env, s.Size()); code != message.CodeNone {
		env.Emit(event.Shed{What: "submit", Why: detail})
		m.refuseForRoom(env, in.Stream, s.Request, code, detail)
		return
	}
	m.accept(env, in, s)
}

// payload is the digest of all that makes two submissions the same.
func payload(s *message.JobSubmit) uint64 {
	same := *s
	same.Request, same.Key = message.RequestID{}, ""
	return same.Digest()
}

// onKnownKey answers a repeated submission. While the first one is on its way to
// the disk nothing is promised: the answer waits.
func (m *Machine) onKnownKey(env node.Env, in *node.Input, j *job, s *message.JobSubmit) {
	switch {
	case payload(s) != j.digest:
		m.refuse(env, in.Stream, s.Request, message.CodeKeyMismatch, fmt.Sprintf("key %q belongs to another payload", s.Key))
	case j.onDisk:
		env.Send(in.Stream, &message.JobAck{Request: s.Request, Job: j.id, Duplicate: true})
	case len(j.acks) >= m.config.WaitersMax:
		env.Emit(event.Shed{What: "submit", Why: "too many wait for one key"})
		m.refuseForRoom(env, in.Stream, s.Request, message.CodeQueueFull, fmt.Sprintf("%d submissions wait for key %q", len(j.acks), s.Key))
	default:
		j.acks = append(j.acks, waiter{in.Stream, s.Request, true})
	}
}

// checkPlaces says whether the datacenters that the job names are known, or any
// is, if it names none.
func (m *Machine) checkPlaces(s *message.JobSubmit) (message.Code, string) {
	var known []string
	for _, d := range m.places {
		known = append(known, d.name)
	}
	for _, name := range s.Datacenters {
		if m.datacenters[name] == nil {
			list := "none is known yet"
			if len(known) > 0 {
				list = "known are " + strings.Join(known, ", ")
			}
			return message.CodeUnknownDatacenter, fmt.Sprintf("datacenter %q: %s", name, list)
		}
	}
	if len(known) == 0 {
		return message.CodeNoDatacenter, "no manager has registered with this gate"
	}
	return message.CodeNone, ""
}

// room says whether one more job fits.
func (m *Machine) room(env node.Env, size int) (message.Code, string) {
	if m.storeFailed {
		return message.CodeStoreFull, "the gate's disk refuses writes"
	}
	if n := len(m.queue) + m.accepting; n >= m.config.QueueMax {
		return message.CodeQueueFull, fmt.Sprintf("%d jobs wait, the bound is %d", n, m.config.QueueMax)
	}
	if m.specBytes+size > m.config.SpecBytesMax {
		return message.CodeQueueFull, fmt.Sprintf("the programs of unfinished jobs take %d bytes, the bound is %d", m.specBytes, m.config.SpecBytesMax)
	}
	if len(m.jobs) >= m.config.JobsMax && !m.forgetOldest(env) {
		return message.CodeQueueFull, fmt.Sprintf("%d jobs are not ended, the bound is %d", len(m.jobs), m.config.JobsMax)
	}
	return message.CodeNone, ""
}

// accept gives the job its name and its first record.
func (m *Machine) accept(env node.Env, in *node.Input, s *message.JobSubmit) {
	m.number++
	j := &job{
		id: message.JobID(env.Rand(node.PurposeID).ID()), number: m.number, key: s.Key, digest: payload(s), name: s.Name,
		spec: s, specSize: s.Size(), named: sortedNames(s.Datacenters), runTimeout: m.runTimeout(s),
		born: env.Now(), epochs: map[string]uint64{}, sequence: env.Self().Incarnation << 32,
		acks: []waiter{{in.Stream, s.Request, false}},
	}
	m.jobs[j.id], m.keys[j.key] = j, j
	m.specBytes += j.specSize
	m.accepting++
	j.become(message.JobSubmitted, "")
	j.become(message.JobQueued, "")
	kept := *s
	kept.Request = message.RequestID{Counter: 1} // who asked does not matter later
	m.save(env, &put{
		what: "accept a job", job: j, extra: []node.Record{encoded(specPrefix+j.id.String(), &kept)},
		then:    func(env node.Env) { m.accepted(env, j) },
		refused: func(env node.Env) { m.rejected(env, j) },
	})
}

func (m *Machine) accepted(env node.Env, j *job) {
	m.accepting--
	j.onDisk = true
	for _, w := range j.acks {
		env.Send(w.stream, &message.JobAck{Request: w.request, Job: j.id, Duplicate: w.again})
	}
	j.acks = nil
	j.queued = env.Now()
	m.enqueue(env, j)
	m.schedule(env)
}

// rejected forgets a job that the disk did not take; nobody was told of it.
func (m *Machine) rejected(env node.Env, j *job) {
	m.accepting--
	m.specBytes -= j.specSize
	delete(m.jobs, j.id)
	delete(m.keys, j.key)
	for _, w := range j.acks {
		m.refuseForRoom(env, w.stream, w.request, message.CodeStoreFull, "the gate's disk refuses writes")
	}
}
