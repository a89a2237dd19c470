package engine

import (
	"time"

	"hyperscale/core/load/schedule"
	"hyperscale/core/message"
	"hyperscale/core/workflow"
)

// user is a virtual user between and during its iterations.
type user struct {
	holder   *coroutine // is suspended in the middle of its code
	pools    *pool      // over HTTP/2, unless they are shared
	idle     int32      // the idle connection that it used last; none: there is none
	running  int16      // steps under way
	kept     uint8      // idle connections
	prepared bool       // its vu_setup has run, or was tried
	begun    bool
}

type stepState uint8

const (
	stepWaiting stepState = iota
	stepRunning
	stepGood
	stepBad     // failed, or skipped
	stepUntaken // this iteration goes without it
)

func stateOf(good bool) stepState {
	if good {
		return stepGood
	}
	return stepBad
}

// begin starts an iteration, behind the user's vu_setup if that has not run.
func (l *loop) begin(p schedule.Iteration) {
	u := &l.users[p.VU]
	u.begun = true
	if !u.prepared {
		u.prepared = true
		if l.cfg.Workflow.Has(workflow.HookVUSetup) {
			t := l.beside(workflow.HookVUSetup, p.VU)
			t.taken, t.begins = p.Step, true
			l.spawn(t)
			return
		}
	}
	l.gen.Lag.Record(uint64(max(0, l.clock.Now-p.Could)))
	if l.script != nil {
		l.scriptOf(p.VU).Begin()
	}
	if l.rows != nil {
		l.lay(p.VU)
	}
	states := l.statesOf(p.VU)
	clear(states)
	if p.Step >= 0 {
		for i := range states {
			if l.g.steps[i].plan.Weight > 0 && i != int(p.Step) {
				states[i] = stepUntaken
			}
		}
	}
	l.advance(p.VU, p.Due, true)
}

func (l *loop) statesOf(vu int32) []stepState {
	n := len(l.g.steps)
	return l.states[int(vu)*n : (int(vu)+1)*n]
}

// advance starts each step that waits for nothing any more, and skips those behind a
// failure. Steps come after what they wait for, so that one look at each is enough.
func (l *loop) advance(vu int32, due int64, first bool) {
	u, states := &l.users[vu], l.statesOf(vu)
	for i := range states {
		if states[i] != stepWaiting {
			continue
		}
		switch l.behind(states, i) {
		case stepBad:
			states[i] = stepBad
			l.accounts[i].Skipped++
			l.debug.printf("step %s: skipped, a step before it failed\n\n", l.g.steps[i].plan.Name)
		case stepUntaken:
			states[i] = stepUntaken
		case stepGood:
			if l.mayStart(i, first) {
				states[i] = stepRunning
				u.running++
				l.take(vu, i, due)
			}
		}
	}
	if u.running == 0 {
		l.passed(vu)
	}
}

// behind is the state of all steps together that a step waits for.
func (l *loop) behind(states []stepState, i int) stepState {
	state := stepGood
	for _, before := range l.g.steps[i].plan.After {
		switch s := states[before]; s {
		case stepWaiting, stepRunning:
			return stepWaiting
		case stepBad, stepUntaken:
			state = max(state, s)
		}
	}
	return state
}

// mayStart lets checks and metrics look at the last answers when the time is over, and a
// iteration that has begun send its first requests: what began it knew the time.
func (l *loop) mayStart(i int, first bool) bool {
	switch l.g.steps[i].plan.Kind {
	case message.StepCheck, message.StepMetric:
		return !l.cancelled.Load()
	}
	return first || !l.isOver()
}

// take starts a step if its condition, where it has one, lets it.
func (l *loop) take(vu int32, i int, due int64) {
	if l.cfg.Workflow.Steps[i].Conditional() {
		l.spawn(task{job: jobWhen, vu: vu, step: int16(i), due: due})
		return
	}
	l.launch(vu, i, due)
}

// launch starts a step.
func (l *loop) launch(vu int32, i int, due int64) {
	if l.g.steps[i].call != nil {
		l.start(vu, i, due)
		return
	}
	l.accounts[i].Start(time.Duration(l.clock.Now))
	l.spawn(task{job: jobCall, vu: vu, step: int16(i), due: due})
}

// finish takes the end of a step.
func (l *loop) finish(vu int32, step int16, state stepState) {
	l.statesOf(vu)[step] = state
	l.users[vu].running--
	l.advance(vu, l.clock.Now, false)
}

// passed takes the end of an iteration.
func (l *loop) passed(vu int32) {
	if l.cfg.Workflow.Plan.Session == message.SessionNone {
		l.forget(vu)
	}
	l.iterations.Ended(vu, l.clock.Now)
	hangUpLeft(l)
}
