package worker

import (
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
	"hyperscale/core/uplink"
)

// statsMax is what a shard's statistics may take of a frame.
const statsMax = message.FrameMax / 2

// onPush sends what moved since the last time.
func (m *Machine) onPush(env node.Env) {
	m.pushing = false
	for _, x := range m.ordered() {
		if x.phase != running && x.phase != ending || x.silent {
			continue
		}
		m.pushing = true
		m.askAgain(env, x)
		if !x.dirty {
			continue
		}
		l := m.links.Peer(x.manager)
		if l == nil {
			continue // it is sent when the manager is back
		}
		x.dirty = false
		x.sequence++
		sum, err := x.sum()
		if err != nil {
			env.Emit(event.Ignored{Peer: env.Self().ID, Message: "ExecProgress", Why: err.Error()})
			continue
		}
		out := &message.ShardProgress{Shard: x.shard.id, Fence: x.fence, Sequence: x.sequence, Stats: sum}
		if size := message.HeaderSize + out.Size(); size > message.FrameMax {
			env.Emit(event.Ignored{Peer: env.Self().ID, Message: "ExecProgress", Why: fmt.Sprintf("the figures take %d bytes, %d is the bound", size, message.FrameMax)})
			continue // finish says so in the result
		}
		env.Send(l.Stream, out)
	}
	if m.pushing {
		env.SetTimer(node.Key(node.PartWorker, node.WorkerPush), m.config.ProgressInterval)
	}
}

func (x *execution) sum() (message.Stats, error) {
	parts := make([]*message.Stats, len(x.runs))
	for i, r := range x.runs {
		parts[i] = r.stats
	}
	sum, err := stats.Sum(parts)
	stats.Fit(&sum, statsMax)
	return sum, err
}

// finish makes the result of an execution that is over and begins to keep it.
func (m *Machine) finish(env node.Env, x *execution) {
	m.release(env, x)
	x.become(ended)
	x.ended = env.Now()
	state, why := x.outcome()
	out := &message.ShardResult{Shard: x.shard.id, Fence: x.fence, State: state, Error: why}
	if x.started != 0 {
		out.Duration = env.Now().Sub(x.started)
	}
	sum, err := x.settled()
	if err != nil {
		out.State, out.Error = message.WorkflowFailed, fmt.Sprintf("add up the executors' figures: %v", err)
	}
	out.Stats = sum
	for _, r := range x.runs {
		if r.result != nil && state == message.WorkflowCompleted {
			out.Provided = append(out.Provided, r.result.Provided...) // one of them has the first virtual user
		}
	}
	// A frame has a bound, which thousands of kinds of errors reach.
	if size := message.HeaderSize + out.Size(); size > message.FrameMax-1024 {
		out.State = message.WorkflowFailed
		out.Error = fmt.Sprintf("the figures take %d bytes, %d is the bound: split the workflow into several with fewer steps", size, message.FrameMax-1024)
		out.Stats, out.Provided = message.Stats{}, nil
	}
	x.result = out
	x.runs, x.dispatch = nil, nil // a result may wait for long, a program is large
	m.outbox = append(m.outbox, x)
	if x.shard.storing == nil {
		m.writeResult(env, x)
	}
}

// settled is the sum of an execution that is over. An executor that died without
// a result leaves requests in flight, whose ends nobody will ever know: they count
// as cancelled, so that the figures of a result add up.
func (x *execution) settled() (message.Stats, error) {
	parts := make([]*message.Stats, len(x.runs))
	for i, r := range x.runs {
		if parts[i] = r.stats; r.result == nil && r.stats != nil {
			parts[i] = settle(*r.stats)
		}
	}
	sum, err := stats.Sum(parts)
	stats.Fit(&sum, statsMax)
	return sum, err
}

func settle(s message.Stats) *message.Stats {
	s.Active = 0
	s.Steps = slices.Clone(s.Steps)
	for i := range s.Steps {
		step := &s.Steps[i]
		known := step.OK + step.Failed + step.TimedOut + step.Cancelled
		if step.Started > known {
			step.Cancelled += step.Started - known
		}
	}
	return &s
}

// onResultStored tells the result, on disk or not: a disk that is full must not
// keep what is known from the manager.
func (m *Machine) onResultStored(env node.Env, x *execution, err error) {
	x.writing, x.recorded = false, err == nil
	if x.phase == ended {
		m.tell(env, x)
	}
}

func (m *Machine) tell(env node.Env, x *execution) {
	if l := m.links.Peer(x.manager); l != nil && x.result != nil {
		env.Send(l.Stream, x.result)
	}
}

// onRetry tells again what is not acknowledged, and writes again what the disk
// refused.
func (m *Machine) onRetry(env node.Env) {
	env.SetTimer(node.Key(node.PartWorker, node.WorkerRetry), m.config.ResultRetry)
	for _, x := range m.outbox {
		if !x.recorded && x.shard.storing == nil {
			m.writeResult(env, x)
		} else {
			m.tellAgain(env, x)
		}
	}
}

// tellAgain asks the manager that is to know twice, then all in turn: another one
// may have taken the subjob over. Who does not own it does not answer.
func (m *Machine) tellAgain(env node.Env, x *execution) {
	x.tries++
	if x.tries <= 2 && m.links.Peer(x.manager) != nil {
		m.tell(env, x)
		return
	}
	var standing []*uplink.Link
	at := -1 // where that manager is
	for _, l := range m.links.All() {
		if l.Stands {
			if l.Peer.ID == x.manager {
				at = len(standing)
			}
			standing = append(standing, l)
		}
	}
	if len(standing) > 0 {
		env.Send(standing[(at+max(1, x.tries-2))%len(standing)].Stream, x.result)
	}
}

func (m *Machine) onResultAck(env node.Env, ack *message.ShardResultAck) {
	s := m.shards[ack.Shard]
	if s == nil || s.current == nil || s.current.phase != ended || s.current.fence != ack.Fence {
		return // of a result that is forgotten
	}
	m.discharge(env, s.current)
	m.drained(env)
}

// discharge forgets a result.
func (m *Machine) discharge(env node.Env, x *execution) {
	m.outbox = slices.DeleteFunc(m.outbox, func(o *execution) bool { return o == x })
	x.become(closed)
	x.shard.current = nil
	m.dropResult(env, x)
	m.rest(env, x.shard)
}

// evict makes room in a full outbox: the oldest result whose manager is away
// goes. It says whether there was one.
func (m *Machine) evict(env node.Env) bool {
	for _, x := range m.outbox {
		if m.links.Peer(x.manager) == nil {
			m.discharge(env, x)
			return true
		}
	}
	return false
}
