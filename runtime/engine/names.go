package engine

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"hyperscale/core/node"
	"hyperscale/core/workflow"
	"hyperscale/runtime/resolve"
)

// names says how names become addresses. Look-ups run beside the loop and share it.
type names struct {
	dns   *workflow.DNS
	hosts resolve.Hosts
	own   *resolve.Resolver // nil: the standard library does
	proxy *workflow.Proxy   // whose name is looked up instead of the target's; nil: none
}

func newNames(o *workflow.Options) *names {
	d := &names{dns: &o.DNS, hosts: resolve.Hosts{}, proxy: o.Proxy}
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

// lookup returns the addresses that connections to a host go to, and for how long; 0: for
// the whole run.
func (d *names) lookup(ctx context.Context, h *host) ([]netip.AddrPort, time.Duration, error) {
	name, port := h.name, h.port
	if d.proxy != nil {
		name, port = d.proxy.Host, d.proxy.Port
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

func (d *names) ask(ctx context.Context, name string) ([]netip.Addr, time.Duration, error) {
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

// first is the address that a connection tries first.
func (l *loop) first(h *host) int {
	switch l.g.names.dns.Rotate {
	case workflow.RotateRobin:
		h.turn++
		return int(h.turn-1) % len(h.addrs)
	case workflow.RotateRandom:
		if l.random == nil {
			l.random = node.NewRand(l.cfg.Seed, node.ID(fmt.Sprintf("%s/%d", l.g.name, l.cfg.FirstVU)), node.PurposePlacement)
		}
		return l.random.Int(len(h.addrs))
	}
	return h.good % len(h.addrs)
}

// resolvedAt notes for how long an answer is of use.
func (h *host) resolvedAt(now int64) {
	h.expires = 0
	if h.ttl > 0 {
		h.expires = now + int64(h.ttl)
	}
}
