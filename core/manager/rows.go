package manager

import (
	"maps"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/manager/roster"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/workflow/feed"
)

// asksMax bounds the executors of a shard that are leased rows.
const asksMax = 1 << 12

// leased is the block of rows that an executor was given last.
type leased struct {
	ask          uint64
	first, count uint64
	known        bool // a majority has it
}

// onSliceRows leases rows of a unique feed to an executor, in its datacenter's subjob of
// all of them. Whoever takes the subjob over goes on behind what the record says, so that
// no row is leased twice; what an attempt held that was lost is burned.
func (m *Machine) onShardRows(env node.Env, w *roster.Worker, r *message.ShardRows) {
	s := m.shardOf(env, r.Shard)
	if s == nil || s.fence != r.Fence || !s.live() || s.counting || s.worker != w.Peer.ID || s.workflow.subjob.missing > 0 || s.workflow.stopping() {
		return // the worker asks again, whoever holds the subjob then
	}
	f := s.workflow
	if !f.plan.Feed.Unique || f.plan.Feed.Rows == 0 || r.Core >= asksMax {
		env.Emit(event.Ignored{Peer: w.Peer.ID, Message: "ShardRows", Why: "the workflow leases no rows, or not to so many cores"})
		return
	}
	m.becomeAccepted(env, s)
	old := s.rows[r.Core]
	switch {
	case old != nil && r.Ask < old.ask:
		return // it has been answered since
	case old != nil && r.Ask == old.ask:
		m.tellRows(env, s, r.Core, old)
		return
	}
	l := &leased{ask: r.Ask}
	first, end := feed.Cut(f.subjob.dispatch.Rows, f.plan.Feed.Rows)
	l.first = first + f.leased
	if left := end - min(end, l.first); left > 0 {
		l.count = feed.Block(left, r.Want, f.cores())
	}
	f.leased += l.count
	s.leased += l.count
	if s.rows == nil {
		s.rows = map[uint32]*leased{}
	}
	s.rows[r.Core] = l
	fence := s.fence
	m.commit(env, f.subjob, func(env node.Env) {
		l.known = true
		if m.stands(s) && s.live() && s.fence == fence && s.rows[r.Core] == l {
			m.tellRows(env, s, r.Core, l)
		}
	})
}

// cores is how many share what is left.
func (f *workflow) cores() (n uint64) {
	for _, s := range f.shards {
		n += uint64(s.cores)
	}
	return n
}

func (m *Machine) tellRows(env node.Env, s *shard, core uint32, l *leased) {
	if w := m.roster.Of(s.worker); w.Stands() && l.known {
		env.Send(w.Stream, &message.ShardRowsLeased{Shard: s.id, Fence: s.fence, Core: core, Ask: l.ask, First: l.first, Count: l.count})
	}
}

// burn gives up what a lost attempt was leased: nobody knows which of it was used.
func (s *shard) burn() {
	s.workflow.burned += s.leased
	s.leased, s.rows = 0, nil
}

func (s *shard) encodeRows(e *encoder) {
	e.number(s.leased)
	e.number(uint64(len(s.rows)))
	for _, core := range slices.Sorted(maps.Keys(s.rows)) {
		l := s.rows[core]
		for _, n := range []uint64{uint64(core), l.ask, l.first, l.count} {
			e.number(n)
		}
	}
}

func (s *shard) decodeRows(d *decoder) {
	s.leased = d.number()
	for range d.count() {
		if s.rows == nil {
			s.rows = map[uint32]*leased{}
		}
		core := uint32(d.number())
		s.rows[core] = &leased{ask: d.number(), first: d.number(), count: d.number(), known: true}
	}
}
