package console

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// StopGroup is ctrl+z, which the terminal does not make a signal while keys are ours.
func StopGroup() { _ = syscall.Kill(0, syscall.SIGTSTP) }

// Suspends releases the terminal before this process is stopped, and takes it again when the
// process continues, until closing is closed.
func Suspends(program *tea.Program, canvas *Painter, closing <-chan struct{}) {
	asked, on := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTSTP)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(asked)
	defer signal.Stop(on)
	for {
		select {
		case <-closing:
			return
		case <-on: // stopped from outside without notice: the terminal has lost its frame
			program.Send(Repaint{})
		case <-asked:
			// A group without a shell to continue it is not stopped, as the kernel has it. Nor
			// is one whose terminal went away: there is nothing to give back.
			if !continued() || program.ReleaseTerminal() != nil {
				continue
			}
			// SIGTSTP stays with Go's runtime once it was asked for; this one cannot be caught.
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			<-on
			restore(program, canvas, closing)
		}
	}
}

// terminal is what bubbletea's program gives back and takes again.
type terminal interface {
	ReleaseTerminal() error
	RestoreTerminal() error
}

// Bounds of restore.
const (
	restoreTries = 5
	restoreMax   = time.Second // for the alternate screen to come, some frames long
	restoreStep  = 5 * time.Millisecond
)

// restore takes the terminal until the alternate screen is there. bubbletea 2.0.9 may show
// nothing: the former renderer's goroutine can stop the ticker that the next renderer has
// reset, if this process was stopped between the two.
func restore(program terminal, canvas *Painter, closing <-chan struct{}) {
	for range restoreTries {
		if program.RestoreTerminal() != nil {
			return // the terminal went away
		}
		for limit := time.Now().Add(restoreMax); !canvas.isShown() && time.Now().Before(limit); {
			select {
			case <-closing:
				return
			case <-time.After(restoreStep):
			}
		}
		if canvas.isShown() || program.ReleaseTerminal() != nil {
			return
		}
	}
}

// continued says that a shell looks after this process group: that an ancestor of it is
// in another group of the same session.
func continued() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	group := unix.Getpgrp()
	for pid := os.Getppid(); pid > 0; {
		parent, itsGroup, itsSession, err := family(pid)
		if err != nil || itsSession != session {
			return false
		}
		if itsGroup != group {
			return true
		}
		pid = parent
	}
	return false
}

// family reads a process's parent, group and session.
func family(pid int) (parent, group, session int, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, 0, err
	}
	var state string
	rest := stat[bytes.LastIndexByte(stat, ')')+1:] // its name may be anything
	_, err = fmt.Sscan(string(rest), &state, &parent, &group, &session)
	return parent, group, session, err
}

// Repaint asks for the whole screen.
type Repaint struct{}
