package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
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

// Find looks a name of several addresses up, as a node does: dns:HOST:PORT or srv:NAME. Nil: the machine's own resolver.
func Find(ctx context.Context, r *resolve.Resolver, name node.Addr) node.Names {
	return find(ctx, r, name)
}

// Bounds of the names that datagrams are sent to. Streams resolve at every Open.
const (
	nameFresh   = 30 * time.Second // how long an answer is used
	nameUnsure  = 2 * time.Second  // how long one is that lacks where the newest stream leads: DNS may be behind
	nameWaiting = 16               // datagrams that wait for one answer
	namesMax    = 1 << 15          // above manager.workers_max
)

// names remembers where the nodes are that datagrams go to by name. A node that has started again may have
// another address: a stream of it that leads elsewhere makes its name's answer stale, and says which of several addresses is its own.
type names struct {
	mu    sync.Mutex
	known map[node.Addr]*name
}

type name struct {
	at      netip.AddrPort
	until   time.Time
	met     netip.Addr // where its newest stream leads; zero: there was none
	asking  bool
	moved   bool // its newest stream leads elsewhere: nothing goes to at any more
	waiting [][]byte
}

func (n *names) init() { n.known = map[node.Addr]*name{} }

// find returns the address of a name. If it is unknown, b waits for the answer; ask reports
// that no look-up of it runs yet.
func (n *names) find(to node.Addr, b []byte) (at netip.AddrPort, known, ask bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.of(to)
	if time.Now().Before(e.until) {
		return e.at, true, false
	}
	if e.at.IsValid() && !e.moved { // the last answer serves until the next one
		ask, e.asking = !e.asking, true
		return e.at, true, ask
	}
	if len(e.waiting) < nameWaiting {
		e.waiting = append(e.waiting, bytes.Clone(b))
	}
	ask = !e.asking
	e.asking = true
	return at, false, ask
}

// of returns what is known of a name, under the mutex.
func (n *names) of(to node.Addr) *name {
	e := n.known[to]
	if e == nil {
		if len(n.known) >= namesMax {
			clear(n.known)
		}
		e = &name{}
		n.known[to] = e
	}
	return e
}

// meet notes where a stream leads whose peer has that name. Addresses are no names.
func (n *names) meet(peer node.Addr, at net.Addr) {
	tcp, ok := at.(*net.TCPAddr)
	if _, err := netip.ParseAddrPort(string(peer)); !ok || err == nil || peer == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known[peer] == nil && len(n.known) >= namesMax/2 {
		return // names that peers choose leave room for those that datagrams go to
	}
	e := n.of(peer)
	if e.met = tcp.AddrPort().Addr().Unmap(); e.at.Addr() != e.met {
		e.until, e.moved = time.Time{}, true
	}
}

// learn files an answer, and returns where datagrams go from now on, and what waited for it.
func (n *names) learn(to node.Addr, found []netip.AddrPort, err error) (at netip.AddrPort, waiting [][]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.known[to]
	if e == nil {
		return at, nil
	}
	waiting = e.waiting
	e.waiting, e.asking = nil, false
	if err == nil {
		mine, fresh := slices.IndexFunc(found, func(a netip.AddrPort) bool { return a.Addr() == e.met }), nameFresh
		if mine < 0 && e.met.IsValid() {
			fresh = nameUnsure
		}
		e.at, e.until, e.moved = found[max(0, mine)], time.Now().Add(fresh), false
	}
	return e.at, waiting
}

// lookup asks the system where host:port is. It returns one address at least, or an error.
func lookup(ctx context.Context, to node.Addr) (found []netip.AddrPort, err error) {
	host, service, err := net.SplitHostPort(string(to))
	if err != nil {
		return nil, fmt.Errorf("address %q: %w: give host:port", to, err)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("address %q: port: %w", to, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for _, at := range all {
		found = append(found, netip.AddrPortFrom(at.Unmap(), uint16(port)))
	}
	return found, nil
}
