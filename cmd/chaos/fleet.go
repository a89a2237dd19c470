package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"hyperscale/cmd/chaos/internal/fleet"
)

// fleets holds the configuration of the fleet that this process is.
const fleets = "HYPERSCALE_CHAOS_FLEET"

// fleetMax is the default of manager.workers_max.
const fleetMax = 10_000

// fleetFiles is the limit of open files of the manager and of its fleet: a manager gives half of its places
// to workers.
const fleetFiles = 4 * fleetMax

// manned is the cluster whose manager a fleet fills.
var manned = shape{gates: 1, datacenters: 1, managers: 1, clients: 2}

// fleetWorkflow takes all cores for longer than a measurement lasts.
const fleetWorkflow = `workflow(
    name = "main",
    vus = %d,
    duration = "3600s",
    steps = [step("home", http.get("http://127.0.0.1:9/"))],
)
`

// runFleet is a fleet until a signal ends it. It prints what it has done, once a second.
func runFleet(config string) error {
	var c fleet.Config
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := json.NewEncoder(os.Stdout)
	return fleet.Run(ctx, c, func(t fleet.Tally) {
		if out.Encode(t) != nil {
			stop() // no process reads it any more
		}
	})
}

// crewing is a fleet in a process of its own.
type crewing struct {
	cmd *exec.Cmd
	out *bufio.Scanner
}

func (c *cluster) startFleet(config fleet.Config) (*crewing, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	w := &crewing{cmd: exec.Command(self)}
	w.cmd.Env = append(os.Environ(), fleets+"="+string(text))
	w.cmd.Stderr = os.Stderr
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewScanner(out)
	return w, w.cmd.Start()
}

// next waits for what the fleet says once a second.
func (w *crewing) next() (t fleet.Tally, err error) {
	if !w.out.Scan() {
		return t, fmt.Errorf("the fleet has ended: %w", io.ErrUnexpectedEOF)
	}
	return t, json.Unmarshal(w.out.Bytes(), &t)
}

// until waits until the fleet is as it should be.
func (w *crewing) until(what string, good func(fleet.Tally) bool) (t fleet.Tally, err error) {
	for deadline := time.Now().Add(2 * time.Minute); ; {
		if t, err = w.next(); err != nil || good(t) {
			return t, err
		}
		if time.Now().After(deadline) {
			return t, fmt.Errorf("after two minutes not all workers %s: %+v", what, t)
		}
	}
}

// measureFleet tells the processor time of a manager of many workers: at rest, and with one job on all of them.
func measureFleet(ctx context.Context, o options) error {
	limit := syscall.Rlimit{Cur: fleetFiles, Max: fleetFiles}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		log.Printf("the limit of open files stays as it is (%v): the manager may reject workers, and says so", err)
	}
	dir := filepath.Join(o.dir, "fleet")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	c, err := startDirect(o, manned, dir, false)
	if err != nil {
		return err
	}
	defer c.kill()
	if err := c.settle(ctx); err != nil {
		return err
	}
	gate, manager := c.machines[0], c.machines[1]
	w, err := c.startFleet(fleet.Config{
		Manager: address(manager.host) + ":7400", Cluster: "chaos", Datacenter: "dc-a", From: address(c.clients[1].host), Workers: o.fleet, Cores: cores, Seed: o.seed,
	})
	if err != nil {
		return err
	}
	defer func() { _ = w.cmd.Process.Kill() }() // it may have ended
	if _, err := w.until("are registered", func(t fleet.Tally) bool { return t.Workers == o.fleet }); err != nil {
		return err
	}
	if err := w.phase(ctx, o, manager, "no job"); err != nil {
		return err
	}
	p, err := newProber(address(own), address(gate.host)+":7400")
	if err != nil {
		return err
	}
	defer p.Kill()
	if _, err := p.submit(1, fmt.Sprintf(fleetWorkflow, cores*o.fleet), time.Hour); err != nil {
		return err
	}
	if _, err := w.until("run a shard", func(t fleet.Tally) bool { return t.Running == o.fleet }); err != nil {
		return err
	}
	return w.phase(ctx, o, manager, "one job on all")
}

// fleetRounds is how many intervals a phase has, each of --for.
const fleetRounds = 5

// phase prints the manager's processor time in intervals that begin a while after the phase.
func (w *crewing) phase(ctx context.Context, o options, m *machine, what string) error {
	until := time.Now().Add(5 * warm)
	before, err := w.until("live on", func(fleet.Tally) bool { return time.Now().After(until) })
	if err != nil {
		return err
	}
	for range fleetRounds {
		begun, used := time.Now(), m.processor()
		after, err := w.until("live on", func(fleet.Tally) bool { return ctx.Err() != nil || time.Since(begun) > o.length })
		if err != nil {
			return err
		}
		lasted, used := time.Since(begun), m.processor()-used
		beats := after.Heartbeats - before.Heartbeats
		log.Printf("%s: %.1f %% of a core, %.1f us a heartbeat with all else; a second %.0f heartbeats, %.0f answers, %.0f that name the shard, %.0f reports, %d late; %d workers run a shard, %d streams have ended %s; %d MiB at most",
			what, 100*used.Seconds()/lasted.Seconds(), 1e6*used.Seconds()/float64(max(1, beats)), float64(beats)/lasted.Seconds(), float64(after.Acks-before.Acks)/lasted.Seconds(),
			float64(after.Named-before.Named)/lasted.Seconds(), float64(after.Reports-before.Reports)/lasted.Seconds(), after.Late-before.Late, after.Running, after.Ended, after.Why, m.peak()>>20)
		before = after
	}
	return ctx.Err()
}
