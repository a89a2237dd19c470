package manager

import (
	"fmt"
	"slices"

	"hyperscale/core/manager/place"
	"hyperscale/core/manager/roster"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// place gives cores to whatever waits for them, oldest subjob first. It is called
// whenever cores may have come free.
func (m *Machine) place(env node.Env) {
	alone := m.runsAlone()
	for _, p := range slices.Clone(m.order) {
		if p.missing > 0 || p.result != nil || p.dispatch == nil || !m.holds(env, p) {
			continue
		}
		m.close(env, p)
		if p.asked == message.JobNone && fresh(env, p) {
			alone = m.placeSubjob(env, p, alone)
		}
	}
}

// runsAlone finds a workflow under way that wants no other beside it.
func (m *Machine) runsAlone() *workflow {
	for _, p := range m.order {
		for _, f := range p.workflows {
			if f.plan != nil && f.plan.Priority == message.PriorityExclusive && len(f.shards) > 0 && f.end == message.WorkflowNone {
				return f
			}
		}
	}
	return nil
}

// close ends the time in which shards that a former holder dispatched are waited
// for: by now their workers have stopped them by themselves.
func (m *Machine) close(env node.Env, p *subjob) {
	for _, f := range p.workflows {
		for _, s := range f.shards {
			if !s.open || s.counting || s.state != message.WorkflowPending || env.Now() < s.notBefore {
				continue
			}
			s.open = false
			if f.stopping() {
				m.endShard(env, s, endOf(p.stop), "nobody reports that it runs")
			}
		}
	}
}

// placePart returns the workflow that runs alone or will: who is asked behind it
// waits.
func (m *Machine) placeSubjob(env node.Env, p *subjob, alone *workflow) *workflow {
	waiting := 0
	for _, f := range p.workflows {
		if m.isReady(env, f) && len(f.shards) == 0 {
			waiting++
		}
	}
	for _, f := range p.workflows {
		if f.ready == 0 || f.end != message.WorkflowNone || f.failure != "" || f.abort != "" {
			continue
		}
		if len(f.shards) > 0 {
			m.placeShards(env, f)
			continue
		}
		waiting--
		if alone != nil {
			m.lacks(env, f, fmt.Sprintf("workflow %q to end, which runs alone", alone.plan.Name), "submit it when that one has ended")
			continue
		}
		m.cut(env, f, waiting+1)
		if f.plan.Priority == message.PriorityExclusive && f.end == message.WorkflowNone {
			alone = f
		}
	}
	return alone
}

// isReady says that all that a workflow depends on is COMPLETED, and all that it
// starts after has ended, and notes since when. One that can never become ready
// fails.
func (m *Machine) isReady(env node.Env, f *workflow) bool {
	if f.end != message.WorkflowNone {
		return false
	}
	if f.ready != 0 {
		return true
	}
	for _, on := range f.plan.Depends {
		other := f.subjob.workflows[on]
		if other.state.Terminal() && other.state != message.WorkflowCompleted {
			m.endWorkflow(env, f, message.WorkflowFailed, fmt.Sprintf("dependency %q failed", other.plan.Name))
			return false
		}
		if other.state != message.WorkflowCompleted {
			return false
		}
	}
	for _, on := range f.plan.StartAfter {
		if !f.subjob.workflows[on].state.Terminal() {
			return false
		}
	}
	f.ready = env.Now()
	return true
}

// cut makes the shards of a workflow, one a worker, if there are cores. Of those
// that are free, workflows that wait beside it get their share too.
func (m *Machine) cut(env node.Env, f *workflow, waiting int) {
	if why := tooMuch(f.subjob.dispatch.Program, f.given()); why != "" {
		m.endWorkflow(env, f, message.WorkflowFailed, why)
		return
	}
	free, all := m.roster.Ranking().Cores()
	want := place.Wanted(f.plan, free/uint64(max(1, waiting)), all)
	if f.plan.Priority == message.PriorityExclusive && free < all {
		m.lacks(env, f, fmt.Sprintf("all %d cores, %d are free", all, free), "add workers, or take its priority out")
		return
	}
	if free < want {
		m.lacks(env, f, fmt.Sprintf("%d cores, %d are free", want, free), "add workers, or ask for fewer cores")
		return
	}
	f.waits = ""
	for i, c := range m.roster.Ranking().Cut(env.Rand(node.PurposePlacement), want, f.plan.VUs) {
		s := &shard{
			workflow: f, id: message.ShardID{Job: f.subjob.job, Workflow: f.index, Ordinal: uint32(i)},
			vus: c.VUs, first: c.First, cores: c.Cores, worker: c.Worker, state: message.WorkflowPending,
		}
		f.shards = append(f.shards, s)
	}
	for _, s := range f.shards {
		m.assign(env, s, m.roster.Of(s.worker))
	}
	list := slices.Clone(f.shards)
	m.commit(env, f.subjob, func(env node.Env) {
		f.cut = true
		for _, s := range list {
			m.onCut(env, s)
		}
	})
}

// lacks lets a workflow wait for something, but not for ever.
func (m *Machine) lacks(env node.Env, f *workflow, what, remedy string) {
	m.wait(env, f, "it waits for "+what)
	if env.Now().Sub(f.ready) >= m.config.DispatchTimeout {
		m.giveUp(env, f, fmt.Sprintf("it waited %v for %s: %s", m.config.DispatchTimeout, what, remedy))
	}
}

// giveUp ends a workflow that was never cut: as one shard, whose end is kept.
func (m *Machine) giveUp(env node.Env, f *workflow, why string) {
	s := &shard{workflow: f, id: message.ShardID{Job: f.subjob.job, Workflow: f.index}, vus: f.plan.VUs, state: message.WorkflowPending}
	f.shards = []*shard{s}
	m.endShard(env, s, message.WorkflowFailed, why)
}

// wait tells the gate what a workflow waits for.
func (m *Machine) wait(env node.Env, f *workflow, why string) {
	if f.waits != why {
		f.waits = why
		m.touch(env, f.subjob)
	}
}

// need is how many cores a worker must have free: one where the plan names none.
func (s *shard) need() uint32 {
	if s.workflow.plan.Cores == 0 {
		return 1
	}
	return s.cores
}

// placeShards dispatches again what was lost or refused.
func (m *Machine) placeShards(env node.Env, f *workflow) {
	for _, s := range f.shards {
		if s.state != message.WorkflowPending || s.end != message.WorkflowNone || s.open || s.losing || s.counting || env.Now() < s.notBefore {
			continue
		}
		w := m.another(env, s)
		if w != nil {
			if f.plan.Cores == 0 {
				s.cores = min(s.cores, w.Free())
			}
			m.assign(env, s, w)
			if f.cut {
				m.pass(env, s)
			}
			continue
		}
		if env.Now().Sub(s.notBefore) >= m.config.DispatchTimeout {
			m.endShard(env, s, message.WorkflowFailed, fmt.Sprintf("it waited %v for %d cores: add workers", m.config.DispatchTimeout, s.cores))
		}
	}
}

// pass sends an attempt once a majority knows that what a former holder may have
// dispatched is given up: its worker has stopped it, and whoever takes the subjob
// over must not count it beside this one.
func (m *Machine) pass(env node.Env, s *shard) {
	if s.floor.JobEpoch == s.fence.JobEpoch && s.floor.SubjobEpoch == s.fence.SubjobEpoch {
		m.onCut(env, s)
		return
	}
	s.floor = s.fence
	s.floor.Attempt--
	m.commit(env, s.workflow.subjob, func(env node.Env) { m.onCut(env, s) })
}

// another chooses a worker for a shard that was lost or refused, if there is one.
func (m *Machine) another(env node.Env, s *shard) *roster.Worker {
	waited := env.Now().Sub(s.notBefore) >= m.config.Silence
	if id, ok := m.roster.Ranking().Again(env.Rand(node.PurposePlacement), s.need(), s.failed, waited); ok {
		return m.roster.Of(id)
	}
	return nil
}
