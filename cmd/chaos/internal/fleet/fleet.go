package fleet

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
	"hyperscale/runtime/epoll"
)

// Config is a fleet.
type Config struct {
	Manager    string // host:port
	Cluster    string
	Datacenter string
	From       string // local address; empty: the system chooses
	Workers    int
	Cores      uint32 // of each worker
	Seed       uint64
}

// Tally is what a fleet has done so far.
type Tally struct {
	Workers    int `json:"workers"`    // connected
	Running    int `json:"running"`    // that have accepted a shard
	Heartbeats int `json:"heartbeats"` // sent
	Acks       int `json:"acks"`       // answers to them
	Named      int `json:"named"`      // answers that name the worker's shard
	Reports    int `json:"reports"`    // sent
	Late       int `json:"late"`       // sent more than lateAfter after their time
	Ended      int `json:"ended"`      // streams

	Why string `json:"why"` // the first of them did
}

const (
	second    = time.Second           // between two heartbeats of a worker
	lateAfter = 50 * time.Millisecond // a twentieth of it
)

// turn is a worker's place in the second.
type turn struct {
	at      time.Duration
	worker  int
	reports bool
}

// Run connects the workers, and lets them live until ctx ends. It calls tell once a second.
func Run(ctx context.Context, c Config, tell func(Tally)) error {
	poller, err := epoll.New()
	if err != nil {
		return err
	}
	defer func() { _ = poller.Close() }() // the process ends with it
	l := &fleet{config: &c, poller: poller, workers: make([]*worker, c.Workers), figures: figures(), turns: turns(&c), in: make([]byte, 64<<10)}
	return l.live(ctx, tell)
}

// turns draws when in each second a worker sends its heartbeat, and when it may report.
func turns(c *Config) (all []turn) {
	draw := rand.New(rand.NewPCG(c.Seed, 1))
	for i := range c.Workers {
		all = append(all, turn{at: time.Duration(draw.Int64N(int64(second))), worker: i}, turn{at: time.Duration(draw.Int64N(int64(second))), worker: i, reports: true})
	}
	slices.SortFunc(all, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	return all
}

// fleet is the workers of one process, on one goroutine.
type fleet struct {
	config  *Config
	poller  *epoll.Poller
	workers []*worker // nil: not connected
	figures message.Stats
	turns   []turn
	tally   Tally
	next    int // to connect
	in, out []byte
}

// live takes the turns of each second in their order.
func (c *fleet) live(ctx context.Context, tell func(Tally)) error {
	begun := time.Now()
	events := make([]epoll.Event, 256)
	for round := time.Duration(0); ctx.Err() == nil; round++ {
		for _, t := range c.turns {
			at := begun.Add(round*second + t.at)
			if err := c.wait(events, at); err != nil {
				return err
			}
			if err := c.take(t, at); err != nil {
				return err
			}
		}
		if late := time.Since(begun.Add((round + 1) * second)); late > 0 {
			begun = begun.Add(late) // what could not be sent in time is not sent faster later
		}
		tell(c.tally)
	}
	return nil
}

// wait hears workers until an instant.
func (c *fleet) wait(events []epoll.Event, until time.Time) error {
	for {
		n, err := c.poller.Wait(events, max(0, time.Until(until)))
		if err != nil {
			return err
		}
		for i := range events[:n] {
			if w := c.workers[events[i].Token()]; w != nil && w.fd >= 0 {
				c.hear(w)
			}
		}
		if n < len(events) && !time.Now().Before(until) {
			return nil
		}
	}
}

// take lets a worker take its turn. In the first second the next worker connects instead.
func (c *fleet) take(t turn, at time.Time) error {
	now := time.Now()
	w := c.workers[t.worker]
	switch {
	case !t.reports && c.next < c.config.Workers:
		return c.connect()
	case w == nil || w.fd < 0:
		return nil
	case !t.reports:
		c.beat(w)
	case !w.report(now):
		return nil
	default:
		c.tally.Reports++
		c.send(w, &message.ShardProgress{Shard: w.shard, Fence: w.fence, Sequence: w.reports, Stats: c.figures})
	}
	if now.Sub(at) > lateAfter {
		c.tally.Late++
	}
	return nil
}

// connect lets the next worker shake hands, and register.
func (c *fleet) connect() error {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	if c.config.From != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(c.config.From)}
	}
	conn, err := dialer.Dial("tcp", c.config.Manager)
	if err != nil {
		return fmt.Errorf("connect worker %d of %d: %w", c.next+1, c.config.Workers, err)
	}
	w, err := greet(conn, c.config, c.next)
	if err != nil {
		return fmt.Errorf("greet the manager as worker %d of %d: %w", c.next+1, c.config.Workers, err)
	}
	if err := c.poller.Add(w.fd, epoll.In|epoll.RdHup|epoll.Edge, uint64(c.next)); err != nil {
		return err
	}
	c.workers[c.next] = w
	c.next++
	c.tally.Workers++
	c.beat(w)
	return nil
}

func (c *fleet) beat(w *worker) {
	w.sequence++
	c.tally.Heartbeats++
	hb := &message.WorkerHeartbeat{Datacenter: c.config.Datacenter, Sequence: w.sequence, CoresTotal: c.config.Cores, CoresFree: c.config.Cores}
	if w.runs {
		hb.CoresFree, hb.Running = 0, []message.ShardRef{{Shard: w.shard, Fence: w.fence}}
	}
	c.send(w, hb)
}

// figures is what each worker reports: a step with three phases after some thousand requests.
func figures() message.Stats {
	const requests = 5000
	var h stats.Histogram
	var windows stats.Windows
	for i := range requests {
		at, took := time.Duration(i)*time.Minute/requests, uint64(1_000_000+i*i%40_000_000)
		h.Record(took)
		windows.At(at).Started++
		windows.At(at).OK++
		windows.Record(at, took)
	}
	w := h.Wire()
	step := message.StepStats{
		Name: "home", Kind: message.StepRequest, Started: requests, Sent: requests, OK: requests, Latency: w, Service: w, Windows: windows.Wire(),
		Statuses: []message.StatusCount{{Status: 200, Count: requests}},
	}
	for _, p := range []message.Phase{message.PhaseSend, message.PhaseWait, message.PhaseReceive} {
		step.Phases = append(step.Phases, message.PhaseTimes{Phase: p, Time: w})
	}
	return message.Stats{Active: 2, Elapsed: time.Minute, Generator: message.Generator{Lag: w}, Steps: []message.StepStats{step}}
}

// encode is a frame as it travels.
func encode(b []byte, m node.Message) []byte {
	b, err := message.Append(append(b[:0], 0, 0, 0, 0), m)
	if err != nil {
		node.Bug("fleet: %v", err) // the messages of this package are sound
	}
	return measured(b)
}
