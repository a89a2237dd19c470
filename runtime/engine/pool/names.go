package pool

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"hyperscale/core/node"
	"hyperscale/core/workflow/request"
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

// Lookup returns the addresses for connections to a host, and how long they are valid; 0: for
// the whole run.
func (d *Names) Lookup(ctx context.Context, h *Host) ([]netip.AddrPort, time.Duration, error) {
	name, port := h.Name, h.port
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

// ResolvedAt notes how long an answer is valid.
func (h *Host) ResolvedAt(now int64) {
	h.expires = 0
	if h.Ttl > 0 {
		h.expires = now + int64(h.Ttl)
	}
}
