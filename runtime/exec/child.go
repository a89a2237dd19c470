package exec

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/process"
	"hyperscale/runtime/redact"
)

// tailLines and tailBytes bound how much of an executor's stderr the pool keeps.
const (
	tailLines = 20
	tailBytes = 4 << 10
)

// child is one executor process, from outside.
type child struct {
	pool *Pool
	core int
	id   node.ExecID // 0 while warm; written under pool.mu
	cmd  *osexec.Cmd
	conn *os.File
	lend *os.File          // socket over which it gets the memory of large files
	out  chan node.Message // to the child; bounded, see send
	more chan struct{}     // until has moved and was not sent
	done chan struct{}     // closed once it is reaped

	sheets  []*message.FeedFile // that it uses; under pool.mu
	secrets []message.Secret    // that it knows; under pool.mu

	programs *process.Folder // starts its custom programs, which join its process group

	until    atomic.Uint64 // of ExecExtend; the newest counts, older ones need not be sent
	throttle atomic.Bool   // of ExecThrottle; the same
	budget   uint64        // bytes of memory; written under pool.mu

	mu     sync.Mutex
	reason string // why we killed it
	over   bool   // because it was above its limit
	ended  bool   // reaped: another process may have its pid
	tail   []string
}

// spawn starts a warm executor. The caller holds pool.mu, or is the only one that knows the
// pool yet.
func (p *Pool) spawn(core int) (*child, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|ownSocket|quickSocket, 0)
	if err != nil {
		return nil, fmt.Errorf("start executor of core %d: socket pair: %w", core, err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "executor"), os.NewFile(uintptr(pair[1]), "worker")
	defer theirs.Close()
	if pair, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|ownSocket, 0); err == nil {
		err = unix.SetNonblock(pair[0], true) // the child's end blocks
	}
	if err != nil {
		ours.Close()
		return nil, fmt.Errorf("start executor of core %d: socket pair: %w", core, err)
	}
	lend, borrow := os.NewFile(uintptr(pair[0]), "lend"), os.NewFile(uintptr(pair[1]), "borrow")
	defer borrow.Close()
	drop := func() { _, _ = ours.Close(), lend.Close() }
	cmd := osexec.Command(p.config.Command[0], p.config.Command[1:]...)
	cmd.ExtraFiles = []*os.File{theirs, borrow}
	cmd.Args[0] = p.called
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if u := p.config.User; u != nil { // without groups of the worker's user
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID}
	}
	cmd.Env = p.config.environment(os.Environ())
	stderr, err := cmd.StderrPipe()
	if err != nil {
		drop()
		return nil, fmt.Errorf("start executor of core %d: %w", core, err)
	}
	if err := startPinned(cmd, p.config.CPUs[core%len(p.config.CPUs)]); err != nil {
		drop()
		return nil, fmt.Errorf("start executor of core %d: %s: %w", core, p.called, err)
	}
	ch := &child{pool: p, core: core, cmd: cmd, conn: ours, lend: lend, out: make(chan node.Message, 4), more: make(chan struct{}, 1), done: make(chan struct{})}
	ch.programs = p.config.Programs(cmd.Process.Pid)
	p.group.Add(1)
	go ch.live(stderr)
	return ch, nil
}

// begin gives a warm child its work. The caller holds pool.mu.
func (c *child) begin(id node.ExecID, start *message.ExecStart) {
	own := *start // a message that was sent never changes
	start = &own
	if start.Memory == 0 || start.Memory > c.pool.config.MemoryMax {
		start.Memory = c.pool.config.MemoryMax
	}
	if every := c.pool.config.Trace.Begin(); every > 0 {
		start.Trace = every
	}
	c.id, c.secrets, c.budget = id, start.Program.Secrets, start.Memory
	if len(start.Program.Feeds) == 0 {
		c.send(start)
		return
	}
	c.pool.group.Go(func() { c.pool.lend(c, id, start) })
}

// send queues a message. At most a start and a few cancels are ever under way; a
// child that does not even read those hangs and is killed by its worker.
func (c *child) send(m node.Message) {
	select {
	case c.out <- m:
	default:
	}
}

// extend gives the child a later end. One that reads nothing keeps the end that it
// has, and ends by itself.
func (c *child) extend(until uint64) {
	c.until.Store(until)
	offer(c.more, struct{}{})
}

// slow throttles the child, or ends that.
func (c *child) slow(on bool) {
	c.throttle.Store(on)
	offer(c.more, struct{}{})
}

// kill ends the whole process group, for the first reason given.
func (c *child) kill(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	if c.reason == "" {
		c.reason = reason
	}
	_ = unix.Kill(-c.pid(), unix.SIGKILL) // it may have ended by itself
}

