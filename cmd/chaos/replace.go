package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"
)

// replaceWithin bounds each step of a replacement: the end of the gate that leaves, the order, and the new gate's join.
const replaceWithin = time.Minute // half of it passes until others own the jobs of the last one

// replacement is what it took to give a gate's seat to another address.
type replacement struct {
	what    string
	allowed time.Duration // until only the gate that leaves was in the way
	stopped time.Duration // until the gate that leaves had ended
	ordered time.Duration // from then until the order was answered
	ready   time.Duration // from then until the new gate was ready
	refused int           // orders, before one was taken
}

func (r *replacement) String() string {
	return fmt.Sprintf("%s: the others could bear it after %.1f s, it ended after %.1f s, the order took %.1f s and %d tries, and the new one was ready %.1f s later",
		r.what, r.allowed.Seconds(), r.stopped.Seconds(), r.ordered.Seconds(), r.refused+1, r.ready.Seconds())
}

// replaceGates gives the seat of each gate in turn to a new one, with an address and a disk of its own. The gates
// that leave never come back.
func (c *cluster) replaceGates(ctx context.Context, draw *rand.Rand) (all []replacement, _ error) {
	gates, heirs := slices.Clone(c.machines[:c.shape.gates]), slices.Clone(c.heirs)
	draw.Shuffle(len(gates), func(i, j int) { gates[i], gates[j] = gates[j], gates[i] })
	for i, old := range gates {
		if err := wait(ctx, time.Duration(1000+draw.IntN(4000))*time.Millisecond); err != nil {
			return all, err
		}
		kill := syscall.SIGTERM
		if draw.IntN(2) == 0 {
			kill = syscall.SIGKILL
		}
		r, err := c.replaceGate(ctx, old, heirs[i], kill)
		if err != nil {
			return all, err
		}
		log.Print(&r)
		all = append(all, r)
	}
	return all, nil
}

func (c *cluster) replaceGate(ctx context.Context, old, heir *machine, kill syscall.Signal) (r replacement, _ error) {
	r.what = fmt.Sprintf("%v %s, replaced by %s", kill, old.name, heir.name)
	was, now := address(old.host)+":7400", address(heir.host)+":7400"
	began := time.Now()
	for {
		out, err := c.ask("members", "replace", was, now).CombinedOutput()
		if err == nil {
			return r, fmt.Errorf("%s: the seat was given away while that gate ran: %s", r.what, out)
		}
		if strings.Contains(string(out), "stop that node") {
			break
		}
		if time.Since(began) > replaceWithin {
			return r, fmt.Errorf("%s: the others could not bear it within %v: %s", r.what, replaceWithin, out)
		}
		if err := wait(ctx, 250*time.Millisecond); err != nil {
			return r, err
		}
	}
	r.allowed, began = time.Since(began), time.Now()
	old.signal(kill)
	select {
	case <-old.gone:
	case <-time.After(replaceWithin):
		return r, fmt.Errorf("%s: it has not ended within %v", r.what, replaceWithin)
	}
	r.stopped = time.Since(began)
	c.swap(old, heir, strings.Replace(c.gateList(), was, now, 1))
	heir.args[slices.Index(heir.args, "--gates")+1] = c.gateList()
	if err := heir.start(c); err != nil {
		return r, err
	}
	began = time.Now()
	for {
		out, err := c.ask("members", "replace", was, now).CombinedOutput()
		if err == nil {
			break
		}
		r.refused++
		if time.Since(began) > replaceWithin {
			return r, fmt.Errorf("%s: no order was taken within %v: %w: %s", r.what, replaceWithin, err, out)
		}
		if err := wait(ctx, 250*time.Millisecond); err != nil {
			return r, err
		}
	}
	r.ordered = time.Since(began)
	began = time.Now()
	for !heir.ready() {
		if time.Since(began) > replaceWithin {
			return r, fmt.Errorf("%s: it is not ready within %v", r.what, replaceWithin)
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return r, err
		}
	}
	r.ready = time.Since(began)
	return r, nil
}

// swap puts a machine in the place of another one, and tells clients the new addresses.
func (c *cluster) swap(old, heir *machine, gates string) {
	c.machines[slices.Index(c.machines, old)], c.heirs[slices.Index(c.heirs, heir)] = heir, old
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gates = gates
}

// gateList is the addresses that clients ask.
func (c *cluster) gateList() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gates
}

// ready says whether a node says that it is ready.
func (m *machine) ready() bool {
	client := http.Client{Timeout: time.Second}
	answer, err := client.Get("http://" + address(m.host) + ":7490/readyz")
	if err != nil {
		return false
	}
	_ = answer.Body.Close() // its status says all
	return answer.StatusCode == http.StatusOK
}

// wait waits, or returns why it did not.
func wait(ctx context.Context, how time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(how):
		return nil
	}
}
