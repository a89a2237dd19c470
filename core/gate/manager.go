package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/pressure"
)

// roster handles the managers' messages, and passes on results of jobs that another gate owns.
type roster struct {
	driver
	relay audience.Relay
	gauge pressure.Gauge // of managers' reports
}

// reporters counts the subjobs of this gate that may report figures.
func (m *roster) reporters() (n int) {
	for _, j := range m.active {
		n += len(j.Subjobs)
	}
	return n
}

func (m *roster) onHeartbeat(env node.Env, in *node.Input, h *message.ManagerHeartbeat) {
	if in.From.Role != node.RoleManager {
		ignore(env, in, "its sender is no manager")
		return
	}
	if m.refusesSet(env, in, h) {
		return
	}
	mgr := m.places.Manager(in.From.ID)
	if why := cmp.Or(mgr.Twin(in.From), m.outlasts(h)); why != "" {
		if h.Sequence == 1 { // report it once per stream
			env.Emit(event.PeerRefused{Peer: in.From.ID, Role: node.RoleManager, Reason: why})
		}
		return
	}
	if !mgr.Follows(in.Stream, h.Sequence) {
		ignore(env, in, "a newer one has arrived")
		return
	}
	if !mgr.Registered(in.From.Incarnation, h.Datacenter) {
		if mgr = m.register(env, in, mgr, h.Datacenter); mgr == nil {
			return
		}
	}
	mgr.Take(in.Stream, h, env.Now())
	m.judge(env, mgr)
	m.prefer(env, false)
	ack := &message.HeartbeatAck{Sequence: h.Sequence, Subjobs: m.compare(env, mgr, h.Subjobs), Every: m.gauge.Every(env.Now(), m.reporters())}
	ack.Set, ack.SetVersion = m.group.Leases.Set().Told()
	env.Send(in.Stream, ack)
	m.schedule(env)
	m.countWanted(env)
}

// judge reports that new subjobs go to a manager from now on, or to others. One that has no majority
// cannot answer for those that it has not taken up: another manager gets them.
func (m *roster) judge(env node.Env, mgr *places.Manager) {
	if from, to, why, changed := mgr.Judge(); changed {
		env.Emit(event.ManagerJudged{Peer: mgr.ID, Datacenter: mgr.Place.Name, From: from.String(), To: to.String(), Why: why})
	}
	if !mgr.Lacks() {
		return
	}
	for _, j := range m.active {
		p := j.Subjob(mgr.Place.Name)
		if p == nil || p.Manager != mgr.ID || p.Phase != job.Sent || j.Stopping() || !m.holds(env, j) || len(m.fit(env, mgr.Place, p)) == 0 {
			continue
		}
		reached(env, "gate/left-without-quorum")
		p.RefusedBy = append(p.RefusedBy, mgr.ID)
		m.dispatchAgain(env, j, p)
	}
}

// refusesSet refuses a manager that is configured with other gates: two sets have two
// majorities.
func (m *roster) refusesSet(env node.Env, in *node.Input, h *message.ManagerHeartbeat) bool {
	theirs := h.Gates
	if len(theirs) == 0 || m.group.Leases.Set().Had(theirs) {
		return false
	}
	if h.Sequence == 1 { // report it once per stream
		env.Emit(event.GroupRefused{Group: groupName, Peer: in.From.Addr, Ours: strings.Join(texts(m.group.Members()), ","), Theirs: strings.Join(theirs, ",")})
	}
	return true
}

// outlasts says why a manager could send load for longer than this gate's guard.
func (m *roster) outlasts(h *message.ManagerHeartbeat) string {
	if most := m.config.terms().Load(); h.LoadFor > most {
		return fmt.Sprintf("load goes on in its datacenter for %v without word of a gate, and this gate waits for %v: give all gates and managers the same --lease", h.LoadFor, most)
	}
	return ""
}

