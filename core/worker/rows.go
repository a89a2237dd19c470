package worker

import (
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// rowsRetry is how long an executor's request for rows may lack an answer before the worker
// repeats it: streams break, and subjobs move from one manager to another.
const rowsRetry = time.Second

// asking is an executor's request for rows of its feed, or for values of a counter, without an
// answer.
type asking struct {
	*message.ExecRows
	sent node.Instant
}

// ask notes an executor's request in place of an earlier one for the same, and forwards it.
func (m *managers) ask(env node.Env, r *run, body *message.ExecRows) {
	r.asks = append(slices.DeleteFunc(r.asks, func(a asking) bool { return a.Of == body.Of }), asking{ExecRows: body})
	m.askRows(env, r, &r.asks[len(r.asks)-1])
}

// askRows forwards a request to the manager that has its shard's subjob.
func (m *managers) askRows(env node.Env, r *run, a *asking) {
	x := r.execution
	a.sent = env.Now()
	if x.phase == running {
		m.send(env, x.manager, &message.ShardRows{Shard: x.shard.id, Fence: x.fence, Core: x.coreOf(r), Ask: a.Ask, Want: a.Want, Of: a.Of})
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
		for i := range r.asks {
			if !r.gone && r.result == nil && env.Now().Sub(r.asks[i].sent) >= rowsRetry {
				m.askRows(env, r, &r.asks[i])
			}
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
	at := slices.IndexFunc(r.asks, func(a asking) bool { return a.Of == l.Of && a.Ask == l.Ask })
	if at < 0 || r.gone || r.result != nil {
		return
	}
	r.asks = slices.Delete(r.asks, at, at+1)
	if l.Count > 0 {
		env.Emit(event.RowsTaken{Shard: s.id, Fence: l.Fence, Datacenter: m.config.Datacenter, Core: l.Core, First: l.First, Count: l.Count, Of: l.Of})
	}
	env.Exec().Tell(r.id, &message.ExecRowsLeased{Ask: l.Ask, First: l.First, Count: l.Count, Of: l.Of})
}
