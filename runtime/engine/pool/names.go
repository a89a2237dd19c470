package pool

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"hyperscale/core/node"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/resolve"
)

// Names resolves names to addresses. Look-ups run beside the loop and share it.
type Names struct {
	dns   *request.DNS
	hosts resolve.Hosts
	own   *resolve.Resolver // nil: the standard library resolves
	Proxy *request.Proxy    // look up its name instead of the target's; nil: none
}

func NewNames(o *request.Options) *Names {
	d := &Names{dns: &o.DNS, hosts: resolve.Hosts{}, Proxy: o.Proxy}
	for _, h := range o.DNS.Hosts {
		for _, a := range h.Addresses {
			d.hosts.Add(h.Name, a)
		}
	}
	if len(o.DNS.Servers) > 0 || o.DNS.Answer {
		d.own = resolve.NewResolver()
		if len(o.DNS.Servers) > 0 {
			d.own.Config.Servers = o.DNS.Servers
		}
	}
	return d
}

// Found is what a look-up of a host found.
type Found struct {
	Addrs   []netip.AddrPort
	TTL     time.Duration // how long they are valid; 0: for the whole run
	targets []string      // of a service: whose address each is
	text    string        // of a service: what its TXT record says
	servers int           // of a service: how many its SRV records name
}

// Lookup finds the addresses for connections to a host.
func (d *Names) Lookup(ctx context.Context, h *Host) (f Found, err error) {
	if h.service != nil {
		return d.serve(ctx, h.service.name, h.Name)
	}
	f.Addrs, f.TTL, err = d.lookup(ctx, h.Name, h.port)
	return f, err
}

// lookup finds the addresses of a name.
func (d *Names) lookup(ctx context.Context, name string, port uint16) ([]netip.AddrPort, time.Duration, error) {
	if d.Proxy != nil {
		name, port = d.Proxy.Host, d.Proxy.Port
	}
	all, ttl, err := d.ask(ctx, name)
	if err == nil && len(all) == 0 {
		err = &net.DNSError{Err: "no address found", Name: name, IsNotFound: true}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("resolve host %q: %w", name, err)
	}
	var addrs []netip.AddrPort
	for _, a := range all[:min(len(all), addrsMax)] {
		addrs = append(addrs, netip.AddrPortFrom(a.Unmap(), port))
	}
	return addrs, ttl, nil
}

func (d *Names) ask(ctx context.Context, name string) ([]netip.Addr, time.Duration, error) {
	if all, ok := d.hosts.Find(name); ok {
		return all, 0, nil
	}
	if d.own == nil {
		all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		return all, d.dns.TTL, err
	}
	a, err := d.own.Lookup(ctx, name)
	if d.dns.Answer {
		return a.Addrs(), a.TTL(), err
	}
	return a.Addrs(), d.dns.TTL, err
}

// first returns the address that a connection tries first.
func (d *dialer) first(h *Host) int {
	switch d.names.dns.Rotate {
	case request.RotateRobin:
		h.turn++
		return int(h.turn-1) % len(h.Addrs)
	case request.RotateRandom:
		if d.random == nil {
			d.random = node.NewRand(d.seed, node.ID(fmt.Sprintf("%s/%d", d.workflow.Plan.Name, d.firstVU)), node.PurposePlacement)
		}
		return d.random.Int(len(h.Addrs))
	}
	return h.Good % len(h.Addrs)
}

// Has takes what a look-up found. The connections of before go on.
func (h *Host) Has(f Found) {
	h.Addrs, h.Ttl, h.Good = f.Addrs, f.TTL, 0
	h.found++
	if s := h.service; s != nil {
		s.before, s.targets, s.text, s.servers = s.targets, f.targets, f.text, f.servers
		s.configs = make([]*tls.Config, len(f.targets))
	}
}

// ResolvedAt notes how long an answer is valid.
func (h *Host) ResolvedAt(now int64) {
	h.expires = 0
	if h.Ttl > 0 {
		h.expires = now + int64(h.Ttl)
	}
}

// service is what a host is whose servers SRV records name.
type service struct {
	name    string
	targets []string      // by address
	before  []string      // what they were until the newest look-up: of connections that it overtook
	text    string        // of its TXT record; empty: it has none
	servers int           // that its SRV records name
	configs []*tls.Config // by address; nil: it is not made yet
}

// tells tells a greeting what the TXT record says, if it hears that. Nil: the host is no service.
func (s *service) tells(g codec.Greeting) error {
	if of, is := g.(codec.Told); is && s != nil {
		return of.Tell(s.text, s.servers)
	}
	return nil
}

// config returns the TLS options of a connection to the address of a trial: its certificate is that of the server's own name,
// unless the file names another one.
func (s *service) config(common *tls.Config, h *Host, of trial) *tls.Config {
	if common.ServerName != h.Name {
		return common
	}
	if of.found != h.found && len(s.before) > 0 { // a newer look-up may have the addresses in another order
		late := common.Clone()
		late.ServerName = s.before[of.index(len(s.before))]
		return late
	}
	address := of.index(len(s.targets))
	if s.configs[address] == nil {
		s.configs[address] = common.Clone()
		s.configs[address].ServerName = s.targets[address]
	}
	return s.configs[address]
}

// serve finds the servers of a service, and what its TXT record says of them.
func (d *Names) serve(ctx context.Context, name, host string) (f Found, err error) {
	asks := d.own
	if asks == nil {
		asks = resolve.NewResolver()
	}
	cluster, err := asks.Cluster(ctx, name, host)
	if err != nil {
		return f, err
	}
	ttl := cluster.TTL()
	for _, s := range cluster.Services {
		all, least, err := d.lookup(ctx, s.Target, s.Port)
		if err != nil {
			return f, err
		}
		for _, a := range all[:min(len(all), addrsMax-len(f.Addrs))] {
			f.Addrs, f.targets = append(f.Addrs, a), append(f.targets, s.Target)
		}
		if d.dns.Answer && least > 0 {
			ttl = min(ttl, least)
		}
	}
	if f.TTL = d.dns.TTL; d.dns.Answer {
		f.TTL = ttl
	}
	f.text, f.servers = cluster.Text, len(cluster.Services)
	return f, nil
}

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