// register records a manager with its incarnation and its datacenter.
func (m *roster) register(env node.Env, in *node.Input, mgr *places.Manager, place string) *places.Manager {
	d, fresh := m.places.Know(place, env.Now())
	if fresh {
		m.remember(env, datacenterPrefix+place, []byte{1})
	}
	if d == nil || mgr == nil && m.places.Full() {
		env.Emit(event.Shed{Reason: event.ShedBound, What: "manager", Why: fmt.Sprintf("%s of %q: too many managers or datacenters, or no name", in.From.ID, place)})
		return nil
	}
	if mgr != nil && mgr.Place != d {
		m.lose(env, mgr, "moved to datacenter "+place)
		m.places.Forget(mgr)
	}
	if d.View().Live == 0 && m.queue.Len() > 0 {
		m.throttle.Resume(env.Now())
	}
	mgr = m.places.Register(d, in.From, env.Now())
	m.listen(env)
	env.Emit(event.PeerRegistered{Peer: mgr.ID, Role: node.RoleManager, Datacenter: place})
	m.watchSilence(env)
	return mgr
}

// listen notes whether this gate hears any manager, and tells the other gates.
func (m *roster) listen(env node.Env) {
	now := deaf
	if m.places.Heard() {
		now = hears
	}
	if now == m.hearing {
		return
	}
	m.hearing, m.heardAt = now, env.Now()
	m.gossip()
	if now == deaf {
		env.SetTimer(node.Key(node.PartGate, node.GateStop), deafTick)
	}
}

// watchSilence sets the timer to the time at which the first live manager would be lost.
func (m *roster) watchSilence(env node.Env) {
	if first, ok := m.places.FirstLoss(); ok {
		env.SetTimer(node.Key(node.PartGate, node.GateSilence), max(0, first.Sub(env.Now())))
	}
}

func (m *roster) onSilence(env node.Env) {
	for _, mgr := range m.places.Silent(env.Now()) {
		m.lose(env, mgr, fmt.Sprintf("silent for %v", m.config.ManagerSilence))
	}
	m.watchSilence(env)
}

// lose declares a manager lost and dispatches the subjobs that it had not taken up to other
// managers.
func (m *roster) lose(env node.Env, mgr *places.Manager, reason string) {
	if !mgr.Live {
		return
	}
	mgr.Lose(env.Now())
	m.listen(env)
	m.prefer(env, true)
	env.Emit(event.PeerLost{Peer: mgr.ID, Role: node.RoleManager, Reason: reason})
	for _, j := range m.active {
		if p := j.Subjob(mgr.Place.Name); p != nil && p.Manager == mgr.ID {
			m.onManagerLost(env, j, p)
		}
	}
}

// compare matches the subjobs that a manager lists with those that the gate expects it to have.
// It returns the subjobs that the manager may continue.
func (m *roster) compare(env node.Env, mgr *places.Manager, listed []message.SubjobRef) []message.SubjobRef {
	var renewed []message.SubjobRef
	for _, ref := range listed {
		if m.onListed(env, mgr, ref) {
			renewed = append(renewed, ref)
		}
	}
	byJob := func(r message.SubjobRef, id message.JobID) int { return r.Job.Compare(id) }
	if !slices.IsSortedFunc(listed, func(a, b message.SubjobRef) int { return byJob(a, b.Job) }) {
		listed = slices.SortedFunc(slices.Values(listed), func(a, b message.SubjobRef) int { return byJob(a, b.Job) })
	}
	for _, j := range m.active {
		p := j.Subjob(mgr.Place.Name)
		if p == nil || p.Manager != mgr.ID || p.Phase == job.Done {
			continue
		}
		if p.Beats > 0 {
			if p.Beats--; p.Beats == 0 {
				p.Release(m.places)
			}
		}
		if p.Phase != job.Running {
			continue
		}
		if _, has := slices.BinarySearchFunc(listed, j.ID, byJob); has {
			continue
		}
		if p.Missed++; p.Missed > m.config.MissedMax && m.holds(env, j) {
			m.denied(env, j, p)
		}
	}
	return renewed
}

