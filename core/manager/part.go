package manager

import (
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	plan "hyperscale/core/workflow"
)

const (
	workflowsMax = 1024
	coresMax     = 1 << 16 // of one workflow
)

func (m *Machine) onJobDispatch(env node.Env, g *gate, d *message.JobDispatch) {
	high, known := m.high(d.Job)
	switch {
	case known && d.Fence.Less(high):
		m.refuseStale(env, g, d.Job, d.Fence, high, "dispatch")
		return
	case known && d.Fence == high:
		m.again(env, g, d.Job)
		return
	}
	if len(m.parts) >= m.config.PartsMax+m.config.FinishedMax {
		m.reap(env)
	}
	if code, why := m.unfit(d); code != message.CodeNone {
		m.refuse(env, g, d, code, why)
		return
	}
	p := &part{job: d.Job, fence: d.Fence, gate: g.peer.ID, dispatch: d}
	m.incoming[d.Job] = p
	m.writePart(env, p, func(env node.Env, err error) { m.onPartStored(env, p, err) })
}

// high is the highest fence seen of a job, on disk or on its way there.
func (m *Machine) high(id message.JobID) (message.Fence, bool) {
	if p := m.incoming[id]; p != nil {
		return p.fence, true
	}
	if p := m.parts[id]; p != nil {
		return p.fence, true
	}
	return message.Fence{}, false
}

func (m *Machine) unfit(d *message.JobDispatch) (message.Code, string) {
	switch {
	case m.draining:
		return message.CodeDraining, "this manager is being stopped"
	case m.unfinished() >= m.config.PartsMax:
		return message.CodeQueueFull, fmt.Sprintf("%d jobs are under way here, which is the bound", m.config.PartsMax)
	}
	if why := badPlan(d); why != "" {
		return message.CodeBadPlan, why
	}
	return message.CodeNone, ""
}

func (m *Machine) unfinished() int {
	n := len(m.incoming)
	for _, p := range m.order {
		if !p.acked {
			n++
		}
	}
	return n
}

// badPlan says what of a plan cannot be run, so that nothing below has to ask.
func badPlan(d *message.JobDispatch) string {
	switch {
	case d.Fence.Job == 0 || d.Fence.Manager == 0 || d.Fence.Attempt != 0:
		return fmt.Sprintf("fence = %v is none of a part: its epochs begin at 1, its attempt is 0", d.Fence)
	case len(d.Plan.Workflows) == 0 || len(d.Plan.Workflows) > workflowsMax:
		return fmt.Sprintf("plan.workflows has %d workflows, must have 1 to %d", len(d.Plan.Workflows), workflowsMax)
	case d.RunTimeout <= 0:
		return fmt.Sprintf("run_timeout = %v must be above zero", d.RunTimeout)
	}
	for i := range d.Plan.Workflows {
		f := &d.Plan.Workflows[i]
		if f.VUs == 0 || f.Duration < 0 || f.Timeout <= 0 || f.Cores > coresMax {
			return fmt.Sprintf("workflow %q: vus = %d, duration = %v, timeout = %v, cores = %d are out of bounds", f.Name, f.VUs, f.Duration, f.Timeout, f.Cores)
		}
		for _, on := range f.Depends {
			if int(on) >= len(d.Plan.Workflows) || d.Plan.Workflows[on].Layer >= f.Layer {
				return fmt.Sprintf("workflow %q: it depends on number %d, which is in no layer before its own", f.Name, on)
			}
		}
	}
	return ""
}

func (m *Machine) refuse(env node.Env, g *gate, d *message.JobDispatch, code message.Code, why string) {
	env.Emit(event.Shed{What: "dispatch of job " + d.Job.String(), Why: why})
	env.Send(g.stream, &message.JobRefused{Job: d.Job, Fence: d.Fence, Code: code, Detail: why})
}

func (m *Machine) refuseStale(env node.Env, g *gate, id message.JobID, got, current message.Fence, what string) {
	env.Emit(event.FenceRefused{Slice: message.SliceID{Job: id}, Part: true, Got: got, Current: current, What: what})
	env.Send(g.stream, &message.JobRefused{Job: id, Fence: got, Code: message.CodeStaleFence, Detail: "a higher fence was seen", Current: current})
}

