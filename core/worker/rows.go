package worker

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// rowsRetry is how long an executor's request for rows may lack an answer before the worker
// repeats it: streams break, and subjobs move from one manager to another.
const rowsRetry = time.Second

// askRows forwards an executor's request to the manager that has its shard's subjob.
func (m *managers) askRows(env node.Env, r *run) {
	x := r.execution
	r.asked = env.Now()
	if x.phase == running {
		m.send(env, x.manager, &message.ShardRows{Shard: x.shard.id, Fence: x.fence, Core: x.coreOf(r), Ask: r.asks.Ask, Want: r.asks.Want})
	}
}

// coreOf is the number of an executor in its execution.
func (x *execution) coreOf(r *run) (n uint32) {
	for x.runs[n] != r {
		n++
	}
	return n
}

// askAgain repeats the unanswered requests.
func (m *managers) askAgain(env node.Env, x *execution) {
	for _, r := range x.runs {
		if r.asks != nil && !r.gone && r.result == nil && env.Now().Sub(r.asked) >= rowsRetry {
			m.askRows(env, r)
		}
	}
}

// onRowsLeased gives an executor its rows, once: a repeated answer holds rows that it has
// already.
func (m *orders) onRowsLeased(env node.Env, l *message.ShardRowsLeased) {
	s := m.shards[l.Shard]
	if s == nil || s.current == nil || s.current.fence != l.Fence || s.current.phase != running || uint64(l.Core) >= uint64(len(s.current.runs)) {
		return
	}
	r := s.current.runs[l.Core]
	if r.asks == nil || r.asks.Ask != l.Ask || r.gone || r.result != nil {
		return
	}
	r.asks = nil
	if l.Count > 0 {
		env.Emit(event.RowsTaken{Shard: s.id, Fence: l.Fence, Datacenter: m.config.Datacenter, Core: l.Core, First: l.First, Count: l.Count})
	}
	env.Exec().Tell(r.id, &message.ExecRowsLeased{Ask: l.Ask, First: l.First, Count: l.Count})
}
