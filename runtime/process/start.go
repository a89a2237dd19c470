//go:build linux

package process

import (
	"fmt"
	"math"
	"os"
	osexec "os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/runtime/exec/confine"
)

// launch starts a program on a thread of its own. The caller holds the lock.
func (f *Folder) launch(o *order) (Pipes, error) {
	p, theirs, err := open()
	if err != nil {
		return Pipes{}, fmt.Errorf("start custom program %s: %w", o.args[0], err)
	}
	cmd := &osexec.Cmd{Path: o.path, Args: o.args, Dir: o.dir, Env: f.environment(), Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[2]}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: f.Group, Pdeathsig: syscall.SIGKILL}
	if f.User != nil { // without groups of this process's user
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: f.User.UID, Gid: f.User.GID}
	}
	if err = closeBehind(); err == nil {
		started := make(chan error)
		f.group.Go(func() { f.live(cmd, p, started) })
		err = <-started
	}
	for _, end := range theirs {
		end.Close()
	}
	if err != nil {
		p.drop()
		return Pipes{}, fmt.Errorf("start custom program %s: %w", o.args[0], err)
	}
	if f.running == nil {
		f.running = map[int]bool{}
	}
	f.running[cmd.Process.Pid] = true
	return p.pipes, nil
}

// ends are the ends of pipes that this process has.
type ends struct {
	pipes Pipes
	note  *os.File // of Fate, to write
	words *os.File // its stderr, to read
}

func (e *ends) drop() {
	e.pipes.Close()
	e.note.Close()
	e.words.Close()
}

// open makes the pipes: theirs are what the program gets, in order.
func open() (e *ends, theirs [3]*os.File, err error) {
	var fds [4][2]int
	for i := range fds {
		if err = unix.Pipe2(fds[i][:], unix.O_CLOEXEC); err != nil {
			shut(fds[:i])
			return nil, theirs, fmt.Errorf("make a pipe: %w", err)
		}
	}
	in, out, words, fate := fds[0], fds[1], fds[2], fds[3]
	for _, fd := range []int{in[1], out[0], words[0], fate[0], fate[1]} {
		if err := unix.SetNonblock(fd, true); err != nil {
			shut(fds[:])
			return nil, theirs, fmt.Errorf("prepare a pipe: %w", err)
		}
	}
	e = &ends{pipes: Pipes{In: in[1], Out: out[0], Fate: fate[0]}, note: os.NewFile(uintptr(fate[1]), "fate"), words: os.NewFile(uintptr(words[0]), "stderr")}
	return e, [3]*os.File{os.NewFile(uintptr(in[0]), "stdin"), os.NewFile(uintptr(out[1]), "stdout"), os.NewFile(uintptr(words[1]), "stderr")}, nil
}

func shut(made [][2]int) {
	for _, pipe := range made {
		_, _ = unix.Close(pipe[0]), unix.Close(pipe[1])
	}
}

// closeBehind makes all descriptors of this process but the first three close when a program begins. This
// process may have inherited some that do not.
func closeBehind() error {
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err == nil {
		return nil
	}
	all, err := os.ReadDir("/proc/self/fd") // kernels before 5.11
	if err != nil {
		return fmt.Errorf("find the descriptors of this process: %w", err)
	}
	for _, one := range all {
		if fd, err := strconv.Atoi(one.Name()); err == nil && fd > 2 {
			_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC) // that of the folder is closed by now
		}
	}
	return nil
}

// afterwards is how long what a program leaves in its stderr is read once it has ended: a child that it
// left behind may hold the pipe open.
const afterwards = 100 * time.Millisecond

// live is the whole life of a program. Its thread wears a filter of system calls, and is never used
// again: it ends with this goroutine, and the kernel kills the program if it ends earlier.
func (f *Folder) live(cmd *osexec.Cmd, e *ends, started chan<- error) {
	runtime.LockOSThread()
	if err := confine.EnterThread(f.Group); err != nil && f.Strict {
		started <- err
		return
	}
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	pid := cmd.Process.Pid
	_ = unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil) // it may have ended already
	started <- nil
	var last tail
	var reading sync.WaitGroup
	reading.Go(func() { last.read(e.words) })
	err := f.reap(cmd)
	_ = e.words.SetReadDeadline(time.Now().Add(afterwards)) // pipes have deadlines
	reading.Wait()
	e.words.Close()
	_, _ = e.note.WriteString(note(cmd.ProcessState, err, last.String())) // who reads it may have gone
	e.note.Close()
}

// reap waits for the end of a program, and ends what is left of its group. Once it is reaped, another process
// may get its number: until then nothing may forget it, and behind that nothing may kill it.
func (f *Folder) reap(cmd *osexec.Cmd) error {
	pid := cmd.Process.Pid
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		continue // it has not ended
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Group == 0 {
		f.kill(pid)
	}
	err := cmd.Wait() // at once
	delete(f.running, pid)
	return err
}

// note says how a program ended, and below that its last words.
func note(state *os.ProcessState, err error, words string) string {
	text := "ended"
	if status, ok := state.Sys().(syscall.WaitStatus); ok {
		switch {
		case status.Signaled():
			text = fmt.Sprintf("was killed by signal %d (%v)", int(status.Signal()), status.Signal())
		case status.Exited():
			text = fmt.Sprintf("exited with code %d", status.ExitStatus())
		}
	} else if err != nil {
		text = err.Error()
	}
	if words != "" {
		text += "\n" + words
	}
	return text
}
