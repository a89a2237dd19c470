package command

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameInterrupt is how close together two signals are one wish: a supervisor
// that signals a process and its group reaches it twice.
const sameInterrupt = 250 * time.Millisecond

// Interrupts gathers what asks a command to stop: SIGINT, SIGTERM, and Ctrl-C on a
// live screen, where the terminal sends no signal.
type Interrupts struct {
	Asked   chan struct{}
	signals chan os.Signal
	done    chan struct{}
}

// CatchInterrupts begins to catch them; Release ends it.
func CatchInterrupts() *Interrupts {
	i := &Interrupts{Asked: make(chan struct{}, 2), signals: make(chan os.Signal, 2), done: make(chan struct{})}
	signal.Notify(i.signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup means it
		signal.Notify(i.signals, syscall.SIGHUP)
	}
	go func() {
		var last time.Time
		for {
			select {
			case <-i.signals:
				if time.Since(last) > sameInterrupt {
					last = time.Now()
					i.Press()
				}
			case <-i.done:
				return
			}
		}
	}()
	return i
}

// Press asks once more; a third time says nothing new.
func (i *Interrupts) Press() {
	select {
	case i.Asked <- struct{}{}:
	default:
	}
}

// Release gives the signals back to the runtime.
func (i *Interrupts) Release() {
	signal.Stop(i.signals)
	close(i.done)
}
