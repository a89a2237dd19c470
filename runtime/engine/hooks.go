package engine

import (
	"errors"
	"time"

	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/coroutine"
	"hyperscale/runtime/engine/pool"
)

const (
	hookMax   = time.Minute                   // bound of a function beside the steps
	hookEvery = int64(300 * time.Microsecond) // interval between the starts of many of them
)

// each runs a function beside the steps as many users, with spaced starts, until all have
// returned.
func (l *loop) each(h workflow.Hook, users []int32) error {
	due := l.Clock.Now
	l.hooks = len(users)
	for l.hooks > 0 || l.Coroutines.Alive > 0 {
		if l.stops() {
			l.hooks = 0
			l.giveUp()
			return nil
		}
		until := int64(pool.Never)
		for ; l.hooks > 0 && due <= l.Clock.Now; due += hookEvery {
			l.functions.spawn(l.functions.beside(h, users[len(users)-l.hooks]))
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

// setUp runs what precedes the start of the clock: the setup, and vu_setup of each virtual user
// of an open workflow, whose starts would have to wait for it.
func (l *loop) setUp() error {
	w := l.cfg.Workflow
	if w.Has(workflow.HookSetup) {
		if err := l.each(workflow.HookSetup, []int32{l.functions.own()}); err != nil {
			return err
		}
		l.functions.shared = l.functions.script[l.functions.own()].Shared()
		l.sessions.finish(l.functions.own(), true)
		l.Sockets.HangUpAll(l.functions.own())
	}
	if !l.iterations.schedule.Open() || !w.Has(workflow.HookVUSetup) || l.Halt.Cancelled.Load() {
		return nil
	}
	var users []int32
	for vu := range l.functions.own() {
		l.users.users[vu].prepared = true
		users = append(users, vu)
	}
	return l.each(workflow.HookVUSetup, users)
}

// cleanUp runs what follows the last iteration. After a cancelled run it sends nothing more.
func (l *loop) cleanUp() error {
	l.Halt.Cut = false
	w := l.cfg.Workflow
	var err error
	if w.Has(workflow.HookProvide) && l.cfg.FirstVU == 0 && !l.Halt.Cancelled.Load() {
		err = l.each(workflow.HookProvide, []int32{l.functions.own()})
	}
	if w.Has(workflow.HookVUTeardown) && !l.Halt.Cancelled.Load() {
		var users []int32
		for vu := range l.functions.own() {
			if l.users.users[vu].begun {
				users = append(users, vu)
			}
		}
		err = errors.Join(err, l.each(workflow.HookVUTeardown, users))
	}
	if w.Has(workflow.HookTeardown) && !l.Halt.Cancelled.Load() {
		err = errors.Join(err, l.each(workflow.HookTeardown, []int32{l.functions.own()}))
	}
	return err
}

// giveUp cancels what is in flight, until nothing is.
func (l *loop) giveUp() {
	l.Halt.Cut = true
	l.requests.talks.Cut()
	l.failBroken() // before the cut
	l.Slots.Broken = l.Slots.Broken[:0]
	for i := range l.Slots.Own {
		if l.Slots.Own[i].Step != pool.None {
			l.Wire.Fail(int32(i), pool.ErrCancelled)
		}
	}
	l.sessions.cancelAll()
	for l.Coroutines.Alive > 0 {
		for i := 0; i < len(l.functions.calls); i++ {
			co := l.functions.calls[i]
			switch {
			case co == nil || co.slot.Step == pool.None:
			case co.co.Want == coroutine.WantSleep:
				l.functions.wakes(co.index)
			default:
				l.Wire.Fail(co.index, pool.ErrCancelled)
			}
		}
		l.functions.runReady()
	}
	parking{&l.requests}.cut()
	l.Slots.Broken = l.Slots.Broken[:0] // what broke meanwhile has ended, too
}
