package worker

import (
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
)

func (m *Machine) onDispatch(env node.Env, l *uplink.Link, d *message.ShardDispatch) {
	s := m.shards[d.Shard]
	if s != nil && d.Fence.Less(s.high()) {
		m.refuseStale(env, l, s, d.Fence, "dispatch")
		return
	}
	if s != nil && d.Fence == s.high() {
		m.again(env, l, s)
		return
	}
	if code, why := m.unfit(env, d); code != message.CodeNone {
		m.refuse(env, l, d, code, why)
		return
	}
	if old, was := m.refused[d.Shard]; was && !old.Less(d.Fence) {
		m.refuse(env, l, d, message.CodeNotRenewed, "this attempt, or a later one, was refused before: it does not start after all")
		return
	}
	until, ok := m.limit(env, l)
	if !ok {
		m.refuse(env, l, d, message.CodeNotRenewed, fmt.Sprintf("no heartbeat of the last %v was answered on this stream", m.config.RenewalTimeout))
		return
	}
	if s == nil {
		s = &shard{id: d.Shard}
		m.shards[d.Shard] = s
	}
	m.abandon(env, s, d.Fence)
	x := m.begin(env, s, d.Fence, l)
	x.dispatch, x.until = d, until
	if !m.reserve(x, min(int(d.Cores), int(min(d.VUs, uint64(len(m.cores)))))) {
		delete(m.active, x.number)
		m.forget(s)
		m.refuse(env, l, d, message.CodeNoCores, fmt.Sprintf("wants %d cores, %d are free", d.Cores, m.free()))
		return
	}
	s.storing = x
	m.enforce(env, x)
	m.writeFence(env, x)
}

// unfit says why a dispatch cannot be taken whatever cores are free.
func (m *Machine) unfit(env node.Env, d *message.ShardDispatch) (message.Code, string) {
	switch {
	case m.stopping:
		return message.CodeDraining, "this worker is being stopped"
	case m.draining:
		return message.CodeDraining, "this worker is being drained"
	case d.Fence.JobEpoch == 0 || d.Fence.SubjobEpoch == 0 || d.Fence.Attempt == 0:
		return message.CodeBadPlan, fmt.Sprintf("fence = %v has a zero, all its subjobs begin at 1", d.Fence)
	case len(d.Workflow) > 256 || d.Timeout < 0 || d.Duration < 0 || d.RunTimeout < 0:
		return message.CodeBadPlan, fmt.Sprintf("a duration is negative or the workflow's name has %d bytes, 256 is the bound", len(d.Workflow))
	case int(d.Cores) > len(m.cores):
		return message.CodeNoCores, fmt.Sprintf("wants %d cores, this worker has %d", d.Cores, len(m.cores))
	case len(m.outbox) >= m.config.OutboxMax && !m.evict(env):
		return message.CodeStoreFull, fmt.Sprintf("%d results wait for their managers", len(m.outbox))
	}
	return message.CodeNone, ""
}

// refuse tells why a dispatch is not taken, and remembers that: its manager sends a
// dispatch again until it is answered, and gives the shard to another worker when the
// first of two answers comes. The highest fence of a shard is enough, as none below it
// is taken either: the shard may run elsewhere since.
func (m *Machine) refuse(env node.Env, l *uplink.Link, d *message.ShardDispatch, code message.Code, why string) {
	if _, known := m.refused[d.Shard]; !known {
		if len(m.refusals) >= m.config.FencesMax {
			delete(m.refused, m.refusals[0])
			m.refusals = m.refusals[1:]
		}
		m.refusals = append(m.refusals, d.Shard)
	}
	m.refused[d.Shard] = maxFence(m.refused[d.Shard], d.Fence)
	env.Emit(event.Shed{What: "dispatch of shard " + d.Shard.String(), Why: why})
	env.Send(l.Stream, &message.ShardRefused{Shard: d.Shard, Fence: d.Fence, Code: code, Detail: why, CoresFree: uint32(m.free())})
}

func (m *Machine) refuseStale(env node.Env, l *uplink.Link, s *shard, got message.Fence, what string) {
	env.Emit(event.FenceRefused{Shard: s.id, Got: got, Current: s.high(), What: what})
	env.Send(l.Stream, &message.ShardRefused{
		Shard: s.id, Fence: got, Code: message.CodeStaleFence, Detail: "a higher fence was seen",
		CoresFree: uint32(m.free()), Current: s.high(),
	})
}

