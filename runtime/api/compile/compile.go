package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tinylib/msgp/msgp"
	"golang.org/x/sys/unix"

	"hyperscale/core/message"
)

// Command is the hidden command of this binary that is a child.
const Command = "compile"

// Bounds of children.
const (
	childrenMax = 2
	niceMost    = 10               // a tenth of what the gate gets where both compute; at 19 a busy machine never loads a program in time
	turnMax     = 5 * time.Second  // for a caller to wait for its turn
	clockMax    = 10 * time.Second // of a child
	readMax     = 5 * time.Second  // for what it wrote, once it has ended: a busy machine takes a while to read that
	programMax  = 4 << 20          // bytes that a child reads
	answerMax   = 4 << 20          // bytes that it writes
	tailMax     = 4 << 10          // bytes of its stderr
	mistakesMax = 100
)

// ErrBusy is the error of a compiler whose children all run. ErrStart is that of a child that cannot start: no program is to blame.
var (
	ErrBusy  = errors.New("other programs are being compiled: retry in a few seconds")
	ErrStart = errors.New("the compiler's process cannot start")
)

// Mistake is one of a program's.
type Mistake struct {
	File         string
	Line, Column int // from 1; 0: not known
	Message      string
	Warning      bool // the program compiles
}

// Compiled is what a child makes of a program.
type Compiled struct {
	Plan     *message.Plan // nil: the program has mistakes
	Secrets  []string      // names that it declares
	Mistakes []Mistake
}

// Compiler starts children.
type Compiler struct {
	command []string
	called  string // the command's name, for people
	room    chan struct{}
	mu      sync.Mutex
	lanes   map[string]*lane // by caller
}

// lane has room for one child, which the callers of a name take in turn.
type lane struct {
	room    chan struct{}
	callers int // guarded by Compiler.mu
}

// New returns a compiler whose children are this command: a program that calls Main.
func New(command []string) *Compiler {
	return &Compiler{command: command, called: command[0], room: make(chan struct{}, childrenMax), lanes: map[string]*lane{}}
}

// Itself returns a compiler whose children are this binary, also after an upgrade has replaced its file.
func Itself() (*Compiler, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this binary, to compile programs: %w", err)
	}
	c := New([]string{"/proc/self/exe", Command})
	c.called = self
	return c, nil
}

// join takes a name's lane.
func (c *Compiler) join(name string) *lane {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lanes[name] == nil {
		c.lanes[name] = &lane{room: make(chan struct{}, 1)}
	}
	c.lanes[name].callers++
	return c.lanes[name]
}

func (c *Compiler) leave(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lanes[name].callers--; c.lanes[name].callers == 0 {
		delete(c.lanes, name)
	}
}

// Program compiles a program for a caller, who has one child at a time. Mistakes are no error. An error is ErrBusy, ErrStart, that of
// ctx, or that of a child that could not answer.
func (c *Compiler) Program(ctx context.Context, caller string, p *message.Program) (*Compiled, error) {
	turn := time.NewTimer(turnMax)
	defer turn.Stop()
	mine := c.join(caller)
	defer c.leave(caller)
	for _, room := range []chan struct{}{mine.room, c.room} {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		case <-turn.C:
			return nil, ErrBusy
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return c.run(ctx, p)
}

// run is a child's life.
func (c *Compiler) run(asked context.Context, p *message.Program) (*Compiled, error) {
	in, err := p.MarshalMsg(nil)
	if err != nil {
		return nil, fmt.Errorf("encode the program: %w", err)
	}
	ctx, cancel := context.WithTimeout(asked, clockMax)
	defer cancel()
	out, tail := limited{most: answerMax}, limited{most: tailMax}
	child := exec.CommandContext(ctx, c.command[0], c.command[1:]...)
	child.Args[0] = c.called
	child.Env, child.Dir, child.Stdin, child.Stdout, child.Stderr = []string{}, "/", bytes.NewReader(in), &out, &tail
	child.WaitDelay = readMax
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := startNice(child); err != nil {
		return nil, errors.Join(ErrStart, err)
	}
	if err := child.Wait(); err != nil {
		var exit *exec.ExitError
		switch {
		case asked.Err() != nil:
			return nil, context.Cause(asked)
		case ctx.Err() == nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
			return nil, fmt.Errorf("the compiler's child: %w", err)
		}
		return &Compiled{Mistakes: []Mistake{{File: p.Main, Message: ended(ctx, err, tail.String())}}}, nil
	}
	answer, err := decode(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("read what the compiler's child says: %w", err)
	}
	return answer, nil
}

// startNice starts a child whose threads all have its priority. Each thread inherits that of the thread which starts it: to
// lower the priority of threads that run would miss one that is being started. The thread of this process that wears the
// child's priority ends with its goroutine, as it may not raise it again.
func startNice(child *exec.Cmd) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if own, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil && kernelNice-own < niceMost {
			_ = unix.Setpriority(unix.PRIO_PROCESS, 0, niceMost) // of this thread; to lower it is always allowed
		}
		started <- child.Start()
	}()
	return <-started
}

