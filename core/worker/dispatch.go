package worker

import (
	"fmt"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/plan"
	"hyperscale/core/uplink"
	"hyperscale/core/worker/cores"
)

// orders handles what managers order: dispatches and cancellations.
type orders struct{ results }

func (m *orders) onDispatch(env node.Env, l *uplink.Link, d *message.ShardDispatch) {
	m.managers.hear(env, l, d.Every)
	s := m.shards[d.Shard]
	if s != nil && d.Fence.Less(s.high()) {
		m.refuseStale(env, l, s, d.Fence, "dispatch")
		return
	}
	if s != nil && d.Fence == s.high() {
		m.again(env, l, s)
		return
	}
	if code, why := m.unfit(d); code != message.CodeNone {
		m.refuse(env, l, d, code, why)
		return
	}
	if slots := m.slots(env.Now()); slots.Refuse() {
		m.deny(env, l, d, denial{code: message.CodeOverloaded, reason: event.ShedSlots, after: slotsWait,
			why: fmt.Sprintf("%d results wait for their managers, and worker.outbox_max = %d", slots.Used, slots.Max)})
		return
	}
	if m.hold.excludes(d.Shard) {
		m.refuse(env, l, d, message.CodeNoCores, fmt.Sprintf("workflow %d of job %v has this worker for itself", m.hold.workflow, m.hold.job))
		return
	}
	if m.refusals.Cover(d.Shard, d.Fence) {
		m.refuse(env, l, d, message.CodeNotRenewed, "this attempt, or a later one, was refused before: it does not start after all")
		return
	}
	until, ok := m.managers.limit(env.Now(), l, d.Heard)
	if !ok {
		m.refuse(env, l, d, message.CodeNotRenewed, fmt.Sprintf("its manager had heard no heartbeat of the last %v on this stream", m.config.RenewalTimeout))
		return
	}
	if s == nil {
		s = &shard{id: d.Shard}
		m.shards[d.Shard] = s
	}
	m.abandon(env, s, d.Fence)
	x := m.begin(s, d.Fence, l)
	x.dispatch, x.until, x.received = d, until, env.Now()
	if !m.cores.Reserve(x.holder(), cores.Want{Cores: x.executors(m.cores.Total()), Tenancy: d.Tenancy}) {
		m.retire(x)
		m.forget(s)
		m.refuse(env, l, d, message.CodeNoCores, fmt.Sprintf("wants %s, %d are free", wanted(d, m.cores.Total()), m.cores.Free()))
		return
	}
	s.storing = x
	if m.outbox.Full() {
		m.evict(env) // there is one, since slots count all results of connected managers
	}
	x.enforce(env)
	m.disk.writeFence(env, x)
}

// overloadedWait is the least time after which a manager may dispatch to a worker again whose
// mailbox was full: it has handled what waits by then. At most it is twice as long.
const overloadedWait = time.Second

// slotsWait is after which time a manager may dispatch to a worker again that had too many results.
// Less would ask while the managers' disks still write them; more would leave its cores idle.
const slotsWait = 30 * time.Second

// onDispatchShed answers a dispatch of which only shard and fence are left. It remembers the
// refusal, so that a copy that arrives later does not start.
func (m *orders) onDispatchShed(env node.Env, l *uplink.Link, d *message.ShardDispatch) {
	s := m.shards[d.Shard]
	switch {
	case s != nil && d.Fence.Less(s.high()):
		m.refuseStale(env, l, s, d.Fence, "dispatch")
	case s != nil && d.Fence == s.high():
		m.again(env, l, s)
	default:
		env.Emit(event.Reached{What: "worker/mailbox-full"})
		m.deny(env, l, d, denial{code: message.CodeOverloaded, reason: event.ShedRefused,
			why:   "this worker has more messages waiting than its mailbox holds",
			after: env.Rand(node.PurposeJitter).Duration(overloadedWait, 2*overloadedWait).Round(time.Millisecond)})
	}
}

