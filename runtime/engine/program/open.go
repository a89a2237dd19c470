package program

import (
	"context"
	"fmt"
	"time"

	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/process"
	"hyperscale/runtime/protocol/custom"
)

// Within is how long the processes may take, together, to say hello.
const Within = 20 * time.Second

// turnEvery is how often a wait before or behind the clock says that the loop turns.
const turnEvery = 500 * time.Millisecond

// Starter starts programs.
type Starter interface {
	Start(program []string) (process.Pipes, error)
}

// Config says which programs a run has.
type Config struct {
	Programs []*request.Custom
	Starter  Starter // nil: this process may start none
	FirstVU  uint64
	Seed     uint64
	Turned   func() // may be nil
}

// Open starts the programs, and waits for their hellos. The caller sets conns.Aside to the result before
// anything else happens, and closes it, also behind an error.
func Open(ctx context.Context, conns *pool.Connections, c Config) (*Fleet, error) {
	f := &Fleet{conns: conns, clients: map[string]*client{}, buffer: make([]byte, readBuffer)}
	conns.Aside = f
	for _, of := range c.Programs {
		if err := f.start(of, &c); err != nil {
			return f, err
		}
	}
	f.Flush()
	return f, f.meet(ctx, &c)
}

// start starts the processes of one client.
func (f *Fleet) start(of *request.Custom, c *Config) error {
	own := &client{of: of}
	f.clients[of.Key()], f.order = own, append(f.order, own)
	for i := range of.Processes {
		if c.Starter == nil {
			return fmt.Errorf("custom program %s may not run here: this process starts none", of.Program[0])
		}
		pipes, err := c.Starter.Start(of.Program)
		if err != nil {
			return err
		}
		p := &proc{fleet: f, client: own, number: len(f.procs), ordinal: i, pipes: pipes, conn: custom.New(custom.Hello{Executor: c.FirstVU, Process: i, Seed: c.Seed, InFlight: of.InFlight})}
		f.procs, own.procs = append(f.procs, p), append(own.procs, p)
		for pipe, watch := range map[uint32]struct {
			fd     int
			events uint32
		}{pipeIn: {pipes.In, 0}, pipeOut: {pipes.Out, epoll.In}, pipeFate: {pipes.Fate, epoll.In}} {
			if err := f.conns.Sockets.Poller.Add(watch.fd, watch.events, p.token(pipe)); err != nil {
				return fmt.Errorf("watch %s: %w", p.named(), err)
			}
		}
		f.soil(p)
	}
	return nil
}

// meet waits for the hellos.
func (f *Fleet) meet(ctx context.Context, c *Config) error {
	until := time.Now().Add(Within)
	events := make([]epoll.Event, 64)
	for {
		silent := (*proc)(nil)
		for _, p := range f.procs {
			if _, said := p.conn.Program(); !said {
				silent = p
			}
		}
		left := time.Until(until)
		switch {
		case f.fault != nil:
			return f.fault
		case silent == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case left <= 0:
			return fmt.Errorf("%s did not say hello within %v: answer the first line of stdin, and flush stdout (scripts buffer it)", silent.named(), Within)
		}
		if err := f.wait(events, min(left, turnEvery), c.Turned); err != nil {
			return err
		}
	}
}

// wait handles events for a while.
func (f *Fleet) wait(events []epoll.Event, within time.Duration, turned func()) error {
	if turned != nil {
		turned()
	}
	n, err := f.conns.Sockets.Poller.Block(events, within)
	if err != nil {
		return err
	}
	f.conns.Clock.Tick()
	for i := range n {
		f.conns.Sockets.Handle(&events[i])
	}
	f.Flush()
	return nil
}
