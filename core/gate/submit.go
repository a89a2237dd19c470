package gate

import (
	"fmt"
	"strings"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/queue"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onSubmit answers for a key that is known, sends on what another gate owns, and
// begins to own the rest. The same key at two gates is one register: one of them
// gets it, the other sends its clients on.
func (m *Machine) onSubmit(env node.Env, in *node.Input, s *message.JobSubmit) {
	id := message.JobOf(s.Key)
	a := &audience.Ask{What: audience.Submit, Stream: in.Stream, Request: s.Request, From: in.From.ID, Digest: payload(s)}
	if j := m.jobs[id]; j != nil {
		a.Again = true
		m.askJob(env, j, a)
		return
	}
	if code, detail := m.config.check(s); code != message.CodeNone {
		refuse(env, in.Stream, s.Request, code, detail)
		return
	}
	if m.elsewhere(env, id, a) {
		return
	}
	if m.retiring() {
		m.refuseForRoom(env, in.Stream, s.Request, message.CodeDraining, "gate "+string(env.Self().ID)+" takes no new jobs")
		return
	}
	if code, detail := m.checkPlaces(s); code.Retryable() {
		m.refuseForRoom(env, in.Stream, s.Request, code, detail)
		return
	} else if code != message.CodeNone {
		refuse(env, in.Stream, s.Request, code, detail)
		return
	}
	if code, detail := m.room(env, s.Size()); code != message.CodeNone {
		env.Emit(event.Shed{What: "submit", Why: detail})
		m.refuseForRoom(env, in.Stream, s.Request, code, detail)
		return
	}
	if !m.circuitRefuses(env, a) {
		m.accept(env, s, a)
	}
}

// payload is the digest of all that makes two submissions the same.
func payload(s *message.JobSubmit) uint64 {
	same := *s
	same.Request, same.Key = message.RequestID{}, ""
	return same.Digest()
}

// checkPlaces says whether the datacenters that the job names are known, or any
// is, if it names none.
func (m *Machine) checkPlaces(s *message.JobSubmit) (message.Code, string) {
	known := m.places.Names()
	for _, name := range s.Datacenters {
		if m.places.Datacenter(name) == nil {
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
		reached(env, "gate/disk-full")
		return message.CodeStoreFull, "the gate's disk refuses writes"
	}
	if n := m.queue.Len() + m.accepting; n >= m.config.QueueMax {
		reached(env, "gate/queue-full")
		return message.CodeQueueFull, fmt.Sprintf("%d jobs wait, the bound is %d", n, m.config.QueueMax)
	}
	if m.specBytes+size > m.config.SpecBytesMax {
		reached(env, "gate/programs-full")
		return message.CodeQueueFull, fmt.Sprintf("the programs of unfinished jobs take %d bytes, the bound is %d", m.specBytes, m.config.SpecBytesMax)
	}
	if files, bytes := m.group.Files.Used(); files >= m.config.FilesMax-m.config.ResultsMax || bytes+int64(size) > int64(m.config.FileBytesMax-m.config.ResultBytesMax) {
		reached(env, "gate/archive-full")
		return message.CodeQueueFull, fmt.Sprintf("%d files of %d bytes are kept, the rest of %d and %d is for results", files, bytes, m.config.FilesMax, m.config.FileBytesMax)
	}
	if len(m.jobs) >= m.config.JobsMax && !m.forgetOldest(env) {
		return message.CodeQueueFull, fmt.Sprintf("%d jobs are not ended, the bound is %d", len(m.jobs), m.config.JobsMax)
	}
	return message.CodeNone, ""
}

// accept gives the job its first record: PENDING until a majority has it. Whoever
// submits the same key meanwhile waits with the first.
func (m *Machine) accept(env node.Env, s *message.JobSubmit, a *audience.Ask) {
	m.number++
	id := message.JobOf(s.Key)
	kept := *s
	kept.Request = message.RequestID{Counter: 1} // who asked does not matter later
	file := encoded(&kept)
	j := &entry{Job: job.Job{
		ID: id, Key: s.Key, Digest: a.Digest, Name: s.Name,
		Turn:     queue.Turn{Job: id, Number: m.number, Named: sortedNames(s.Datacenters)},
		Program:  job.Program{Spec: s, SpecSize: s.Size(), SpecFile: fileOf(file), RunTimeout: m.config.runTimeout(s)},
		Times:    job.Times{Born: env.Now()},
		Sequence: env.Self().Incarnation << 32,
	}}
	j.waiting.Put([]*audience.Ask{a})
	m.jobs[j.ID] = j
	m.specBytes += j.SpecSize
	m.accepting++
	j.Become(message.JobSubmitted, "")
	j.Become(message.JobQueued, "")
	env.SetTimer(node.KeyID(node.PartGate, node.GateJob, j.ID), m.config.QuorumTimeout)
	m.save(env, &put{job: j, files: [][]byte{file}})
}

// onKeepTimeout: no majority keeps the program of a job that nobody was told of.
func (m *Machine) onKeepTimeout(env node.Env, j *entry) {
	if j.Takeover || len(j.open) == 0 || j.open[0].missing == 0 {
		return // its register tells
	}
	m.circuit.failed(env.Now())
	m.refuseQuorum(env, m.unload(env, j), lease.ErrQuorumUnavailable)
}

// accepted: the job is this gate's, and a majority has its first record.
func (m *Machine) accepted(env node.Env, j *entry) {
	m.accepting--
	j.Ready = true
	first := j.open[0]
	j.open = j.open[1:]
	j.Turn.Since = env.Now()
	m.enqueue(env, j)
	m.onPut(env, first) // a cancellation that has waited takes it out of the queue again
	m.schedule(env)
}
