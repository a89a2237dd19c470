package engine

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"hyperscale/runtime/epoll"
)

const (
	lookupsMax = 16 // at the same time
	addrsMax   = 64 // of one host
)

// resolver looks names up beside the loop, which it wakes.
type resolver struct {
	ctx     context.Context
	stop    context.CancelFunc
	poller  *epoll.Poller
	names   *names
	group   sync.WaitGroup
	running int     // look-ups
	queue   []*host // that wait for one of those to end

	mu   sync.Mutex // guards what follows
	done []found
}

type found struct {
	host  *host
	addrs []netip.AddrPort
	ttl   time.Duration
	err   error
}

func (r *resolver) open(ctx context.Context, p *epoll.Poller, n *names) {
	r.ctx, r.stop = context.WithCancel(ctx)
	r.poller, r.names = p, n
}

func (r *resolver) close() {
	if r.stop != nil {
		r.stop()
		r.group.Wait()
	}
}

// ask begins a look-up.
func (r *resolver) ask(h *host) {
	if r.running == lookupsMax {
		r.queue = append(r.queue, h)
		return
	}
	r.running++
	r.group.Go(func() {
		addrs, ttl, err := r.names.lookup(r.ctx, h)
		r.mu.Lock()
		r.done = append(r.done, found{h, addrs, ttl, err})
		r.mu.Unlock()
		_ = r.poller.Wake() // it cannot fail while the poller is open
	})
}

// take returns what has been found.
func (r *resolver) take() []found {
	r.mu.Lock()
	all := r.done
	r.done = nil
	r.mu.Unlock()
	r.running -= len(all)
	for r.running < lookupsMax && len(r.queue) > 0 {
		h := r.queue[0]
		r.queue = slices.Delete(r.queue, 0, 1)
		r.ask(h)
	}
	return all
}

// lookUp makes a lane wait for the addresses of its host, for which one asks for all.
func (l *loop) lookUp(index int32) {
	n := l.lane(index)
	h := n.host
	h.waiting = append(h.waiting, ticket{index, n.serial})
	if !h.looking {
		h.looking = true
		l.resolver.ask(h)
	}
}

// resolved gives the lanes what they wait for.
func (l *loop) resolved() {
	for _, f := range l.resolver.take() {
		waiting := f.host.waiting
		f.host.looking, f.host.waiting = false, nil
		if f.err == nil { // else connections under way go on with what they have
			f.host.addrs, f.host.ttl, f.host.good = f.addrs, f.ttl, 0
			f.host.resolvedAt(l.clock.Now)
		}
		for _, t := range waiting {
			switch n := l.lane(t.index); {
			case n.serial != t.serial || n.step == none || n.broke:
			case f.err != nil:
				l.fail(t.index, f.err)
			default:
				l.clock.Tick()
				l.reach(t.index)
			}
		}
	}
}
