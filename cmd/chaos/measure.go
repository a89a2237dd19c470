package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/checker/history"
	"hyperscale/cmd/chaos/internal/flood"
	"hyperscale/core/event"
	"hyperscale/core/message"
)

// measured is the cluster whose first gate a measurement floods.
var measured = shape{gates: 3, datacenters: 1, managers: 1, workers: 1, clients: 2}

// warm is how long a gate has its state, flooded or idle, before figures count.
const warm = 2 * time.Second

// turn is about how long a gate stays flooded or idle: what else happens on the machine meets both alike.
const turn = 4 * time.Second

// cancelsEach is how many jobs a second a measurement cancels: a phase of 20 s has ten of them beyond its 99th
// percentile.
const cancelsEach = 50

// startDirect starts a cluster in this process's own namespace: no switch carries its packets.
// Unless it is recorded, its nodes write no histories.
func startDirect(o options, s shape, dir string, recorded bool) (*cluster, error) {
	c := &cluster{options: o, shape: s, dir: dir, direct: true}
	c.plan()
	if err := ip("link", "set", "lo", "up"); err != nil {
		return c, err
	}
	for host := byte(own); host <= c.target.host; host++ {
		_ = ip("addr", "add", address(host)+"/32", "dev", "lo") // an earlier round has added it
	}
	for _, m := range append([]*machine{c.target}, c.machines...) {
		if at := slices.Index(m.args, "--history"); at >= 0 && !recorded {
			m.args = slices.Delete(m.args, at, at+2)
		}
		if err := m.start(c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// phase is a gate for a while, without a flood or with one.
type phase struct {
	cancels   []*cancellation
	rejected  int             // of the cancellations
	updates   []time.Duration // of registers, by a majority
	extended  int             // leases
	expired   int
	processor time.Duration // of the gate
	lasted    time.Duration
	peak      int64

	begin, end time.Duration // by the clock of histories
}

func (p *phase) add(o *phase) {
	p.cancels, p.updates = append(p.cancels, o.cancels...), append(p.updates, o.updates...)
	p.rejected += o.rejected
	p.extended, p.expired, p.peak = p.extended+o.extended, p.expired+o.expired, max(p.peak, o.peak)
	p.processor, p.lasted = p.processor+o.processor, p.lasted+o.lasted
}

func (p *phase) String() string {
	all, still, late := p.waits()
	return fmt.Sprintf("cancel %s, %d rejected (where timers were in time %s; timers beside them %s), update %s, %d leases extended, %d expired, %.0f %% of a core, %d MiB at most",
		spread(all), p.rejected, spread(still), spread(late), spread(p.updates), p.extended, p.expired, 100*p.processor.Seconds()/max(p.lasted.Seconds(), 1e-9), p.peak>>20)
}

// quiet is how late timers may be around a cancellation that says something of the gate: Go rounds up to a millisecond.
const quiet = 2 * time.Millisecond

// waits returns how long cancellations took: all, those of a quiet machine, and how late timers were beside them.
func (p *phase) waits() (all, still, late []time.Duration) {
	for _, c := range p.cancels {
		all, late = append(all, c.took), append(late, c.late)
		if c.late <= quiet {
			still = append(still, c.took)
		}
	}
	return all, still, late
}

// spread shows a median, a 90th and a 99th percentile.
func spread(l []time.Duration) string {
	if len(l) == 0 {
		return "-"
	}
	slices.Sort(l)
	return fmt.Sprintf("p50 %.1f p90 %.1f p99 %.1f ms of %d", l[len(l)/2].Seconds()*1e3, l[len(l)*9/10].Seconds()*1e3, l[len(l)*99/100].Seconds()*1e3, len(l))
}

// measure compares a gate that is flooded with the same gate at rest, in rounds, each on a new
// cluster. A round takes turns between both. Every second round records histories, which say how long majorities take: they cost
// more than a request, so that the other rounds say what a refused request costs.
func measure(ctx context.Context, o options) error {
	var idle, busy [2]phase
	refused, floods := 0, 0
	for round := range o.measure {
		dir, recorded := filepath.Join(o.dir, fmt.Sprintf("round-%d", round+1)), round%2
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		before, during, report, err := measureOnce(ctx, o, dir, recorded == 1)
		if err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		_, no := report.Answered()
		log.Printf("round %d of %d: %s\n  idle:    %v\n  flooded: %v", round+1, o.measure, summary(report), before, during)
		idle[recorded].add(before)
		busy[recorded].add(during)
		if recorded == 0 {
			refused, floods = refused+no, floods+o.turns()
		}
	}
	fmt.Printf("idle:    %v\nflooded: %v\n", &idle[0], &busy[0])
	if o.measure > 1 {
		fmt.Printf("with histories\nidle:    %v\nflooded: %v\n", &idle[1], &busy[1])
	}
	if refused > 0 {
		// Each flood begins before its phase.
		share := busy[0].processor.Seconds()/busy[0].lasted.Seconds() - idle[0].processor.Seconds()/idle[0].lasted.Seconds()
		whole := share * (busy[0].lasted + time.Duration(floods)*warm).Seconds()
		fmt.Printf("%.1f us of the gate's processor time for each request that it refuses, all others included\n", 1e6*whole/float64(refused))
	}
	return nil
}

func measureOnce(ctx context.Context, o options, dir string, recorded bool) (rest, busy *phase, _ *flood.Report, _ error) {
	c, err := startDirect(o, measured, dir, recorded)
	if err != nil {
		return nil, nil, nil, err
	}
	defer c.kill()
	if err := c.settle(ctx); err != nil {
		return nil, nil, nil, err
	}
	gate := c.machines[0]
	p, err := newProber(address(own), address(gate.host)+":7400")
	if err != nil {
		return nil, nil, nil, err
	}
	defer p.Kill()
	turns := o.turns()
	each := o.length / time.Duration(turns)
	n := int(each.Seconds() * cancelsEach)
	jobs, err := p.submit(2*turns*n, flood.Workflow, time.Second)
	if err != nil {
		return nil, nil, nil, err
	}
	var idle, flooded []*phase
	whole := &flood.Report{}
	for at := range turns {
		jobs := jobs[2*at*n:]
		time.Sleep(warm)
		idle = append(idle, p.phase(gate, jobs[:n], each))
		f, err := c.startFlood(flood.Config{Gates: []string{address(gate.host) + ":7400"}, Connections: o.connections, Rate: o.rate, Plain: true, Seed: o.seed + uint64(at)})
		if err != nil {
			return nil, nil, nil, err
		}
		time.Sleep(warm)
		flooded = append(flooded, p.phase(gate, jobs[n:2*n], each))
		report, err := f.stop()
		if err != nil {
			return nil, nil, nil, err
		}
		whole.Add(report)
	}
	c.kill()
	if recorded {
		err = read(filepath.Join(dir, gate.name+".history"), append(slices.Clone(idle), flooded...)...)
	}
	return sum(idle), sum(flooded), whole, err
}

// turns is how often a round of a measurement floods its gate.
func (o options) turns() int { return max(1, int(o.length/turn)) }

func sum(phases []*phase) *phase {
	var all phase
	for _, p := range phases {
		all.add(p)
	}
	return &all
}

// phase cancels jobs, and measures the gate meanwhile.
func (p *prober) phase(gate *machine, jobs []message.JobID, lasts time.Duration) *phase {
	r := &phase{begin: now()}
	used := gate.processor()
	r.cancels, r.rejected = p.cancel(jobs, lasts)
	r.processor, r.end, r.peak = gate.processor()-used, now(), gate.peak()
	r.lasted = r.end - r.begin
	return r
}

// read takes what a history says about majorities.
func read(name string, phases ...*phase) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	began := map[uint64]time.Duration{}
	return history.Read(io.Reader(f), func(r history.Record) {
		at := slices.IndexFunc(phases, func(p *phase) bool { return r.At >= p.begin && r.At < p.end })
		switch e := r.Event.(type) {
		case event.LeaseCalled:
			if e.What == "update" {
				began[e.Call] = r.At
			}
		case event.LeaseReturned:
			since, ok := began[e.Call]
			if delete(began, e.Call); ok && at >= 0 {
				phases[at].updates = append(phases[at].updates, r.At-since)
			}
		case event.LeaseExtended:
			if at >= 0 {
				phases[at].extended++
			}
		case event.LeaseEnded:
			if at >= 0 && e.Reason == "expired" {
				phases[at].expired++
			}
		}
	})
}

// processor is the processor time that a machine's process has used.
func (m *machine) processor() time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	user, _ := strconv.Atoi(f[11]) // the kernel writes numbers
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * time.Second / ticks
}

// ticks is how many units of /proc/PID/stat a second has, on every Linux that Go runs on.
const ticks = 100
