package manager

import (
	"errors"
	"fmt"
	"strings"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

var errRecord = errors.New("it holds something else than its key says")

// load rebuilds what the last incarnation left. A slice that was dispatched is
// taken to be with its worker: the worker's heartbeat confirms it, or the same
// dispatch, sent again, starts it or is refused; one whose worker stays away is
// lost like any other.
func (m *Machine) load(env node.Env) bool {
	steps := []struct {
		prefix string
		take   func(node.Env, node.Record) error
	}{
		{prefixDone, m.loadDone}, {prefixPart, m.loadPart}, {prefixMeta, m.loadMeta},
		{prefixSlice, m.loadSlice}, {prefixResult, m.loadResult},
	}
	for _, step := range steps {
		for _, r := range env.Store().Load(step.prefix) {
			if err := step.take(env, r); err != nil {
				env.Halt(fmt.Sprintf("the record %s of the store cannot be read (%v): restore the directory of --data, or empty it and lose the jobs of this manager", r.Key, err))
				return false
			}
		}
	}
	m.loading = true
	for _, p := range m.order {
		if !p.recorded {
			m.resume(env, p)
		}
	}
	m.loading = false
	return true
}

func (m *Machine) loadDone(env node.Env, r node.Record) error {
	d := decoder{bytes: r.Value}
	gate := node.ID(d.text())
	body, err := message.Decode(d.bytes)
	if err != nil {
		return err
	}
	result, ok := body.(*message.PartResult)
	if !ok || prefixDone+result.Job.String() != r.Key {
		return errRecord
	}
	p := &part{job: result.Job, fence: result.Fence, gate: gate, state: result.Part.State, result: result, recorded: true, finished: env.Now()}
	m.parts[p.job] = p
	m.order = append(m.order, p)
	return nil
}

func (m *Machine) loadPart(env node.Env, r node.Record) error {
	body, err := message.Decode(r.Value)
	if err != nil {
		return err
	}
	d, ok := body.(*message.JobDispatch)
	if !ok || prefixPart+d.Job.String() != r.Key || m.parts[d.Job] != nil {
		return errRecord
	}
	p := &part{job: d.Job, fence: d.Fence, dispatch: d, state: message.JobQueued, accepted: env.Now()}
	m.parts[p.job] = p
	m.order = append(m.order, p)
	m.unfold(env, p)
	for _, f := range p.workflows {
		f.state = message.WorkflowPending
	}
	return nil
}

func (m *Machine) loadMeta(_ node.Env, r node.Record) error {
	id, err := message.ParseJobID(strings.TrimPrefix(r.Key, prefixMeta))
	p := m.parts[id]
	if err != nil || p == nil || p.recorded {
		return errRecord
	}
	d := decoder{bytes: r.Value}
	p.gate, p.asked, p.why = node.ID(d.text()), message.JobState(d.number()), d.text()
	p.stop = p.asked
	if d.bad {
		return errRecord
	}
	if p.stop == message.JobCancelled {
		p.state = message.JobCancelling
	}
	return nil
}

// loadSlice clears away what a superseded part wrote while its successor was
// being written.
func (m *Machine) loadSlice(env node.Env, r node.Record) error {
	job, rest, _ := strings.Cut(strings.TrimPrefix(r.Key, prefixSlice), "/")
	id := message.SliceID{}
	var err error
	if id.Job, err = message.ParseJobID(job); err == nil {
		_, err = fmt.Sscanf(rest, "%d/%d", &id.Workflow, &id.Ordinal)
	}
	p := m.parts[id.Job]
	if err != nil {
		return errRecord
	}
	if p == nil || int(id.Workflow) >= len(p.workflows) {
		m.clear(env, r.Key)
		return nil
	}
	f := p.workflows[id.Workflow]
	d := decoder{bytes: r.Value}
	s, fence := d.slice(id, f)
	if d.bad || id.Ordinal >= coresMax {
		return errRecord
	}
	if fence != p.fence {
		m.clear(env, r.Key)
		return nil
	}
	for int(id.Ordinal) >= len(f.slices) {
		f.slices = append(f.slices, nil)
	}
	if s.state == message.WorkflowRunning {
		s.state = message.WorkflowAssigned
	}
	s.notBefore = env.Now() // it waits from here on
	f.slices[id.Ordinal] = s
	f.kept, f.ready, f.started = true, env.Now(), env.Now()
	if s.live() {
		w := m.known(s.worker)
		w.slices[s.id] = s
		m.heard(env, w)
	}
	return nil
}

func (m *Machine) loadResult(env node.Env, r node.Record) error {
	body, err := message.Decode(r.Value)
	if err != nil {
		return err
	}
	result, ok := body.(*message.SliceResult)
	if !ok || keyOf(prefixResult, result.Slice) != r.Key {
		return errRecord
	}
	s := m.sliceOf(result.Slice)
	if s == nil || s.fence() != result.Fence {
		m.clear(env, r.Key)
		return nil
	}
	m.detach(s)
	s.result, s.state, s.why = result, result.State, result.Error
	m.tellCounted(env, s) // it cannot know whether anybody heard of it
	return nil
}

func (m *Machine) clear(env node.Env, key string) {
	m.put(env, write{what: "removal of " + key}, node.Record{Key: key})
}

// resume goes on with a part where its records stop.
func (m *Machine) resume(env node.Env, p *part) {
	for _, f := range p.workflows {
		for i, s := range f.slices {
			if s == nil {
				node.Bug("part %v: the record of slice %d/%d is gone", p.job, f.index, i)
			}
			switch {
			case s.result != nil:
				f.state = message.WorkflowRunning
			case s.live() && f.state == message.WorkflowPending:
				f.state = message.WorkflowAssigned
			}
			if s.state == message.WorkflowFailed && f.failure == "" {
				f.failure = s.why
			}
			if p.state == message.JobQueued {
				p.state = message.JobDispatching
			}
			if s.result != nil && p.state == message.JobDispatching {
				p.state = message.JobRunning
			}
		}
	}
	for _, f := range p.workflows {
		if len(f.slices) > 0 && !f.state.Terminal() {
			m.endWhenAllEnded(env, f)
		}
		if !f.state.Terminal() && f.stopping() {
			m.resumeStop(env, f)
		}
	}
}

func (m *Machine) resumeStop(env node.Env, f *workflow) {
	if len(f.slices) == 0 {
		m.endWorkflow(env, f, endOf(f.part.stop), f.part.why)
		return
	}
	m.stopSlices(env, f, endOf(f.part.stop))
}
