package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/export"
	"hyperscale/runtime/loop"
	"hyperscale/runtime/metrics"
	"hyperscale/runtime/outputs/carrier"
	"hyperscale/runtime/resolve"
	"hyperscale/runtime/store"
	"hyperscale/runtime/transport"
)

// Node is one node that runs.
type Node struct {
	options Options
	self    node.Peer
	logger  *slog.Logger
	history *history
	lines   lines
	work    *work

	doors     doors
	store     store.Store
	transport *transport.Transport
	loop      *loop.Loop
	sinks     *carrier.Carrier // nil: it has none
	metrics   *metrics.Metrics
	admin     *metrics.Admin

	watching sync.Mutex // around the observer: loop and transport both have events
	killed   atomic.Bool
	lost     atomic.Pointer[error] // why its disk is gone
	patience context.Context       // ends when a graceful end has run out of time
	hurry    context.CancelFunc
	done     chan struct{}
	err      error // once done is closed
}

// doors are where others reach a node, and what they must know.
type doors struct {
	secrets *secrets      // nil without a file
	certs   *certificates // nil without files
	sockets *transport.Sockets
	names   *resolve.Resolver // nil: the machine's own
	admin   net.Listener      // until it serves
}

// Start builds a node and runs it.
func Start(o Options) (*Node, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("start a node: %w", err)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	n := &Node{options: o, done: make(chan struct{}), lines: lines{of: map[string]*budget{}}}
	n.patience, n.hurry = context.WithCancel(context.Background())
	if err := n.take(); err != nil {
		n.hurry()
		n.giveBack()
		return nil, fmt.Errorf("start %s %s: %w", o.Role, o.ID, err)
	}
	n.build()
	n.store.Serve(n.loop.Stored)
	n.transport.Serve(n.loop)
	if n.doors.admin != nil {
		n.admin = n.metrics.Serve(n.doors.admin, n.logger, n.alive, n.ready)
	}
	go n.live()
	return n, nil
}

// take acquires what other processes may have: the store and the ports.
func (n *Node) take() (err error) {
	o := &n.options
	if n.doors.secrets, err = openSecrets(o); err != nil {
		return err
	}
	if n.doors.certs, err = openCertificates(o); err != nil {
		return err
	}
	if n.doors.names, err = o.resolver(); err != nil {
		return err
	}
	if n.doors.sockets, err = transport.Listen(o.Listen); err != nil {
		return err
	}
	if n.doors.admin, err = listenAdmin(o.Admin); err != nil {
		return err
	}
	address, err := o.advertised(n.doors.sockets)
	if err != nil {
		return err
	}
	if err := transport.CheckNames(node.Peer{ID: o.ID, Addr: address}); err != nil && address != "" {
		return err // a client, which has no address, sends no datagrams
	}
	if o.DataDir == "" {
		n.store = store.NewMemory(draw())
	} else if n.store, err = openStore(o.DataDir, o.ID); err != nil {
		return err
	}
	n.self = node.Peer{ID: o.ID, Incarnation: n.store.Incarnation(), Role: o.Role, Addr: address, Minor: message.Minor}
	return nil
}

// openStore returns a nil interface with an error, not an interface with a nil pointer.
func openStore(dir string, id node.ID) (store.Store, error) {
	s, err := store.Open(dir, id)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// giveBack undoes take, as far as it came.
func (n *Node) giveBack() {
	if n.doors.sockets != nil {
		n.doors.sockets.Close()
	}
	if n.doors.admin != nil {
		_ = n.doors.admin.Close() // it has served no peer
	}
	if n.store != nil {
		_ = n.store.Close() // nothing was written
	}
}

// build wires the subjobs; nothing runs yet.
func (n *Node) build() {
	o := &n.options
	n.logger = o.Logger.With(ownKeys[0], string(n.self.ID), ownKeys[1], n.self.Incarnation)
	n.history = &history{self: n.self, out: o.History}
	n.work = newWork(o.Role, o.Set)
	machine := o.Machine
	if o.NewMachine != nil {
		machine = o.NewMachine(n.self)
	}
	n.loop = loop.New(loop.Config{
		Self: n.self, Machine: machine, Seed: draw(), Clock: o.Clock, Observe: n.observe, Logger: n.logger,
	})
	n.transport = transport.New(transport.Config{
		Self: n.self, Cluster: o.Cluster, Environment: o.Environment, Limits: o.Limits, Keys: n.doors.secrets.keys(), Logger: n.logger,
		Resolver: n.doors.names, Datacenter: o.Datacenter, Certs: n.doors.certs.held(), Set: n.work.members, Leases: o.Leases, Sinks: o.Stand.Sinks,
		Observe: func(e node.Event) { n.observe(n.loop.Now(), e) },
	}, n.doors.sockets)
	if o.NewSinks != nil {
		n.sinks = o.NewSinks(n.loop.Delivered)
	}
	n.metrics = metrics.New(metrics.Sources{
		Self: n.self, Place: o.Datacenter, Loop: n.loop.Stats, Transport: n.transport.Stats, Store: n.store.Stats, Load: n.load(machine), Outputs: n.sinks.Stats,
	})
}

// load shows the load of a machine's jobs; nil: it has none.
func (n *Node) load(of node.Machine) prometheus.Gatherer {
	owner, ok := of.(interface {
		Load(now node.Instant, recent time.Duration, most int) ([]*message.JobStatus, int)
	})
	if !ok {
		return nil
	}
	return export.NewLoad(func(ctx context.Context, recent time.Duration, most int) ([]*message.JobStatus, int, error) {
		var jobs []*message.JobStatus
		var left int
		if err := n.loop.Look(ctx, func(now node.Instant) { jobs, left = owner.Load(now, recent, most) }); err != nil {
			return nil, 0, err // the loop may look yet: nothing reads what it finds
		}
		return jobs, left, nil
	})
}

// observe passes an event to all observers. The loop calls it, and the transport for refused
// peers.
func (n *Node) observe(at node.Instant, e node.Event) {
	n.metrics.Observe(e)
	n.work.observe(e)
	n.history.write(at, e)
	n.lines.logEvent(n.logger, at, e)
	if n.options.Observer != nil {
		n.watching.Lock()
		defer n.watching.Unlock()
		n.options.Observer(e)
	}
}

// errHistory wraps what went wrong with the history.
var errHistory = errors.New("write the history")
