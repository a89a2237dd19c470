package transport

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"hyperscale/core/discovery"
	"hyperscale/core/node"
	"hyperscale/runtime/resolve"
)

// Bounds of one look-up of the machine.
const (
	resolveMax = 4 * time.Second // together: below discovery.Config.LookupMax
	queryMax   = time.Second     // before the next server, or the same one again
	targetsMax = 16              // hosts of a service that it looks up
)

// Resolve looks a name up: node.Network.
func (t *Transport) Resolve(name node.Addr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return // the node ends: its machine gets no more inputs
	}
	t.workers.Go(func() { t.sink.Resolved(find(t.dialing, t.config.Resolver, name)) })
}

// find asks the resolver, which reads its configuration again each time: it may change while a node
// runs.
func find(ctx context.Context, r *resolve.Resolver, name node.Addr) node.Names {
	n := node.Names{Name: name}
	what, err := discovery.Parse(string(name), "")
	if err != nil {
		n.Err = err.Error()
		return n
	}
	ctx, cancel := context.WithTimeout(ctx, resolveMax)
	defer cancel()
	if r == nil {
		r = resolve.NewResolver()
	}
	r = &resolve.Resolver{Config: r.Config, Hosts: r.Hosts}
	r.Config.Timeout = min(r.Config.Timeout, queryMax)
	if what.Service {
		n.Addrs, n.TTL, err = findService(ctx, r, what.Host)
	} else {
		n.Addrs, n.TTL, err = findHost(ctx, r, what.Host, what.Port)
	}
	if absent := (*net.DNSError)(nil); errors.As(err, &absent) && absent.IsNotFound {
		n.Absent = true
	} else if err != nil {
		n.Err = err.Error()
	}
	return n
}

func findHost(ctx context.Context, r *resolve.Resolver, host string, port uint16) (all []node.Addr, ttl time.Duration, err error) {
	a, err := r.Lookup(ctx, host)
	if err != nil {
		return nil, 0, err
	}
	for _, ip := range a.Addrs() {
		all = append(all, node.Addr(netip.AddrPortFrom(ip, port).String()))
	}
	return all, a.TTL(), nil
}

// findService looks up the targets of a service, the preferred ones first. The answer is valid for
// as long as its shortest part.
func findService(ctx context.Context, r *resolve.Resolver, name string) (all []node.Addr, ttl time.Duration, err error) {
	a, err := r.Services(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	ttl = a.TTL()
	for _, s := range a.Services[:min(len(a.Services), targetsMax)] {
		addrs, valid, failed := findHost(ctx, r, s.Target, s.Port)
		if failed != nil {
			err = failed
			continue
		}
		if valid > 0 {
			ttl = min(ttl, valid)
		}
		for _, at := range addrs {
			if !slices.Contains(all, at) && len(all) < discovery.CandidatesMax {
				all = append(all, at)
			}
		}
	}
	if len(all) > 0 {
		return all, ttl, nil
	}
	if err == nil {
		err = &net.DNSError{Err: "the service has no target", Name: name, IsNotFound: true}
	}
	return nil, 0, err
}

// ResolverAt asks one server, at host:port with a number as its host, instead of those of
// /etc/resolv.conf.
func ResolverAt(server string) (*resolve.Resolver, error) {
	at, err := netip.ParseAddrPort(server)
	if err != nil || at.Port() == 0 {
		return nil, errors.New("must be IP:PORT, such as 127.0.0.1:8600, but is " + strconv.Quote(server))
	}
	r := resolve.NewResolver()
	r.Config.Servers = []netip.AddrPort{at}
	return r, nil
}
