package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"hyperscale/core/node"
)

// machine is one node of the cluster: a host and the process on it.
type machine struct {
	name string
	role string
	host byte
	args []string
	dir  string

	life    sync.Mutex // held while the process ends and starts
	mu      sync.Mutex
	former  bool // it runs the other binary
	cmd     *exec.Cmd
	gone    chan struct{}
	stopped bool // by SIGSTOP
}

// cluster is the cluster that a run breaks.
type cluster struct {
	options  options
	shape    shape
	direct   bool // all hosts are addresses of this process's own namespace
	dir      string
	seed     uint64
	secret   string // a file; empty: frames cross in clear
	fabric   *fabric
	machines []*machine // gates, managers, workers
	clients  []*machine // hosts without a process of their own
	heirs    []*machine // gates that take seats; in place of each the one that it replaced
	target   *machine
	deaths   deaths
	births   births

	mu    sync.Mutex
	gates string // addresses, by comma
}

// shape is how many nodes a cluster has.
type shape struct {
	gates       int
	datacenters int
	managers    int // of each datacenter
	workers     int // of each datacenter
	clients     int
}

// broken is the cluster that a run breaks.
var broken = shape{gates: 3, datacenters: 2, managers: 3, workers: 2, clients: 3}

const cores = 2 // of each worker

