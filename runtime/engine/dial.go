package engine

import (
	"fmt"
	"net/netip"
	"time"

	"hyperscale/core/workflow"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
)

// host is where requests go. Addresses are tried in turn until one takes a connection.
type host struct {
	key       string // scheme://host:port
	name      string // without brackets: for DNS and for TLS
	port      uint16
	secure    bool
	authority string // as a request line names it
	addrs     []netip.AddrPort
	good      int           // index of the one that took the last connection
	turn      uint32        // connections that went to the addresses in turn
	ttl       time.Duration // how long the addresses may be used; 0: for the whole run
	expires   int64         // when they may no more; 0: never
	version   version
	pool      *pool // of all users, if they share one

	looking bool     // its name is being looked up
	waiting []ticket // lanes that wait for that
	shakes  hostShakes
}

func newHost(c *http1.Call, w *workflow.Workflow) *host {
	secure := c.Scheme == "https"
	return &host{key: key(c), name: c.Host, port: c.Port, authority: authorityOf(c), secure: secure, version: versionOf(w, secure)}
}

func key(c *http1.Call) string { return c.Scheme + "://" + c.Address() }

// hostsMax bounds the hosts that are remembered: a script that makes up names must not
// fill the memory.
const hostsMax = 10_000

// host returns where a request goes.
func (l *loop) host(c *http1.Call) *host {
	k := key(c)
	h := l.hosts[k]
	if h == nil {
		if len(l.hosts) >= hostsMax {
			clear(l.hosts)
		}
		h = newHost(c, l.cfg.Workflow)
		l.hosts[k] = h
	}
	return h
}

// connect opens a connection for a lane's request.
func (l *loop) connect(index int32) {
	n := l.lane(index)
	if h := n.host; h.addrs == nil || h.expires != 0 && l.clock.Now >= h.expires {
		n.Named = max(l.clock.Now, 1)
		l.lookUp(index)
		return
	}
	l.reach(index)
}

// reach tries a host's addresses, which are known.
func (l *loop) reach(index int32) {
	n := l.lane(index)
	n.first, n.tried = uint8(l.first(n.host)), 0
	n.Dialled = max(l.clock.Now, 1)
	l.dial(index)
}

// dial tries the host's addresses in turn, beginning with the one that last did well. No
// byte of the request is written before one has taken the connection.
func (l *loop) dial(index int32) {
	n := l.lane(index)
	for {
		to := n.host.addrs[n.address()]
		from, err := l.sources.take(to.Addr())
		if err == nil {
			var fd int
			var done bool
			if fd, done, err = epoll.Dial(to, from); err == nil {
				if err = l.adopt(index, fd, done); err == nil {
					return
				}
			}
			err = explainSource(from, err)
		}
		if n.tried++; int(n.tried) >= len(n.host.addrs) {
			l.breaks(index, err)
			return
		}
	}
}

// adopt makes a connection of a descriptor.
func (l *loop) adopt(index int32, fd int, done bool) error {
	n := l.lane(index)
	at := l.conns.take()
	c := l.conns.at(at)
	*c = conn{host: n.host, fd: int32(fd), generation: c.generation, lane: index, vu: n.vu}
	n.conn = at
	events := epoll.Out
	if done {
		events = c.interest()
	}
	if err := l.poller.Add(fd, events, c.token(at)); err != nil {
		n.conn = none
		l.hangUp(at)
		return err
	}
	if done {
		l.opened(at)
	} else {
		l.await(index)
	}
	return nil
}

// address is the index of the address under trial. It counts from where this connection
// began: others may find a better beginning meanwhile.
func (n *lane) address() int { return (int(n.first) + int(n.tried)) % len(n.host.addrs) }

// untried counts the address under trial and those behind it.
func (n *lane) untried() int { return len(n.host.addrs) - int(n.tried) }

// addressPatience is the most that one address of several may take to answer.
const addressPatience = time.Second

// await gives the address its time. Where others are behind it, that is a part of what is
// left, so that one that never answers does not take theirs; its alarm then says only that.
func (l *loop) await(index int32) {
	n := l.lane(index)
	l.alarm(index, n.deadline)
	if left := n.untried(); left > 1 {
		n.alarm = l.clock.Now + max(1, min(int64(addressPatience), (n.deadline-l.clock.Now)/int64(left)))
		l.wheel.Set(index, n.alarm)
	}
}

// connected takes the outcome of connecting.
func (l *loop) connected(at int32) {
	c := l.conns.at(at)
	index := c.lane
	n := l.lane(index)
	if err := epoll.Connected(int(c.fd)); err != nil {
		err = fmt.Errorf("%s: %w", n.host.addrs[n.address()], err)
		l.hangUp(at)
		n.conn = none
		if n.tried++; int(n.tried) < len(n.host.addrs) {
			l.dial(index)
			return
		}
		l.fail(index, err)
		return
	}
	n.host.good = n.address()
	if err := l.poller.Mod(int(c.fd), c.interest(), c.token(at)); err != nil {
		l.fail(index, err)
		return
	}
	l.clock.Tick()
	l.opened(at)
}

// opened uses a connection that stands: here a protocol begins.
func (l *loop) opened(at int32) {
	c := l.conns.at(at)
	switch {
	case c.host.secure && l.proxy != nil:
		l.tunnel(at)
		return
	case c.host.secure:
		l.shake(at)
		return
	}
	l.standing(at)
}
