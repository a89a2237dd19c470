package ui

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"hyperscale/core/message"
)

// childMain is what this test binary does in a terminal of its own.
func childMain(what string) int {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	if what == "guard" {
		if err := GuardMain(os.Stdin, os.Stderr); err != nil {
			return 1
		}
		return 0
	}
	// The guard is this binary too, told by the environment what to be.
	guard := []string{"/usr/bin/env", "UI_TEST_CHILD=guard", self}
	interrupted := make(chan struct{}, 8)
	p, err := Open(Full, Options{
		Model: NewModel("test.star", &message.Plan{}), Out: os.Stderr, Guard: guard,
		Interrupt: func() { interrupted <- struct{}{} },
	})
	if err != nil {
		return 1
	}
	p.Apply(story(time.Second, "local"))
	switch what {
	case "panic":
		<-interrupted
		go func() { panic("on purpose") }()
		select {}
	case "interrupt":
		<-interrupted
		p.Note("stopping")
		p.Close()
		_, _ = os.Stdout.WriteString("closed in order\r\n")
	}
	return 0
}

// terminal runs childMain in a pty and gathers what it draws.
type terminal struct {
	t      *testing.T
	pty    *os.File
	tty    *os.File
	child  *exec.Cmd
	before unix.Termios
	mu     sync.Mutex
	drawn  bytes.Buffer
	more   chan struct{}
}

func startTerminal(t *testing.T, what string) *terminal {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pty here:", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, pty: master, tty: tty, child: exec.Command(self), before: *before, more: make(chan struct{}, 1)}
	x.child.Env = append(os.Environ(), "UI_TEST_CHILD="+what, "TERM=xterm-256color")
	x.child.Stdin, x.child.Stdout, x.child.Stderr = tty, tty, tty
	x.child.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := x.child.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			if err != nil {
				return
			}
			x.mu.Lock()
			x.drawn.Write(b[:n])
			x.mu.Unlock()
			select {
			case x.more <- struct{}{}:
			default:
			}
		}
	}()
	t.Cleanup(func() {
		_ = x.child.Process.Kill()
		_ = tty.Close()
		_ = master.Close()
		<-read
	})
	return x
}

// until waits for a text on the screen.
func (x *terminal) until(want string) {
	x.t.Helper()
	limit := time.After(10 * time.Second)
	for {
		x.mu.Lock()
		got := x.drawn.String()
		x.mu.Unlock()
		if strings.Contains(got, want) {
			return
		}
		select {
		case <-x.more:
		case <-limit:
			x.t.Fatalf("no %q within 10s in %q", want, got)
		}
	}
}

// restored checks that the terminal echoes and reads lines as before.
func (x *terminal) restored() {
	x.t.Helper()
	x.until("\x1b[?1049l")
	var after *unix.Termios
	for limit := time.Now().Add(5 * time.Second); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		var err error
		if after, err = unix.IoctlGetTermios(int(x.tty.Fd()), unix.TCGETS); err != nil {
			x.t.Fatal(err)
		}
		if *after == x.before {
			return
		}
	}
	x.t.Errorf("the terminal is %+v, it was %+v", *after, x.before)
}

func TestTerminalIsRestoredAfterCtrlC(t *testing.T) {
	x := startTerminal(t, "interrupt")
	x.until("test.star")
	x.until("home")
	if err := pty.Setsize(x.pty, &pty.Winsize{Rows: 10, Cols: 50}); err != nil {
		t.Fatal(err)
	}
	if _, err := x.pty.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	x.until("closed in order")
	if err := x.child.Wait(); err != nil {
		t.Error(err)
	}
	x.restored()
}

func TestTerminalIsRestoredAfterKill(t *testing.T) {
	x := startTerminal(t, "panic")
	x.until("home")
	if err := x.child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = x.child.Wait() // killed: its error is meant
	x.restored()
}

func TestTerminalIsRestoredAfterCrash(t *testing.T) {
	x := startTerminal(t, "panic")
	x.until("home")
	if _, err := x.pty.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	x.until("on purpose")
	_ = x.child.Wait() // it panicked: its error is meant
	x.restored()
}
