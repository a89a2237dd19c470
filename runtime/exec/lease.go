package exec

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/node"
)

const (
	// lookEvery bounds how late the end of a lease is seen after a machine woke up:
	// Go's timers stand still while it sleeps, CLOCK_BOOTTIME does not.
	lookEvery = 50 * time.Millisecond
	// hardStop is how long the engine has to give up by itself.
	hardStop = 100 * time.Millisecond
	// A process ends within node.ExecutorEnd of its lease, or this does not compile.
	_ = uint64(node.ExecutorEnd - lookEvery - hardStop)
	// codeLapsed is how a process ends that its lease ended.
	codeLapsed = 4
)

// Lease is how long an executor may run without its worker: without end until the worker sends
// a first end, then until the last one that it sent. Both read CLOCK_BOOTTIME of one machine,
// so an end means the same to both.
type Lease struct{ until atomic.Int64 }

// extend moves the end. Messages of one worker come in order, so the last counts.
func (l *Lease) extend(until int64) { l.until.Store(until) }

// left is how long it still runs; false without an end.
func (l *Lease) left() (time.Duration, bool) {
	until := l.until.Load()
	if until == 0 {
		return 0, false
	}
	return time.Duration(until - bootTime()), true
}

// Over says that nothing more may be sent. It costs a system call when there is
// an end.
func (l *Lease) Over() bool {
	left, limited := l.left()
	return limited && left <= 0
}

// watch stops the work when the lease is over, and the process soon after: an engine that hangs
// must not send on, nor must its custom programs, which last ends. It depends on no other process.
func (l *Lease) watch(stop, last func()) {
	for {
		left, limited := l.left()
		switch {
		case !limited:
			time.Sleep(lookEvery)
			continue
		case left > 0:
			time.Sleep(min(left, lookEvery))
			continue
		}
		stop()
		time.Sleep(hardStop)
		last()
		os.Exit(codeLapsed) // an extension that late changes nothing: the run was given up
	}
}

// since is when the machine's clock had a reading.
func since(reading int64) time.Time { return time.Now().Add(time.Duration(reading - bootTime())) }

// bootTime reads the clock of Env.Now, which runtime/loop documents.
func bootTime() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(bootClock, &ts); err != nil {
		node.Bug("exec: read CLOCK_BOOTTIME: %v", err) // Linux has it since 2.6.39
	}
	return ts.Nano()
}
