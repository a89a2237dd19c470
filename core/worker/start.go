package worker

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker/budget"
)

// proceed takes the execution of a shard as far as it can go now. It starts the execution when
// its cores are free, and confirms its cancellation when nothing runs any more.
func (m *orders) proceed(env node.Env, s *shard) {
	x := s.current
	if x == nil || x.phase != waiting {
		return
	}
	switch {
	case x.stop != message.WorkflowNone && s.leaving == 0:
		m.finish(env, x)
	case x.stop == message.WorkflowNone && (x.lapsed || env.Now() >= x.until):
		m.unrenewed(env, x)
	case x.stop == message.WorkflowNone && m.cores.Whole(x.holder()) && s.leaving == 0:
		m.start(env, x)
	}
}

// start gives each core its share of the virtual users, the remainder to the last, and only
// then accepts.
func (m *orders) start(env node.Env, x *execution) {
	d := x.dispatch
	x.become(running)
	x.started, x.turn = env.Now(), m.turn
	held := m.cores.Of(x.holder())
	env.Emit(event.ShardStarted{Shard: x.shard.id, Fence: x.fence, Datacenter: m.config.Datacenter, Cores: held, Total: m.cores.Total(), Tenancy: d.Tenancy})
	held = held[:x.executors(len(held))] // of a machine, the rest idles
	share := d.VUs / uint64(len(held))
	for i, core := range held {
		vus := share
		if i == len(held)-1 {
			vus = d.VUs - share*uint64(i)
		}
		m.last.exec++
		r := &run{id: m.last.exec, execution: x, core: core, gauge: budget.New(d.Memory)}
		m.runs[r.id] = r
		x.runs = append(x.runs, r)
		env.Exec().Start(r.id, core, &message.ExecStart{
			Shard: x.shard.id, Workflow: d.Workflow, Program: d.Program, PlanDigest: d.PlanDigest,
			VUs: vus, FirstVU: d.FirstVU + share*uint64(i), Duration: d.Duration, Timeout: d.Timeout,
			Given: d.Given, Rows: d.Rows, Join: x.join(), Memory: d.Memory,
		})
	}
	x.enforce(env)
	if d.RunTimeout > 0 {
		env.SetTimer(node.KeyN(node.PartWorker, node.WorkerShard, x.number), d.RunTimeout)
	}
	m.managers.send(env, x.manager, &message.ShardAccepted{Shard: x.shard.id, Fence: x.fence})
	if !m.pushing {
		m.setPush(env)
	}
}

// join says where the executors of an execution join its workflow, by this machine's clock.
func (x *execution) join() (j message.ExecJoin) {
	if d := x.dispatch; d.Resume.Elapsed > 0 {
		j = message.ExecJoin{Origin: int64(x.received.Add(-d.Resume.Elapsed)), Begun: d.Resume.Begun, Anew: d.Resume.Anew, FirstVU: d.FirstVU, VUs: d.VUs}
	}
	return j
}

// unrenewed ends an execution that never started. The manager that dispatched it learns that if
// it is connected.
func (m *orders) unrenewed(env node.Env, x *execution) {
	s := x.shard
	x.lapsed = true
	x.become(closed)
	m.release(env, x)
	s.current = nil
	if l := m.managers.links.Peer(x.manager); l != nil && x.dispatch != nil {
		m.refuse(env, l, x.dispatch, message.CodeNotRenewed, m.config.silence()+" before it could start")
	}
	m.rest(env, s)
}
