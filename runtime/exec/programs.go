package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"hyperscale/runtime/process"
)

// programMost bounds a question for a program, and its answer, in bytes.
const programMost = 64 << 10

// programWithin is how long an executor waits for its worker to start a program.
const programWithin = 10 * time.Second

// programReply is what a worker answers.
type programReply struct {
	Error string `json:"error,omitempty"`
}

// Programs returns what starts custom programs, in a process group; 0: each leads its own.
func (c *Surroundings) Programs(group int) *process.Folder {
	f := &process.Folder{Path: c.Custom, Remedy: c.remedy(), Group: group, Strict: c.Sandbox == SandboxRequire}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name == "TZ" || slices.Contains(c.Pass, name) {
			f.Environ = append(f.Environ, v)
		}
	}
	if c.User != nil {
		f.User = (*process.User)(c.User)
	}
	return f
}

// remedy says what lets programs run.
func (c *Surroundings) remedy() string {
	if c.CustomRemedy != "" {
		return c.CustomRemedy
	}
	return "start its worker with --custom DIR, the folder of the programs that it may run"
}

// start answers the child's questions for programs, until it has ended.
func (c *child) start() {
	raw, err := c.lend.SyscallConn()
	if err != nil {
		return
	}
	b := make([]byte, programMost)
	for {
		n := 0
		var failed error
		err := raw.Read(func(fd uintptr) bool {
			n, failed = unix.Read(int(fd), b)
			return failed != unix.EAGAIN
		})
		if err != nil || failed != nil || n == 0 {
			return
		}
		if err := c.answer(b[:n]); err != nil {
			c.kill(fmt.Sprintf("its custom program could not be handed over: %v", err))
			return
		}
	}
}

// answer starts a program.
func (c *child) answer(question []byte) error {
	var program []string
	var reply programReply
	var p process.Pipes
	err := json.Unmarshal(question, &program)
	switch {
	case err == nil && (len(program) == 0 || slices.ContainsFunc(program, func(s string) bool { return strings.ContainsRune(s, 0) })):
		err = errors.New("a custom program has a name, and no argument with a NUL byte")
	case err == nil:
		p, err = c.programs.Start(program)
	}
	rights := []byte(nil)
	if err != nil {
		reply.Error = err.Error()
	} else {
		defer p.Close()
		rights = unix.UnixRights(p.In, p.Out, p.Fate)
	}
	text, err := json.Marshal(reply)
	if err != nil {
		return err
	}
	raw, err := c.lend.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		failed = unix.Sendmsg(int(fd), text, rights, nil, 0)
		return failed != unix.EAGAIN
	})
	return errors.Join(err, failed)
}

// Programs asks the worker for custom programs, from inside a child.
type Programs struct {
	mu    sync.Mutex
	asked atomic.Bool // there may be some
}

// sweeps bounds how often sweep looks again: a program may be about to start another.
const sweeps = 10

// sweep kills what custom programs are in this child's process group, as the worker may be stopped or gone.
func (p *Programs) sweep() {
	if !p.asked.Load() {
		return
	}
	own := os.Getpid()
	for range sweeps {
		all, err := procfs.AllProcs()
		if err != nil {
			return // the worker kills the group
		}
		left := false
		for _, one := range all {
			if stat, err := one.Stat(); err == nil && stat.PGRP == own && one.PID != own && stat.State != "Z" {
				left = true
				_ = unix.Kill(one.PID, unix.SIGKILL) // it may have ended
			}
		}
		if !left {
			return
		}
	}
}

// sweepWithin bounds a sweep where this process is about to end: a machine with many processes reads /proc
// for longer than a lapse may take.
const sweepWithin = 30 * time.Millisecond

// last is the sweep of a process that ends behind it. What outlasts sweepWithin ends with the whole group.
func (p *Programs) last() {
	if p.asked.Load() {
		bounded(p.sweep)
	}
}

// bounded does what precedes the end of this process, and ends its whole group where that takes longer than
// sweepWithin.
func bounded(do func()) {
	if unix.Getpgrp() == os.Getpid() { // an executor leads its group: see spawn
		time.AfterFunc(sweepWithin, func() { _ = unix.Kill(0, unix.SIGKILL) })
	}
	do()
}

// hear receives one message, within so long.
func hear(fd int, b, ancillary []byte, within time.Duration) (n, more int, err error) {
	for until := time.Now().Add(within); ; {
		left := unix.NsecToTimeval(max(time.Until(until), time.Millisecond).Nanoseconds()) // 0 is without end
		if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &left); err != nil {
			return 0, 0, err
		}
		n, more, _, _, err = unix.Recvmsg(fd, b, ancillary, ownRights)
		switch {
		case err == unix.EINTR: // a socket with a timeout is not taken up again behind a signal
			continue
		case err == nil && n == 0:
			err = io.ErrUnexpectedEOF
		}
		return n, more, err
	}
}

// Start starts a program in the worker, and returns its pipes.
func (p *Programs) Start(program []string) (process.Pipes, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked.Store(true)
	question, err := json.Marshal(program)
	if err != nil {
		return process.Pipes{}, err
	}
	if len(question) > programMost {
		return process.Pipes{}, fmt.Errorf("custom program %s: its arguments have more than %d KiB: write them into a file", program[0], programMost>>10)
	}
	if _, err := unix.Write(lent, question); err != nil {
		return process.Pipes{}, fmt.Errorf("ask the worker for custom program %s: %w", program[0], err)
	}
	b, ancillary := make([]byte, programMost), make([]byte, unix.CmsgSpace(4*3))
	n, more, err := hear(lent, b, ancillary, programWithin)
	if err != nil {
		return process.Pipes{}, fmt.Errorf("the worker did not start custom program %s: %w", program[0], err)
	}
	var reply programReply
	if err := json.Unmarshal(b[:n], &reply); err != nil {
		return process.Pipes{}, fmt.Errorf("the worker's answer for custom program %s: %w", program[0], err)
	}
	if reply.Error != "" {
		return process.Pipes{}, errors.New(reply.Error)
	}
	messages, err := unix.ParseSocketControlMessage(ancillary[:more])
	if err != nil || len(messages) != 1 {
		return process.Pipes{}, fmt.Errorf("the worker's answer for custom program %s has %d control messages: %w", program[0], len(messages), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 3 {
		return process.Pipes{}, fmt.Errorf("the worker's answer for custom program %s has %d descriptors: %w", program[0], len(fds), err)
	}
	return process.Pipes{In: fds[0], Out: fds[1], Fate: fds[2]}, nil
}
