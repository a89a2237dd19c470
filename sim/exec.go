package sim

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// reapTime is how long it takes to kill a process, or to notice its end.
const reapTime = 3 * time.Millisecond

// Events of an executor, in the side field of the event.
const (
	execBoot uint8 = iota
	execProgress
	execResult
	execCrash
	execHang
	execObey // it obeys a cancel
	execGone
	execLapse // its extended time may be over
	execAsk   // it asks for rows
	execAct   // its script acts
)

// runState is the state of a run. A run never returns to an earlier state.
type runState uint8

const (
	runBooting  runState = iota // its clock has not started
	runRunning                  // since run.began
	runHung                     // it reports nothing and ignores cancels
	runReported                 // it sent its result; its process ends
	runDead                     // it crashed, was killed, or never started: its process ends
	runLapsed                   // its time ended without an extension: its process ends
)

// run is one executor at work.
type run struct {
	id       node.ExecID
	core     int
	start    *message.ExecStart
	course   Course
	state    runState
	began    time.Duration // when the clock of the run started
	until    node.Instant  // node time at which it ends by itself; zero: never
	sequence uint64
	asked    uint64 // number of questions for rows
	rows     uint64 // number of rows that it got
	reason   string // of its end
	tail     string
	acts     time.Duration // when its script acts next
}

// over: it has sent its result, or its process ends without one.
func (r *run) over() bool { return r.state >= runReported }

// become moves a run to a later state.
func (r *run) become(s runState) {
	if s < r.state {
		node.Bug("sim: run %d goes from state %d back to %d", r.id, r.state, s)
	}
	r.state = s
}

// heeds says whether an event of its executor finds a run that can act on it.
func (r *run) heeds(what uint8) bool {
	switch {
	case what == execGone:
		return true
	case r.state == runHung:
		return what == execCrash || what == execLapse
	}
	return !r.over()
}

// passed is for how long a run has been running.
func (r *run) passed(now time.Duration) time.Duration {
	if r.state != runRunning {
		return 0
	}
	return now - r.began
}

// executor is the node.Executor of a process: the runs on its cores.
type executor struct {
	p      *process
	cores  [][]*run // of each core, in the order of their start: shards may share one
	runs   map[node.ExecID]*run
	models *node.Rand
	frozen []event // while the host is suspended
}

// clear ends all runs at once, together with their node.
func (x *executor) clear() {
	clear(x.cores)
	x.runs, x.frozen = nil, nil
}

// Start implements node.Executor.
func (x *executor) Start(id node.ExecID, core int, m node.Message) {
	p := x.p
	w := p.w
	digest, _ := w.trace.know(m)
	w.trace.fold(uint64(id)<<16|uint64(core), uint64(p.index)<<8|foldEffect|uint64(EffectExecStart), digest)
	if w.trace.watch&WantEffects != 0 {
		w.trace.observer.Effect(w.now, p.peer.ID, &Effect{Kind: EffectExecStart, Exec: id, Core: core, Message: m})
	}
	if len(x.cores) == 0 {
		x.runs[id] = &run{id: id, core: -1, state: runDead, reason: "this node has no executors"}
		x.soon(id, execGone, 0)
		return
	}
	if x.runs[id] != nil || core < 0 || core >= len(x.cores) {
		node.Bug("sim: %v starts run %d on core %d of %d, which is not there, or the run was started before", p.peer, id, core, len(x.cores))
	}
	if w.config.Wire {
		m = w.wire.clone(m)
	}
	start, ok := m.(*message.ExecStart)
	if !ok {
		node.Bug("sim: %v starts run %d with %s, want ExecStart", p.peer, id, message.NameOf(m))
	}
	r := &run{id: id, core: core, start: start, course: p.spec.Model.Course(start, x.models)}
	x.runs[id], x.cores[core] = r, append(x.cores[core], r)
	x.afflict(r)
	x.soon(id, execBoot, r.course.Boot)
}

// soon schedules an event of a run.
func (x *executor) soon(id node.ExecID, what uint8, d time.Duration) {
	p := x.p
	_, e := p.w.queue.add(p.leaves()+d, eventExec)
	e.node, e.life, e.word, e.side = p.index, p.life, uint64(id), what
}

// Cancel implements node.Executor.
func (x *executor) Cancel(id node.ExecID) {
	x.noteExec(EffectExecCancel, id)
	if r := x.runs[id]; r != nil && !r.over() && !r.course.IgnoreCancel {
		x.soon(id, execObey, r.course.CancelAfter)
	}
}

