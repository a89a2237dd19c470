package loop

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/benbjohnson/clock"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// Config is the loop's configuration.
type Config struct {
	Self    node.Peer
	Machine node.Machine
	Seed    uint64             // of Env.Rand, mixed with the incarnation
	Clock   clock.Clock        // nil: the real one
	Mailbox node.MailboxConfig // zero: node.DefaultMailbox
	// Observe gets each event of Env.Emit, on the loop's goroutine: it must not block. Nil: no
	// observer.
	Observe func(node.Instant, node.Event)
	Logger  *slog.Logger // nil: nothing is logged
}

// World is the machine's environment. Its parts report through Loop's methods, never from
// within a call that the loop makes to them.
type World struct {
	Network node.Network
	Store   node.Store
	Exec    node.Executor // nil: every start ends at once with ExecGone
	Outputs node.Outputs  // nil: no sink is configured
}

// Loop drives one machine.
type Loop struct {
	config   Config
	source   source
	inbox    *inbox
	sessions *sessions
	counters counters
	looks    looks
	killed   atomic.Bool
	stopping atomic.Bool

	// What follows belongs to the goroutine of Run.
	world  World
	now    node.Instant // at the beginning of this step: Env.Now
	read   node.Instant // the newest reading of the clock, one a step while busy
	timers *timers
	alarm  *clock.Timer
	rands  [node.Purposes]*node.Rand
	halted bool
	reason string // of a halt
	again  string // of a restart
	trail  trail
	input  node.Input
}

// HaltError is what Run returns when the machine gave a reason to stop.
type HaltError struct{ Reason string }

func (e *HaltError) Error() string { return e.Reason }

// RestartError is what Run returns when the machine asked for its next incarnation.
type RestartError struct{ Reason string }

func (e *RestartError) Error() string { return "it must start again: " + e.Reason }

// stepSlow is how long a step may take before it is logged: a tenth of the
// heartbeat that peers wait for.
const stepSlow = 100 * time.Millisecond

