package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"hyperscale/cmd/chaos/internal/flood"
)

// options of all runs.
type options struct {
	runs          int
	seed          uint64
	length        time.Duration // of the faults
	heal          time.Duration // within which everything must have ended
	lease         time.Duration
	quorumTimeout time.Duration
	dir           string
	binary        string
	former        string // another version's binary, empty: there is none
	flood         bool
	replace       bool
	apart         bool
	measure       int // rounds
	fleet         int // workers
	rate          int // of the flood
	connections   int // of the flood
}

// floodJobs is how many jobs a flood submits, again and again: they wait and run beside those of
// honest clients, and must end as theirs.
const floodJobs = 60

// inside says that this process runs in its own namespaces already.
const inside = "HYPERSCALE_CHAOS_INSIDE"

func main() {
	var o options
	flag.IntVar(&o.runs, "runs", 1, "how many runs, one after the other")
	flag.Uint64Var(&o.seed, "seed", 1, "of the first run's schedule; each later one has the next")
	flag.DurationVar(&o.length, "for", time.Minute, "how long things go wrong")
	flag.DurationVar(&o.heal, "heal", time.Minute, "within which every acknowledged job must end after healing")
	flag.DurationVar(&o.lease, "lease", 6*time.Second, "of the gates")
	flag.DurationVar(&o.quorumTimeout, "quorum-timeout", time.Second, "of gates and managers")
	flag.StringVar(&o.dir, "dir", "out/chaos", "where histories and logs stay")
	flag.StringVar(&o.binary, "binary", "bin/hyperscale", "what to run")
	flag.StringVar(&o.former, "former", "", "the binary of another `version`: nodes of each role run it, and change from one version to the other")
	flag.BoolVar(&o.replace, "replace", false, "break nothing: give the seat of each gate in turn to a new one while jobs run")
	flag.BoolVar(&o.apart, "apart", false, "break nothing: run jobs on three datacenters that reach each other in the gates' TCP port alone")
	flag.BoolVar(&o.flood, "flood", false, "clients that obey nothing flood the gates, and workers' executors die at once")
	flag.IntVar(&o.connections, "connections", 1000, "of the flood")
	flag.IntVar(&o.rate, "rate", 1000, "of the flood's requests a second")
	flag.IntVar(&o.measure, "measure", 0, "break nothing: compare a flooded gate with an idle one, in so many rounds")
	flag.IntVar(&o.fleet, "fleet", 0, "break nothing: measure the manager of so many workers, at rest and with one job on all of them")
	flag.Parse()
	log.SetFlags(log.Ltime)
	var err error
	if config := os.Getenv(floods); config != "" {
		err = runFlood(config)
	} else if config := os.Getenv(fleets); config != "" {
		err = runFleet(config)
	} else if os.Getenv(inside) == "" {
		err = enter(o)
	} else {
		err = play(o)
	}
	switch {
	case err == nil:
	case errors.Is(err, errInside):
		os.Exit(1)
	case errors.Is(err, errNeeds):
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// errNeeds is the error for a machine that lacks a requirement.
var errNeeds = errors.New("this machine cannot run it")

// errInside is the error of a process inside that has said why it failed.
var errInside = errors.New("it failed")

// enter starts this program again in its own namespaces.
func enter(o options) error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: it makes network namespaces and needs root: run it with sudo", errNeeds)
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return fmt.Errorf("%w: the command ip is missing: install iproute2", errNeeds)
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		return fmt.Errorf("%w: %w: load the kernel's tun module", errNeeds, err)
	}
	if _, err := os.Stat(o.binary); err != nil {
		return fmt.Errorf("%w: build it with `CGO_ENABLED=0 go build -o %s ./cmd/hyperscale`, or use `make chaos`", err, o.binary)
	}
	if _, err := os.Stat(o.former); o.former != "" && err != nil {
		return fmt.Errorf("--former: %w: check out the commit of that version, and build ./cmd/hyperscale there", err)
	}
	if o.former != "" && o.measure > 0 {
		return errors.New("--former and --measure exclude each other: a measurement changes no version")
	}
	if o.fleet < 0 || o.fleet > fleetMax {
		return fmt.Errorf("--fleet = %d: a manager takes 1 to %d workers, which is manager.workers_max", o.fleet, fleetMax)
	}
	if o.fleet > 0 && (o.measure > 0 || o.former != "" || o.flood || o.replace) {
		return errors.New("--fleet goes alone: it measures a manager, and breaks nothing")
	}
	if o.replace && (o.former != "" || o.flood || o.measure > 0) {
		return errors.New("--replace goes alone: a gate of version 1.0 replaces none, and a flood or a measurement has a fixed set of gates")
	}
	if o.apart && (o.former != "" || o.flood || o.replace || o.measure > 0 || o.fleet > 0 || o.runs != 1) {
		return errors.New("--apart goes alone, and once: it breaks nothing")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
	signal.Ignore(os.Interrupt) // the one inside answers it
	err = cmd.Run()
	if bad := (*exec.ExitError)(nil); errors.As(err, &bad) {
		return errInside
	}
	return err
}

// play does all runs and says how many were good.
func play(o options) error {
	if err := prepare(); err != nil {
		return fmt.Errorf("%w: %w", errNeeds, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	if o.former, err = absolute(o.former); err != nil {
		return err
	}
	if o.measure > 0 {
		return measure(ctx, o)
	}
	if o.fleet > 0 {
		return measureFleet(ctx, o)
	}
	if o.apart {
		return apart(ctx, o)
	}
	bad, all := 0, handovers{}
	for i := range o.runs {
		seed := o.seed + uint64(i)
		dir := filepath.Join(o.dir, fmt.Sprintf("seed-%d", seed))
		report, err := once(ctx, o, seed, dir)
		if err != nil {
			return fmt.Errorf("run with seed %d: %w", seed, err)
		}
		log.Printf("run %d of %d, seed %d: %v", i+1, o.runs, seed, report)
		all.add(report.handovers)
		if !report.good() {
			bad++
		} else if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	fmt.Printf(`{"runs":%d,"ok":%d,"bad":%d}`+"\n", o.runs, o.runs-bad, bad)
	if o.former != "" {
		fmt.Printf("registers: %v\n", all)
		if all.up == 0 || all.down == 0 {
			return errors.New("no register passed to each of the versions: run more, or longer")
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d runs were bad: their histories and logs are in %s", bad, o.runs, o.dir)
	}
	return nil
}

// absolute is a path from the root; nothing stays nothing.
func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}

// once is one run.
func once(ctx context.Context, o options, seed uint64, dir string) (*report, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	c, err := start(o, dir, seed)
	if err != nil {
		return nil, err
	}
	defer c.kill()
	if err := c.settle(ctx); err != nil {
		return nil, err
	}
	r := &report{before: c.measure()}
	var f *flooding
	if o.flood {
		if f, err = c.startFlood(flood.Config{Gates: strings.Split(c.gateList(), ","), Connections: o.connections, Rate: o.rate, Jobs: floodJobs, Hostile: true, Seed: seed}); err != nil {
			return nil, err
		}
	}
	clients := c.submitAll(ctx, seed)
	draw := rand.New(rand.NewPCG(seed, 1))
	if o.replace {
		began := time.Now()
		if r.replaced, err = c.replaceGates(ctx, draw); err != nil {
			r.broken = append(r.broken, err.Error())
		}
		_ = wait(ctx, o.length-time.Since(began)) // what ends it early ends all
	} else {
		r.faults = c.breakThings(ctx, draw, o.length)
	}
	c.healAll()
	healed := time.Now()
	clients.stop()
	var failed []string
	r.submitted, r.acknowledged, r.late, failed = clients.wait(ctx, healed.Add(o.heal))
	r.slowest = time.Since(healed).Round(time.Second)
	if o.replace { // a replacement costs no job
		r.broken = append(r.broken, failed...)
	}
	if f != nil {
		for _, m := range c.machines {
			r.peak = max(r.peak, m.peak())
		}
		if r.flood, err = f.stop(); err != nil {
			return nil, err
		}
	}
	time.Sleep(3 * time.Second) // streams of clients that have gone are noticed
	r.after = c.measure()
	for _, m := range c.heirs {
		delete(r.before, m.name) // it lost its seat
	}
	r.quiet = time.Since(healed)
	c.kill()
	return r, r.judge(dir, c.deaths.inOrder(), c.births.inOrder())
}