// wanted tells people which cores a dispatch asks for.
func wanted(d *message.ShardDispatch, total int) string {
	switch d.Tenancy {
	case message.TenancyLight:
		return "a part of a core"
	case message.TenancyMachine:
		return fmt.Sprintf("all %d cores", total)
	}
	return fmt.Sprintf("%d cores", d.Cores)
}

// runMax bounds what a plan lasts, and what a gate gives it: a worker that believes more sets a timer
// beyond its clock.
const runMax = plan.DurationMax + plan.TimeoutMax

// unfit says why the worker cannot take a dispatch, whatever cores are free.
func (m *orders) unfit(d *message.ShardDispatch) (message.Code, string) {
	switch {
	case m.stopping:
		return message.CodeDraining, "this worker is being stopped"
	case m.drain.ordered:
		return message.CodeDraining, "this worker is being drained"
	case d.Fence.JobEpoch == 0 || d.Fence.SubjobEpoch == 0 || d.Fence.Attempt == 0:
		return message.CodeBadPlan, fmt.Sprintf("fence = %v has a zero, all its subjobs begin at 1", d.Fence)
	case len(d.Workflow) > 256 || d.Timeout < 0 || d.Duration < 0 || d.RunTimeout < 0:
		return message.CodeBadPlan, fmt.Sprintf("a duration is negative or the workflow's name has %d bytes, 256 is the bound", len(d.Workflow))
	case d.Timeout > runMax || d.Duration > runMax || d.RunTimeout > runMax:
		return message.CodeBadPlan, fmt.Sprintf("a duration is above %v, which no plan of a gate has", runMax)
	case int(d.Cores) > m.cores.Total():
		return message.CodeNoCores, fmt.Sprintf("wants %d cores, this worker has %d", d.Cores, m.cores.Total())
	case d.Tenancy > message.TenancyMachine:
		return message.CodeBadPlan, fmt.Sprintf("tenancy = %d is unknown: a newer manager sends it, upgrade this worker", d.Tenancy)
	}
	return message.CodeNone, ""
}

// denial is why the worker refuses a dispatch.
type denial struct {
	code   message.Code
	reason event.ShedReason
	why    string
	after  time.Duration // when a manager may dispatch to this worker again; zero: when it likes
}

// refuse refuses a dispatch for what another worker, or this one in a moment, may have.
func (m *orders) refuse(env node.Env, l *uplink.Link, d *message.ShardDispatch, code message.Code, why string) {
	m.deny(env, l, d, denial{code: code, reason: event.ShedFor(code), why: why})
}

// deny refuses a dispatch, and remembers the fence. A manager repeats a dispatch until an
// answer, and gives the shard to another worker at the first of two answers. The shard's
// highest refused fence is enough, since the worker starts none below it either.
func (m *orders) deny(env node.Env, l *uplink.Link, d *message.ShardDispatch, x denial) {
	m.refusals.Add(d.Shard, d.Fence)
	env.Emit(event.ShedOf(d, node.RoleManager, x.reason, "dispatch of shard "+d.Shard.String(), x.why))
	env.Send(l.Stream, &message.ShardRefused{
		Shard: d.Shard, Fence: d.Fence, Code: x.code, Detail: x.why,
		CoresFree: uint32(m.cores.Free()), SeatsFree: uint32(m.cores.Seats()), RetryAfter: x.after,
	})
}

func (m *orders) refuseStale(env node.Env, l *uplink.Link, s *shard, got message.Fence, what string) {
	env.Emit(event.FenceRefused{Shard: s.id, Got: got, Current: s.high(), What: what})
	env.Send(l.Stream, &message.ShardRefused{
		Shard: s.id, Fence: got, Code: message.CodeStaleFence, Detail: "a higher fence was seen",
		CoresFree: uint32(m.cores.Free()), SeatsFree: uint32(m.cores.Seats()), Current: s.high(),
	})
}

