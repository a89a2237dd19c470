package program

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	lineMax = 64 << 10    // of an answer
	endMax  = time.Second // for the end of its outputs behind a kill
)

// child is a program that runs.
type child struct {
	cmd   *exec.Cmd
	stdin *os.File
	lines chan []byte   // of its stdout; closed at its end
	ended chan struct{} // closed once it and its output are over
	drop  chan struct{} // closed: no line is read any more
	once  sync.Once

	mu   sync.Mutex
	last string // line of its stderr
}

func startChild(args []string) (*child, error) {
	theirs, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(args[0], args[1:]...), stdin: stdin, lines: make(chan []byte, 64), ended: make(chan struct{}), drop: make(chan struct{})}
	c.cmd.Stdin, c.cmd.SysProcAttr = theirs, &syscall.SysProcAttr{Setpgid: true}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	err = c.cmd.Start()
	_ = theirs.Close() // the program has its own
	if err != nil {
		_ = stdin.Close()
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	var reads sync.WaitGroup
	reads.Go(func() { c.read(stdout) })
	reads.Go(func() { c.hear(stderr) })
	left := make(chan struct{})
	go func() {
		defer close(left)
		if exited(c.cmd.Process.Pid) { // its group keeps the number until Wait
			_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		}
	}()
	go func() {
		reads.Wait()
		<-left
		_ = c.cmd.Wait() // its last line says more than its code
		close(c.ended)
	}()
	return c, nil
}

// read passes on the lines of stdout.
func (c *child) read(from io.Reader) {
	defer close(c.lines)
	in := bufio.NewScanner(from)
	in.Buffer(nil, lineMax)
	for in.Scan() {
		select {
		case c.lines <- append([]byte(nil), in.Bytes()...):
		case <-c.drop:
			return
		}
	}
}

// hear keeps the last line of stderr.
func (c *child) hear(from io.Reader) {
	in := bufio.NewReaderSize(from, 4<<10)
	for {
		line, _, err := in.ReadLine()
		if err != nil {
			return
		}
		if text := strings.TrimSpace(strings.ToValidUTF8(string(line[:min(len(line), whyMax)]), "")); text != "" {
			c.mu.Lock()
			c.last = text
			c.mu.Unlock()
		}
	}
}

func (c *child) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// kill ends the program and its group. It returns the last line of its stderr.
func (c *child) kill() string {
	c.once.Do(func() {
		close(c.drop)
		if !c.over() { // else the number may be another group's
			_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		}
		_ = c.stdin.Close()
	})
	select {
	case <-c.ended:
	case <-time.After(endMax): // a process outside its group has its stderr
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// leave lets the program end by itself for a while.
func (c *child) leave(most time.Duration) {
	_ = c.stdin.Close() // it reads the end
	select {
	case <-c.ended:
	case <-time.After(most):
	}
	c.kill()
}
