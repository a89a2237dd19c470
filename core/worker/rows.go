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

// gathering is an executor's newest report of its waits at a barrier. The worker repeats it while any
// is open, so that each holder of the subjob knows it.
type gathering struct {
	*message.ExecWaits
	sent     node.Instant
	answered uint64 // the report that the newest answer had read
	released uint64 // by the newest answer
}

// settled says that a manager knows all of it, and that nothing is open.
func (a *gathering) settled() bool { return a.answered >= a.Report && a.Arrived <= a.Left+a.released }

// report notes an executor's report in place of an earlier one, and forwards it.
func (m *managers) report(env node.Env, r *run, body *message.ExecWaits) {
	at := slices.IndexFunc(r.waits, func(a gathering) bool { return a.Of == body.Of })
	if at < 0 {
		at = len(r.waits)
		r.waits = append(r.waits, gathering{})
	}
	r.waits[at].ExecWaits = body
	m.sendWaits(env, r, &r.waits[at])
}

func (m *managers) sendWaits(env node.Env, r *run, a *gathering) {
	x := r.execution
	a.sent = env.Now()
	if x.phase == running {
		m.send(env, x.manager, &message.ShardWaits{Shard: x.shard.id, Fence: x.fence, Core: x.coreOf(r), Of: a.Of, Report: a.Report, Arrived: a.Arrived, Left: a.Left})
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
		for i := range r.waits {
			if !r.gone && r.result == nil && !r.waits[i].settled() && env.Now().Sub(r.waits[i].sent) >= rowsRetry {
				m.sendWaits(env, r, &r.waits[i])
			}
		}
	}
}

// onRowsLeased gives an executor its rows, once: a repeated answer holds rows that it has
// already.
func (m *orders) onRowsLeased(env node.Env, l *message.ShardRowsLeased) {
	r := m.running(l.Shard, l.Fence, l.Core)
	if r == nil {
		return
	}
	at := slices.IndexFunc(r.asks, func(a asking) bool { return a.Of == l.Of && a.Ask == l.Ask })
	if at < 0 {
		return
	}
	r.asks = slices.Delete(r.asks, at, at+1)
	if l.Count > 0 {
		env.Emit(event.RowsTaken{Shard: l.Shard, Fence: l.Fence, Datacenter: m.config.Datacenter, Core: l.Core, First: l.First, Count: l.Count, Of: l.Of})
	}
	env.Exec().Tell(r.id, &message.ExecRowsLeased{Ask: l.Ask, First: l.First, Count: l.Count, Of: l.Of})
}

// running returns the executor that an answer is for, nil once it has ended.
func (m *orders) running(id message.ShardID, f message.Fence, core uint32) *run {
	s := m.shards[id]
	if s == nil || s.current == nil || s.current.fence != f || s.current.phase != running || uint64(core) >= uint64(len(s.current.runs)) {
		return nil
	}
	if r := s.current.runs[core]; !r.gone && r.result == nil {
		return r
	}
	return nil
}

// onReleased tells an executor which of its waits a barrier lets pass. An older answer is no news.
func (m *orders) onReleased(env node.Env, l *message.ShardReleased) {
	r := m.running(l.Shard, l.Fence, l.Core)
	if r == nil {
		return
	}
	at := slices.IndexFunc(r.waits, func(a gathering) bool { return a.Of == l.Of })
	if at < 0 {
		return
	}
	a := &r.waits[at]
	if l.Report <= a.answered && l.Released <= a.released {
		return
	}
	if l.Released > a.released {
		env.Emit(event.WaitsReleased{Shard: l.Shard, Fence: l.Fence, Datacenter: m.config.Datacenter, Core: l.Core, Of: l.Of, Released: l.Released})
	}
	a.answered, a.released = max(a.answered, l.Report), max(a.released, l.Released)
	env.Exec().Tell(r.id, &message.ExecReleased{Of: l.Of, Report: a.answered, Released: a.released})
}
