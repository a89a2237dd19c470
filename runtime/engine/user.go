package engine

import (
	"time"

	"hyperscale/core/load/schedule"
	"hyperscale/core/message"
	"hyperscale/core/workflow"
)

// user is a virtual user between and during its iterations.
type user struct {
	holder   *call // suspended in the middle of its code
	running  int16 // steps in progress
	prepared bool  // its vu_setup has run, or failed
	begun    bool
}

type stepState uint8

const (
	stepWaiting stepState = iota
	stepRunning
	stepGood
	stepBad     // failed, or skipped
	stepUntaken // this iteration skips it
)

func stateOf(good bool) stepState {
	if good {
		return stepGood
	}
	return stepBad
}

// users are the virtual users, each with the steps of its iteration.
type users struct {
	*parts
	users  []user      // the last one is the workflow's own
	states []stepState // of the steps of user 0, of user 1, ...
}

// begin starts an iteration, after the user's vu_setup if that has not run.
func (us *users) begin(p schedule.Iteration) {
	u := &us.users[p.VU]
	u.begun = true
	if !u.prepared {
		u.prepared = true
		if us.cfg.Workflow.Has(workflow.HookVUSetup) {
			t := us.functions.beside(workflow.HookVUSetup, p.VU)
			t.taken, t.begins = p.Step, true
			us.functions.spawn(t)
			return
		}
	}
	us.gen.Lag.Record(uint64(max(0, us.Clock.Now-p.Could)))
	if us.functions.script != nil {
		us.functions.scriptOf(p.VU).Begin()
	}
	if us.iterations.rows != nil {
		us.iterations.lay(p.VU)
	}
	if us.cfg.Trace != nil {
		us.cfg.Trace.Begin(p.VU, us.functions.number(p.VU))
	}
	states := us.statesOf(p.VU)
	clear(states)
	if p.Step >= 0 {
		for i := range states {
			if us.g.steps[i].plan.Weight > 0 && i != int(p.Step) {
				states[i] = stepUntaken
			}
		}
	}
	us.advance(p.VU, p.Due, true)
}

func (us *users) statesOf(vu int32) []stepState {
	n := len(us.g.steps)
	return us.states[int(vu)*n : (int(vu)+1)*n]
}

// advance starts each step when what it waits for has ended, and skips it if it needs what failed.
// Steps follow their dependencies in order, so one pass is enough.
func (us *users) advance(vu int32, due int64, first bool) {
	u, states := &us.users[vu], us.statesOf(vu)
	for i := range states {
		if states[i] != stepWaiting {
			continue
		}
		switch us.behind(states, i) {
		case stepBad:
			states[i] = stepBad
			us.requests.accounts[i].Skipped++
			us.requests.debug.printf("step %s: skipped, a step that it needs failed\n\n", us.g.steps[i].plan.Name)
		case stepUntaken:
			states[i] = stepUntaken
		case stepGood:
			if us.mayStart(i, first) {
				states[i] = stepRunning
				u.running++
				us.take(vu, i, due)
			}
		}
	}
	if u.running == 0 {
		us.passed(vu)
	}
}

// behind returns the combined state of all steps that a step needs, once all that it waits for
// have ended.
func (us *users) behind(states []stepState, i int) stepState {
	p := us.g.steps[i].plan
	for _, before := range p.Behind {
		if states[before] <= stepRunning {
			return stepWaiting
		}
	}
	state := stepGood
	for _, before := range p.After {
		switch s := states[before]; s {
		case stepWaiting, stepRunning:
			return stepWaiting
		case stepBad, stepUntaken:
			state = max(state, s)
		}
	}
	return state
}

// mayStart lets checks and metrics read the last answers when the time is over, and lets an
// iteration that has begun send its first requests.
func (us *users) mayStart(i int, first bool) bool {
	switch us.g.steps[i].plan.Kind {
	case message.StepCheck, message.StepMetric:
		return !us.Halt.Cancelled.Load()
	}
	return first || !us.course.isOver()
}

// take starts a step if it has no condition, or its condition allows it.
func (us *users) take(vu int32, i int, due int64) {
	if us.cfg.Workflow.Steps[i].Conditional() {
		us.functions.spawn(task{job: jobWhen, vu: vu, step: int16(i), due: due})
		return
	}
	us.launch(vu, i, due)
}

// launch starts a step.
func (us *users) launch(vu int32, i int, due int64) {
	if us.g.steps[i].call != nil {
		us.requests.start(vu, i, due)
		return
	}
	us.requests.accounts[i].Start(time.Duration(us.Clock.Now))
	us.functions.spawn(task{job: jobCall, vu: vu, step: int16(i), due: due})
}

// finish takes the end of a step.
func (us *users) finish(vu int32, step int16, state stepState) {
	us.statesOf(vu)[step] = state
	us.users[vu].running--
	us.advance(vu, us.Clock.Now, false)
}

// passed takes the end of an iteration.
func (us *users) passed(vu int32) {
	us.cfg.Trace.End(vu)
	us.sessions.finish(vu, false)
	if us.cfg.Workflow.Plan.Session == message.SessionNone {
		us.forget(vu)
	}
	us.iterations.schedule.Ended(vu, us.Clock.Now)
	us.iterations.hangUpLeft()
}

func (c *course) isOver() bool {
	return c.Halt.Cut || c.Clock.Now >= c.over || c.Halt.Cancelled.Load()
}