// exceed ends a child that is above its limit. Another check may find it before its parent has
// reaped it, and changes nothing.
func (c *child) exceed(reason string) {
	c.mu.Lock()
	c.over = c.over || c.reason == ""
	c.mu.Unlock()
	c.kill(reason)
}

// cause says what this process knows of the child's end.
func (c *child) cause() node.ExecCause {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return node.ExecOverLimit
	}
	return node.ExecDied
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// live is the whole life of a child, in goroutines that end with it.
func (c *child) live(stderr io.Reader) {
	defer c.pool.group.Done()
	var group sync.WaitGroup
	group.Go(func() { c.keepTail(stderr) })
	group.Go(c.receive)
	group.Go(c.start)
	writer := make(chan struct{})
	go func() {
		defer close(writer)
		c.transmit()
	}()
	group.Wait() // the pipes are at their end: the process is, or is about to be, gone
	c.kill("")   // what is left of its group, also if it closed its pipes and lives on
	c.programs.Stop()
	err := c.cmd.Wait()
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	close(c.done)
	c.conn.Close()
	c.lend.Close()
	<-writer
	reason, lapsed := c.why(err)
	c.pool.exited(c, reason, c.lastWords(), lapsed)
}

func (c *child) transmit() {
	var scratch []byte
	var until uint64
	throttled := false
	for {
		var news []node.Message
		select {
		case <-c.done:
			return
		case m := <-c.out:
			news = append(news, m)
		case <-c.more:
			if now := c.until.Load(); now != until {
				until = now
				news = append(news, &message.ExecExtend{Until: now})
			}
			if now := c.throttle.Load(); now != throttled {
				throttled = now
				news = append(news, &message.ExecThrottle{On: now})
			}
		}
		for _, m := range news {
			var err error
			if scratch, err = write(c.conn, m, scratch); err != nil {
				c.kill(fmt.Sprintf("its work could not be handed over: %v", err))
			}
		}
	}
}

// receive passes the child's messages to the pool's sink, until end of file.
func (c *child) receive() {
	r := bufio.NewReader(c.conn)
	for {
		m, err := read(r)
		if err != nil {
			if !isEnd(err) {
				c.kill(fmt.Sprintf("it wrote what is not a message: %v", err))
			}
			return
		}
		if m, ok := m.(*message.ExecReady); ok {
			c.pool.ready(c.pid(), m)
			continue
		}
		if m, ok := m.(*message.ExecTrace); ok {
			c.pool.config.Trace.Take(m)
			continue
		}
		c.pool.mu.Lock()
		id := c.id
		c.pool.mu.Unlock()
		if id != 0 {
			c.pool.sink(node.ExecEvent{ID: id, Kind: node.ExecMessage, Body: m})
		}
	}
}

// isEnd reports that the other end is closed. A process that ends before it has read everything
// looks like a reset, not like an end: its own report says why it ended.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || errors.Is(err, unix.ECONNRESET)
}

// keepTail remembers the last lines of stderr.
func (c *child) keepTail(r io.Reader) {
	lines := bufio.NewReaderSize(r, tailBytes)
	size := 0
	for {
		line, _, err := lines.ReadLine()
		if err != nil {
			return
		}
		c.tail = append(c.tail, string(line))
		size += len(line)
		for len(c.tail) > tailLines || size > tailBytes {
			size -= len(c.tail[0])
			c.tail = c.tail[1:]
		}
	}
}

// lastWords are the last lines of stderr. What the program's libraries say when they break may
// quote a secret.
func (c *child) lastWords() string {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	var values []string
	for _, s := range c.secrets {
		values = append(values, string(s.Value))
	}
	return redact.New(values).Line(strings.Join(c.tail, "\n"))
}

// expired reports whether a child whose time ended at until is, by now, at the point where it kills its own
// group: its worker sees a SIGKILL, and need not look for another cause. 0: its time has no end.
func expired(until uint64, now int64) bool {
	return until != 0 && now >= int64(until)+int64(hardStop)
}

// why describes an end; reason is empty if the child ended well by itself. lapsed says that its
// time was over.
func (c *child) why(err error) (reason string, lapsed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	state := c.cmd.ProcessState
	switch {
	case c.reason != "":
		return c.reason, false
	case err == nil:
		return "", false
	case state == nil:
		return err.Error(), false
	}
	switch status, ok := state.Sys().(syscall.WaitStatus); {
	case ok && status.Exited() && status.ExitStatus() == codeLapsed, ok && status.Signal() == unix.SIGKILL && expired(c.until.Load(), bootTime()):
		return "its time was over and its worker had not extended it", true
	case ok && status.Signaled():
		return fmt.Sprintf("process %d was killed from outside: %v", state.Pid(), status.Signal()), false
	}
	return fmt.Sprintf("process %d ended by itself: %v", state.Pid(), err), false
}
