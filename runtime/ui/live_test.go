package ui

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/runtime/ui/console"
)

// childMain runs this test binary in its own terminal.
func childMain(what string) int {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	if what == "guard" {
		if err := console.GuardMain(os.Stdin, os.Stderr); err != nil {
			return 1
		}
		return 0
	}
	// The guard is this binary too; the environment chooses its role.
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
	case "hangup":
		signal.Ignore(syscall.SIGHUP)
		p.Note("ready")
		for i := range 40 { // the terminal goes away in the middle; nothing may wait for it
			p.Apply(story(time.Duration(i+2)*time.Second, "local"))
			time.Sleep(25 * time.Millisecond)
		}
		p.Close()
		return 7
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

// terminal runs childMain in a pty and collects its output.
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

func startTerminal(t *testing.T, what string, shell ...string) *terminal {
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
	var arguments []string
	if len(shell) > 0 { // the child is $0 of the shell's script
		self, arguments = shell[0], append(shell[1:], self)
	}
	x := &terminal{t: t, pty: master, tty: tty, child: exec.Command(self, arguments...), before: *before, more: make(chan struct{}, 1)}
	x.child.Env = append(os.Environ(), "UI_TEST_CHILD="+what, "TERM=xterm-256color", "LC_ALL=C.UTF-8")
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
			x.t.Fatalf("no %q within 10s; at the end stands %q", want, got[max(0, len(got)-2000):])
		}
	}
}

// press types.
func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := x.pty.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// forget drops the output so far.
func (x *terminal) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drawn.Reset()
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

// Between two statuses the clock continues, within a bound; after a clear the screen draws
// everything again.
func TestClockGoesOn(t *testing.T) {
	x := startTerminal(t, "interrupt")
	x.until("1.2s since") // as the only status tells
	x.until("2.2s since")
	x.forget()
	x.press("\x0c")
	x.until("2.2s since")
	x.press("q")
	x.until("closed in order")
	_ = x.child.Wait()
	x.restored()
}

// A clock that was ahead of the next status waits for it.
func TestClockNeverTurnsBack(t *testing.T) {
	s := &screen{model: NewModel("test.star", &message.Plan{})}
	var shown time.Duration
	for _, row := range []struct{ told, ahead, want time.Duration }{
		{time.Second, 300 * time.Millisecond, 1500 * time.Millisecond},
		{1200 * time.Millisecond, 0, 1500 * time.Millisecond},
		{1800 * time.Millisecond, 0, 2 * time.Second},
		{2 * time.Second, time.Second, 3200 * time.Millisecond},
	} {
		s.hear(story(row.told, "local")) // whose job is 200 ms older
		s.view.Ahead += row.ahead
		if shown, _ = s.model.at(s.view); shown != row.want {
			t.Errorf("%v told, %v later: the clock shows %v, want %v", row.told, row.ahead, shown, row.want)
		}
	}
	s.heard = time.Now().Add(-time.Hour) // a status that does not come is waited for
	s.Update(beat{})
	if shown, _ = s.model.at(s.view); shown != 2200*time.Millisecond+aheadMost {
		t.Errorf("an hour without news the clock shows %v, want %v more than was told", shown, aheadMost)
	}
	s.model.State = message.JobCompleted
	if shown, _ = s.model.at(s.view); shown != 2200*time.Millisecond {
		t.Errorf("at the end the clock shows %v, want what was told", shown)
	}
}

// A person drags the window's corner: the screen follows, whatever the size.
func TestResizeStorm(t *testing.T) {
	x := startTerminal(t, "interrupt")
	x.until("home")
	for i := range 300 {
		if err := pty.Setsize(x.pty, &pty.Winsize{Rows: uint16(1 + i*7%60), Cols: uint16(1 + i*13%210)}); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 {
			time.Sleep(20 * time.Millisecond) // some of them are drawn
		}
	}
	if err := pty.Setsize(x.pty, &pty.Winsize{Rows: 33, Cols: 111}); err != nil {
		t.Fatal(err)
	}
	x.press("?")
	x.until("newest part") // of the help, which has room again
	x.press("\x03")
	x.until("closed in order")
	if err := x.child.Wait(); err != nil {
		t.Error(err)
	}
	x.restored()
}

// ctrl+z gives the shell a sane terminal, and fg brings the screen back.
func TestStopAndContinue(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash, which has jobs:", err)
	}
	const script = `"$0"; stty -a | tr ' ;' '\n\n' | grep -qx echo && echo shell is sane; read -r; fg >/dev/null; echo end`
	x := startTerminal(t, "interrupt", bash, "-mc", script)
	x.until("home")
	x.press("\x1a")
	x.until("shell is sane")
	x.forget()
	x.press("\r")
	x.until("\x1b[?1049h")
	x.until("home")
	x.press("2") // keys are its own again
	x.until("check")
	x.press("q")
	x.until("closed in order")
	x.until("end")
	_ = x.child.Wait() // of the shell, which reports its child's
	x.restored()
}

// In a process group without a shell no one could continue it: it does not stop.
func TestNoStopWithoutAShell(t *testing.T) {
	x := startTerminal(t, "interrupt")
	x.until("home")
	x.press("\x1a")
	if err := x.child.Process.Signal(syscall.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	x.press("2")
	x.until("check")
	x.press("\x03")
	x.until("closed in order")
	_ = x.child.Wait()
	x.restored()
}

// A terminal that goes away takes neither the job nor its end with it.
func TestTerminalGoesAway(t *testing.T) {
	x := startTerminal(t, "hangup")
	x.until("ready")
	_ = x.tty.Close()
	_ = x.pty.Close()
	var ended *exec.ExitError
	if err := x.child.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 7 {
		t.Errorf("it ended with %v, want exit status 7", err)
	}
}

// Where no screen can be, auto prints lines and full says what to do.
func TestResolve(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pty here:", err)
	}
	r, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{master, tty, r, pipe} {
		defer func() { _ = f.Close() }()
	}
	t.Setenv("CI", "")
	for _, row := range []struct {
		name string // TERM
		out  *os.File
		want Kind
	}{{"xterm-256color", tty, Full}, {"dumb", tty, CI}, {"", tty, CI}, {"vt100", tty, CI}, {"xterm-256color", pipe, CI}} {
		t.Setenv("TERM", row.name)
		got, err := Auto.Resolve(row.out)
		if err != nil || got != row.want {
			t.Errorf("TERM=%q on %s: got %s and %v, want %s", row.name, row.out.Name(), got, err, row.want)
		}
		if _, err := Full.Resolve(row.out); (err == nil) != (row.want == Full) {
			t.Errorf("TERM=%q on %s: full says %v", row.name, row.out.Name(), err)
		}
	}
}
