package compile

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/language"
	"hyperscale/runtime/exec/confine"
)

// Bounds that a child gives itself before it reads a program.
const (
	memoryMax    = 256 << 20 // bytes that it writes to
	processorMax = 2 * time.Second
	heapSoft     = memoryMax / 2 // from here on the runtime collects more
)

// Main is a child: it reads a program from in, and writes what it makes of it to out.
func Main(in io.Reader, out io.Writer) error {
	if err := bound(); err != nil {
		return fmt.Errorf("bound the compiler's process: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(in, programMax))
	if err != nil {
		return fmt.Errorf("read the program: %w", err)
	}
	var p message.Program
	if _, err := p.UnmarshalMsg(b); err != nil {
		return fmt.Errorf("read the program: %w", err)
	}
	if b, err = load(&p).encode(); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	_, err = out.Write(b)
	return err
}

// bound takes from this process what no program needs. Where the kernel has no filter, the rest must do.
func bound() error {
	debug.SetMemoryLimit(heapSoft)
	memory := unix.Rlimit{Cur: memoryMax, Max: memoryMax}
	seconds := uint64(processorMax / time.Second)
	_ = confine.Conceal() // a process that shows its memory shows the program to its own user alone
	_ = confine.Enter()   // the bounds below hold without it
	return errors.Join(unix.Setrlimit(unix.RLIMIT_DATA, &memory), unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds}),
		unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 16, Max: 16}), unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{}))
}

func load(p *message.Program) *Compiled {
	loaded, findings, err := workflow.InspectOffered(p, nil)
	c := new(Compiled)
	for _, f := range findings {
		if len(c.Mistakes) < mistakesMax {
			c.Mistakes = append(c.Mistakes, Mistake{File: f.File, Line: f.Line, Column: f.Col, Message: textOf(&f.Error), Warning: err == nil})
		}
	}
	if err != nil {
		if len(c.Mistakes) == 0 {
			c.Mistakes = []Mistake{{File: p.Main, Message: err.Error()}}
		}
		return c
	}
	c.Plan, c.Secrets = loaded.Plan(), loaded.Secrets()
	return c
}

// textOf is a mistake without its place.
func textOf(e *language.Error) string {
	if e.Remedy == "" {
		return e.Message
	}
	return e.Message + ": " + e.Remedy
}
