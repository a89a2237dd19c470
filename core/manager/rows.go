package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/workflow/feed"
)

// onSliceRows leases rows of a unique feed to an executor, in its datacenter's subjob of
// all of them. Whoever takes the subjob over goes on behind what the record says, so that
// no row is leased twice; what an attempt held that was lost is burned.
func (m *Machine) onShardRows(env node.Env, w *roster.Worker, r *message.ShardRows) {
	s := m.shardOf(env, r.Shard)
	if s == nil || s.Fence != r.Fence || !s.Live() || s.Commit == subjob.Counting || s.Worker != w.Peer.ID || s.Workflow.Subjob.Missing > 0 || s.Workflow.Stopping() {
		return // the worker asks again, whoever holds the subjob then
	}
	f := s.Workflow
	if !f.Plan.Feed.Unique || f.Plan.Feed.Rows == 0 || r.Core >= subjob.AsksMax {
		env.Emit(event.Ignored{Peer: w.Peer.ID, Message: "ShardRows", Why: "the workflow leases no rows, or not to so many cores"})
		return
	}
	m.becomeAccepted(env, s)
	old := s.Rows[r.Core]
	switch {
	case old != nil && r.Ask < old.Ask:
		return // it has been answered since
	case old != nil && r.Ask == old.Ask:
		m.tellRows(env, s, r.Core, old)
		return
	}
	l := &subjob.Leased{Ask: r.Ask}
	first, end := feed.Cut(f.Subjob.Dispatch.Rows, f.Plan.Feed.Rows)
	l.First = first + f.Leased
	if left := end - min(end, l.First); left > 0 {
		l.Count = feed.Block(left, r.Want, f.Cores())
	}
	f.Leased += l.Count
	s.Leased += l.Count
	if s.Rows == nil {
		s.Rows = map[uint32]*subjob.Leased{}
	}
	s.Rows[r.Core] = l
	m.commit(f.Subjob, tag{step: rowsLeased, shard: s, fence: s.Fence, core: r.Core, rows: l})
}

// onRowsLeased sends rows to a core, unless its attempt was lost or it asked anew.
func (m *Machine) onRowsLeased(env node.Env, t *tag) {
	s := t.shard
	t.rows.Known = true
	if m.stands(s) && s.Live() && s.Fence == t.fence && s.Rows[t.core] == t.rows {
		m.tellRows(env, s, t.core, t.rows)
	}
}

func (m *Machine) tellRows(env node.Env, s *subjob.Shard, core uint32, l *subjob.Leased) {
	if w := m.roster.Of(s.Worker); w.Stands() && l.Known {
		env.Send(w.Stream, &message.ShardRowsLeased{Shard: s.ID, Fence: s.Fence, Core: core, Ask: l.Ask, First: l.First, Count: l.Count})
	}
}
