package worker

import (
	"fmt"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
	"hyperscale/core/worker/budget"
)

// watched says that the worker still judges an executor: it has not reported its end, and is not being
// killed.
func (r *run) watched() bool { return !r.gone && r.result == nil && !r.spent }

// measured judges what an executor uses. It throttles one that comes near its budget, and ends one that
// is too far over it. Where the machine is short of memory it ends the one that has most.
func (m *holdings) measured(env node.Env, r *run, u *message.ExecUsage) {
	before := r.gauge.Level()
	level := r.gauge.Look(env.Now(), u)
	if !r.watched() {
		return
	}
	if level != before {
		r.execution.dirty = true
		r.tellMemory(env, level.String(), "")
	}
	if throttled := level >= budget.Throttled; throttled != (before >= budget.Throttled) {
		env.Exec().Tell(r.id, &message.ExecThrottle{On: throttled})
	}
	if err := r.gauge.Spent(); err != nil {
		r.spend(env, message.FaultProgram, err)
	} else if budget.Short(u) {
		m.relieve(env, u)
	}
}

// relieveAgain is for how long a worker waits for the memory of an executor that it has ended, before
// it ends another one.
const relieveAgain = 2 * time.Second

// relieve ends the executor that has most of a machine's memory.
func (m *holdings) relieve(env node.Env, short *message.ExecUsage) {
	if m.relieved != 0 && env.Now().Sub(m.relieved) < relieveAgain {
		return
	}
	var most *run
	for _, x := range m.ordered {
		for _, r := range x.runs {
			if r.watched() && (most == nil || r.gauge.Now().Memory > most.gauge.Now().Memory) {
				most = r
			}
		}
	}
	if most == nil {
		return
	}
	victim := *short
	victim.Memory = most.gauge.Now().Memory
	if !budget.Relieves(&victim) {
		return
	}
	m.relieved = env.Now()
	most.spend(env, message.FaultMemory, budget.Shortage(&victim))
}

// watchMemory ends executors of an execution that are over their budget for too long.
func (x *execution) watchMemory(env node.Env, awake time.Duration) {
	for _, r := range x.runs {
		if r.gauge.Pass(awake); !r.watched() {
			continue
		}
		if err := r.gauge.Spent(); err != nil {
			r.spend(env, message.FaultProgram, err)
		}
	}
}

// spend ends an executor for the memory that it has, and with it its execution. Another machine would
// see the same, unless the fault is this one's. An execution that is ending has its reason already.
func (r *run) spend(env node.Env, fault message.Fault, why error) {
	r.spent = true
	r.tellMemory(env, "killed", why.Error())
	env.Exec().Kill(r.id)
	text := fmt.Sprintf("the executor on core %d %v", r.core, why)
	if x := r.execution; x.phase == running {
		x.fail(env, fault, text)
	} else {
		x.why += "; " + text
	}
}

func (r *run) tellMemory(env node.Env, level, why string) {
	x := r.execution
	env.Emit(event.MemoryLevel{Shard: x.shard.id, Fence: x.fence, Core: r.core, Level: level, Used: r.gauge.Now().Memory, Budget: r.gauge.Budget(), Why: why})
}

// addUsage adds to figures what the executors used.
func (x *execution) addUsage(env node.Env, sum *message.Stats) {
	for _, r := range x.runs {
		sum.Generator.Usage = stats.AddUsage(sum.Generator.Usage, r.gauge.Usage(env.Now()))
	}
}