// Tell implements node.Executor.
func (x *executor) Tell(id node.ExecID, m node.Message) {
	p := x.p
	w := p.w
	digest, _ := w.trace.know(m)
	w.trace.fold(uint64(id), uint64(p.index)<<8|foldEffect|uint64(EffectExecTell), digest)
	if w.trace.watch&WantEffects != 0 {
		w.trace.observer.Effect(w.now, p.peer.ID, &Effect{Kind: EffectExecTell, Exec: id, Message: m})
	}
	r := x.runs[id]
	if r != nil && r.state == runRunning && r.course.Script != nil {
		x.act(r, m)
	}
	rows, ok := m.(*message.ExecRowsLeased)
	if !ok || r == nil || r.state >= runHung || rows.Ask != r.asked {
		return
	}
	if rows.Of == 0 {
		r.rows += rows.Count
	}
	if rows.Count > 0 {
		x.soon(id, execAsk, r.course.Asks)
	}
}

// act lets the script of a run act.
func (x *executor) act(r *run, told node.Message) {
	now := x.p.w.now
	says, next := r.course.Script.Act(now, told)
	r.acts = max(next, now+time.Millisecond)
	x.soon(r.id, execAct, r.acts-now)
	for _, m := range says {
		x.says(r, m)
	}
}

// Kill implements node.Executor.
func (x *executor) Kill(id node.ExecID) {
	x.noteExec(EffectExecKill, id)
	if r := x.runs[id]; r != nil {
		x.finish(r, runDead, "killed", "", reapTime)
	}
}

// lapsed is the reason with which an executor ends that got no extension.
const lapsed = "its time was over and nobody had extended it"

// Extend implements node.Executor.
func (x *executor) Extend(id node.ExecID, until node.Instant) {
	p := x.p
	w := p.w
	w.trace.fold(uint64(id), uint64(p.index)<<8|foldEffect|uint64(EffectExecExtend), uint64(until))
	if w.trace.watch&WantEffects != 0 {
		w.trace.observer.Effect(w.now, p.peer.ID, &Effect{Kind: EffectExecExtend, Exec: id, Until: until})
	}
	if r := x.runs[id]; r != nil && !r.over() {
		r.until = until
		x.watch(r)
	}
}

// watch schedules a check whether a run's time is over. Executors are separate processes: a
// pause of their node stops neither them nor their clock. They end as late as they may.
func (x *executor) watch(r *run) {
	p := x.p
	_, e := p.w.queue.add(p.clock.when(r.until.Add(node.ExecutorEnd), p.w.now), eventExec)
	e.node, e.life, e.word, e.side = p.index, p.life, uint64(r.id), execLapse
}

// rewatch schedules the checks again after the node's clock has changed its rate.
func (x *executor) rewatch() {
	for _, on := range x.cores {
		for _, r := range on {
			if r.until != 0 && !r.over() {
				x.watch(r)
			}
		}
	}
}

// onLapse ends a run whose time is over. The event of an older deadline leaves the run alone.
func (x *executor) onLapse(r *run) {
	p := x.p
	if p.clock.at(p.w.now) >= r.until.Add(node.ExecutorEnd) {
		x.finish(r, runLapsed, lapsed, "", 0)
	}
}

func (x *executor) noteExec(k EffectKind, id node.ExecID) {
	p := x.p
	p.w.trace.fold(uint64(id), uint64(p.index)<<8|foldEffect|uint64(k), 0)
	if p.w.trace.watch&WantEffects != 0 {
		p.w.trace.observer.Effect(p.w.now, p.peer.ID, &Effect{Kind: k, Exec: id})
	}
}

// finish ends a run; ExecGone follows. The first reason stays.
func (x *executor) finish(r *run, s runState, reason, tail string, after time.Duration) {
	if r.over() && (r.reason != "" || reason == "") {
		return
	}
	r.become(s)
	r.reason, r.tail = reason, tail
	x.soon(r.id, execGone, after)
}

func (x *executor) onExec(e *event) {
	p := x.p
	if !p.alive() || p.life != e.life {
		return
	}
	if p.suspended > 0 {
		x.frozen = append(x.frozen, *e)
		return
	}
	r := x.runs[node.ExecID(e.word)]
	if r == nil || !r.heeds(e.side) {
		return
	}
	switch e.side {
	case execBoot:
		x.onBoot(r)
	case execProgress:
		x.onProgress(r)
	case execResult:
		x.onResult(r, r.course.State, r.course.Reason)
	case execCrash:
		x.finish(r, runDead, r.course.Reason, r.course.Tail, 0)
	case execHang:
		r.become(runHung)
	case execObey:
		x.onResult(r, message.WorkflowCancelled, "")
	case execLapse:
		x.onLapse(r)
	case execAsk:
		r.asked++
		x.says(r, &message.ExecRows{Ask: r.asked, Want: r.course.Want, Of: r.course.Of})
	case execAct:
		if p.w.now >= r.acts {
			x.act(r, nil)
		}
	case execGone:
		x.onGone(r)
	}
}