// onListed adopts a subjob that a manager lists, and cancels one that no gate expects any more.
// It says whether the manager may continue it.
func (m *roster) onListed(env node.Env, mgr *places.Manager, ref message.SubjobRef) bool {
	j := m.jobs[ref.Job]
	switch {
	case j == nil:
		seen, ok := m.group.Leases.Seen(env.Now(), ref.Job)
		if !ok {
			return false
		}
		if j := m.see(env, ref.Job, seen.Token, seen.Released, seen.Record); j != nil {
			stopOrphan(env, mgr, ref, j, "its job has ended")
		}
		return false
	case j.Ready && j.Shown.Terminal():
		stopOrphan(env, mgr, ref, j, "its job has ended")
		return false
	case !j.Ready || j.State.Terminal() || !m.holds(env, j):
		return false // the owner answers
	}
	p := j.Subjob(mgr.Place.Name)
	switch {
	case p == nil && m.takeBack(env, j, mgr.Place):
		return false
	case p == nil:
		stopOrphan(env, mgr, ref, j, "its job is not to run there any more")
		return false
	case ref.Fence.JobEpoch > j.Epoch || p.Phase == job.Saving:
		return false
	case ref.Fence.SubjobEpoch < p.Fence.SubjobEpoch:
		stale(env, j, p, ref.Fence, "heartbeat")
		return false // the manager that took over has told it, or will
	}
	if p.Phase == job.Done && p.End == job.Unheard {
		if p.Told {
			stopOrphan(env, mgr, ref, j, "its datacenter was given up: what runs there now counts nowhere")
		}
		return false
	}
	p.Missed, p.Renewed, p.Named = 0, max(p.Renewed, env.Now()), env.Now()
	if p.Phase == job.Done {
		return true // the manager repeats its result until a gate acknowledges it
	}
	p.Fence.SubjobEpoch = ref.Fence.SubjobEpoch
	p.Ever = true
	if ref.Fence.JobEpoch < j.Epoch {
		m.reclaim(env, j, p, mgr)
		return true
	}
	if p.Phase != job.Running || p.Manager != mgr.ID {
		p.Manager = mgr.ID
		m.takenUp(env, j, p)
		m.sendCancel(env, j, p)
	}
	return true
}

// takeBack dispatches a queued job again if a manager took a subjob up after all: the manager
// refused one copy of the dispatch and accepted another.
func (m *roster) takeBack(env node.Env, j *entry, d *places.Datacenter) bool {
	if j.State != message.JobQueued || slices.Contains(j.Closed, d.Name) {
		return false
	}
	to := []*places.Datacenter{d}
	if len(j.Turn.Named) > 0 {
		to = nil
		for _, name := range j.Turn.Named {
			if known := m.places.Datacenter(name); known != nil {
				to = append(to, known)
			}
		}
		if len(to) < len(j.Turn.Named) || !slices.Contains(to, d) {
			return false
		}
	}
	m.leaveQueue(env, j)
	m.dispatch(env, j, to)
	return true
}

// reclaim tells a manager that still works under a former gate's epoch who owns the job now.
func (m *roster) reclaim(env node.Env, j *entry, p *job.Subjob, mgr *places.Manager) {
	if p.Has(mgr.ID, mgr.Stream, env.Now()) {
		return
	}
	m.sendTo(env, j, p, mgr, m.config.DispatchRetry)
	m.sendCancel(env, j, p)
	m.arm(env, j)
}

func stopOrphan(env node.Env, mgr *places.Manager, ref message.SubjobRef, j *entry, reason string) {
	fence := ref.Fence
	fence.JobEpoch = max(fence.JobEpoch, j.Epoch)
	env.Send(mgr.Stream, &message.SubjobCancel{Job: ref.Job, Fence: fence, State: message.JobCancelled, Reason: reason, Now: true})
}
