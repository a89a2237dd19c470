package exec

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
	"hyperscale/runtime/trace"
)

// statsMax is the part of a frame that statistics may take. Hundreds of steps with wide
// histograms would need more than a frame, and Send drops what does not fit.
const statsMax = message.FrameMax / 2

// Work is what an executor receives.
type Work struct {
	Start     *message.ExecStart
	Lease     *Lease
	Progress  func(*message.Stats)
	Rows      *Rows
	Trace     trace.Sender
	Turned    func()              // to be called with each turn of the engine's loop
	Ask       func(reason string) // asks the worker for more time, before something long
	Throttled func() bool         // reports whether no virtual user shall begin that need not, to save memory
	Programs  *Programs           // starts custom programs
	Sheets    []int               // memory of Start.Program.Feeds, in their order: see rows.Map and rows.MapWhole
}

// Origin is when the time of the workflow was zero that the work joins; false if it joins none.
func (w *Work) Origin() (time.Time, bool) {
	return since(w.Start.Join.Origin), w.Start.Join.VUs > 0
}

// Runner does one Work and always returns a result. When ctx is cancelled it starts nothing
// new, counts requests in flight as cancelled and returns soon. It checks the lease before it
// sends, so that it stops in time however busy it is. When the lease ends, the pool also
// cancels ctx and soon ends the process.
type Runner func(ctx context.Context, w *Work) *message.ExecResult

// descriptor is the child's end of the socket pair.
const descriptor = 3

// Main is the whole life of an executor process: it says that it is ready, does
// one piece of work, and returns the process's exit code.
func Main(run Runner) int {
	conn := os.NewFile(descriptor, "worker")
	if conn == nil {
		return 2
	}
	bare, err := enter(Sandbox(os.Getenv(sandboxVariable)))
	if err != nil {
		fmt.Fprintln(os.Stderr, "executor:", err)
		return 2
	}
	c := &inside{conn: conn, bare: bare, start: make(chan *message.ExecStart, 1), cancel: make(chan string, 1)}
	c.rows.send = c.send
	go c.listen()
	if err := c.serve(run); err != nil {
		fmt.Fprintln(os.Stderr, "executor:", err)
		return 2
	}
	return 0
}

// inside is the child's side of the connection.
type inside struct {
	bare    string     // why it has no filter of system calls
	mu      sync.Mutex // of conn, for writing, and scratch
	conn    *os.File
	scratch []byte
	start   chan *message.ExecStart
	cancel  chan string
	lease   Lease
	rows    Rows
	turns   atomic.Uint64 // of the engine's loop
	memory  memory

	programs Programs
}

func (c *inside) send(m node.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	c.scratch, err = write(c.conn, m, c.scratch)
	return err
}

// SendTrace implements trace.Sender.
func (c *inside) SendTrace(m *message.ExecTrace) {
	_ = c.send(m) // a worker that is gone ends this process through listen
}

// listen reads the worker's messages. When the worker has gone the process ends at once: an
// executor without a worker must not send load.
func (c *inside) listen() {
	r := bufio.NewReader(c.conn)
	for {
		m, err := read(r)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(os.Stderr, "executor: read from worker:", err)
			}
			c.programs.last()
			os.Exit(3)
		}
		switch m := m.(type) {
		case *message.ExecStart:
			offer(c.start, m)
		case *message.ExecCancel:
			offer(c.cancel, m.Reason)
		case *message.ExecRowsLeased:
			c.rows.leased(m)
		case *message.ExecReleased:
			c.rows.released(m)
		case *message.ExecExtend:
			c.lease.extend(int64(m.Until))
		case *message.ExecThrottle:
			c.memory.throttle(m.On)
		default:
			fmt.Fprintf(os.Stderr, "executor: a %s is not for an executor\n", message.Name(m.Kind()))
			os.Exit(3)
		}
	}
}

// offer keeps the first of many.
func offer[T any](to chan T, v T) {
	select {
	case to <- v:
	default:
	}
}

func (c *inside) serve(run Runner) error {
	if err := c.send(&message.ExecReady{Process: uint64(os.Getpid()), Bare: c.bare}); err != nil {
		return fmt.Errorf("tell the worker that this executor is ready: %w", err)
	}
	start := <-c.start
	c.memory.begin(start.Memory)
	var sheets []int
	if n := len(start.Program.Feeds); n > 0 {
		var err error
		if sheets, err = take(lent, n); err != nil {
			return fmt.Errorf("take the memory of %d files: %w", n, err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		select {
		case <-c.cancel:
			stop()
		case <-ctx.Done():
		}
	}()
	go c.lease.watch(stop, c.programs.last)
	go c.live(ctx)
	go newCollector().keep(ctx.Done())
	if err := c.send(&message.ExecStarted{VUs: start.VUs}); err != nil {
		return fmt.Errorf("tell the worker that the run has started: %w", err)
	}
	var sequence uint64
	tell := func(s *message.Stats) {
		sequence++
		stats.Fit(s, statsMax)
		// A worker that is gone ends this process through listen.
		_ = c.send(&message.ExecProgress{Sequence: sequence, Stats: *s})
	}
	result := run(ctx, &Work{Start: start, Lease: &c.lease, Progress: tell, Rows: &c.rows, Trace: c, Programs: &c.programs, Sheets: sheets, Turned: func() { c.turns.Add(1) }, Ask: c.ask, Throttled: c.memory.throttled.Load})
	stats.Fit(&result.Stats, statsMax)
	if err := c.send(result); err != nil {
		return fmt.Errorf("send the result: %w", err)
	}
	return nil
}

// aliveEvery is how often an executor reports that its loop turns.
const aliveEvery = 500 * time.Millisecond

// live reports that the engine's loop turns, while it does. The loop itself never waits for the
// worker.
func (c *inside) live(ctx context.Context) {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for before := c.turns.Load(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now := c.turns.Load(); now != before {
			before = now
			_ = c.send(&message.ExecAlive{}) // a worker that is gone ends this process through listen
		}
	}
}

// ask asks the worker for more time.
func (c *inside) ask(reason string) {
	_ = c.send(&message.ExecAlive{Asks: true, Reason: reason}) // the same
}
