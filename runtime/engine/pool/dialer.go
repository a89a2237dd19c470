package pool

import (
	"fmt"
	"net/netip"
	"time"

	"hyperscale/core/node"
	"hyperscale/core/workflow"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
)

// Host is where requests go. Addresses are tried in turn until one takes a connection.
type Host struct {
	Key       string // scheme://host:port
	Name      string // without brackets: for DNS and for TLS
	port      uint16
	Secure    bool
	Authority string // as a request line names it
	Addrs     []netip.AddrPort
	Good      int           // index of the one that took the last connection
	turn      uint32        // connections that went to the addresses in turn
	Ttl       time.Duration // how long the addresses may be used; 0: for the whole run
	expires   int64         // when they may no more; 0: never
	version   version
	pool      *pool // of all users, if they share one

	looking    bool     // its name is being looked up
	waiting    []ticket // slots that wait for that
	handshakes hostHandshakes
}

func NewHost(c *http1.Call, w *workflow.Workflow) *Host {
	secure := c.Scheme == "https"
	return &Host{Key: Key(c), Name: c.Host, port: c.Port, Authority: authorityOf(c), Secure: secure, version: versionOf(w, secure)}
}

func Key(c *http1.Call) string { return c.Scheme + "://" + c.Address() }

// dialer opens connections, until a protocol begins on them.
type dialer struct {
	*Connections
	Hosts    map[string]*Host
	names    *Names
	sources  *sources // nil: as the machine chooses
	Resolver resolver
	seed     uint64
	firstVU  uint64
	random   *node.Rand // of addresses, where they are drawn
}

// hostsMax bounds the hosts that are remembered: a script that makes up names must not
// fill the memory.
const hostsMax = 10_000

// Host returns where a request goes.
func (d *dialer) Host(c *http1.Call) *Host {
	k := Key(c)
	h := d.Hosts[k]
	if h == nil {
		if len(d.Hosts) >= hostsMax {
			clear(d.Hosts)
		}
		h = NewHost(c, d.workflow)
		d.Hosts[k] = h
	}
	return h
}

// connect opens a connection for a slot's request.
func (d *dialer) connect(index int32) {
	n := d.Slots.At(index)
	if h := n.Host; h.Addrs == nil || h.expires != 0 && d.Clock.Now >= h.expires {
		n.Named = max(d.Clock.Now, 1)
		d.lookUp(index)
		return
	}
	d.reach(index)
}

// reach tries a host's addresses, which are known.
func (d *dialer) reach(index int32) {
	n := d.Slots.At(index)
	n.first, n.tried = uint8(d.first(n.Host)), 0
	n.Dialled = max(d.Clock.Now, 1)
	d.dial(index)
}

// dial tries the host's addresses in turn, beginning with the one that last did well. No
// byte of the request is written before one has taken the connection.
func (d *dialer) dial(index int32) {
	n := d.Slots.At(index)
	for {
		to := n.Host.Addrs[n.address()]
		from, err := d.sources.take(to.Addr())
		if err == nil {
			var fd int
			var done bool
			if fd, done, err = epoll.Dial(to, from); err == nil {
				if err = d.adopt(index, fd, done); err == nil {
					return
				}
			}
			err = explainSource(from, err)
		}
		if n.tried++; int(n.tried) >= len(n.Host.Addrs) {
			d.Slots.Breaks(index, err)
			return
		}
	}
}

// adopt makes a connection of a descriptor.
func (d *dialer) adopt(index int32, fd int, done bool) error {
	n := d.Slots.At(index)
	at := d.Sockets.Conns.take()
	c := d.Sockets.Conns.At(at)
	*c = conn{host: n.Host, fd: int32(fd), Generation: c.Generation, slot: index, vu: n.VU}
	n.Conn = at
	events := epoll.Out
	if done {
		events = c.interest()
	}
	if err := d.Sockets.Poller.Add(fd, events, c.token(at)); err != nil {
		n.Conn = None
		d.Sockets.HangUp(at)
		return err
	}
	if done {
		d.opened(at)
	} else {
		d.await(index)
	}
	return nil
}

// address is the index of the address under trial. It counts from where this connection
// began: others may find a better beginning meanwhile.
func (n *RequestSlot) address() int { return (int(n.first) + int(n.tried)) % len(n.Host.Addrs) }

// untried counts the address under trial and those behind it.
func (n *RequestSlot) untried() int { return len(n.Host.Addrs) - int(n.tried) }

// addressPatience is the most that one address of several may take to answer.
const addressPatience = time.Second

// await gives the address its time. Where others are behind it, that is a part of what is
// left, so that one that never answers does not take theirs; its alarm then says only that.
func (d *dialer) await(index int32) {
	n := d.Slots.At(index)
	d.Slots.Alarm(index, n.Deadline)
	if left := n.untried(); left > 1 {
		n.alarm = d.Clock.Now + max(1, min(int64(addressPatience), (n.Deadline-d.Clock.Now)/int64(left)))
		d.Slots.Wheel.Set(index, n.alarm)
	}
}

// connected takes the outcome of connecting.
func (d *dialer) connected(at int32) {
	c := d.Sockets.Conns.At(at)
	index := c.slot
	n := d.Slots.At(index)
	if err := epoll.Connected(int(c.fd)); err != nil {
		err = fmt.Errorf("%s: %w", n.Host.Addrs[n.address()], err)
		d.Sockets.HangUp(at)
		n.Conn = None
		if n.tried++; int(n.tried) < len(n.Host.Addrs) {
			d.dial(index)
			return
		}
		d.Wire.Fail(index, err)
		return
	}
	n.Host.Good = n.address()
	if err := d.Sockets.Poller.Mod(int(c.fd), c.interest(), c.token(at)); err != nil {
		d.Wire.Fail(index, err)
		return
	}
	d.Clock.Tick()
	d.opened(at)
}

// opened uses a connection that stands: here a protocol begins.
func (d *dialer) opened(at int32) {
	c := d.Sockets.Conns.At(at)
	switch {
	case c.host.Secure && d.Tunnels.Proxy != nil:
		d.Tunnels.tunnel(at)
		return
	case c.host.Secure:
		d.Handshakes.begin(at)
		return
	}
	d.standing(at)
}
