package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"time"
)

// fault is one thing that goes wrong for a while.
type fault struct {
	what  string
	begin func()
	end   func()
}

// breakThings draws faults one after the other; several may overlap.
func (c *cluster) breakThings(ctx context.Context, draw *rand.Rand, length time.Duration) (told []string) {
	began := time.Now()
	var running sync.WaitGroup
	for time.Since(began) < length && ctx.Err() == nil {
		f := c.drawFault(draw)
		lasts := time.Duration(1000+draw.IntN(11_000)) * time.Millisecond
		lasts = min(lasts, max(0, length-time.Since(began)))
		line := fmt.Sprintf("%5.1fs %s for %.1fs", time.Since(began).Seconds(), f.what, lasts.Seconds())
		told = append(told, line)
		log.Print(line)
		f.begin()
		running.Go(func() {
			select {
			case <-time.After(lasts):
			case <-ctx.Done():
			}
			f.end()
		})
		select {
		case <-time.After(time.Duration(500+draw.IntN(4500)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
	running.Wait()
	return told
}

func (c *cluster) drawFault(draw *rand.Rand) fault {
	some := c.pick(draw, 1+draw.IntN(3))
	names, hosts := named(some)
	var rest []byte
	for _, m := range append(append([]*machine{}, c.machines...), c.clients...) {
		if !strings.Contains(","+names+",", ","+m.name+",") {
			rest = append(rest, m.host)
		}
	}
	cut := func(by int, both bool) func() {
		return func() {
			c.fabric.change(hosts, rest, func(w *way) { w.cut += by })
			if both {
				c.fabric.change(rest, hosts, func(w *way) { w.cut += by })
			}
		}
	}
	everybody := func(how func(*way)) func() {
		return func() {
			all := append(append([]byte{}, hosts...), rest...)
			c.fabric.change(all, all, how)
		}
	}
	if c.options.former != "" && draw.IntN(3) == 0 {
		return c.drawChange(draw)
	}
	one := some[0]
	kinds := 8
	if c.options.flood {
		kinds = 10
	}
	switch draw.IntN(kinds) {
	case 0, 1:
		return fault{"kill -9 " + one.name, one.crash, func() { c.again(one) }}
	case 2:
		return fault{"SIGSTOP " + one.name, func() { one.signal(syscall.SIGSTOP) }, func() { one.signal(syscall.SIGCONT) }}
	case 3, 4:
		return fault{"cut off " + names, cut(1, true), cut(-1, true)}
	case 5:
		return fault{"nobody hears " + names, cut(1, false), cut(-1, false)}
	case 8, 9:
		worker := c.machines[len(c.machines)-1-draw.IntN(c.shape.workers)]
		done := make(chan struct{})
		return fault{"kill each executor of " + worker.name, func() { go worker.blackHole(done) }, func() { close(done) }}
	case 6:
		share := 0.02 + 0.2*draw.Float64()
		return fault{fmt.Sprintf("lose %.0f %% of all packets", 100*share), everybody(func(w *way) { w.loss = share }), everybody(func(w *way) { w.loss = 0 })}
	default:
		delay := time.Duration(5+draw.IntN(150)) * time.Millisecond
		return fault{
			fmt.Sprintf("delay all packets by %v to %v, double some", delay, 2*delay),
			everybody(func(w *way) { w.delay, w.jitter, w.duplicate = delay, delay, 0.05 }),
			everybody(func(w *way) { w.delay, w.jitter, w.duplicate = 0, 0, 0 }),
		}
	}
}

// again starts a machine that was killed, unless it runs already.
func (c *cluster) again(m *machine) {
	m.life.Lock()
	defer m.life.Unlock()
	if !m.alive() {
		c.mustStart(m)
	}
}

// mustStart starts a machine again.
func (c *cluster) mustStart(m *machine) {
	if err := m.start(c); err != nil {
		log.Printf("start %s again: %v", m.name, err)
	}
}

// pick draws some machines.
func (c *cluster) pick(draw *rand.Rand, n int) []*machine {
	all := append([]*machine{}, c.machines...)
	draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

func named(some []*machine) (string, []byte) {
	var names []string
	var hosts []byte
	for _, m := range some {
		names, hosts = append(names, m.name), append(hosts, m.host)
	}
	return strings.Join(names, ","), hosts
}

// healAll ends everything that goes wrong.
func (c *cluster) healAll() {
	c.fabric.heal()
	for _, m := range c.machines {
		m.signal(syscall.SIGCONT)
		c.again(m)
	}
}
