package worker

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
)

// renew extends the shards that a manager named in its answer to a heartbeat sent at the given
// time.
func (m *orders) renew(env node.Env, l *uplink.Link, at node.Instant, named []message.ShardRef) {
	for _, ref := range named {
		switch s := m.shards[ref.Shard]; {
		case s == nil:
		case s.result != nil && s.result.Result.Fence == ref.Fence:
			s.result.To(l.Peer.ID)
		case s.current != nil && s.current.fence == ref.Fence:
			s.current.extend(env, l.Peer.ID, at.Add(m.config.RenewalTimeout))
		}
	}
}

// lapse gives up an execution that no manager has renewed in time. It sends no more load, its
// result counts nowhere, and its fence stays. Once it is gone, no heartbeat lists it, so that a
// manager may dispatch the shard elsewhere.
func (m *orders) lapse(env node.Env, x *execution) {
	if x == nil || x.lapsed || env.Now() < x.until {
		return
	}
	switch {
	case x.phase == storing && x.stop == message.WorkflowNone:
		x.lapsed = true // onFenceStored continues
	case x.phase == waiting && x.stop == message.WorkflowNone:
		m.unrenewed(env, x)
	case (x.phase == running || x.phase == ending) && !x.told():
		x.giveUp(env)
	}
}
