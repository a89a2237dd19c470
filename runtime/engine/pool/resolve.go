package pool

import (
	"context"
	"slices"
	"sync"

	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
)

const (
	lookupsMax = 16 // concurrent look-ups
	addrsMax   = 64 // of one host
)

// resolver looks names up beside the loop, and wakes it.
type resolver struct {
	ctx     context.Context
	stop    context.CancelFunc
	poller  *epoll.Poller
	names   *Names
	group   sync.WaitGroup
	running int     // current look-ups
	queue   []*Host // waiting for one of those to end

	mu   sync.Mutex // guards the fields below
	done []found
}

type found struct {
	host *Host
	Found
	err error
}

func (r *resolver) Open(ctx context.Context, p *epoll.Poller, n *Names) {
	r.ctx, r.stop = context.WithCancel(ctx)
	r.poller, r.names = p, n
}

func (r *resolver) Close() {
	if r.stop != nil {
		r.stop()
		r.group.Wait()
	}
}

// lookUp begins a look-up.
func (r *resolver) lookUp(h *Host) {
	if r.running == lookupsMax {
		r.queue = append(r.queue, h)
		return
	}
	r.running++
	r.group.Go(func() {
		f, err := r.names.Lookup(r.ctx, h)
		r.mu.Lock()
		r.done = append(r.done, found{h, f, err})
		r.mu.Unlock()
		_ = r.poller.Wake() // it cannot fail while the poller is open
	})
}

// take returns the results.
func (r *resolver) take() []found {
	r.mu.Lock()
	all := r.done
	r.done = nil
	r.mu.Unlock()
	r.running -= len(all)
	for r.running < lookupsMax && len(r.queue) > 0 {
		h := r.queue[0]
		r.queue = slices.Delete(r.queue, 0, 1)
		r.lookUp(h)
	}
	return all
}

// lookUp makes a slot wait for the addresses of its host; one look-up serves all slots.
func (d *dialer) lookUp(index int32) {
	n := d.Slots.At(index)
	h := n.Host
	h.waiting = append(h.waiting, ticket{index, n.Serial})
	if !h.looking {
		h.looking = true
		d.Resolver.lookUp(h)
	}
}

// resolved gives the slots what they wait for.
func (d *dialer) resolved() {
	for _, f := range d.Resolver.take() {
		waiting := f.host.waiting
		f.host.looking, f.host.waiting = false, nil
		if f.err == nil { // else existing connections continue with the old addresses
			f.host.Has(f.Found)
			f.host.ResolvedAt(d.Clock.Now)
		}
		for _, t := range waiting {
			switch n := d.Slots.At(t.index); {
			case n.Serial != t.serial || n.Step == None || n.broke:
			case f.err != nil:
				d.Wire.Fail(t.index, f.err)
			default:
				d.Clock.Tick()
				d.reach(t.index)
			}
		}
	}
}

// elsewhere tries the next address of a service whose server says in its greeting that another one serves. False: it was
// the last, or the error is another.
func (d *dialer) elsewhere(at int32, err error) bool {
	c := d.Sockets.Conns.At(at)
	index := c.slot
	n := d.Slots.At(index)
	if c.host.service == nil || !c.greets() || http1.KindOf(err) != http1.KindMoved || n.untried() <= 1 {
		return false
	}
	d.Sockets.HangUp(at)
	n.Conn = None
	n.tried++
	d.dial(index)
	return true
}
