package transport

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"hyperscale/core/node"
)

// Bounds of the names that datagrams are sent to. Streams resolve at every Open.
const (
	nameFresh   = 30 * time.Second // how long an answer is used
	nameWaiting = 16               // datagrams that wait for one answer
	namesMax    = 4096
)

// names remembers where the nodes are that datagrams go to by name.
type names struct {
	mu    sync.Mutex
	known map[node.Addr]*name
}

type name struct {
	at      netip.AddrPort
	until   time.Time
	asking  bool
	waiting [][]byte
}

func (n *names) init() { n.known = map[node.Addr]*name{} }

// find returns the address of a name. If it is unknown, b waits for the answer; ask reports
// that no look-up of it runs yet.
func (n *names) find(to node.Addr, b []byte) (at netip.AddrPort, known, ask bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.known[to]
	if e == nil {
		if len(n.known) >= namesMax {
			clear(n.known)
		}
		e = &name{}
		n.known[to] = e
	}
	if time.Now().Before(e.until) {
		return e.at, true, false
	}
	if len(e.waiting) < nameWaiting {
		e.waiting = append(e.waiting, bytes.Clone(b))
	}
	ask = !e.asking
	e.asking = true
	return at, false, ask
}

// learn files an answer and returns what waited for it.
func (n *names) learn(to node.Addr, at netip.AddrPort, err error) [][]byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.known[to]
	if e == nil {
		return nil
	}
	waiting := e.waiting
	e.waiting, e.asking = nil, false
	if err == nil {
		e.at, e.until = at, time.Now().Add(nameFresh)
	}
	return waiting
}

// lookup asks the system where host:port is.
func lookup(ctx context.Context, to node.Addr) (netip.AddrPort, error) {
	host, service, err := net.SplitHostPort(string(to))
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("address %q: %w: give host:port", to, err)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("address %q: port: %w", to, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	return netip.AddrPortFrom(found[0].Unmap(), uint16(port)), nil
}
