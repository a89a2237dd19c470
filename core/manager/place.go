package manager

import (
	"cmp"
	"fmt"
	"slices"

	"hyperscale/core/manager/place"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// place gives cores to all that wait for them, oldest subjob first. The manager calls it
// whenever cores may be free.
func (m *workflows) place(env node.Env) {
	m.followLone(env)
	if m.roster.Loaded() > 0 {
		m.loaded = env.Now()
	}
	alone := ""
	for _, p := range m.order {
		if p.Missing > 0 || p.Result != nil || p.Dispatch == nil || !m.holds(env, p) {
			continue
		}
		m.close(env, p)
		if (p.Stop.Decided == message.JobNone || p.Left() != nil && p.Began()) && p.Fresh(env.Now()) {
			alone = m.placeSubjob(env, p, alone)
		}
	}
}

// close ends the wait for shards that a former holder dispatched: their workers have stopped
// them by now.
func (m *workflows) close(env node.Env, p *subjob.Subjob) {
	for _, f := range p.Workflows {
		for _, s := range f.Waiting() {
			if !s.Open || s.Commit == subjob.Counting || s.State != message.WorkflowPending || env.Now() < s.NotBefore {
				continue
			}
			s.Open = false
			if !s.Idle {
				s.Lost, s.Idle = append(s.Lost, s.Vanish(env.Now())), true
			}
			if f.Stopping() {
				m.endShard(env, s, subjob.EndOf(p.Stop.Durable), "nobody reports that it runs")
			}
		}
	}
}

// placeSubjob returns which workflow waits to run alone, as far as it is known; those after it wait.
func (m *workflows) placeSubjob(env node.Env, p *subjob.Subjob, alone string) string {
	for _, stop := range p.Dispatch.Stops {
		if f := p.Workflows[stop.Workflow]; f.End == message.WorkflowNone && len(f.Shards) == 0 && f.Failure == "" {
			f.Client = true
			m.endWorkflow(env, f, message.WorkflowCancelled, stop.Reason)
		}
	}
	for _, f := range p.Workflows {
		m.isReady(env, f)
	}
	for _, f := range p.Workflows {
		if f.Ready == 0 || f.End != message.WorkflowNone || f.Failure != "" || f.Abort.Why != "" {
			continue
		}
		if len(f.Shards) > 0 {
			m.placeShards(env, f)
			continue
		}
		if kept := cmp.Or(m.keptFor(env, f), alone); kept != "" && m.lone.workflow != f {
			m.lacks(env, f, kept, "submit it when that one has ended")
			continue
		}
		if !exclusive(f) || m.hasAll(env, f) {
			m.cut(env, f)
		}
		if exclusive(f) && f.End == message.WorkflowNone {
			alone = fmt.Sprintf("workflow %q to end, which runs alone", f.Plan.Name)
		}
	}
	return alone
}

// isReady says whether a workflow can start: all that it depends on are COMPLETED, all that it
// starts after have ended, and its delay since then is over. It sets Ready at that time, and
// fails a workflow that can never start.
func (m *workflows) isReady(env node.Env, f *subjob.Workflow) bool {
	if f.End != message.WorkflowNone {
		return false
	}
	if f.Ready != 0 {
		return true
	}
	for _, on := range f.Plan.Depends {
		other := f.Subjob.Workflows[on]
		if other.State.Terminal() && other.State != message.WorkflowCompleted {
			verb := "failed"
			if other.State == message.WorkflowCancelled {
				verb = "was cancelled"
			}
			m.endWorkflow(env, f, message.WorkflowFailed, fmt.Sprintf("dependency %q %s", other.Plan.Name, verb))
			return false
		}
		if other.State != message.WorkflowCompleted {
			return false
		}
	}
	for _, on := range f.Plan.StartAfter {
		if !f.Subjob.Workflows[on].State.Terminal() {
			return false
		}
	}
	if f == f.Subjob.After() && env.Now() < f.Subjob.Stop.Clear {
		m.wait(env, f, "workers that were lost to stop")
		m.wake(env, f.Subjob.Stop.Clear)
		return false
	}
	if begins := f.Unblocked().Add(f.Plan.StartDelay); env.Now() < begins {
		m.wait(env, f, "its start_delay of "+f.Plan.StartDelay.String()+" to pass")
		m.wake(env, begins)
		return false
	}
	f.Ready = env.Now()
	return true
}

// cut makes the shards of a workflow, one per worker, if there is room. It leaves their part to
// workflows of the job that may run beside it.
func (m *workflows) cut(env node.Env, f *subjob.Workflow) {
	if why := subjob.TooMuch(f.Subjob.Dispatch.Program, f.Given()); why != "" {
		m.endWorkflow(env, f, message.WorkflowFailed, why)
		return
	}
	workers := pool{m.roster}
	shared := workers.sharing(f.Subjob)
	room := workers.room(shared)
	var beside []*message.WorkflowPlan
	if room.Free+room.Seats+room.Shared > 0 { // else it waits, beside any others
		beside = f.Beside()
	}
	claim, fits := place.Divide(f.Plan, beside, room)
	if !fits {
		m.lacksRoom(env, f, claim, room)
		return
	}
	f.Waits = ""
	for i, c := range workers.choose(env.Rand(node.PurposePlacement), claim, f.Plan.VUs, shared) {
		f.Shards = append(f.Shards, &subjob.Shard{
			Workflow: f, ID: message.ShardID{Job: f.Subjob.Job, Workflow: f.Index, Ordinal: uint32(i)},
			Extent: subjob.Extent{VUs: c.VUs, First: c.First, Cores: c.Cores, Tenancy: claim.Tenancy}, Worker: c.Worker, State: message.WorkflowPending,
		})
	}
	for _, s := range f.Shards {
		m.assign(env, s, m.roster.Of(s.Worker))
	}
	m.commit(f.Subjob, tag{step: workflowCut, workflow: f})
}

// lacksRoom lets a workflow wait for cores, within a bound.
func (m *workflows) lacksRoom(env node.Env, f *subjob.Workflow, c place.Claim, room place.Room) {
	switch c.Tenancy {
	case message.TenancyMachine:
		m.lacks(env, f, fmt.Sprintf("all %d cores, %d are free", room.All, room.Free), "add workers, or take its priority out")
	case message.TenancyLight:
		m.lacks(env, f, fmt.Sprintf("a part of a core, all %d are taken", room.All), "add workers")
	default:
		m.lacks(env, f, fmt.Sprintf("%d cores, %d are free", c.Cores, room.Free), "add workers, or ask for fewer cores")
	}
}

// onCut dispatches the shards of a workflow whose cut is on a majority.
func (m *workflows) onCut(env node.Env, f *subjob.Workflow) {
	f.Cut = true
	m.figures.count(m.order) // before they report
	m.send(env, f, f.Shards...)
}

// lacks lets a workflow wait for something, within a bound. Time in which workers have too much to
// do does not count: they take shards again once they have less.
func (m *workflows) lacks(env node.Env, f *subjob.Workflow, what, remedy string) {
	if n := m.roster.Loaded(); n > 0 {
		what += fmt.Sprintf("; %d workers have too much to do to take any", n)
	}
	m.wait(env, f, "it waits for "+what)
	if env.Now().Sub(max(f.Ready, m.loaded)) >= m.config.DispatchTimeout {
		m.giveUp(env, f, fmt.Sprintf("it waited %v for %s: %s", m.config.DispatchTimeout, what, remedy))
	}
}

// giveUp ends a workflow that was never cut: it records the end as that of one shard.
func (m *workflows) giveUp(env node.Env, f *subjob.Workflow, why string) {
	s := &subjob.Shard{Workflow: f, ID: message.ShardID{Job: f.Subjob.Job, Workflow: f.Index}, Extent: subjob.Extent{VUs: f.Plan.VUs}, State: message.WorkflowPending}
	f.Shards = []*subjob.Shard{s}
	m.endShard(env, s, message.WorkflowFailed, why)
}

// wait shows the gate what a workflow waits for.
func (m *attempts) wait(env node.Env, f *subjob.Workflow, why string) {
	if f.Waits != why {
		f.Waits = why
		f.Subjob.Moved = true
		m.touch(env, f.Subjob)
	}
}

// placeShards dispatches lost and refused shards again.
func (m *workflows) placeShards(env node.Env, f *subjob.Workflow) {
	may, asked := false, false
	for _, s := range f.Waiting() {
		if s.State != message.WorkflowPending || s.End != message.WorkflowNone || s.Open || s.Commit != subjob.Settled || env.Now() < s.NotBefore {
			continue
		}
		if !asked {
			may, asked = m.may(env, f), true
		}
		var w *roster.Worker
		if may {
			w = pool{m.roster}.another(env.Rand(node.PurposePlacement), s, env.Now().Sub(s.NotBefore) >= m.config.Silence)
		}
		if w != nil {
			if f.Plan.Cores == 0 && (s.Tenancy == message.TenancyOwn || s.Tenancy == message.TenancyMachine) {
				s.Cores = min(s.Cores, w.Free())
			}
			m.assign(env, s, w)
			if f.Cut {
				m.pass(s)
			}
			continue
		}
		if s.Over(env.Now()) {
			s.Lost[len(s.Lost)-1].Unreplaced = true
			m.endShard(env, s, message.WorkflowCompleted, "")
			continue
		}
		if env.Now().Sub(max(s.NotBefore, m.loaded)) >= m.config.DispatchTimeout {
			m.endShard(env, s, message.WorkflowFailed, fmt.Sprintf("it waited %v for %d cores: add workers", m.config.DispatchTimeout, s.Cores))
		}
	}
}

// onDispatchTimer places what can be placed now, and sets the timer for the rest.
func (m *workflows) onDispatchTimer(env node.Env) {
	m.nextTry = 0
	m.place(env) // it may set the timer for a delay
	next := m.nextTry
	for _, p := range m.order {
		for _, f := range p.Workflows {
			for _, s := range f.Waiting() {
				if s.State == message.WorkflowPending && s.NotBefore > env.Now() && (next == 0 || s.NotBefore < next) {
					next = s.NotBefore
				}
			}
		}
	}
	m.wake(env, next)
}

// pool chooses among the workers of a roster; it changes nothing.
type pool struct{ *roster.Roster }

// room sums what the workers have.
func (p pool) room(shared []place.Sharing) place.Room {
	var room place.Room
	room.Free, room.All = p.Ranking().Cores()
	room.Seats, _ = p.Seats().Cores()
	for _, s := range shared {
		room.Shared += uint64(s.Cores)
	}
	return room
}

// choose chooses the workers of a claim for which there is room.
func (p pool) choose(draw *node.Rand, c place.Claim, users uint64, shared []place.Sharing) []place.Shard {
	switch c.Tenancy {
	case message.TenancyLight:
		if w, ok := p.Seats().Again(draw, 1, nil, true); ok {
			return []place.Shard{{Worker: w, Cores: 1, VUs: users}}
		}
	case message.TenancyJob:
		return p.Ranking().Join(draw, c.Cores, users, shared)
	}
	return p.Ranking().Cut(draw, c.Cores, users)
}

// sharing lists the workers on which shards of a job share cores, and that can receive more.
func (p pool) sharing(of *subjob.Subjob) []place.Sharing {
	at := map[node.ID]int{}
	var list []place.Sharing
	for _, f := range of.Workflows {
		if len(f.Shards) == 0 || f.Shards[0].Tenancy != message.TenancyJob { // all of them have the same
			continue
		}
		for _, s := range f.Shards {
			if !s.Live() || !p.Ranking().Has(s.Worker) {
				continue
			}
			i, known := at[s.Worker]
			if !known {
				i = len(list)
				at[s.Worker], list = i, append(list, place.Sharing{Worker: s.Worker})
			}
			list[i].Cores, list[i].Executors = max(list[i].Cores, s.Cores), list[i].Executors+s.Cores
		}
	}
	return list
}

// another chooses a worker for a shard that was lost or refused, if there is one. A shard that
// has waited goes to any, also to one that failed it.
func (p pool) another(draw *node.Rand, s *subjob.Shard, waited bool) *roster.Worker {
	switch s.Tenancy {
	case message.TenancyMachine:
		return p.idle(s, waited)
	case message.TenancyLight:
		if id, ok := p.Seats().Again(draw, 1, s.Failed, waited); ok {
			return p.Of(id)
		}
	}
	if id, ok := p.Ranking().Again(draw, s.Need(), s.Failed, waited); ok {
		return p.Of(id)
	}
	if s.Tenancy == message.TenancyJob {
		for _, at := range p.sharing(s.Workflow.Subjob) {
			if at.Cores >= s.Cores && (waited || !slices.Contains(s.Failed, at.Worker)) {
				return p.Of(at.Worker)
			}
		}
	}
	return nil
}

// idle finds a worker for a shard that needs a whole one.
func (p pool) idle(s *subjob.Shard, waited bool) *roster.Worker {
	for _, w := range p.All() {
		if p.Ranking().Has(w.Peer.ID) && w.Free() == w.Total && w.Total >= s.Need() && (waited || !slices.Contains(s.Failed, w.Peer.ID)) {
			return w
		}
	}
	return nil
}
