package manager

import (
	"cmp"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// onPush tells gates of the subjobs that moved since the last time.
func (m *Machine) onPush(env node.Env) {
	m.pushing = false
	for _, p := range m.order {
		if !p.Dirty || p.Result != nil || p.Missing > 0 || !m.holds(env, p) {
			continue
		}
		l := m.gates.To(p.Gate)
		if l == nil || !l.Stands {
			continue // the next push after it is back
		}
		p.Dirty = false
		p.Sequence++
		out := &message.JobProgress{
			Job: p.Job, Fence: p.Fence, Subjob: m.snapshot(env, p),
			// Whoever takes over goes on above what was told before.
			Sequence: p.Fence.SubjobEpoch<<24 + p.Sequence,
		}
		subjob.Fit(&out.Subjob, out.Size)
		if message.HeaderSize+out.Size() > message.FrameMax {
			subjob.Slim(&out.Subjob, out.Size)
		}
		env.Send(l.Stream, out)
	}
	for _, p := range m.order {
		if p.Dirty && p.Result == nil && !m.pushing {
			m.pushing = true
			env.SetTimer(node.Key(node.PartManager, node.ManagerPush), m.config.ProgressInterval)
		}
	}
}

// snapshot tells where a subjob stands: results where there are some, else the
// last progress of the current attempt.
func (m *Machine) snapshot(env node.Env, p *subjob.Subjob) message.DatacenterResult {
	out := message.DatacenterResult{Name: m.config.Datacenter, State: p.State, Error: p.Why, Duration: env.Now().Sub(p.Accepted)}
	for _, f := range p.Workflows {
		w := message.WorkflowResult{Name: f.Plan.Name, State: f.State, Error: f.Failure, VUs: f.Plan.VUs, Duration: f.Duration(env.Now()), Burned: f.Burned}
		if f.State.Terminal() {
			w.Stats = f.Stats
		} else {
			w.Stats = m.sum(env, f)
			w.Error = cmp.Or(w.Error, f.Waits)
		}
		for _, s := range f.Shards {
			w.Cores += s.Cores
			w.Lost = append(w.Lost, s.Lost...)
		}
		out.Workflows = append(out.Workflows, w)
	}
	out.Workers = m.workerShares(p, out.Workflows)
	return out
}

func (m *Machine) sum(env node.Env, f *subjob.Workflow) message.Stats {
	var subjobs []*message.Stats
	for _, s := range f.Shards {
		subjobs = append(subjobs, s.Figures()) // of nil nothing is counted
	}
	sum, err := stats.Sum(subjobs)
	if err != nil {
		env.Emit(event.Ignored{Peer: env.Self().ID, Message: "ShardProgress", Why: err.Error()})
		return message.Stats{}
	}
	return sum
}
