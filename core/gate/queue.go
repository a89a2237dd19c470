package gate

import (
	"fmt"
	"slices"

	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// enqueue files a QUEUED job by its age: one that comes back from a dispatch
// keeps its turn.
func (m *Machine) enqueue(env node.Env, j *job) {
	at := len(m.queue)
	for at > 0 && m.queue[at-1].number > j.number {
		at--
	}
	m.queue = slices.Insert(m.queue, at, j)
	m.renumber(env, at)
	if len(m.queue) == 1 {
		env.SetTimer(node.Key(node.PartGate, node.GateQueue), m.config.QueueInterval)
	}
}

// renumber counts positions anew, from an index on.
func (m *Machine) renumber(env node.Env, from int) {
	for i := from; i < len(m.queue); i++ {
		if j := m.queue[i]; j.position != uint32(i+1) {
			j.position = uint32(i + 1)
			m.pushLater(env, j)
		}
	}
}

func (m *Machine) leaveQueue(env node.Env, j *job) {
	at := slices.Index(m.queue, j)
	if at < 0 {
		return
	}
	m.queue = slices.Delete(m.queue, at, at+1)
	j.position = 0
	m.renumber(env, at)
}

// schedule dispatches, in order of age, each job whose datacenters all have the
// free cores that it needs. One that waits for cores keeps its datacenters from younger ones;
// one whose datacenter is UNHEALTHY keeps nobody.
func (m *Machine) schedule(env node.Env) {
	if len(m.queue) == 0 || m.stopping {
		return
	}
	blocked := map[string]bool{}
	var ready []*job
	var targets [][]*places.Datacenter
	for _, j := range m.queue {
		if len(blocked) == len(m.places.All()) {
			break
		}
		if to := m.targets(j, blocked); to != nil {
			ready, targets = append(ready, j), append(targets, to)
			for _, d := range to {
				d.Promise(m.wants(j, d))
			}
		}
	}
	for _, d := range m.places.All() {
		d.Keep()
	}
	for i, j := range ready {
		m.leaveQueue(env, j)
		m.dispatch(env, j, targets[i])
	}
}

// targets returns where a job can go now, or nil and blocks what it waits for.
func (m *Machine) targets(j *job, blocked map[string]bool) []*places.Datacenter {
	if len(j.named) == 0 {
		return m.anyTarget(j, blocked)
	}
	var to []*places.Datacenter
	wait := false
	for _, name := range j.named {
		d := m.places.Datacenter(name)
		if d == nil || d.Health() == message.HealthUnhealthy {
			j.waits = name
			return nil
		}
		if !wait && (blocked[name] || d.Free() < m.needs(j, d)) {
			wait, j.waits = true, name
		}
		to = append(to, d)
	}
	if wait {
		for _, name := range j.named {
			blocked[name] = true
		}
		return nil
	}
	return to
}

// anyTarget chooses by health, then by free cores, then by name.
func (m *Machine) anyTarget(j *job, blocked map[string]bool) []*places.Datacenter {
	j.waits = ""
	best, _ := m.places.Best(func(name string) bool { return blocked[name] })
	if best == nil {
		return nil
	}
	if best.Free() < m.needs(j, best) {
		j.waits = best.Name
		for _, d := range m.places.All() {
			blocked[d.Name] = true
		}
		return nil
	}
	return []*places.Datacenter{best}
}

// firstLayer is how many cores the job's first workflows take: what they name, or
// as many as they have virtual users, up to a bound each.
func firstLayer(j *job, bound uint64) uint64 {
	var sum uint64
	for i := range j.spec.Plan.Workflows {
		w := &j.spec.Plan.Workflows[i]
		switch {
		case w.Layer > 0:
		case w.Cores > 0:
			sum += min(w.VUs, uint64(w.Cores))
		case !w.Test:
			sum++
		default:
			sum += min(w.VUs, bound)
		}
	}
	return sum
}

// wants says how many of a datacenter's free cores a dispatch of the job will take.
func (m *Machine) wants(j *job, d *places.Datacenter) uint32 {
	free := uint64(d.Free())
	return uint32(min(firstLayer(j, free), free))
}

// needs says how many cores must be free before the job is dispatched: there the
// run timeout begins, and it must not pass in waiting for the rest. Workers that are
// away for a moment are waited for; who wants more than there ever were keeps nobody
// waiting: the manager tells what is missing.
func (m *Machine) needs(j *job, d *places.Datacenter) uint32 {
	n := firstLayer(j, 1)
	if n > uint64(d.Cores) {
		return 1
	}
	return uint32(n)
}

// onQueueTimer ends what waited too long.
func (m *Machine) onQueueTimer(env node.Env) {
	now := env.Now()
	for _, j := range slices.Clone(m.queue) {
		age := now.Sub(j.queued)
		switch {
		case age >= m.config.QueueAgeMax:
			reached(env, "gate/queue-age")
			m.endQueued(env, j, message.JobTimedOut, "waited in the queue for "+age.String())
		case age >= m.config.QueueTimeout && m.nowhere(j):
			reached(env, "gate/queue-nowhere")
			m.endQueued(env, j, message.JobFailed, "nowhere to run: "+m.waitReason(j))
		}
	}
	m.schedule(env)
	if len(m.queue) > 0 {
		env.SetTimer(node.Key(node.PartGate, node.GateQueue), m.config.QueueInterval)
	}
}

func (m *Machine) endQueued(env node.Env, j *job, to message.JobState, reason string) {
	m.leaveQueue(env, j)
	m.end(env, j, to, reason)
}

// nowhere says that a datacenter that the job needs is UNHEALTHY.
func (m *Machine) nowhere(j *job) bool {
	unhealthy := func(name string) bool {
		d := m.places.Datacenter(name)
		return d == nil || d.Health() == message.HealthUnhealthy
	}
	if len(j.named) > 0 {
		return slices.ContainsFunc(j.named, unhealthy)
	}
	return !slices.ContainsFunc(m.places.All(), func(d *places.Datacenter) bool { return d.Health() != message.HealthUnhealthy })
}

// waitReason tells people why a job is queued.
func (m *Machine) waitReason(j *job) string {
	name := j.waits
	if name == "" && len(j.named) > 0 {
		name = j.named[0]
	}
	d := m.places.Datacenter(name)
	switch {
	case name == "" && m.nowhere(j):
		return fmt.Sprintf("waits for a datacenter: none of %d has live managers and workers", len(m.places.All()))
	case name == "":
		return "waits for a free core in any datacenter" + before(j)
	case d == nil:
		return fmt.Sprintf("waits for %s: no manager has registered", name)
	case d.Health() == message.HealthUnhealthy:
		v := d.View()
		return fmt.Sprintf("waits for %s, which is UNHEALTHY: %d live managers, %d workers", name, v.Live, v.Workers)
	}
	cores := "a free core"
	if n := m.needs(j, d); n > 1 {
		cores = fmt.Sprintf("%d free cores", n)
	}
	return fmt.Sprintf("waits for %s in %s: %d of %d free", cores, name, d.Free(), d.View().Total) + before(j)
}

func before(j *job) string {
	if j.position < 2 {
		return ""
	}
	return fmt.Sprintf(", %d jobs before it", j.position-1)
}