func start(o options, dir string, seed uint64) (*cluster, error) {
	c := &cluster{options: o, shape: broken, dir: dir, seed: seed, fabric: newFabric()}
	if o.apart {
		c.shape = parted
	}
	if !o.flood { // its connections speak in clear
		if err := c.seal(); err != nil {
			return c, err
		}
	}
	if err := c.fabric.addSelf(); err != nil {
		return c, err
	}
	c.plan()
	if o.apart {
		c.fabric.wall = newWall(c)
	}
	for _, m := range c.all() {
		if err := c.fabric.addHost(m.name, m.host); err != nil {
			return c, err
		}
	}
	for _, m := range append([]*machine{c.target}, c.machines...) {
		if err := m.start(c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// seal makes the secret that nodes and clients share.
func (c *cluster) seal() error {
	c.secret = filepath.Join(c.dir, "secret")
	if out, err := exec.Command(c.options.binary, "secret", "new", c.secret).CombinedOutput(); err != nil {
		return fmt.Errorf("make a secret: %w: %s", err, out)
	}
	return nil
}

// trust are the flags of a node or a client that say how it knows others.
func (c *cluster) trust(node bool) []string {
	switch {
	case c.secret != "":
		return []string{"--cluster-secret", c.secret}
	case node:
		return []string{"--insecure"}
	}
	return nil
}

func (c *cluster) all() []*machine {
	return slices.Concat([]*machine{c.target}, c.clients, c.machines, c.heirs)
}

// plan names all hosts and the processes on them.
func (c *cluster) plan() {
	next := byte(own)
	host := func() byte { next++; return next }
	add := func(role, name string, h byte, args ...string) {
		c.machines = append(c.machines, c.machine(role, name, h, args...))
	}
	var gateHosts []byte
	var set []string
	for range c.shape.gates {
		h := host()
		gateHosts, set = append(gateHosts, h), append(set, address(h)+":7400")
	}
	c.gates = strings.Join(set, ",")
	lease := []string{"--lease", c.options.lease.String(), "--quorum-timeout", c.options.quorumTimeout.String(), "--gates", c.gates}
	for i, h := range gateHosts {
		add("gate", fmt.Sprintf("gate-%d", i+1), h, lease...)
	}
	for d := range c.shape.datacenters {
		dc := string(rune('a' + d))
		var hosts []byte
		var set []string
		for range c.shape.managers {
			h := host()
			hosts, set = append(hosts, h), append(set, address(h)+":7400")
		}
		members := strings.Join(set, ",")
		for i, h := range hosts {
			add("manager", fmt.Sprintf("manager-%s-%d", dc, i+1), h, append(lease, "--managers", members, "--datacenter", "dc-"+dc)...)
		}
		for i := range c.shape.workers {
			add("worker", fmt.Sprintf("worker-%s-%d", dc, i+1), host(), "--managers", members, "--datacenter", "dc-"+dc, "--cores", strconv.Itoa(cores))
		}
	}
	for i := range c.shape.clients {
		c.clients = append(c.clients, &machine{name: fmt.Sprintf("client-%d", i+1), role: "client", host: host()})
	}
	if c.options.replace {
		for i := range gateHosts {
			c.heirs = append(c.heirs, c.machine("gate", fmt.Sprintf("gate-%d", len(gateHosts)+i+1), host(), lease...))
		}
	}
	h := host()
	c.target = &machine{name: "target", role: "target", host: h, dir: filepath.Join(c.dir, "target"), args: []string{"target", "--listen", address(h) + ":8080"}}
}

// machine is one that runs a node.
func (c *cluster) machine(role, name string, h byte, args ...string) *machine {
	return &machine{
		name: name, role: role, host: h, dir: filepath.Join(c.dir, name), former: c.startsFormer(role),
		args: slices.Concat([]string{
			role, "--id", name, "--listen", address(h) + ":7400", "--admin", address(h) + ":7490", "--data", filepath.Join(c.dir, name, "data"),
			"--history", filepath.Join(c.dir, name+".history"), "--cluster", "chaos",
		}, c.trust(true), args),
	}
}

// command is the binary that a machine runs, on its host.
func (c *cluster) command(m *machine, args ...string) *exec.Cmd {
	binary := c.options.binary
	if m.former {
		binary = c.options.former
	}
	if c.direct {
		return exec.Command(binary, args...)
	}
	return exec.Command("ip", append([]string{"netns", "exec", m.name, binary}, args...)...)
}

func (m *machine) start(c *cluster) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := os.MkdirAll(m.dir, 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(c.dir, m.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	m.cmd = c.command(m, m.args...)
	m.cmd.Stdout, m.cmd.Stderr = log, log
	m.gone, m.stopped = make(chan struct{}), false
	c.births.add(node.ID(m.name), m.former)
	if err := m.cmd.Start(); err != nil {
		return err
	}
	cmd, gone := m.cmd, m.gone
	go func() {
		_ = cmd.Wait() // how it ended stands in its log
		c.deaths.add(node.ID(m.name))
		_ = log.Close()
		close(gone)
	}()
	return nil
}

// signal sends one to the process, if it lives.
func (m *machine) signal(s syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd == nil {
		return
	}
	_ = m.cmd.Process.Signal(s) // one that has ended hears nothing
	m.stopped = s == syscall.SIGSTOP || m.stopped && s != syscall.SIGCONT
}

// crash kills the process and waits for its end.
func (m *machine) crash() {
	m.signal(syscall.SIGKILL)
	if m.gone != nil {
		<-m.gone
	}
}

// alive says whether the process runs.
func (m *machine) alive() bool {
	select {
	case <-m.gone:
		return false
	default:
		return true
	}
}

func (c *cluster) kill() {
	for _, m := range append([]*machine{c.target}, c.machines...) {
		if m.cmd != nil {
			m.crash()
		}
	}
	if c.direct {
		return
	}
	for _, m := range c.all() {
		removeHost(m.name)
	}
	c.fabric.close()
}

// ask is a command of the first client to the gates.
func (c *cluster) ask(args ...string) *exec.Cmd {
	return c.command(c.clients[0], slices.Concat(args, []string{"--gate", c.gateList(), "--cluster", "chaos"}, c.trust(false))...)
}

// settle waits until every gate sees every datacenter with cores.
func (c *cluster) settle(ctx context.Context) error {
	deadline := time.Now().Add(30 * time.Second)
	for {
		out, err := c.ask("datacenters", "--json").Output()
		if err == nil && strings.Count(string(out), fmt.Sprintf(`"cores_total": %d`, c.shape.workers*cores)) == c.shape.datacenters {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the cluster did not come up within 30 s (%v): %s", err, out)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// size is how much a process holds.
type size struct{ goroutines, heap float64 }

// measure asks every node for its metrics.
func (c *cluster) measure() map[string]size {
	all := map[string]size{}
	client := http.Client{Timeout: 2 * time.Second}
	for _, m := range c.machines {
		answer, err := client.Get("http://" + address(m.host) + ":7490/metrics")
		if err != nil {
			continue // the process is down, which other checks report
		}
		var s size
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), " ")
			switch n, _ := strconv.ParseFloat(value, 64); name {
			case "go_goroutines":
				s.goroutines = n
			case "go_memstats_heap_inuse_bytes":
				s.heap = n
			}
		}
		_ = answer.Body.Close() // it was only read
		all[m.name] = s
	}
	return all
}
