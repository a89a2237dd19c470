package pool

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"time"

	"hyperscale/core/node"
	"hyperscale/core/workflow"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
)

// carried is what goes to a host beside HTTP.
type carried uint8

const (
	carriesBytes     carried = iota
	carriesDatagrams         // over UDP
	carriesCalls             // of gRPC
	carriesPrograms          // calls of custom programs: no connection carries them
)

// Host is the destination of requests. The dialer tries its addresses in turn until one accepts
// a connection.
type Host struct {
	Key       string // scheme://host:port
	Name      string // without brackets: for DNS and for TLS
	port      uint16
	Secure    bool
	Authority string // as a request line names it
	Addrs     []netip.AddrPort
	Good      int           // index of the address that accepted the last connection
	turn      uint32        // number of connections with rotated addresses
	Ttl       time.Duration // how long the addresses are valid; 0: for the whole run
	expires   int64         // when they expire; 0: never
	version   version
	offer     []string    // of protocols, for ALPN, to a host of exchanges or calls
	tls       *tls.Config // of a host of exchanges; nil: the workflow's
	resume    bool        // with tls: a user's connections take up its session
	carries   carried
	pool      *pool // of all users, if they share one

	looking    bool     // a look-up of its name runs
	waiting    []ticket // slots that wait for that look-up
	handshakes hostHandshakes
}

func NewHost(c *http1.Call, w *workflow.Workflow) *Host {
	secure := c.Scheme == "https"
	return &Host{Key: Key(c), Name: c.Host, port: c.Port, Authority: authorityOf(c), Secure: secure, version: versionOf(w, secure)}
}

// NewCallHost returns the destination of calls of gRPC, which only HTTP/2 carries.
func NewCallHost(c *http1.Call) *Host {
	return &Host{Key: callKey(c), Name: c.Host, port: c.Port, Authority: authorityOf(c), Secure: c.Scheme == "https", version: version2, offer: []string{"h2"}, carries: carriesCalls}
}

// callKey tells it from the destination of other requests, which may have another version.
func callKey(c *http1.Call) string { return "grpc+" + Key(c) }

func Key(c *http1.Call) string { return c.Scheme + "://" + c.Address() }

// dialer opens connections, until a protocol begins on them.
type dialer struct {
	*Connections
	Hosts    map[string]*Host
	names    *Names
	sources  *sources // nil: the machine chooses
	Resolver resolver
	seed     uint64
	firstVU  uint64
	random   *node.Rand // for random addresses
}

// hostsMax bounds the known hosts: a script that invents names must not fill the memory.
const hostsMax = 10_000

// Host returns the destination of a request.
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

// CallHost returns the destination of a function's calls of gRPC.
func (d *dialer) CallHost(c *http1.Call) *Host {
	k := callKey(c)
	h := d.Hosts[k]
	if h == nil {
		if len(d.Hosts) >= hostsMax {
			clear(d.Hosts)
		}
		h = NewCallHost(c)
		d.Hosts[k] = h
	}
	return h
}

// TalkHost returns the destination of exchanges of a function.
func (d *dialer) TalkHost(c *http1.Call, t TalkHost) *Host {
	h := d.Hosts[t.Key]
	if h == nil {
		if len(d.Hosts) >= hostsMax {
			clear(d.Hosts)
		}
		h = NewTalkHost(c, t)
		d.Hosts[t.Key] = h
	}
	return h
}

// connect opens a connection for a slot's request.
func (d *dialer) connect(index int32) {
	n := d.Slots.At(index)
	if n.Host.version == version3 && !n.Host.Secure {
		d.Slots.Breaks(index, errPlain)
		return
	}
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

// dial tries the host's addresses in turn, beginning with the last good one. It writes no byte
// of the request before one has accepted the connection.
func (d *dialer) dial(index int32) {
	n := d.Slots.At(index)
	for {
		to := n.Host.Addrs[n.address()]
		from, err := d.sources.take(to.Addr())
		if err == nil {
			var fd int
			var done bool
			if fd, done, err = n.Host.open(to, from); err == nil {
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

// open begins a connection to an address.
func (h *Host) open(to netip.AddrPort, from netip.Addr) (fd int, done bool, err error) {
	if h.carries == carriesDatagrams || h.version == version3 {
		fd, err = epoll.Datagrams(to, from)
		return fd, true, err
	}
	return epoll.Dial(to, from)
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

// address returns the index of the address under trial. It counts from this connection's first
// address: other connections may find a better first one meanwhile.
func (n *RequestSlot) address() int { return (int(n.first) + int(n.tried)) % len(n.Host.Addrs) }

// untried counts the address under trial and those after it.
func (n *RequestSlot) untried() int { return len(n.Host.Addrs) - int(n.tried) }

// addressPatience bounds how long one of several addresses may take to answer.
const addressPatience = time.Second

// await gives the address its time. If others follow, that is a part of the remaining time, so
// that one without an answer does not use theirs up; the alarm then ends this address only.
func (d *dialer) await(index int32) {
	n := d.Slots.At(index)
	d.Slots.Alarm(index, n.Deadline)
	if left := n.untried(); left > 1 {
		n.alarm = d.Clock.Now + max(1, min(int64(addressPatience), (n.Deadline-d.Clock.Now)/int64(left)))
		d.Slots.Wheel.Set(index, n.alarm)
	}
}

// connected takes the result of connecting.
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

// opened uses an open connection: here a protocol begins.
func (d *dialer) opened(at int32) {
	c := d.Sockets.Conns.At(at)
	switch {
	case c.host.version == version3:
		d.Quics.begin(at)
		return
	case c.host.Tunnelled() && d.Tunnels.Proxy != nil:
		d.Tunnels.tunnel(at)
		return
	case c.host.Secure:
		d.Handshakes.begin(at)
		return
	}
	d.standing(at)
}
