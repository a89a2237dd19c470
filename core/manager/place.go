package manager

import (
	"cmp"
	"fmt"
	"math"
	"slices"

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
	if why := tooMuch(f.subjob.dispatch.Program, f.subjob.given(f.index)); why != "" {
		m.endWorkflow(env, f, message.WorkflowFailed, why)
		return
	}
	var free, all uint64
	ranked := m.able(nil)
	for _, w := range ranked {
		free += uint64(w.cores)
		all += uint64(w.total)
	}
	want := m.wanted(f, free/uint64(max(1, waiting)), all)
	if f.plan.Priority == message.PriorityExclusive && free < all {
		m.lacks(env, f, fmt.Sprintf("all %d cores, %d are free", all, free), "add workers, or take its priority out")
		return
	}
	if free < want {
		m.lacks(env, f, fmt.Sprintf("%d cores, %d are free", want, free), "add workers, or ask for fewer cores")
		return
	}
	f.waits = ""
	total, share, rest := want, f.plan.VUs/want, f.plan.VUs%want
	var first uint64
	var chosen []node.ID
	for want > 0 {
		at := choose(env, ranked)
		w := ranked[at]
		ranked = slices.Delete(ranked, at, at+1)
		cores := min(want, uint64(w.cores))
		want -= cores
		s := &shard{
			workflow: f, id: message.ShardID{Job: f.subjob.job, Workflow: f.index, Ordinal: uint32(len(f.shards))},
			vus: share*cores + rest*cores/total, first: first, cores: uint32(cores), state: message.WorkflowPending,
		}
		if want == 0 {
			s.vus = f.plan.VUs - first
		}
		first += s.vus
		f.shards = append(f.shards, s)
		chosen = append(chosen, w.peer.ID)
	}
	for i, s := range f.shards {
		m.assign(env, s, m.workers[chosen[i]])
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

// placeSlices dispatches again what was lost or refused. It looks for workers with as
// many free cores only until there was none: to dispatch frees no cores.
func (m *Machine) placeShards(env node.Env, f *workflow) {
	tooMany := uint32(math.MaxUint32) // cores that no worker has free
	for _, s := range f.shards {
		if s.state != message.WorkflowPending || s.end != message.WorkflowNone || s.open || s.losing || s.counting || env.Now() < s.notBefore {
			continue
		}
		var w *worker
		if s.need() < tooMany {
			w = m.another(env, s)
		}
		if w == nil && len(s.failed) == 0 {
			tooMany = min(tooMany, s.need())
		}
		if w != nil {
			if f.plan.Cores == 0 {
				s.cores = min(s.cores, w.free())
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

// another chooses a worker that has not failed this shard while there is one, busy
// or not; when it has waited for longer than a worker may be silent, any will do. A
// shard whose cores were not asked for takes fewer.
func (m *Machine) another(env node.Env, s *shard) *worker {
	need := s.need()
	var fit []candidate
	others := false
	for _, w := range m.able(s.failed) {
		others = true
		if w.cores >= need {
			fit = append(fit, w)
		}
	}
	if len(fit) == 0 && (!others || env.Now().Sub(s.notBefore) >= m.config.Silence) {
		for _, w := range m.able(nil) {
			if w.cores >= need {
				fit = append(fit, w)
			}
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return fit[choose(env, fit)].worker
}

// candidate is a worker that can be given something, and its free cores.
type candidate struct {
	*worker
	cores uint32
}

// able ranks the workers that can be given something, but for some: those with the most
// free cores first.
func (m *Machine) able(but []node.ID) []candidate {
	list := make([]candidate, 0, len(m.workers))
	//lint:orderfree the rank is total
	for id, w := range m.workers {
		if w.registered && w.stream != 0 && !w.draining && !w.suspect && !slices.Contains(but, id) {
			list = append(list, candidate{w, w.free()})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		if a.cores != b.cores {
			return cmp.Compare(b.cores, a.cores)
		}
		return cmp.Compare(a.peer.ID, b.peer.ID)
	})
	return list
}

// choose returns the index of a ranked worker. It takes the better half, and of two
// random ones of it the better one: near the best without every manager choosing the same.
func choose(env node.Env, ranked []candidate) int {
	half := (len(ranked) + 1) / 2
	for half > 1 && ranked[half-1].cores == 0 {
		half--
	}
	if half == 1 {
		return 0
	}
	r := env.Rand(node.PurposePlacement)
	return min(r.Int(half), r.Int(half))
}