// again answers a repeated dispatch with the state of its execution.
func (m *orders) again(env node.Env, l *uplink.Link, s *shard) {
	x := s.current
	switch {
	case s.storing != nil || x != nil && (x.phase == waiting || x.silent):
		// The answer follows when it starts; a given-up execution is over in a moment.
	case s.result != nil:
		s.result.To(l.Peer.ID)
		m.tell(env, s.result)
	case x != nil:
		x.manager = l.Peer.ID
		env.Send(l.Stream, &message.ShardAccepted{Shard: s.id, Fence: x.fence})
	default:
		// A former incarnation started it and crashed, or it has ended and a manager has its
		// result: it must not start twice.
		env.Send(l.Stream, &message.ShardRefused{
			Shard: s.id, Fence: s.fence, Code: message.CodeStaleFence, Detail: "this attempt is over: it ended, or was lost when the worker stopped",
			CoresFree: uint32(m.cores.Free()), SeatsFree: uint32(m.cores.Seats()), Current: s.fence,
		})
	}
}

// abandon gives up executions below a fence that have not started. Nothing of them runs, so no
// fence must be on disk first.
func (m *orders) abandon(env node.Env, s *shard, by message.Fence) {
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
		if x.dispatch != nil {
			m.managers.send(env, x.manager, &message.ShardRefused{
				Shard: s.id, Fence: x.fence, Code: message.CodeStaleFence, Detail: "superseded before it started",
				CoresFree: uint32(m.cores.Free()), SeatsFree: uint32(m.cores.Seats()), Current: by,
			})
		}
	}
}

// onFenceStored continues an execution after the write of its fence, successful or not.
func (m *orders) onFenceStored(env node.Env, x *execution, err error) {
	s := x.shard
	if err == nil {
		s.fence = maxFence(s.fence, x.fence)
	}
	if s.storing != x {
		m.outdate(env, s) // given up meanwhile, but its fence may be on disk
		return
	}
	s.storing = nil
	if err != nil {
		m.onFenceLost(env, x, err)
		return
	}
	old := s.current
	s.current = x
	m.supersede(env, s, old)
	if x.stop != message.WorkflowNone {
		env.Emit(event.Acted{Shard: s.id, Fence: x.fence, What: "cancel"})
	} else {
		env.Emit(event.Acted{Shard: s.id, Fence: x.fence, What: "dispatch"})
	}
	x.become(waiting)
	m.proceed(env, s)
}

// onFenceLost handles a full disk: the execution does not start; running ones continue.
func (m *orders) onFenceLost(env node.Env, x *execution, err error) {
	s := x.shard
	x.become(closed)
	m.release(env, x)
	if l := m.managers.links.Peer(x.manager); l != nil && x.dispatch != nil {
		m.refuse(env, l, x.dispatch, message.CodeStoreFull, "keep the fence: "+err.Error())
	}
	if s.result != nil {
		m.disk.writeResult(env, s.result) // its write waited for that of the fence
	}
	m.outdate(env, s)
	m.forget(s)
}

// outdate ends executions below the fence on disk if no other code will: the worker gave up the
// dispatch that raised the fence for one that failed.
func (m *orders) outdate(env node.Env, s *shard) {
	old := s.current
	switch {
	case s.storing != nil:
	case old != nil && old.fence.Less(s.fence):
		s.current = nil
		m.supersede(env, s, old)
		m.rest(env, s)
	case s.result != nil && s.result.Result.Fence.Less(s.fence):
		m.supersede(env, s, nil)
		m.rest(env, s)
	}
}

// supersede ends what a shard has under a lower fence. The worker does not send its result: the
// manager that raised the fence has given it up.
func (m *orders) supersede(env node.Env, s *shard, old *execution) {
	if old != nil && (old.phase == running || old.phase == ending) {
		old.hush()
		old.end(env, message.WorkflowCancelled, "superseded by fence "+s.fence.String())
	}
	if s.result != nil {
		m.outbox.Remove(s.result)
		s.result = nil
	}
}

func maxFence(a, b message.Fence) message.Fence {
	if a.Less(b) {
		return b
	}
	return a
}
