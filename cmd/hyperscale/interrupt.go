package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameInterrupt is how close together two signals are one wish: a supervisor
// that signals a process and its group reaches it twice.
const sameInterrupt = 250 * time.Millisecond

// interrupts gathers what asks a command to stop: SIGINT, SIGTERM, and Ctrl-C on a
// live screen, where the terminal sends no signal.
type interrupts struct {
	asked   chan struct{}
	signals chan os.Signal
	done    chan struct{}
}

func catchInterrupts() *interrupts {
	i := &interrupts{asked: make(chan struct{}, 2), signals: make(chan os.Signal, 2), done: make(chan struct{})}
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
					i.press()
				}
			case <-i.done:
				return
			}
		}
	}()
	return i
}

// press asks once more; a third time says nothing new.
func (i *interrupts) press() {
	select {
	case i.asked <- struct{}{}:
	default:
	}
}

func (i *interrupts) release() {
	signal.Stop(i.signals)
	close(i.done)
}
