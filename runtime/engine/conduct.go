package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"hyperscale/core/workflow"
)

// conduct begins what is due until nothing is under way and nothing will be.
func (r *general) conduct() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		r.dispatch(-1)
		done, alarm := r.look()
		if done || r.isCancelled() {
			break
		}
		if r.now() >= r.hard {
			r.cut.Store(true)
			r.abandonLinks()
			break
		}
		timer.Reset(time.Duration(min(alarm, int64(r.hard))) - r.now())
		select {
		case <-timer.C:
		case <-r.kick:
		case <-r.context().Done():
		}
	}
	r.crewMu.Lock()
	r.drive.stop(int64(r.now()))
	r.crewMu.Unlock()
	r.passes.Wait()
}

func (r *general) look() (done bool, alarm int64) {
	r.crewMu.Lock()
	defer r.crewMu.Unlock()
	r.alarm = r.drive.wake()
	return r.drive.done(), r.alarm
}

// dispatch begins all passes that are due; that of own, if there is one, is returned.
func (r *general) dispatch(own int32) (pass, bool) {
	r.crewMu.Lock()
	defer r.crewMu.Unlock()
	return r.dispatchLocked(own)
}

func (r *general) dispatchLocked(own int32) (mine pass, ok bool) {
	if r.isCancelled() {
		return mine, false
	}
	for {
		p, more := r.drive.next(int64(r.now()))
		if !more {
			return mine, ok
		}
		if p.vu == own {
			mine, ok = p, true
			continue
		}
		v := r.user(p.vu)
		r.passes.Go(func() { v.live(p) })
	}
}

// ended takes the end of a user's pass, and gives it the next one if that is due.
func (r *general) ended(vu int32) (pass, bool) {
	r.crewMu.Lock()
	defer r.crewMu.Unlock()
	r.drive.ended(vu, int64(r.now()))
	p, ok := r.dispatchLocked(vu)
	if r.drive.done() || r.drive.wake() < r.alarm {
		select {
		case r.kick <- struct{}{}:
		default: // it is about to look
		}
	}
	return p, ok
}

// user returns a virtual user, which is made when it first begins.
func (r *general) user(vu int32) *virtual {
	v := r.users[vu]
	if v == nil {
		v = newVirtual(r, r.cfg.FirstVU+uint64(vu), r.scripts)
		v.index = vu
		v.script.Share(r.shared)
		r.users[vu] = v
	}
	return v
}

// live runs passes until none of this user is due.
func (v *virtual) live(p pass) {
	for ok := true; ok; p, ok = v.r.ended(v.index) {
		if !v.prepared && v.r.cfg.Workflow.Has(workflow.HookVUSetup) {
			if !v.prepare() {
				continue
			}
			p.due = int64(v.r.now()) // what it has prepared is not measured
			p.could = p.due
		}
		v.r.mu.Lock()
		v.r.gen.lag.Record(uint64(max(0, int64(v.r.now())-p.could)))
		v.r.mu.Unlock()
		v.pass(p)
		if v.forgets {
			v.close()
		}
	}
}

// hookMax is how long a function beside the steps may take.
const hookMax = time.Minute

// hook runs a function beside the steps.
func (v *virtual) hook(h workflow.Hook) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.until = v.r.now() + hookMax
	clear(v.late)
	out := v.script.Run(h)
	v.until = 0
	clear(v.served)
	if !out.OK {
		return fmt.Errorf("%s of virtual user %d: %s", h, v.id, out.Detail)
	}
	return nil
}

// prepare is the vu_setup of a user; without it there is nothing to measure.
func (v *virtual) prepare() bool {
	v.prepared = true
	if err := v.hook(workflow.HookVUSetup); err != nil {
		v.r.fail(err)
		return false
	}
	return true
}

// fail ends the run.
func (r *general) fail(err error) {
	r.mu.Lock()
	if r.fault == nil && !r.isCancelled() {
		r.fault = err
	}
	r.mu.Unlock()
	r.abort()
}

// prepare runs what comes before the clock starts: the setup, and of an open workflow,
// whose starts would have to wait for it, that of each virtual user.
func (r *general) prepare() {
	w := r.cfg.Workflow
	if w.Has(workflow.HookSetup) {
		v := newVirtual(r, r.cfg.FirstVU, r.scripts)
		if err := v.hook(workflow.HookSetup); err != nil {
			r.fail(err)
		}
		r.shared = v.script.Shared()
		v.close()
	}
	if r.drive.open == nil || !w.Has(workflow.HookVUSetup) {
		return
	}
	r.each(func(vu int) *virtual { return r.user(int32(vu)) }, func(v *virtual) { v.prepare() })
}

// each does something with many users, not quite all at the same time.
func (r *general) each(user func(vu int) *virtual, do func(*virtual)) {
	var all sync.WaitGroup
	due := r.now()
	for vu := range r.users {
		v := user(vu)
		if v == nil {
			continue
		}
		if !r.sleepUntil(due) {
			break
		}
		due += startEveryGeneral
		all.Go(func() { do(v) })
	}
	all.Wait()
}

// cleanUp runs what comes behind the last pass, unless the run was cancelled: then
// nothing more is sent.
func (r *general) cleanUp() {
	w := r.cfg.Workflow
	if !w.Has(workflow.HookTeardown) && !w.Has(workflow.HookVUTeardown) || r.isCancelled() {
		return
	}
	if r.cut.Load() {
		r.linksMu.Lock()
		r.ctx, r.stop = context.WithCancel(context.WithoutCancel(r.ctx))
		r.linksMu.Unlock()
		r.cut.Store(false)
	}
	tell := func(err error) {
		if err != nil {
			r.logLine(err.Error())
		}
	}
	if w.Has(workflow.HookVUTeardown) {
		r.each(func(vu int) *virtual { return r.users[vu] }, func(v *virtual) { tell(v.hook(workflow.HookVUTeardown)) })
	}
	if w.Has(workflow.HookTeardown) {
		v := newVirtual(r, r.cfg.FirstVU, r.scripts)
		v.script.Share(r.shared)
		tell(v.hook(workflow.HookTeardown))
	}
}
