package gate

import (
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/places"
	"hyperscale/core/gate/queue"
	"hyperscale/core/gate/room"
	"hyperscale/core/gate/throttle"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// scheduler decides which job is dispatched next, and reserves the cores for it.
type scheduler struct {
	courier
	queue     *queue.Queue
	crowd     *queue.Crowd // who holds its places, those of jobs that are being accepted included
	active    []*entry     // dispatched and not ended
	accepting int          // jobs whose first record is on no majority
	specBytes int          // of jobs that have not ended
	throttle  throttle.Throttle

	near   room.Watch // of bounds
	wanted wanted
}

// wanted is what the gate has reported of the cores that its jobs want.
type wanted struct {
	cores map[string]uint64 // by datacenter
	at    node.Instant      // of the last count
}

// enqueue inserts a QUEUED job by its importance and its age, so a job that returns from a
// dispatch keeps its place.
func (m *scheduler) enqueue(env node.Env, j *entry) {
	j.Turn.Rank, j.Turn.Begin = j.Spec.Rank, 0
	j.Turn.Wish = queue.Wish{Count: j.Spec.Count, Preferred: j.Spec.Preferred}
	if d := j.Spec.Deadline; d > 0 {
		j.Turn.Begin = j.Born.Add(d)
	}
	m.pushMoved(env, m.queue.Enter(&j.Turn, &j.Spec.Plan, env.Now()))
	if m.queue.Len() == 1 || j.Turn.Begin != 0 {
		m.queueTimer(env)
	}
}

// queueTimer wakes the gate for the next look at what waits.
func (m *scheduler) queueTimer(env node.Env) {
	env.SetTimer(node.Key(node.PartGate, node.GateQueue), m.queue.Next(env.Now(), m.config.QueueInterval))
}

func (m *scheduler) leaveQueue(env node.Env, j *entry) {
	m.crowd.Leave(j.holder)
	j.holder = queue.Holder{}
	m.pushMoved(env, m.queue.Leave(&j.Turn))
}

// pushMoved includes the new queue positions in the next push to watchers.
func (m *scheduler) pushMoved(env node.Env, moved []*queue.Turn) {
	for _, t := range moved {
		m.pushLater(env, m.jobs[t.Job])
	}
}

// schedule dispatches the jobs whose turn has come.
func (m *scheduler) schedule(env node.Env) {
	if m.queue.Len() == 0 || m.stopping {
		return
	}
	m.pace(env)
	m.listenFor(env)
	unanswered := m.unanswered(env.Now())
	for _, r := range m.queue.Ready(m.places, env.Now()) {
		wait := m.throttle.Pause()
		if m.throttle.Opens(env.Now(), unanswered) {
			wait = m.throttle.Take(env.Now())
		}
		if wait > 0 {
			reached(env, "gate/throttled")
			env.SetTimer(node.Key(node.PartGate, node.GateQueue), min(wait, m.queue.Next(env.Now(), m.config.QueueInterval)))
			return
		}
		unanswered++
		j := m.jobs[r.Turn.Job]
		m.leaveQueue(env, j)
		m.dispatch(env, j, r.To)
	}
}

// listenFor finds the managers that have said nothing since a dispatch: they get no more.
func (m *scheduler) listenFor(env node.Env) {
	for _, d := range m.places.All() {
		for _, mgr := range d.Managers {
			if mgr.Mute(env.Now()) {
				reached(env, "gate/manager-mute")
			}
		}
	}
}

// prefer looks at the favourite of this gate again. lost says that a manager has just been lost.
func (m *scheduler) prefer(env node.Env, lost bool) {
	former, why, changed := m.places.Prefer(env.Now(), lost, func(n int) int { return env.Rand(node.PurposePlacement).Int(n) })
	if changed && former != nil {
		env.Emit(event.DatacenterFavoured{Datacenter: m.places.Favourite().Name, Former: former.Name, Why: why})
	}
}

// note records for the choice of datacenters how a subjob ended.
func (m *scheduler) note(env node.Env, p *job.Subjob, lost bool) {
	if d := m.places.Datacenter(p.Datacenter); d != nil {
		d.Count(env.Now(), lost)
	}
}

// unanswered counts the jobs that no manager has taken, of those dispatched within AnswerTimeout. An
// older one does not keep others back.
func (m *scheduler) unanswered(now node.Instant) (n int) {
	for _, j := range m.active {
		if j.State == message.JobDispatching && j.dispatched != 0 && now.Sub(j.dispatched) < m.config.AnswerTimeout {
			n++
		}
	}
	return n
}

// pace changes the rate of dispatches after each period. A job that this gate dispatched and that has
// not run for longer than the target counts as slow.
func (m *scheduler) pace(env node.Env) {
	now := env.Now()
	if !m.throttle.Due(now) {
		return
	}
	late := 0
	for _, j := range m.active {
		if j.State == message.JobDispatching && j.dispatched != 0 && now.Sub(j.dispatched) > m.config.DispatchTarget {
			late++
		}
	}
	if m.throttle.Close(now, late) {
		m.tellPace(env)
	}
}

// slowDown lowers the rate of dispatches: a manager with too much to do refused the subjob.
func (m *scheduler) slowDown(env node.Env, p *job.Subjob) {
	if m.throttle.Refuse(env.Now(), p.Since) {
		m.tellPace(env)
	}
}

func (m *scheduler) tellPace(env node.Env) {
	env.Emit(event.DispatchesPaced{Rate: uint64(m.throttle.Rate()), Bound: uint64(m.throttle.Most())})
}

// dispatch sends the whole plan to each target, once the record is on a majority.
func (m *scheduler) dispatch(env node.Env, j *entry, targets []*places.Datacenter) {
	now := env.Now()
	j.Subjobs = nil
	if len(j.Turn.Named) == 0 && hasUnique(&j.Spec.Plan) {
		j.Turn.Named = []string{targets[0].Name} // no other datacenter knows which rows were used there
	}
	if len(targets) > 1 { // the record keeps the set, of which each has its share
		j.Turn.Named = namesOf(targets)
	}
	for _, d := range targets {
		j.Subjobs = append(j.Subjobs, j.Begin(d.Name, now))
	}
	if !j.Ran {
		j.Ran, j.Started = true, now
	}
	m.active = append(m.active, j)
	j.dispatched = now
	j.Become(message.JobDispatching, "")
	for _, p := range j.Subjobs {
		m.reserve(j, p)
	}
	m.save(env, j, tag{act: actSend, send: j.Subjobs})
	m.arm(env, j)
}

func namesOf(all []*places.Datacenter) (names []string) {
	for _, d := range all {
		names = append(names, d.Name)
	}
	return names
}

// hasUnique says whether a plan has rows, or values of counters, that only one user may take.
func hasUnique(p *message.Plan) bool {
	return len(p.Counters) > 0 || slices.ContainsFunc(p.Workflows, func(w message.WorkflowPlan) bool { return w.Feed.Unique && w.Feed.Rows > 0 })
}

// reserve keeps cores for a dispatch until heartbeats include it.
func (m *scheduler) reserve(j *entry, p *job.Subjob) {
	p.Release(m.places)
	if d := m.places.Datacenter(p.Datacenter); d != nil {
		p.Reserved, p.Beats = queue.Wants(&j.Spec.Plan, d), 2
		d.Reserve(p.Reserved)
	}
}

func (m *scheduler) requeue(env node.Env, j *entry, reason string) {
	for _, p := range j.Subjobs {
		p.Release(m.places)
	}
	m.leaveActive(j)
	j.Subjobs, j.Ran = nil, false
	reached(env, "gate/queued-again")
	j.Become(message.JobQueued, reason)
	m.save(env, j, tag{})
	env.CancelTimer(node.KeyID(node.PartGate, node.GateJob, j.ID))
	m.enqueue(env, j)
}

func (m *scheduler) leaveActive(j *entry) {
	m.active = slices.DeleteFunc(slices.Clone(m.active), func(other *entry) bool { return other == j })
}

// unload forgets a job that has not ended, and returns the requests that wait for it.
func (m *scheduler) unload(env node.Env, j *entry) []*audience.Ask {
	m.leaveQueue(env, j)
	m.leaveActive(j)
	m.forgetRows(env, j)
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
	m.ledger.Close(j.ID)
	j.waiting.TakeCancels()
	return j.waiting.TakeAsks()
}

// arm sets the job's only timer to the first act that is due.
func (m *scheduler) arm(env node.Env, j *entry) {
	key := node.KeyID(node.PartGate, node.GateJob, j.ID)
	if next, ok := j.Due(env.Now(), m.config.timing()); ok {
		env.SetTimer(key, max(0, next.Sub(env.Now())))
	} else {
		env.CancelTimer(key)
	}
}

// bounds lists what makes this gate reject submissions.
func (m *scheduler) bounds() []room.Bound {
	c := &m.config
	files, bytes := m.group.Files.Used()
	keys, most := m.group.Leases.Buried()
	return []room.Bound{
		{Setting: "gate.queue_max", Used: m.queue.Len() + m.accepting, Limit: c.QueueMax},
		{Setting: "gate.jobs_max", Used: len(m.jobs) - m.history.Len(), Limit: c.JobsMax},
		{Setting: "gate.keys_max", Used: keys, Limit: most},
		{Setting: "gate.spec_bytes_max", Used: m.specBytes, Limit: c.SpecBytesMax},
		{Setting: "gate.files_max", Used: files, Limit: c.FilesMax - c.ResultsMax},
		{Setting: "gate.file_bytes_max", Used: int(bytes), Limit: c.FileBytesMax - c.ResultBytesMax},
	}
}

// measure reports bounds that have come near, or are far again; all reports every bound.
func (m *scheduler) measure(env node.Env, all bool) {
	for i, b := range m.bounds() {
		if m.near.Look(i, b) {
			env.Emit(event.BoundNear{Setting: b.Setting, Used: uint64(b.Used), Bound: uint64(b.Limit), Near: m.near.Near(i)})
		}
		if all {
			env.Emit(event.BoundUsed{Setting: b.Setting, Used: uint64(b.Used), Bound: uint64(b.Limit)})
		}
	}
}

// countWanted reports the cores that this gate's jobs want of each datacenter, where they have changed. It counts at most
// once in QueueInterval.
func (m *scheduler) countWanted(env node.Env) {
	if m.wanted.cores == nil {
		m.wanted.cores = map[string]uint64{}
	} else if env.Now().Sub(m.wanted.at) < m.config.QueueInterval {
		return
	}
	m.wanted.at = env.Now()
	all := map[string]*queue.Demand{}
	of := func(datacenter string) *queue.Demand {
		if all[datacenter] == nil {
			all[datacenter] = new(queue.Demand)
		}
		return all[datacenter]
	}
	for _, j := range m.active {
		for _, p := range j.Subjobs {
			if p.Phase != job.Done {
				of(p.Datacenter).Add(&j.Spec.Plan, p.Workflows())
			}
		}
	}
	m.queue.Demand(m.places, of)
	for _, d := range m.places.All() {
		before, known := m.wanted.cores[d.Name]
		if now := of(d.Name).Within(d); !known || now != before {
			m.wanted.cores[d.Name] = now
			env.Emit(event.CoresWanted{Datacenter: d.Name, Cores: now})
		}
	}
}

// nearBounds describes the bounds that are near, and a throttle, for operators.
func (m *scheduler) nearBounds() (all []string) {
	if rate, most := m.throttle.Rate(), m.throttle.Most(); rate < most {
		all = append(all, fmt.Sprintf("managers refused dispatches, or jobs took longer than gate.dispatch_target = %v from their dispatch to their start: the gate dispatches %d a second, of gate.dispatch_rate_max = %d", m.config.DispatchTarget, rate, most))
	}
	for i, b := range m.bounds() {
		if m.near.Near(i) {
			all = append(all, b.String())
		}
	}
	return all
}