// Executes says whether one of a node's executors runs a shard now. One that has sent its
// result, is being killed, or whose host is suspended does not.
func (w *World) Executes(id node.ID, s message.ShardID) bool {
	p := w.byID[id]
	if p == nil || p.suspended > 0 {
		return false
	}
	for _, on := range p.exec.cores {
		if slices.ContainsFunc(on, func(r *run) bool { return !r.over() && r.start.Shard == s }) {
			return true
		}
	}
	return false
}

// onBoot starts the run's clock: the executor has loaded its work.
func (x *executor) onBoot(r *run) {
	p := x.p
	c := &r.course
	r.began = p.w.now
	r.become(runRunning)
	if j := &r.start.Join; j.VUs > 0 {
		c.join(r.start, max(0, p.clock.at(p.w.now).Sub(node.Instant(j.Origin))))
	}
	end := execResult
	switch c.End {
	case EndCrash:
		end = execCrash
	case EndHang:
		end = execHang
	}
	x.soon(r.id, end, c.Length)
	if c.Every > 0 && c.Every < c.Length {
		x.soon(r.id, execProgress, c.Every)
	}
	x.says(r, &message.ExecStarted{VUs: r.start.VUs})
	if c.Want > 0 {
		x.soon(r.id, execAsk, 0)
	}
	if c.Script != nil {
		x.act(r, nil)
	}
}

func (x *executor) onProgress(r *run) {
	p := x.p
	x.soon(r.id, execProgress, r.course.Every)
	if r.course.Quiet.hides(p.w.now - r.began) {
		return
	}
	r.sequence++
	progress := &message.ExecProgress{Sequence: r.sequence, Stats: p.spec.Model.Stats(r.start, &r.course, p.w.now-r.began, message.WorkflowRunning)}
	progress.Stats.Rows = r.rows
	x.says(r, progress)
}

// onResult sends the last message of a run, even of one that had not started.
func (x *executor) onResult(r *run, state message.WorkflowState, why string) {
	p := x.p
	passed := r.passed(p.w.now)
	result := &message.ExecResult{State: state, Error: why, Duration: passed, Stats: p.spec.Model.Stats(r.start, &r.course, passed, state)}
	if state == message.WorkflowCompleted {
		result.Provided = p.spec.Model.Provided(r.start, &r.course)
	}
	result.Stats.Rows = r.rows
	x.finish(r, runReported, "", "", r.course.GoneAfter)
	x.says(r, result)
}

// says delivers an executor's message to its node.
func (x *executor) says(r *run, m node.Message) {
	p := x.p
	if p.w.config.Wire {
		m = p.w.wire.clone(m)
	}
	p.hand(node.Input{Kind: node.InputExec, Exec: node.ExecEvent{ID: r.id, Kind: node.ExecMessage, Body: m}})
}

// onGone frees the core and reports the end.
func (x *executor) onGone(r *run) {
	p := x.p
	if x.runs[r.id] != r {
		return
	}
	delete(x.runs, r.id)
	if r.core >= 0 {
		x.cores[r.core] = slices.DeleteFunc(x.cores[r.core], func(o *run) bool { return o == r })
	}
	p.hand(node.Input{Kind: node.InputExec, Exec: node.ExecEvent{ID: r.id, Kind: node.ExecGone, Reason: r.reason, Tail: r.tail, Lapsed: r.state == runLapsed}})
}

// afflict applies the faults in force to an executor that starts.
func (x *executor) afflict(r *run) {
	p := x.p
	for _, f := range p.w.faults.active {
		if !f.hits(p) {
			continue
		}
		switch f.fault.Kind {
		case FaultExecCrash:
			r.course.crash(x.models, fmt.Sprintf("signal: killed by a fault on core %d", r.core))
		case FaultExecHang:
			r.course.hang(x.models)
		case FaultExecSlow:
			r.course.Boot *= time.Duration(f.fault.Value)
		}
	}
}

// strike applies a fault to the executors that run when it begins.
func (x *executor) strike(kind string) {
	for _, r := range slices.Concat(x.cores...) {
		if r.over() {
			continue
		}
		if kind == FaultExecHang {
			r.become(runHung)
		} else {
			x.finish(r, runDead, "signal: killed by a fault", "", reapTime)
		}
	}
}

// thaw lets executors continue after a suspension. What was due meanwhile happens now, since
// their clocks went on.
func (x *executor) thaw() {
	w := x.p.w
	for i := range x.frozen {
		f := &x.frozen[i]
		_, e := w.queue.add(w.now, eventExec)
		e.node, e.life, e.word, e.side = f.node, f.life, f.word, f.side
	}
	x.frozen = x.frozen[:0]
}
