package manager

import (
	"cmp"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// onPush tells gates of the subjobs that moved since the last time.
func (m *Machine) onPush(env node.Env) {
	m.pushing = false
	for _, p := range m.order {
		if !p.dirty || p.result != nil || p.missing > 0 || !m.holds(env, p) {
			continue
		}
		l := m.gates.To(p.gate)
		if l == nil || !l.Stands {
			continue // the next push after it is back
		}
		p.dirty = false
		p.sequence++
		out := &message.JobProgress{
			Job: p.job, Fence: p.fence, Subjob: m.snapshot(env, p),
			// Whoever takes over goes on above what was told before.
			Sequence: p.fence.SubjobEpoch<<24 + p.sequence,
		}
		fit(&out.Subjob, out.Size)
		if message.HeaderSize+out.Size() > message.FrameMax {
			slim(&out.Subjob, out.Size)
		}
		env.Send(l.Stream, out)
	}
	for _, p := range m.order {
		if p.dirty && p.result == nil && !m.pushing {
			m.pushing = true
			env.SetTimer(node.Key(node.PartManager, node.ManagerPush), m.config.ProgressInterval)
		}
	}
}

// snapshot tells where a subjob stands: results where there are some, else the
// last progress of the current attempt.
func (m *Machine) snapshot(env node.Env, p *subjob) message.DatacenterResult {
	out := message.DatacenterResult{Name: m.config.Datacenter, State: p.state, Error: p.why, Duration: env.Now().Sub(p.accepted)}
	for _, f := range p.workflows {
		w := message.WorkflowResult{Name: f.plan.Name, State: f.state, Error: f.failure, VUs: f.plan.VUs, Duration: f.duration(env.Now()), Burned: f.burned}
		if f.state.Terminal() {
			w.Stats = f.stats
		} else {
			w.Stats = m.sum(env, f)
			w.Error = cmp.Or(w.Error, f.waits)
		}
		for _, s := range f.shards {
			w.Cores += s.cores
			w.Lost = append(w.Lost, s.lost...)
		}
		out.Workflows = append(out.Workflows, w)
	}
	out.Workers = m.workerShares(p, out.Workflows)
	return out
}

func (f *workflow) duration(now node.Instant) time.Duration {
	switch {
	case f.started == 0:
		return 0
	case f.ended != 0:
		return f.ended.Sub(f.started)
	}
	return now.Sub(f.started)
}

func (m *Machine) sum(env node.Env, f *workflow) message.Stats {
	var subjobs []*message.Stats
	for _, s := range f.shards {
		subjobs = append(subjobs, s.figures()) // of nil nothing is counted
	}
	sum, err := stats.Sum(subjobs)
	if err != nil {
		env.Emit(event.Ignored{Peer: env.Self().ID, Message: "ShardProgress", Why: err.Error()})
		return message.Stats{}
	}
	return sum
}
