package nodetest

import (
	"hyperscale/core/node"
)

// ExecAct is a kind of call of node.Executor.
type ExecAct uint8

// Acts.
const (
	ExecStarted ExecAct = iota + 1
	ExecCancelled
	ExecExtended
	ExecTold
	ExecKilled
)

// ExecCall is one call of node.Executor.
type ExecCall struct {
	Act     ExecAct
	ID      node.ExecID
	Core    int          // of a start
	Message node.Message // of a start, or of a Tell
	Until   node.Instant // of an extension
}

// executors are the cores of Env.
type executors struct {
	recorder *Recorder
	clock    *Clock
	cores    map[node.ExecID]int // of each run that has not ended
	calls    []ExecCall
}

func (x *executors) note(c ExecCall) { x.calls = append(x.calls, c) }

// Start implements node.Executor.
func (x *executors) Start(id node.ExecID, core int, m node.Message) {
	x.recorder.keep(m)
	if _, ok := x.cores[id]; ok {
		node.Bug("nodetest: executor run %d started twice", id)
	}
	x.cores[id] = core
	x.note(ExecCall{Act: ExecStarted, ID: id, Core: core, Message: m})
	x.recorder.line("exec %d start core=%d %s", id, core, x.recorder.text.Message(m))
}

// Cancel implements node.Executor.
func (x *executors) Cancel(id node.ExecID) {
	x.note(ExecCall{Act: ExecCancelled, ID: id})
	x.recorder.line("exec %d cancel", id)
}

// Extend implements node.Executor.
func (x *executors) Extend(id node.ExecID, until node.Instant) {
	x.note(ExecCall{Act: ExecExtended, ID: id, Until: until})
	if x.recorder.show("extend") {
		x.recorder.line("exec %d extend %v", id, until.Sub(x.clock.now))
	}
}

// Tell implements node.Executor.
func (x *executors) Tell(id node.ExecID, m node.Message) {
	x.recorder.keep(m)
	x.note(ExecCall{Act: ExecTold, ID: id, Message: m})
	x.recorder.line("exec %d told %s", id, x.recorder.text.Message(m))
}

// Kill implements node.Executor.
func (x *executors) Kill(id node.ExecID) {
	x.note(ExecCall{Act: ExecKilled, ID: id})
	x.recorder.line("exec %d kill", id)
}
