package engine

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"

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
	group   sync.WaitGroup
	running int     // look-ups
	queue   []*host // that wait for one of those to end

	mu   sync.Mutex // guards what follows
	done []found
}

type found struct {
	host  *host
	addrs []netip.AddrPort
	err   error
}

func (r *resolver) open(ctx context.Context, p *epoll.Poller) {
	r.ctx, r.stop = context.WithCancel(ctx)
	r.poller = p
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
		addrs, err := lookup(r.ctx, h)
		r.mu.Lock()
		r.done = append(r.done, found{h, addrs, err})
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

// lookUp makes a lane wait for the addresses of its host, which are looked up once.
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
		f.host.addrs, f.host.looking, f.host.waiting = f.addrs, false, nil
		for _, t := range waiting {
			switch n := l.lane(t.index); {
			case n.serial != t.serial || n.step == none || n.broke:
			case f.err != nil:
				l.fail(t.index, f.err)
			default:
				l.tick()
				l.connect(t.index)
			}
		}
	}
}

func lookup(ctx context.Context, h *host) ([]netip.AddrPort, error) {
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", h.name)
	if err == nil && len(all) == 0 {
		err = &net.DNSError{Err: "no address found", Name: h.name, IsNotFound: true}
	}
	if err != nil {
		return nil, fmt.Errorf("resolve host %q: %w", h.name, err)
	}
	var addrs []netip.AddrPort
	for _, a := range all[:min(len(all), addrsMax)] {
		addrs = append(addrs, netip.AddrPortFrom(a.Unmap(), h.port))
	}
	return addrs, nil
}