// again answers a dispatch that was seen before.
func (m *Machine) again(env node.Env, g *gate, id message.JobID) {
	if m.incoming[id] != nil {
		return // the answer follows when it is on disk
	}
	p := m.parts[id]
	p.gate = g.peer.ID
	env.Send(g.stream, &message.JobAccepted{Job: id, Fence: p.fence})
	if p.recorded {
		env.Send(g.stream, p.result)
	}
}

func (m *Machine) onPartStored(env node.Env, p *part, err error) {
	if m.incoming[p.job] != p {
		return // a higher fence came meanwhile, and its record follows this one
	}
	delete(m.incoming, p.job)
	if err != nil {
		if g := m.gateBy(p.gate); g != nil {
			m.refuse(env, g, p.dispatch, message.CodeStoreFull, "keep the part: "+err.Error())
		}
		return
	}
	m.install(env, p)
	env.Emit(event.Acted{Slice: message.SliceID{Job: p.job}, Part: true, Fence: p.fence, What: "dispatch"})
	m.becomePart(env, p, message.JobSubmitted, "")
	m.becomePart(env, p, message.JobQueued, "")
	if g := m.gateBy(p.gate); g != nil {
		env.Send(g.stream, &message.JobAccepted{Job: p.job, Fence: p.fence})
	}
	for _, f := range p.workflows {
		m.becomeWorkflow(env, f, message.WorkflowPending, "")
	}
	if p.asked != message.JobNone { // while it was being written
		env.Emit(event.Acted{Slice: message.SliceID{Job: p.job}, Part: true, Fence: p.fence, What: "cancel"})
		m.stopPart(env, p)
		return
	}
	m.place(env)
}

// install puts a part in the place of the one with a lower fence, whose slices
// are cancelled.
func (m *Machine) install(env node.Env, p *part) {
	if old := m.parts[p.job]; old != nil {
		m.retire(env, old, "superseded by fence "+p.fence.String())
	}
	m.parts[p.job] = p
	m.order = append(m.order, p)
	p.accepted = env.Now()
	if p.dispatch != nil {
		m.unfold(env, p)
	}
}

// unfold makes the workflows of a part's plan.
func (m *Machine) unfold(env node.Env, p *part) {
	p.digest = plan.Digest(&p.dispatch.Plan)
	for i := range p.dispatch.Plan.Workflows {
		p.workflows = append(p.workflows, &workflow{part: p, index: uint32(i), plan: &p.dispatch.Plan.Workflows[i]})
	}
	env.SetTimer(node.KeyID(node.PartManager, node.ManagerJob, p.job), p.dispatch.RunTimeout)
}

// retire takes a part out without a result: another stands in its place.
func (m *Machine) retire(env node.Env, p *part, why string) {
	for _, f := range p.workflows {
		for _, s := range f.slices {
			if !s.live() {
				continue
			}
			if w := m.detach(s); w != nil && s.written {
				env.Send(w.stream, &message.SliceCancel{Slice: s.id, Fence: s.fence(), State: message.WorkflowCancelled, Reason: why})
			}
		}
	}
	if !p.state.Terminal() && p.state != message.JobCompleting {
		if p.state != message.JobCancelling {
			m.becomePart(env, p, message.JobCancelling, why)
		}
		m.becomePart(env, p, message.JobCancelled, why)
	}
	m.order = slices.DeleteFunc(m.order, func(o *part) bool { return o == p })
	delete(m.parts, p.job)
	env.CancelTimer(node.KeyID(node.PartManager, node.ManagerJob, p.job))
}

// detach takes a slice off its worker, which it returns if it can be told.
func (m *Machine) detach(s *slice) *worker {
	w := m.workers[s.worker]
	if w == nil {
		return nil
	}
	if w.slices[s.id] == s {
		delete(w.slices, s.id)
	}
	if w.stream == 0 {
		return nil
	}
	return w
}
