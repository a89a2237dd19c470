package gate

import (
	"fmt"

	"hyperscale/core/election"
	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/quorum"
)

// holds says whether this gate may act for a job now. Each act asks: between two
// of them the window may have shut.
func (m *Machine) holds(env node.Env, j *entry) bool {
	token, ok := m.group.Leases.Holds(env.Now(), j.ID)
	return ok && token == j.Token
}

// acquire begins to own a job under its first record, or whatever record a
// majority has already.
func (m *Machine) acquire(env node.Env, j *entry, seed []byte) {
	m.group.Leases.Acquire(env, j.ID, seed)
}

// settle acts on what the group came to, until nothing follows.
func (m *Machine) settle(env node.Env) {
	if m.group == nil {
		return
	}
	for again := true; again; {
		again = false
		for r, ok := m.group.Ready(env); ok; r, ok = m.group.Ready(env) {
			again = true
			m.onReady(env, r)
		}
	}
}

func (m *Machine) onReady(env node.Env, r quorum.Ready) {
	switch {
	case r.Lease != nil:
		m.onLease(env, *r.Lease)
	case r.File != nil:
		m.onFile(env, *r.File)
	case r.Vote != nil && r.Vote.Kind == election.Led:
		m.keepHouse(env)
	case r.Member != nil:
		m.onMember(env, r.Member)
	case r.Drift != nil:
		m.onDrift(*r.Drift)
	}
}

func (m *Machine) onLease(env node.Env, o lease.Outcome) {
	switch o.Kind {
	case lease.Ready:
		m.alarm = "" // what kept it out is over
		m.seeAll(env)
		m.group.Files.Mend(env, m.filesInUse(env))
	case lease.Granted:
		m.onGranted(env, o)
	case lease.Denied:
		m.onDenied(env, o)
	case lease.Waiting:
		m.onWaiting(env, o)
	case lease.Updated:
		if j := m.jobs[o.Job]; j != nil && j.Ready && j.Token == o.Token {
			m.circuit.worked()
			m.onUpdated(env, j, o.Ticket)
		}
	case lease.Lost:
		if j := m.jobs[o.Job]; j != nil && j.Ready && j.Token == o.Token {
			m.disown(env, j, "")
		}
	case lease.Read:
		m.onRead(env, o)
	case lease.Vacant:
		m.onVacant(env, o)
	case lease.SetDiffers, lease.Alarm:
		m.onAlarm(o)
	}
}

// onGranted makes this gate the owner. Its own record stands if nobody had another
// one; else what a majority has goes in place of all that is remembered.
func (m *Machine) onGranted(env node.Env, o lease.Outcome) {
	m.circuit.worked()
	j := m.jobs[o.Job]
	switch {
	case j != nil && j.Ready && j.Shown.Terminal():
		m.group.Leases.Release(env, o.Job)
		return
	case o.Fresh && j != nil && !j.Takeover && len(j.open) > 0:
		j.Own(o.Token)
		m.accepted(env, j)
		return
	case o.Fresh: // nobody waits for it any more, or a majority has forgotten it
		m.group.Leases.Release(env, o.Job)
		if j != nil {
			m.unload(env, j)
		}
		return
	}
	var asks []*audience.Ask
	if j != nil {
		asks = j.waiting.All(m.audience.Of(j.ID))
		m.unload(env, j)
	}
	m.adopt(env, o, asks)
}

// onDenied: another gate has it. What was submitted here meanwhile is its to answer.
func (m *Machine) onDenied(env node.Env, o lease.Outcome) {
	if o.Err == nil {
		m.circuit.worked()
	}
	j := m.jobs[o.Job]
	if j == nil || j.Ready {
		return
	}
	asks := m.unload(env, j)
	if o.Err != nil && o.Holder == "" {
		m.refuseQuorum(env, asks, o.Err)
		return
	}
	for _, a := range asks {
		m.refuseOwner(env, a.Stream, a.Request, o.Job, o.Holder)
	}
}

// onWaiting: no majority answers. Clients are told; only what has been
// acknowledged is tried for further.
func (m *Machine) onWaiting(env node.Env, o lease.Outcome) {
	m.circuit.failed(env.Now())
	j := m.jobs[o.Job]
	if j == nil || j.Ready {
		return
	}
	if j.Takeover {
		m.refuseQuorum(env, j.waiting.TakeAsks(), o.Err)
		return
	}
	m.group.Leases.Abandon(env, o.Job)
	m.refuseQuorum(env, m.unload(env, j), o.Err)
}

// onVacant takes over what nobody owns, or what its owner hands to this gate. What
// is about to stop leaves it to others, if there are any.
func (m *Machine) onVacant(env node.Env, o lease.Outcome) {
	if m.retiring() && m.fellowAlive() {
		return
	}
	switch j := m.jobs[o.Job]; {
	case j == nil:
		if !m.makeRoom() {
			reached(env, "gate/takeover-shed")
			env.Emit(event.Shed{What: "takeover of job " + o.Job.String(), Why: fmt.Sprintf("%d jobs are not ended, the bound is %d", len(m.jobs), m.config.JobsMax)})
			return // for another gate, or for later: the leader goes on looking for what nobody owns
		}
		m.jobs[o.Job] = &entry{Job: job.Job{ID: o.Job, Takeover: true}}
	case !j.Ready && !j.Takeover, j.Ready && m.holds(env, j):
		return // its acquisition is on its way, or was granted
	}
	m.group.Leases.Acquire(env, o.Job, nil)
}

// disown stops acting for a job at once: another gate may be its owner.
func (m *Machine) disown(env node.Env, j *entry, holder node.Addr) {
	if j.Shown.Terminal() {
		return // told, and on a majority: it needs no owner
	}
	asks := j.waiting.All(m.audience.Of(j.ID))
	m.unload(env, j)
	for _, a := range asks {
		m.refuseOwner(env, a.Stream, a.Request, j.ID, holder)
	}
	m.schedule(env)
}

// unload forgets a job that has not ended, and returns who waits for it.
func (m *Machine) unload(env node.Env, j *entry) []*audience.Ask {
	m.leaveQueue(env, j)
	m.leaveActive(j)
	for _, p := range j.Subjobs {
		p.Release(m.places)
	}
	m.audience.Unfollow(j.ID)
	m.specBytes -= j.Drop()
	if !j.Ready && !j.Takeover {
		m.accepting--
	}
	env.CancelTimer(node.KeyID(node.PartGate, node.GateJob, j.ID))
	delete(m.jobs, j.ID)
	j.open = nil
	j.waiting.TakeCancels()
	return j.waiting.TakeAsks()
}

// onAlarm keeps what an operator should see; the registers have told it as an
// event.
func (m *Machine) onAlarm(o lease.Outcome) {
	m.alarms++
	m.alarm = o.Reason
	if o.Err != nil {
		m.alarm = o.Err.Error()
	}
}

// rejected forgets a job that was never acknowledged.
func (m *Machine) rejected(env node.Env, j *entry, code message.Code, detail string) {
	env.Emit(event.Shed{What: "submit", Why: detail})
	for _, a := range m.unload(env, j) {
		m.refuseForRoom(env, a.Stream, a.Request, code, detail)
	}
}