// again answers a dispatch that was seen before with what became of it.
func (m *Machine) again(env node.Env, l *uplink.Link, s *shard) {
	x := s.current
	switch {
	case s.storing != nil || x != nil && (x.phase == waiting || x.silent):
		// The answer follows when it starts; what was given up is over in a moment.
	case x != nil && x.phase == ended:
		x.owner(l.Peer.ID)
		m.tell(env, x)
	case x != nil:
		x.owner(l.Peer.ID)
		env.Send(l.Stream, &message.ShardAccepted{Shard: s.id, Fence: x.fence})
	default:
		// Started by a former incarnation, which died, or ended and told: it must
		// not start twice.
		env.Send(l.Stream, &message.ShardRefused{
			Shard: s.id, Fence: s.fence, Code: message.CodeStaleFence, Detail: "this attempt is over: it ended, or was lost when the worker stopped",
			CoresFree: uint32(m.free()), Current: s.fence,
		})
	}
}

func (m *Machine) begin(env node.Env, s *shard, f message.Fence, l *uplink.Link) *execution {
	m.executions++
	x := &execution{number: m.executions, shard: s, fence: f, manager: l.Peer.ID}
	m.active[x.number] = x
	return x
}

// abandon gives up what has not started under a lower fence: nothing of it
// stops, so nothing needs to be on disk first.
func (m *Machine) abandon(env node.Env, s *shard, by message.Fence) {
	for _, x := range []*execution{s.storing, s.current} {
		if x == nil || x.phase != storing && x.phase != waiting {
			continue
		}
		if x == s.current {
			s.current = nil
		}
		s.storing = nil
		x.become(closed)
		m.release(env, x)
		if l := m.links.Peer(x.manager); l != nil && x.dispatch != nil {
			env.Send(l.Stream, &message.ShardRefused{
				Shard: s.id, Fence: x.fence, Code: message.CodeStaleFence, Detail: "superseded before it started",
				CoresFree: uint32(m.free()), Current: by,
			})
		}
	}
}

// onFenceStored goes on with an execution whose fence is on disk, or not.
func (m *Machine) onFenceStored(env node.Env, x *execution, err error) {
	s := x.shard
	if err == nil {
		s.fence = maxFence(s.fence, x.fence)
	}
	if s.storing != x {
		m.outdate(env, s) // given up meanwhile, and yet its fence may stand
		return
	}
	s.storing = nil
	if err != nil {
		m.onFenceLost(env, x, err)
		return
	}
	old := s.current
	s.current = x
	if old != nil {
		m.supersede(env, old)
	}
	if x.stop != message.WorkflowNone {
		env.Emit(event.Acted{Shard: s.id, Fence: x.fence, What: "cancel"})
	} else {
		env.Emit(event.Acted{Shard: s.id, Fence: x.fence, What: "dispatch"})
	}
	x.become(waiting)
	m.proceed(env, s)
}

// onFenceLost: the disk is full, so nothing may start; what runs goes on.
func (m *Machine) onFenceLost(env node.Env, x *execution, err error) {
	s := x.shard
	x.become(closed)
	m.release(env, x)
	if l := m.links.Peer(x.manager); l != nil && x.dispatch != nil {
		m.refuse(env, l, x.dispatch, message.CodeStoreFull, "keep the fence: "+err.Error())
	}
	if old := s.current; old != nil && old.phase == ended && !old.recorded {
		m.writeResult(env, old) // it was held back while the fence was being written
	}
	m.outdate(env, s)
	m.forget(s)
}

// outdate ends what is below the fence on disk when nothing else will: the
// dispatch that raised the fence was given up for one that came to nothing.
func (m *Machine) outdate(env node.Env, s *shard) {
	if old := s.current; old != nil && s.storing == nil && old.fence.Less(s.fence) {
		s.current = nil
		m.supersede(env, old)
		m.rest(env, s)
	}
}

// forget drops what nobody needs to remember of a shard that has no fence.
func (m *Machine) forget(s *shard) {
	if s.fence == (message.Fence{}) && s.current == nil && s.storing == nil && s.leaving == 0 {
		delete(m.shards, s.id)
	}
}

// supersede ends an execution under a lower fence. Its result is not told: the
// manager that raised the fence has given it up.
func (m *Machine) supersede(env node.Env, old *execution) {
	switch old.phase {
	case running, ending:
		m.hush(old)
		m.end(env, old, message.WorkflowCancelled, "superseded by fence "+old.shard.fence.String())
	case ended:
		old.become(closed)
		m.outbox = slices.DeleteFunc(m.outbox, func(x *execution) bool { return x == old })
	}
}

// proceed takes the execution of a shard as far as it can go now: it starts when
// its cores are here, and confirms its cancellation when nothing runs any more.
func (m *Machine) proceed(env node.Env, s *shard) {
	x := s.current
	if x == nil || x.phase != waiting {
		return
	}
	switch {
	case x.stop != message.WorkflowNone && s.leaving == 0:
		m.finish(env, x)
	case x.stop == message.WorkflowNone && (x.lapsed || env.Now() >= x.until):
		m.unrenewed(env, x)
	case x.stop == message.WorkflowNone && x.owed == 0 && s.leaving == 0:
		m.start(env, x)
	}
}

func maxFence(a, b message.Fence) message.Fence {
	if a.Less(b) {
		return b
	}
	return a
}
