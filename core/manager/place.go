package manager

import (
	"fmt"

	"hyperscale/core/manager/place"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// place gives cores to all that wait for them, oldest subjob first. The manager calls it
// whenever cores may be free.
func (m *workflows) place(env node.Env) {
	alone := m.runsAlone()
	for _, p := range m.order {
		if p.Missing > 0 || p.Result != nil || p.Dispatch == nil || !m.holds(env, p) {
			continue
		}
		m.close(env, p)
		if p.Stop.Decided == message.JobNone && p.Fresh(env.Now()) {
			alone = m.placeSubjob(env, p, alone)
		}
	}
}

// runsAlone finds a running workflow that excludes all others.
func (m *workflows) runsAlone() *subjob.Workflow {
	for _, p := range m.order {
		for _, f := range p.Workflows {
			if f.Plan != nil && f.Plan.Priority == message.PriorityExclusive && len(f.Shards) > 0 && f.End == message.WorkflowNone {
				return f
			}
		}
	}
	return nil
}

// close ends the wait for shards that a former holder dispatched: their workers have stopped
// them by now.
func (m *workflows) close(env node.Env, p *subjob.Subjob) {
	for _, f := range p.Workflows {
		for _, s := range f.Shards {
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

// placeSubjob returns the workflow that runs alone, or will; workflows after it wait.
func (m *workflows) placeSubjob(env node.Env, p *subjob.Subjob, alone *subjob.Workflow) *subjob.Workflow {
	waiting := 0
	for _, f := range p.Workflows {
		if m.isReady(env, f) && len(f.Shards) == 0 {
			waiting++
		}
	}
	for _, f := range p.Workflows {
		if f.Ready == 0 || f.End != message.WorkflowNone || f.Failure != "" || f.Abort != "" {
			continue
		}
		if len(f.Shards) > 0 {
			m.placeShards(env, f)
			continue
		}
		waiting--
		if alone != nil {
			m.lacks(env, f, fmt.Sprintf("workflow %q to end, which runs alone", alone.Plan.Name), "submit it when that one has ended")
			continue
		}
		m.cut(env, f, waiting+1)
		if f.Plan.Priority == message.PriorityExclusive && f.End == message.WorkflowNone {
			alone = f
		}
	}
	return alone
}

// isReady says whether a workflow can start: all that it depends on are COMPLETED, and all that
// it starts after have ended. It sets Ready at that time, and fails a workflow that can never
// start.
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
			m.endWorkflow(env, f, message.WorkflowFailed, fmt.Sprintf("dependency %q failed", other.Plan.Name))
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
	f.Ready = env.Now()
	return true
}

// cut makes the shards of a workflow, one per worker, if there are cores. It leaves waiting
// workflows their share of the free cores.
func (m *workflows) cut(env node.Env, f *subjob.Workflow, waiting int) {
	if why := subjob.TooMuch(f.Subjob.Dispatch.Program, f.Given()); why != "" {
		m.endWorkflow(env, f, message.WorkflowFailed, why)
		return
	}
	free, all := m.roster.Ranking().Cores()
	want := place.Wanted(f.Plan, free/uint64(max(1, waiting)), all)
	if f.Plan.Priority == message.PriorityExclusive && free < all {
		m.lacks(env, f, fmt.Sprintf("all %d cores, %d are free", all, free), "add workers, or take its priority out")
		return
	}
	if free < want {
		m.lacks(env, f, fmt.Sprintf("%d cores, %d are free", want, free), "add workers, or ask for fewer cores")
		return
	}
	f.Waits = ""
	for i, c := range m.roster.Ranking().Cut(env.Rand(node.PurposePlacement), want, f.Plan.VUs) {
		s := &subjob.Shard{
			Workflow: f, ID: message.ShardID{Job: f.Subjob.Job, Workflow: f.Index, Ordinal: uint32(i)},
			VUs: c.VUs, First: c.First, Cores: c.Cores, Worker: c.Worker, State: message.WorkflowPending,
		}
		f.Shards = append(f.Shards, s)
	}
	for _, s := range f.Shards {
		m.assign(env, s, m.roster.Of(s.Worker))
	}
	m.commit(f.Subjob, tag{step: workflowCut, workflow: f})
}

// onCut dispatches the shards of a workflow whose cut is on a majority.
func (m *workflows) onCut(env node.Env, f *subjob.Workflow) {
	f.Cut = true
	for _, s := range f.Shards {
		m.dispatch(env, s)
	}
}

// lacks lets a workflow wait for something, within a bound.
func (m *workflows) lacks(env node.Env, f *subjob.Workflow, what, remedy string) {
	m.wait(env, f, "it waits for "+what)
	if env.Now().Sub(f.Ready) >= m.config.DispatchTimeout {
		m.giveUp(env, f, fmt.Sprintf("it waited %v for %s: %s", m.config.DispatchTimeout, what, remedy))
	}
}

// giveUp ends a workflow that was never cut: it records the end as that of one shard.
func (m *workflows) giveUp(env node.Env, f *subjob.Workflow, why string) {
	s := &subjob.Shard{Workflow: f, ID: message.ShardID{Job: f.Subjob.Job, Workflow: f.Index}, VUs: f.Plan.VUs, State: message.WorkflowPending}
	f.Shards = []*subjob.Shard{s}
	m.endShard(env, s, message.WorkflowFailed, why)
}

// wait shows the gate what a workflow waits for.
func (m *workflows) wait(env node.Env, f *subjob.Workflow, why string) {
	if f.Waits != why {
		f.Waits = why
		m.touch(env, f.Subjob)
	}
}

// placeShards dispatches lost and refused shards again.
func (m *workflows) placeShards(env node.Env, f *subjob.Workflow) {
	for _, s := range f.Shards {
		if s.State != message.WorkflowPending || s.End != message.WorkflowNone || s.Open || s.Commit != subjob.Settled || env.Now() < s.NotBefore {
			continue
		}
		w := m.another(env, s)
		if w != nil {
			if f.Plan.Cores == 0 {
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
		if env.Now().Sub(s.NotBefore) >= m.config.DispatchTimeout {
			m.endShard(env, s, message.WorkflowFailed, fmt.Sprintf("it waited %v for %d cores: add workers", m.config.DispatchTimeout, s.Cores))
		}
	}
}

// onDispatchTimer places what can be placed now, and sets the timer for the rest.
func (m *workflows) onDispatchTimer(env node.Env) {
	m.nextTry = 0
	m.place(env)
	var next node.Instant
	for _, p := range m.order {
		for _, f := range p.Workflows {
			for _, s := range f.Shards {
				if s.State == message.WorkflowPending && s.NotBefore > env.Now() && (next == 0 || s.NotBefore < next) {
					next = s.NotBefore
				}
			}
		}
	}
	m.wake(env, next)
}
