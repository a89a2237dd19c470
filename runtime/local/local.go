package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/node"
	"hyperscale/core/worker"
	"hyperscale/runtime/exec"
	"hyperscale/runtime/host"
	"hyperscale/runtime/trace"
)

// loopback is the address on which all nodes listen; the kernel chooses the ports.
const loopback = "127.0.0.1:0"

// heartbeat and progress are faster than a cluster's: no other node shares the network, and a
// user watches the screen.
const (
	heartbeat = 250 * time.Millisecond
	progress  = 100 * time.Millisecond
)

// drainMax is how long the cluster may take to stop when its job has ended.
const drainMax = 2 * time.Second

// Config of a cluster.
type Config struct {
	Cores       int    // processors to run on; 0: Cores()
	Cluster     string // name that clients must give
	Environment string
	Feeds       string // folder of files of rows that do not travel with a program
	// ExecutorMemory is the resident memory above which an executor is ended; 0: the default.
	ExecutorMemory uint64
	Surroundings   exec.Surroundings
	Trace          *trace.File // gets samples of requests; nil: none are taken
	Command        []string    // of one executor; empty: this binary with the argument "executor"
	Logger         *slog.Logger
	Observer       func(node.Event) // sees the events of all nodes; may be nil; must not wait
}

// Cluster is one that runs.
type Cluster struct {
	cores int
	gate  *host.Node
	nodes []*host.Node // in the order in which they stop
	lost  chan error
}

// Start starts gate, manager and worker.
func Start(c Config) (*Cluster, error) {
	if c.Cores == 0 {
		c.Cores = Cores()
	}
	if c.Logger == nil {
		return nil, errors.New("local.logger is nil: give one, slog.DiscardHandler for no log")
	}
	cluster := &Cluster{cores: c.Cores, lost: make(chan error, 1)}
	if err := cluster.start(c); err != nil {
		cluster.Kill()
		return nil, err
	}
	for _, n := range cluster.nodes {
		go cluster.watch(n)
	}
	return cluster, nil
}

// watch reports a node that ends by itself.
func (c *Cluster) watch(n *host.Node) {
	<-n.Done()
	if err := n.Err(); err != nil {
		select {
		case c.lost <- fmt.Errorf("the local cluster's %s ended: %w", n.Self().Role, err):
		default: // another one was first
		}
	}
}

// Lost reports the first node that ended by itself.
func (c *Cluster) Lost() <-chan error { return c.lost }

func (c *Cluster) start(config Config) error {
	options := func(role node.Role, id node.ID, m node.Machine) host.Options {
		return host.Options{
			Role: role, ID: id, Cluster: config.Cluster, Environment: config.Environment, Listen: loopback,
			Machine: m, Logger: config.Logger, Observer: config.Observer,
		}
	}
	var err error
	gc := gate.Default()
	gc.PushInterval = 2 * progress
	if c.gate, err = host.Start(options(node.RoleGate, "gate", gate.New(gc))); err != nil {
		return err
	}
	c.nodes = []*host.Node{c.gate}

	mc := manager.Default()
	mc.Datacenter, mc.Gates, mc.Heartbeat, mc.DrainTimeout = datacenter, []node.Addr{c.gate.Addr()}, heartbeat, drainMax
	mc.ProgressInterval = progress
	m, err := host.Start(options(node.RoleManager, "manager", manager.New(mc)))
	if err != nil {
		return err
	}
	c.nodes = append([]*host.Node{m}, c.nodes...)

	wc := worker.Default()
	wc.Datacenter, wc.Managers, wc.Cores = datacenter, []node.Addr{m.Addr()}, config.Cores
	wc.Heartbeat, wc.DrainTimeout, wc.ProgressInterval = heartbeat, drainMax, progress
	if err := wc.Validate(); err != nil {
		return err
	}
	pool := exec.Default()
	pool.Cores, pool.Command, pool.Feeds, pool.Trace, pool.Logger = config.Cores, config.Command, config.Feeds, config.Trace, config.Logger
	pool.CPUs, pool.Surroundings = CPUs(), config.Surroundings
	if config.ExecutorMemory > 0 {
		pool.MemoryMax = config.ExecutorMemory
	}
	w, err := StartWorker(options(node.RoleWorker, "worker", worker.New(wc)), pool)
	if err != nil {
		return err
	}
	c.nodes = append([]*host.Node{w}, c.nodes...)
	return nil
}

// datacenter is the name of the only one.
const datacenter = "local"

// Gate is where to submit jobs.
func (c *Cluster) Gate() node.Addr { return c.gate.Addr() }

// Cores is how many cores it runs load on.
func (c *Cluster) Cores() int { return c.cores }

// Stop takes the cluster down, executors first. What has not ended when ctx does
// is killed.
func (c *Cluster) Stop(ctx context.Context) error {
	var faults []error
	for _, n := range c.nodes {
		if err := n.Stop(ctx); err != nil {
			faults = append(faults, fmt.Errorf("stop the local cluster: %w", err))
		}
	}
	return errors.Join(faults...)
}

// Kill takes the cluster down at once.
func (c *Cluster) Kill() {
	for _, n := range c.nodes {
		n.Kill()
	}
}
