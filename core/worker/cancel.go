package worker

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
)

// onCancel stops a shard under the given fence or a lower one. It may arrive before the
// dispatch that it cancels, since cancellations use a faster lane.
func (m *orders) onCancel(env node.Env, l *uplink.Link, c *message.ShardCancel) {
	if c.Fence.Attempt == 0 || c.State != message.WorkflowCancelled && c.State != message.WorkflowTimedOut {
		env.Emit(event.Ignored{Peer: l.Peer.ID, Message: "ShardCancel", Why: "it names no attempt, or neither CANCELLED nor TIMED_OUT"})
		return
	}
	s := m.shards[c.Shard]
	switch {
	case s == nil || s.high().Less(c.Fence):
		m.cancelUnseen(env, l, s, c)
	case c.Fence.Less(s.high()):
		m.refuseStale(env, l, s, c.Fence, "cancel")
	default:
		m.cancelCurrent(env, l, s, c)
	}
}

// cancelUnseen raises the fence, so that the dispatch, still under way, starts nothing. It also
// stops what a lower fence started.
func (m *orders) cancelUnseen(env node.Env, l *uplink.Link, s *shard, c *message.ShardCancel) {
	if m.crowded() && !m.evict(env) {
		env.Emit(event.ShedOf(c, node.RoleManager, event.ShedBound, "cancel of shard "+c.Shard.String(), fmt.Sprintf("%d shards wait for the disk, and %d results for their managers", len(m.active), m.outbox.Len())))
		return // the manager repeats it
	}
	if s == nil {
		s = &shard{id: c.Shard}
		m.shards[c.Shard] = s
	}
	m.abandon(env, s, c.Fence)
	x := m.begin(s, c.Fence, l)
	x.stop, x.why = c.State, c.Reason
	s.storing = x
	m.disk.writeFence(env, x)
}

func (m *orders) cancelCurrent(env node.Env, l *uplink.Link, s *shard, c *message.ShardCancel) {
	x := s.storing
	if x == nil {
		x = s.current
	}
	if x == nil && s.result != nil {
		s.result.To(l.Peer.ID)
		m.tell(env, s.result)
		return
	}
	if x == nil {
		// The worker crashed since it ran, or a manager has acknowledged its end and counted
		// it.
		env.Send(l.Stream, &message.ShardResult{Shard: s.id, Fence: s.fence, State: c.State, Error: "it does not run here"})
		return
	}
	x.manager = l.Peer.ID
	if x.stop != message.WorkflowNone || x.failure != "" {
		return // it is on its way
	}
	if x.phase == storing {
		x.stop, x.why = c.State, c.Reason
		return // onFenceStored continues
	}
	env.Emit(event.Acted{Shard: s.id, Fence: x.fence, What: "cancel"})
	x.end(env, c.State, c.Reason)
	m.proceed(env, s)
}
