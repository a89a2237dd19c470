package console

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// A process that is killed, or panics in some goroutine, cannot restore the terminal, and its
// shell would echo nothing. So a child process watches and keeps the terminal's former state.
// It restores that state if the pipe to it ends without allWell.

// allWell tells the child that the terminal is restored.
const allWell = 'q'

// restoreScreen leaves the alternate screen, shows the cursor, ends colours, and
// switches off what bubbletea may have switched on (bracketed paste, key protocol).
const restoreScreen = "\x1b[?1049l\x1b[?25h\x1b[0m\x1b[?2004l\x1b[<u\r"

// Guard is the process that watches.
type Guard struct {
	pipe  io.WriteCloser
	child *exec.Cmd
}

// StartGuard starts it.
func StartGuard(tty *os.File, command []string) (*Guard, error) {
	state, err := unix.IoctlGetTermios(int(tty.Fd()), readTermios)
	if err != nil {
		return nil, fmt.Errorf("read the terminal's settings: %w", err)
	}
	child := exec.Command(command[0], command[1:]...)
	child.Stderr = tty
	// A separate session: Ctrl-C does not reach it, and it may set a terminal that it does not
	// own.
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := child.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("guard the terminal: %w", err)
	}
	if err := child.Start(); err != nil {
		return nil, fmt.Errorf("guard the terminal: %w", err)
	}
	g := &Guard{pipe: pipe, child: child}
	if err := json.NewEncoder(pipe).Encode(state); err != nil {
		g.Release()
		return nil, fmt.Errorf("guard the terminal: %w", err)
	}
	return g, nil
}

// Release ends the guard without its acting.
func (g *Guard) Release() {
	// If it is gone already there is nothing to say and nothing to wait for.
	_, _ = g.pipe.Write([]byte{allWell})
	_ = g.pipe.Close()
	_ = g.child.Wait()
}

// GuardMain is the child: in is the pipe, tty the terminal.
func GuardMain(in io.Reader, tty *os.File) error {
	r := bufio.NewReader(in)
	head, err := r.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("guard the terminal: %w", err)
	}
	var state unix.Termios
	if err := json.Unmarshal(head, &state); err != nil {
		return fmt.Errorf("guard the terminal: %w", err)
	}
	if word, err := r.ReadByte(); err == nil && word == allWell {
		return nil
	}
	_, _ = tty.WriteString(restoreScreen) // a terminal that is gone needs nothing
	if err := unix.IoctlSetTermios(int(tty.Fd()), writeTermios, &state); err != nil {
		return fmt.Errorf("restore the terminal: %w", err)
	}
	return nil
}
