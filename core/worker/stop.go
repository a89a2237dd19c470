package worker

import (
	"fmt"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/health"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// judge ends the whole shard if an executor fails, or ends unasked: its share of the load is
// missing.
func (r *run) judge(env node.Env) {
	if r.result.State == message.WorkflowCompleted || r.execution.phase != running {
		return
	}
	if r.result.State == message.WorkflowCancelled {
		r.execution.giveUp(env) // it ended by itself: its time was over
		return
	}
	why := r.result.Error
	if why == "" {
		why = fmt.Sprintf("the executor on core %d ended %v", r.core, r.result.State)
	}
	r.execution.fail(env, message.FaultProgram, why)
}

// fail ends an execution. The first fault stays: what follows may be its consequence.
func (x *execution) fail(env node.Env, fault message.Fault, why string) {
	if x.fault == message.FaultNone {
		x.fault = fault
	}
	x.failure = why
	x.end(env, message.WorkflowNone, "another executor of the shard failed")
}

// end asks the executors of an execution to stop; the first reason stays.
func (x *execution) end(env node.Env, to message.WorkflowState, why string) {
	if x.stop == message.WorkflowNone && x.failure == "" {
		x.stop, x.why = to, why
	}
	if x.phase != running {
		return
	}
	x.become(ending)
	env.CancelTimer(node.KeyN(node.PartWorker, node.WorkerShard, x.number))
	env.SetTimer(node.KeyN(node.PartWorker, node.WorkerKill, x.number), x.config.KillGrace)
	for _, r := range x.runs {
		if !r.gone && r.result == nil {
			env.Exec().Cancel(r.id)
		}
	}
}

// timeOut ends an execution that ran for too long.
func (x *execution) timeOut(env node.Env) {
	if x == nil {
		return
	}
	x.end(env, message.WorkflowTimedOut, fmt.Sprintf("it ran longer than its run timeout of %v", x.dispatch.RunTimeout))
}

// kill ends executors that did not stop when the worker asked them to.
func (x *execution) kill(env node.Env) {
	if x == nil {
		return
	}
	for _, r := range x.runs {
		if !r.gone {
			env.Exec().Kill(r.id)
			x.why += fmt.Sprintf("; the executor on core %d did not stop within %v and was killed", r.core, x.config.KillGrace)
		}
	}
}

func (x *execution) outcome() (message.WorkflowState, string) {
	completed := len(x.runs) > 0
	for _, r := range x.runs {
		completed = completed && r.result != nil && r.result.State == message.WorkflowCompleted
	}
	switch {
	case completed && x.failure == "":
		return message.WorkflowCompleted, ""
	case x.failure != "":
		return message.WorkflowFailed, x.failure
	}
	return x.stop, x.why
}

// renewStep is the least distance by which a deadline moves, a tenth of the timeout. Less is
// not worth a message to every executor.
func (c Config) renewStep() time.Duration { return c.RenewalTimeout / 10 }

// extend moves the deadline of an execution. A deadline that has passed stays, whether or not
// the worker noticed: the executors have stopped by it.
func (x *execution) extend(env node.Env, by node.ID, until node.Instant) {
	if x.until == 0 || env.Now() >= x.until {
		return
	}
	renewed := x.manager != by
	x.manager = by
	if until <= x.until || !renewed && until.Sub(x.until) < x.config.renewStep() {
		return
	}
	x.until = until
	x.enforce(env)
}

// enforce applies the deadline of an execution here and in its executors, which keep it by
// themselves while this worker is suspended.
func (x *execution) enforce(env node.Env) {
	env.SetTimer(node.KeyN(node.PartWorker, node.WorkerRenewal, x.number), max(0, x.until.Sub(env.Now())))
	if x.phase != running && x.phase != ending {
		return
	}
	for _, r := range x.runs {
		if !r.gone {
			env.Exec().Extend(r.id, x.until)
		}
	}
	env.Emit(event.ShardRenewed{Shard: x.shard.id, Fence: x.fence, Until: x.until})
}

// giveUp kills the executors. There is no time to ask: they are about to end by themselves.
func (x *execution) giveUp(env node.Env) {
	x.lapsed = true
	if x.stop == message.WorkflowNone && x.failure == "" {
		x.stop, x.why = message.WorkflowCancelled, x.config.silence()
	}
	if x.phase == running {
		x.become(ending)
	}
	x.hush()
	for _, r := range x.runs {
		if !r.gone {
			env.Exec().Kill(r.id)
		}
	}
}

// hush makes an execution end without a report.
func (x *execution) hush() {
	if !x.silent {
		x.silent = true
		x.shard.leaving++
	}
}

// silence is the text of why the worker gave an execution up.
func (c *Config) silence() string {
	return fmt.Sprintf("its manager was silent for %v", c.RenewalTimeout)
}

// told says that all executors have sent their results or are gone.
func (x *execution) told() bool {
	for _, r := range x.runs {
		if r.result == nil && !r.gone {
			return false
		}
	}
	return true
}

// ask grants an executor more time for something long, or not. That moves neither the deadline of its
// execution nor its run timeout.
func (r *run) ask(env node.Env, a *message.ExecAlive) {
	x := r.execution
	more, why := r.watch.Ask(x.config.ExecutorSilence, a.Done)
	e := event.ExecutorWatched{Shard: x.shard.id, Fence: x.fence, Core: r.core, State: "granted", More: more, Why: a.Reason}
	e.Quiet, _ = r.watch.Quiet()
	if why != "" {
		e.State, e.Why = "denied", why
	}
	env.Emit(e)
}

// watchRuns ends an execution whose executor says nothing: its loop hangs, whatever its target does.
// Of its fault another worker decides. One that has sent its result is about to end.
func (x *execution) watchRuns(env node.Env, awake time.Duration) {
	for _, r := range x.runs {
		if x.phase != running || r.gone || r.result != nil {
			continue
		}
		state := r.watch.Pass(x.config.ExecutorSilence, awake)
		quiet, more := r.watch.Quiet()
		if state != r.state {
			r.state = state
			env.Emit(event.ExecutorWatched{Shard: x.shard.id, Fence: x.fence, Core: r.core, State: state.String(), Quiet: quiet, More: more})
		}
		if state == health.Stuck {
			env.Exec().Kill(r.id)
			x.fail(env, message.FaultExecutor, fmt.Sprintf("the executor on core %d said nothing for %v and was killed", r.core, quiet))
		}
	}
}
