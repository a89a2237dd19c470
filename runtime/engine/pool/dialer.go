package pool

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"syscall"
	"time"

	"hyperscale/core/node"
	"hyperscale/core/workflow"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http3"
	"hyperscale/runtime/protocol/island/quic"
)

// carried is what goes to a host beside HTTP.
type carried uint8

const (
	carriesBytes     carried = iota
	carriesDatagrams         // over UDP
	carriesCalls             // of gRPC
	carriesBranches          // over a second connection beside the first one
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
	shared    int   // connections that all users share, of a host of exchanges; 0: each user has its own
	pool      *pool // of all users, if they share one

	sought
	handshakes hostHandshakes
}

// sought is how a host's addresses are found.
type sought struct {
	looking bool     // a look-up of its name runs
	found   uint8    // look-ups that found something; it wraps
	waiting []ticket // slots that wait for that look-up
	service *service // nil: the name has addresses
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
		d.thin()
		h = NewHost(c, d.workflow)
		d.Hosts[k] = h
	}
	return h
}

// thin forgets all hosts when there are too many. One whose connections all users share stays: a file
// names each, and a second one of its key would have as many again.
func (d *dialer) thin() {
	if len(d.Hosts) >= hostsMax {
		maps.DeleteFunc(d.Hosts, func(_ string, h *Host) bool { return h.shared == 0 })
	}
}

// CallHost returns the destination of a function's calls of gRPC.
func (d *dialer) CallHost(c *http1.Call) *Host {
	k := callKey(c)
	h := d.Hosts[k]
	if h == nil {
		d.thin()
		h = NewCallHost(c)
		d.Hosts[k] = h
	}
	return h
}

// TalkHost returns the destination of exchanges of a function.
func (d *dialer) TalkHost(c *http1.Call, t TalkHost) *Host {
	h := d.Hosts[t.Key]
	if h == nil {
		d.thin()
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
		n.found = n.Host.found
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
func (n *RequestSlot) address() int { return n.index(len(n.Host.Addrs)) }

// index is the address under trial, of so many.
func (t trial) index(of int) int { return (int(t.first) + int(t.tried)) % of }

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

// quics are the connections of HTTP/3. Each has a UDP socket of its own, which the loop reads; goroutines of
// an island serve it.
type quics struct {
	*Connections
	at int32 // whose events are being taken
}

// errPlain: QUIC has no connection without TLS.
var errPlain = &http1.Error{Kind: http1.KindProtocol, Detail: "HTTP/3 has TLS always: write https://, or version = \"auto\" in http.client"}

// begin starts the handshake on an open socket. Until it is over the connection counts as connecting: another
// address may have to be tried.
func (q *quics) begin(at int32) {
	c := q.Sockets.Conns.At(at)
	index := c.slot
	config := q.Handshakes.config(c)
	link, err := quic.Dial(q.talks.islands.goroutines(q.Sockets.Poller), c.token(at), quic.Socket{FD: int(c.fd), Peer: c.host.Addrs[q.Slots.At(index).address()]}, config)
	if err != nil {
		q.Slots.Breaks(index, fmt.Errorf("begin the connection: %w", err))
		return
	}
	c.quic = link
	q.Dialer.await(index)
}

// read feeds the library what has come.
func (q *quics) read(at int32) {
	c := q.Sockets.Conns.At(at)
	for range readRounds {
		n, errno := epoll.Read(int(c.fd), q.Sockets.buffer)
		switch errno {
		case 0:
			c.quic.Feed(q.Sockets.buffer[:n])
			if c.multi != nil {
				c.multi.heard, c.multi.asked = max(q.Clock.Now, 1), 0
			}
		case syscall.EAGAIN:
			return
		default:
			q.broken(at, readError(errno, false))
			return
		}
	}
}

// broken handles the end of a connection.
func (q *quics) broken(at int32, err error) {
	if q.Sockets.Conns.At(at).multi == nil {
		q.failed(at, err)
		return
	}
	q.streams.broken(at, err)
}

// failed takes the failure of a handshake. Another address is tried unless the server has answered.
func (q *quics) failed(at int32, err error) {
	c := q.Sockets.Conns.At(at)
	index := c.slot
	n := q.Slots.At(index)
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = fmt.Errorf("%s: %w", n.Host.Addrs[n.address()], errno)
		q.Sockets.HangUp(at)
		n.Conn = None
		if n.tried++; int(n.tried) < len(n.Host.Addrs) {
			q.Dialer.dial(index)
			return
		}
	}
	switch http1.KindOf(err) {
	case http1.KindTLS, http1.KindTLSAuthority, http1.KindTLSName, http1.KindTLSExpired:
		err = explainTLS(err, c.host)
	}
	q.Wire.Fail(index, err)
}

// stir takes what the goroutines of a connection have done.
func (q *quics) stir(at int32) {
	c := q.Sockets.Conns.At(at)
	link, generation := c.quic, c.Generation
	up := link.Look()
	if up && c.State == ConnConnecting {
		n := q.Slots.At(c.slot)
		n.Host.Good = n.address()
		q.Handshakes.Secured++
		if link.Resumed() {
			q.Handshakes.Resumed++
		}
		if q.Dialer.standing(at); c.Generation != generation {
			return
		}
	}
	q.at, q.streams.feeding, q.streams.reading.at = at, true, at
	err := link.Take(q.take)
	q.streams.feeding = false
	if c.Generation != generation {
		return
	}
	if c.multi != nil {
		q.streams.look(at)
	}
	q.Slots.Common.Reset() // cookies of an unread head belong to no user
	switch {
	case c.Generation != generation:
	case err != nil:
		q.broken(at, err)
	case c.multi == nil:
	default:
		q.settle(at)
	}
}

// settle goes on with a connection whose events are taken.
func (q *quics) settle(at int32) {
	c := q.Sockets.Conns.At(at)
	m := c.multi
	if !m.Usable() {
		q.streams.retire(at)
	}
	if c.multi != m {
		return
	}
	q.streams.soil(at)
	if c.pool != nil {
		q.Pools.owe(c.pool)
	}
}

// take takes one event of the connection at hand.
func (q *quics) take(e http3.Event) error {
	m := q.Sockets.Conns.At(q.at).multi
	if m == nil {
		return nil // the handshake is not over
	}
	of, is := m.Conn.(*http3.Conn)
	if !is {
		return nil
	}
	if e.Kind == http3.Written {
		m.unsent = true // the next look finds it written
	}
	return of.Take(e, &q.streams.reading)
}

// hangUp closes a connection, which closes its socket behind its last packet.
func (q *quics) hangUp(c *conn) {
	code := http3.CodeNone
	if c.multi != nil {
		if of, is := c.multi.Conn.(*http3.Conn); is {
			code = of.Goodbye()
		}
	}
	if c.multi != nil && c.multi.paths != nil {
		c.multi.paths.Closed(c.quic.Path())
	}
	_ = q.Sockets.Poller.Del(int(c.fd)) // it was added
	c.quic.Close(code)
}
