package worker

import (
	"fmt"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/pressure"
	"hyperscale/core/stats"
	"hyperscale/core/worker/outbox"
)

// statsMax is the part of a frame that a shard's statistics may take.
const statsMax = message.FrameMax / 2

// results are the holdings, with the figures of executions.
type results struct{ holdings }

// turns is how many turns pass between two reports of an execution: the longest time that any manager
// asks for which owns one. A manager that was replaced owns none, and is not asked.
func (m *results) turns(env node.Env) uint64 {
	var every time.Duration
	for _, x := range m.ordered {
		if x.phase == running || x.phase == ending {
			every = max(every, m.managers.every(env, x.manager))
		}
	}
	return pressure.Turns(every, m.config.ProgressInterval)
}

// onPush sends the progress since the last push of the executions whose turn it is. Unanswered
// requests do not wait for a turn.
func (m *results) onPush(env node.Env) {
	m.pushing = false
	awake := m.tick.Awake(env.Now())
	m.turn++
	turns := m.turns(env)
	for _, x := range m.ordered {
		if x.phase != running && x.phase != ending || x.silent {
			continue
		}
		m.pushing = true
		x.watchRuns(env, awake)
		x.watchMemory(env, awake)
		m.managers.askAgain(env, x)
		if !x.dirty || !pressure.Due(m.turn, x.turn, uint64(x.shard.id.Ordinal), turns) {
			continue
		}
		l := m.managers.links.Peer(x.manager)
		if l == nil {
			continue // the next push after the manager reconnects
		}
		if !node.Calm(env, l.Stream) {
			continue // a later push has newer figures
		}
		x.dirty, x.turn = false, m.turn
		x.sequence++
		sum, err := x.sum(env)
		if err != nil {
			env.Emit(event.Ignored{Peer: env.Self().ID, Message: "ExecProgress", Why: err.Error()})
			continue
		}
		out := &message.ShardProgress{Shard: x.shard.id, Fence: x.fence, Sequence: x.sequence, Stats: sum}
		if size := message.HeaderSize + out.Size(); size > message.FrameMax {
			env.Emit(event.Ignored{Peer: env.Self().ID, Message: "ExecProgress", Why: fmt.Sprintf("the figures take %d bytes, %d is the bound", size, message.FrameMax)})
			continue // the result will say so
		}
		env.Send(l.Stream, out)
	}
	if m.pushing {
		m.setPush(env)
	}
}

// setPush sets the timer of progress, by which the worker also watches its executors.
func (m *holdings) setPush(env node.Env) {
	m.pushing = true
	m.tick.Arm(env.Now(), m.config.ProgressInterval)
	env.SetTimer(node.Key(node.PartWorker, node.WorkerPush), m.config.ProgressInterval)
}

func (x *execution) sum(env node.Env) (message.Stats, error) {
	parts := make([]*message.Stats, len(x.runs))
	for i, r := range x.runs {
		parts[i] = r.stats
	}
	sum, err := stats.Sum(parts)
	x.addUsage(env, &sum)
	stats.Fit(&sum, statsMax)
	return sum, err
}

// finish makes the result of an ended execution and starts to store it.
func (m *results) finish(env node.Env, x *execution) {
	m.release(env, x)
	x.become(closed)
	s := x.shard
	s.current = nil
	s.result = &outbox.Item{Result: x.summary(env), Manager: x.manager, Ended: env.Now()}
	m.outbox.Add(s.result)
	if s.storing == nil {
		m.disk.writeResult(env, s.result)
	}
}