// kernelNice less what getpriority returns is the nice value.
const kernelNice = 20

// ended says why a child gave no answer: the program is to blame, or its bounds.
func ended(ctx context.Context, err error, tail string) string {
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("the program is not loaded after %v: make less at load", clockMax)
	case strings.Contains(tail, "out of memory") || strings.Contains(tail, "cannot allocate"):
		return fmt.Sprintf("the program takes more than %d MiB to load: keep less", memoryMax>>20)
	}
	return fmt.Sprintf("the program ends the process that loads it (%v): make less at load", err)
}

// limited keeps the first bytes of what is written, and drops the rest.
type limited struct {
	bytes.Buffer
	most int
}

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	l.Buffer.Write(b[:min(len(b), max(0, l.most-l.Len()))])
	return len(b), nil
}

// encode is what a child says: whether there is a plan, the plan, the secrets, the mistakes.
func (c *Compiled) encode() (b []byte, err error) {
	b = msgp.AppendBool(nil, c.Plan != nil)
	if c.Plan != nil {
		if b, err = c.Plan.MarshalMsg(b); err != nil {
			return nil, err
		}
	}
	b = msgp.AppendArrayHeader(b, uint32(len(c.Secrets)))
	for _, s := range c.Secrets {
		b = msgp.AppendString(b, s)
	}
	b = msgp.AppendArrayHeader(b, uint32(len(c.Mistakes)))
	for _, m := range c.Mistakes {
		b = msgp.AppendBool(msgp.AppendString(msgp.AppendInt(msgp.AppendInt(msgp.AppendString(b, m.File), m.Line), m.Column), m.Message), m.Warning)
	}
	return b, nil
}

// decode reads what a child says.
func decode(b []byte) (c *Compiled, err error) {
	c = new(Compiled)
	has, b, err := msgp.ReadBoolBytes(b)
	if err != nil {
		return nil, err
	}
	if has {
		c.Plan = new(message.Plan)
		if b, err = c.Plan.UnmarshalMsg(b); err != nil {
			return nil, err
		}
	}
	n, b, err := msgp.ReadArrayHeaderBytes(b)
	for i := uint32(0); err == nil && i < n; i++ {
		var s string
		s, b, err = msgp.ReadStringBytes(b)
		c.Secrets = append(c.Secrets, s)
	}
	if err != nil {
		return nil, err
	}
	if n, b, err = msgp.ReadArrayHeaderBytes(b); err != nil {
		return nil, err
	}
	for range min(n, mistakesMax) {
		var m Mistake
		if m, b, err = decodeMistake(b); err != nil {
			return nil, err
		}
		c.Mistakes = append(c.Mistakes, m)
	}
	return c, nil
}

func decodeMistake(b []byte) (m Mistake, left []byte, err error) {
	if m.File, b, err = msgp.ReadStringBytes(b); err != nil {
		return m, b, err
	}
	if m.Line, b, err = msgp.ReadIntBytes(b); err != nil {
		return m, b, err
	}
	if m.Column, b, err = msgp.ReadIntBytes(b); err != nil {
		return m, b, err
	}
	if m.Message, b, err = msgp.ReadStringBytes(b); err != nil {
		return m, b, err
	}
	m.Warning, b, err = msgp.ReadBoolBytes(b)
	return m, b, err
}