// New returns a loop that accepts inputs; Run handles them.
func New(c Config) *Loop {
	if c.Mailbox == (node.MailboxConfig{}) {
		c.Mailbox = node.DefaultMailbox()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	l := &Loop{
		config: c,
		source: newSource(c.Clock),
		inbox:  newInbox(c.Mailbox),
		looks:  newLooks(),
		timers: newTimers(),
	}
	l.sessions = newSessions(func(id node.CommandID) {
		l.inbox.push(&node.Input{Kind: node.InputCommandEnd, Command: id}, l.source.now())
	})
	l.inbox.box.SetEntrance(c.Machine)
	return l
}

// Run steps the machine until it halts. It returns nil if it halted without a
// reason, a *HaltError with one, a *RestartError if it must start again, ErrKilled after Kill, a
// *PanicError after a bug.
func (l *Loop) Run(w World) (err error) {
	if w.Exec == nil {
		w.Exec = noExecutor{l}
	}
	if w.Outputs == nil {
		w.Outputs = noOutputs{l}
	}
	l.world = w
	l.alarm = l.source.clock.Timer(time.Hour)
	defer func() {
		if v := recover(); v != nil {
			err = l.bug(v)
		}
		l.alarm.Stop()
		close(l.looks.ended)
		l.inbox.end()
		ended := ErrStopped
		if err != nil {
			ended = fmt.Errorf("%w: %w", ErrStopped, err)
		}
		l.sessions.endAll(ended)
	}()
	l.read = l.source.now()
	l.input = node.Input{Kind: node.InputStart}
	l.step()
	for !l.halted {
		if l.killed.Load() {
			return ErrKilled
		}
		l.expire()
		l.reportLost()
		l.looks.answer(l.read)
		if l.inbox.next(&l.input, l.timers, l.read) {
			l.step()
		} else {
			l.sleep()
		}
	}
	if l.reason != "" {
		return &HaltError{Reason: l.reason}
	}
	if l.again != "" {
		return &RestartError{Reason: l.again}
	}
	return nil
}

// step hands l.input to the machine.
func (l *Loop) step() {
	l.now = max(l.now, l.read)
	l.trail.add(l.now, &l.input)
	l.counters.began.Store(int64(l.now))
	l.config.Machine.Step(env{l}, &l.input)
	l.read = l.source.now()
	took := l.read.Sub(l.now)
	l.counters.add(&l.input, took)
	l.inbox.done(&l.input, took)
	l.counters.began.Store(0)
	if took > stepSlow {
		l.config.Logger.Warn("a step took long", "took", took, "input", l.trail.last())
	}
}

// expire puts the firings of all timers that are due into the mailbox, where
// CRITICAL messages still overtake them.
func (l *Loop) expire() {
	for {
		t, ok := l.timers.expire(l.read)
		if !ok {
			return
		}
		l.inbox.push(&node.Input{Kind: node.InputTimer, Timer: t.key, Generation: t.generation}, l.read)
	}
}

// reportLost tells the observer which messages found no room: on this goroutine, as every event.
func (l *Loop) reportLost() {
	if l.config.Observe == nil {
		return
	}
	for _, lost := range l.inbox.takeLost() {
		l.config.Observe(l.read, event.ShedByLane(lost.message, lost.from, lost.broken))
	}
}

// sleep waits for news or for the next timer. A clock that was given may move
// while the alarm is set, so the alarm is checked against it afterwards.
func (l *Loop) sleep() {
	defer func() { l.read = l.source.now() }()
	d, ok := l.timers.wait(l.read)
	if !ok {
		<-l.inbox.wake
		return
	}
	if d == 0 {
		return
	}
	l.alarm.Reset(l.source.bound(d))
	if !l.source.real && l.source.now() != l.read {
		return
	}
	select {
	case <-l.inbox.wake:
	case <-l.alarm.C:
	}
}

// bug logs a panic with what led to it.
func (l *Loop) bug(v any) error {
	e := &PanicError{Node: l.config.Self, Value: v, Inputs: l.trail.lines(), Stack: debug.Stack()}
	about := ""
	if l.input.Message != nil {
		about = fmt.Sprintf("%.2000s", fmt.Sprintf("%+v", l.input.Message))
	}
	l.config.Logger.Error("machine panicked", "node", l.config.Self.ID, "incarnation", l.config.Self.Incarnation,
		"panic", fmt.Sprint(v), "inputs", e.Inputs, "message", about, "stack", string(e.Stack))
	return e
}

// Now reads the node's clock, the one of Env.Now, from any goroutine.
func (l *Loop) Now() node.Instant { return l.source.now() }

// Stop asks the machine for a graceful end: it gets InputStop and halts when it
// is done.
func (l *Loop) Stop() {
	if !l.stopping.Swap(true) {
		l.inbox.push(&node.Input{Kind: node.InputStop}, l.source.now())
	}
}

// Stopping says that Stop was called: the node is not ready for new work.
func (l *Loop) Stopping() bool { return l.stopping.Load() || l.killed.Load() }

// Kill ends the loop after the step that runs now, whatever waits.
func (l *Loop) Kill() {
	l.killed.Store(true)
	l.inbox.poke()
}

// StreamOpened says that stream s to peer p can be used: transport.Sink.
func (l *Loop) StreamOpened(s node.StreamID, p node.Peer) {
	l.inbox.push(&node.Input{Kind: node.InputStreamOpened, Stream: s, From: p}, l.source.now())
}

// StreamBroken reports that s has broken: transport.Sink.
func (l *Loop) StreamBroken(s node.StreamID, p node.Peer, reason string, unfit bool) {
	l.inbox.push(&node.Input{Kind: node.InputStreamBroken, Stream: s, From: p, Reason: reason, Unfit: unfit}, l.source.now())
}

// Message offers a message of stream s, or a datagram if s is zero. False means
// that there was no room: a datagram is lost, a stream must be broken.
func (l *Loop) Message(from node.Peer, s node.StreamID, m node.Message) bool {
	return l.inbox.push(&node.Input{Kind: node.InputMessage, From: from, Stream: s, Message: m}, l.source.now())
}

// Resolved brings the outcome of a look-up: transport.Sink.
func (l *Loop) Resolved(n node.Names) {
	l.inbox.push(&node.Input{Kind: node.InputNames, Names: &n}, l.source.now())
}

// Stored says that the Put with this token is on disk, or why it is not.
func (l *Loop) Stored(t node.WriteID, err error) {
	l.inbox.push(&node.Input{Kind: node.InputStored, WriteID: t, Err: err}, l.source.now())
}

// Delivered brings news of a batch of rows.
func (l *Loop) Delivered(d node.Delivered) {
	l.inbox.push(&node.Input{Kind: node.InputDelivered, Delivered: &d}, l.source.now())
}

// ExecEvent brings news of an executor.
func (l *Loop) ExecEvent(e node.ExecEvent) {
	l.inbox.push(&node.Input{Kind: node.InputExec, Exec: e}, l.source.now())
}