// summary is the result of an ended execution.
func (x *execution) summary(env node.Env) *message.ShardResult {
	state, why := x.outcome()
	out := &message.ShardResult{Shard: x.shard.id, Fence: x.fence, State: state, Error: why}
	if state == message.WorkflowFailed {
		out.Fault = x.fault
	}
	if x.started != 0 {
		out.Duration = env.Now().Sub(x.started)
	}
	sum, err := x.settled(env)
	if err != nil {
		out.State, out.Fault, out.Error = message.WorkflowFailed, message.FaultProgram, fmt.Sprintf("add up the executors' figures: %v", err)
	}
	out.Stats = sum
	for _, r := range x.runs {
		if r.result != nil && state == message.WorkflowCompleted {
			out.Provided = append(out.Provided, r.result.Provided...) // one of them has the first virtual user
		}
	}
	// A frame has a bound, which thousands of kinds of errors exceed.
	if size := message.HeaderSize + out.Size(); size > message.FrameMax-1024 {
		out.State, out.Fault = message.WorkflowFailed, message.FaultProgram
		out.Error = fmt.Sprintf("the figures take %d bytes, %d is the bound: split the workflow into several with fewer steps", size, message.FrameMax-1024)
		out.Stats, out.Provided = message.Stats{}, nil
	}
	return out
}

// settled sums the figures of an ended execution. An executor that crashed leaves requests in
// flight.
func (x *execution) settled(env node.Env) (message.Stats, error) {
	parts := make([]*message.Stats, len(x.runs))
	for i, r := range x.runs {
		if parts[i] = r.stats; r.result == nil && r.stats != nil {
			settled := stats.Settle(*r.stats)
			parts[i] = &settled
		}
	}
	sum, err := stats.Sum(parts)
	x.nameSilent(&sum, env.Self().ID)
	x.addUsage(env, &sum)
	stats.Fit(&sum, statsMax)
	return sum, err
}

// nameSilent names the executors none of whose requests was answered.
func (x *execution) nameSilent(sum *message.Stats, worker node.ID) {
	for _, r := range x.runs {
		if r.result == nil {
			continue // its last report may lack answers
		}
		if s, is := stats.Silent(r.stats); is {
			s.Worker, s.Core = string(worker), uint32(r.core)
			if sum.SilentSum++; len(sum.Silent) < stats.SilentMax {
				sum.Silent = append(sum.Silent, s)
			}
		}
	}
}

// onResultStored sends the result, on disk or not: a full disk must not keep the manager from
// learning it.
func (m *results) onResultStored(env node.Env, x *outbox.Item, err error) {
	x.Wrote(err)
	if s := m.shards[x.Result.Shard]; s != nil && s.result == x {
		m.tell(env, x)
	}
}

func (m *results) tell(env node.Env, x *outbox.Item) { m.managers.send(env, x.Manager, x.Result) }

// onRetry sends unacknowledged results again, and repeats writes that the disk refused.
func (m *results) onRetry(env node.Env) {
	env.SetTimer(node.Key(node.PartWorker, node.WorkerRetry), m.config.ResultRetry)
	for _, x := range m.outbox.All() {
		if x.Copy != outbox.Written && m.shards[x.Result.Shard].storing == nil {
			m.disk.writeResult(env, x)
		} else if to, ok := x.Next(m.managers.connected()); ok {
			m.managers.send(env, to, x.Result)
		}
	}
}

// acknowledged drops the result of an attempt, if it waits.
func (m *results) acknowledged(env node.Env, ack *message.ShardResultAck) bool {
	s := m.shards[ack.Shard]
	if s == nil || s.result == nil || s.result.Result.Fence != ack.Fence {
		return false
	}
	m.discharge(env, s.result)
	return true
}

// discharge drops a result.
func (m *results) discharge(env node.Env, x *outbox.Item) {
	s := m.shards[x.Result.Shard]
	m.outbox.Remove(x)
	s.result = nil
	m.disk.dropResult(env, s.id)
	m.rest(env, s)
}

// evict makes room in a full outbox: it drops the oldest result whose manager is disconnected.
// It says whether there was one.
func (m *results) evict(env node.Env) bool {
	x := m.outbox.Evictable(m.managers.connected())
	if x != nil {
		m.discharge(env, x)
	}
	return x != nil
}
