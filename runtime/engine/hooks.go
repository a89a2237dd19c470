package engine

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/core/load/schedule"
	"hyperscale/core/workflow"
)

const (
	hookMax   = time.Minute                   // a function beside the steps may take so long
	hookEvery = int64(300 * time.Microsecond) // many of them do not begin at the same time
)

// beside is the task of a function beside the steps.
func (l *loop) beside(h workflow.Hook, vu int32) task {
	return task{job: jobHook, hook: h, vu: vu, due: l.clock.Now, until: l.clock.Now + int64(hookMax)}
}

// hooked takes the end of one. That of a vu_setup before an iteration begins that iteration: what it
// has prepared is not measured.
func (l *loop) hooked(co *coroutine, out workflow.Outcome) {
	co.answer = nil
	if !out.OK {
		err := fmt.Errorf("%s of virtual user %d: %s", co.hook, l.number(co.vu), out.Detail)
		switch co.hook {
		case workflow.HookProvide:
			if l.fault == nil && !l.cancelled.Load() {
				l.fault = err // others wait for it
			}
		case workflow.HookSetup, workflow.HookVUSetup: // without it there is nothing to measure
			if l.fault == nil && !l.cut && !l.cancelled.Load() {
				l.fault = err
			}
			l.cancelled.Store(true)
		default:
			l.log(err.Error())
		}
	}
	switch {
	case !co.begins:
	case !out.OK || l.cut || l.cancelled.Load():
		l.iterations.Ended(co.vu, l.clock.Now)
		hangUpLeft(l)
	default:
		l.begin(schedule.Iteration{VU: co.vu, Step: co.taken, Due: l.clock.Now, Could: l.clock.Now})
	}
}

// each runs a function beside the steps as many users, not quite at the same time, until
// all have returned.
func (l *loop) each(h workflow.Hook, users []int32) error {
	due := l.clock.Now
	l.hooks = len(users)
	for l.hooks > 0 || l.coroutines.alive > 0 {
		if l.stops() {
			l.hooks = 0
			l.giveUp()
			return nil
		}
		until := int64(never)
		for ; l.hooks > 0 && due <= l.clock.Now; due += hookEvery {
			l.spawn(l.beside(h, users[len(users)-l.hooks]))
			l.hooks--
		}
		if l.hooks > 0 {
			until = due
		}
		if err := l.turn(until); err != nil {
			return err
		}
	}
	return nil
}

// setUp runs what comes before the clock starts: the setup, and of an open workflow,
// whose starts would have to wait for it, that of each virtual user.
func (l *loop) setUp() error {
	w := l.cfg.Workflow
	if w.Has(workflow.HookSetup) {
		if err := l.each(workflow.HookSetup, []int32{l.own()}); err != nil {
			return err
		}
		l.shared = l.script[l.own()].Shared()
		l.hangUpAll(l.own())
	}
	if !l.iterations.Open() || !w.Has(workflow.HookVUSetup) || l.cancelled.Load() {
		return nil
	}
	var users []int32
	for vu := range l.own() {
		l.users[vu].prepared = true
		users = append(users, vu)
	}
	return l.each(workflow.HookVUSetup, users)
}

// cleanUp runs what comes behind the last iteration, unless the run was cancelled: then
// nothing more is sent.
func (l *loop) cleanUp() error {
	l.cut = false
	w := l.cfg.Workflow
	var err error
	if w.Has(workflow.HookProvide) && l.cfg.FirstVU == 0 && !l.cancelled.Load() {
		err = l.each(workflow.HookProvide, []int32{l.own()})
	}
	if w.Has(workflow.HookVUTeardown) && !l.cancelled.Load() {
		var users []int32
		for vu := range l.own() {
			if l.users[vu].begun {
				users = append(users, vu)
			}
		}
		err = errors.Join(err, l.each(workflow.HookVUTeardown, users))
	}
	if w.Has(workflow.HookTeardown) && !l.cancelled.Load() {
		err = errors.Join(err, l.each(workflow.HookTeardown, []int32{l.own()}))
	}
	return err
}

// giveUp cancels what is in flight, until nothing is.
func (l *loop) giveUp() {
	l.cut = true
	l.broken = l.broken[:0]
	for i := range l.lanes {
		if l.lanes[i].step != none {
			l.fail(int32(i), errCancelled)
		}
	}
	for l.coroutines.alive > 0 {
		for i := 0; i < len(l.coroutines.all); i++ {
			co := l.coroutines.all[i]
			switch {
			case co.lane.step == none:
			case co.want == wantSleep:
				l.wakes(co.index)
			default:
				l.fail(co.index, errCancelled)
			}
		}
		l.runReady()
	}
}
