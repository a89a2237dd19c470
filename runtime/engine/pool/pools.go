package pool

import (
	"fmt"
	"slices"

	"hyperscale/core/load/queue"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/protocol/http1"
)

// pool holds the connections to one host if their number is bounded: those that all virtual
// users share, or over HTTP/2 the one of a virtual user. Requests that find none free wait in
// order.
type pool struct {
	host    *Host
	next    *pool   // of the same virtual user
	open    []int32 // over HTTP/2: connections that may take another stream, now or later
	idle    int32   // over HTTP/1.1: the idle connection used last
	count   int     // connections, and those being opened
	most    int
	waiting queue.Queue[ticket] // slots; those that gave up are still in it
	due     bool                // it is listed in pools.due
}

// version is the protocol that a host speaks.
type version uint8

const (
	versionUnknown version = iota // ALPN will decide
	version1
	version2
	version3
	versionTalk // exchanges of messages: one connection a user
)

// versionOf returns the protocol for a host that has not answered yet.
func versionOf(w *workflow.Workflow, secure bool) version {
	switch {
	case w.HTTP.Version == request.Version2:
		return version2
	case w.HTTP.Version == request.Version3:
		return version3
	case w.HTTP.Version == request.VersionAuto && secure:
		return versionUnknown
	}
	return version1
}

// protocols returns the offer for ALPN.
func protocols(w *workflow.Workflow) []string {
	switch w.HTTP.Version {
	case request.Version2:
		return []string{"h2"}
	case request.Version3:
		return []string{"h3"}
	case request.VersionAuto:
		return []string{"h2", "http/1.1"}
	}
	return []string{"http/1.1"}
}

// pools hand out connections of bounded number.
type pools struct {
	*Connections
	due []*pool // those that may have something for waiting requests
}

// pooled reports whether a host's connections are bounded.
func (o *pools) pooled(h *Host) bool {
	return h.version != versionTalk && (h.version != version1 || o.workflow.Plan.Connections > 0)
}

// poolOf returns the pool for a user's requests to a host.
func (o *pools) poolOf(vu int32, h *Host) *pool {
	shared := int(o.workflow.Plan.Connections)
	if shared > 0 {
		if h.pool == nil {
			h.pool = &pool{host: h, idle: None, most: shared}
		}
		return h.pool
	}
	u := &o.Sockets.keepers[vu]
	kept := 0
	for p := u.pools; p != nil; p = p.next {
		if p.host == h {
			return p
		}
		kept++
	}
	if kept >= idleMax {
		o.thin(u)
	}
	u.pools = &pool{host: h, next: u.pools, idle: None, most: 1}
	return u.pools
}

// thin drops the oldest idle pool of a user: functions and redirects may visit thousands of
// hosts.
func (o *pools) thin(u *keeper) {
	var oldest **pool
	for link := &u.pools; *link != nil; link = &(*link).next {
		if p := *link; p.waiting.Len() == 0 && !o.busy(p) {
			oldest = link
		}
	}
	if oldest == nil {
		return
	}
	p := *oldest
	*oldest = p.next
	for len(p.open) > 0 {
		o.streams.retire(p.open[0])
	}
}

// join gives a slot's request a connection of its pool, or makes it wait for one. Effects of an
// answer wait until the whole read is processed.
func (o *pools) join(index int32) {
	n := o.Slots.At(index)
	p := o.poolOf(n.VU, n.Host)
	if !o.streams.feeding && p.waiting.Len() == 0 && o.grant(p, index) {
		return
	}
	n.pool, n.patience, n.Deadline = p, n.Deadline-o.Clock.Now, Never
	p.waiting.Push(ticket{index, n.Serial})
	o.owe(p)
}

// owe schedules a look at a pool.
func (o *pools) owe(p *pool) {
	if !p.due {
		p.due = true
		o.due = append(o.due, p)
	}
}

// grant gives a slot a connection, or makes it open one. It reports whether it could.
func (o *pools) grant(p *pool, index int32) bool {
	n := o.Slots.At(index)
	if p.host.version == version1 {
		if at := p.idle; at >= 0 {
			o.Sockets.Conns.At(at).slot = index // no longer in the list
			p.idle = o.Sockets.Conns.At(at).next
			o.use(at, index)
			return true
		}
	} else if at := o.roomiest(p, n); at >= 0 {
		o.streams.open(at, index)
		return true
	}
	if p.count >= p.most {
		return false
	}
	p.count++
	n.reserved = p
	o.Slots.setOut(index)
	o.Dialer.connect(index)
	return true
}

// use sends a slot's request on an idle connection.
func (o *pools) use(at, index int32) {
	n, c := o.Slots.At(index), o.Sockets.Conns.At(at)
	c.slot, c.used, c.vu, n.Conn = index, true, n.VU, at
	o.Slots.setOut(index)
	o.Slots.parses(n)
	o.Wire.write(index)
}

// roomiest returns the connection for one more stream. It prefers the one that the slot used
// last, as its answers arrive together, then one without streams. If another connection is
// allowed, it then returns none; otherwise the one with the fewest streams.
func (o *pools) roomiest(p *pool, n *RequestSlot) int32 {
	if at := n.home.index; at >= 0 {
		if c := o.Sockets.Conns.At(at); c.Generation == n.home.serial && c.pool == p && c.multi.CanOpen() {
			return at
		}
	}
	best, least := int32(None), 0
	for _, at := range p.open {
		if m := o.Sockets.Conns.At(at).multi; m.CanOpen() && (best < 0 || m.Count() < least) {
			best, least = at, m.Count()
		}
	}
	if best >= 0 && least > 0 && p.count < p.most {
		return None
	}
	return best
}

// pump gives waiting requests what is free, in order. A cancelled run sends nothing more.
func (o *pools) pump(p *pool) {
	for p.waiting.Len() > 0 && !o.Halt.Cut && !o.Halt.Cancelled.Load() {
		t := p.waiting.First()
		n := o.Slots.At(t.index)
		if n.Serial != t.serial || n.pool != p {
			p.waiting.Pop() // it has given up
			continue
		}
		if p.host.version != versionUnknown && !o.pooled(p.host) {
			p.waiting.Pop()
			n.pool, n.Deadline = nil, o.Clock.Now+n.patience
			o.Requests.Send(t.index) // the host speaks HTTP/1.1: each request has its own connection
			continue
		}
		if !o.grant(p, t.index) {
			o.heads(p, t.index)
			return
		}
		p.waiting.Pop()
	}
}

// heads starts the time of the first request in the queue. The others wait as long as
// connections become free at all: each one's time starts when it is first.
func (o *pools) heads(p *pool, index int32) {
	if n := o.Slots.At(index); n.Deadline == Never {
		n.Deadline = o.Clock.Now + n.patience
		o.Slots.Alarm(index, n.Deadline)
	}
}

// SettlePools handles what has become free, and writes what is queued.
func (o *pools) SettlePools() {
	for len(o.due) > 0 || len(o.streams.dirty) > 0 {
		for i := 0; i < len(o.due); i++ {
			p := o.due[i]
			p.due = false
			o.pump(p)
		}
		o.due = o.due[:0]
		o.streams.flushDirty()
	}
}

// bereft handles the failure to open a connection: the waiting requests fail with it, unless
// there is another one to wait for.
func (o *pools) bereft(p *pool, err error) {
	p.count--
	o.owe(p)
	if p.count > 0 || o.Halt.Cut {
		return
	}
	for left := p.waiting.Len(); left > 0; left-- {
		t := p.waiting.Pop()
		if n := o.Slots.At(t.index); n.Serial == t.serial && n.pool == p {
			o.Wire.Fail(t.index, err)
		}
	}
}

// parted removes a connection from its pool.
func (o *pools) parted(at int32) {
	c := o.Sockets.Conns.At(at)
	p := c.pool
	if p == nil {
		return
	}
	c.pool = nil
	p.count--
	if i := slices.Index(p.open, at); i >= 0 {
		p.open = slices.Delete(p.open, i, i+1)
	}
	o.owe(p)
}

// giveBack makes a connection idle after its request has ended, or gives it to the next one.
func (o *pools) giveBack(at int32) {
	c := o.Sockets.Conns.At(at)
	c.slot, c.next = None, c.pool.idle
	c.pool.idle = at
	if c.pool.waiting.Len() > 0 {
		o.owe(c.pool)
	}
}

// inVain handles the timeout of a queue's first request. As long as anything of the pool is in
// flight the request waits: that has its own timeout. Otherwise the request ends, and
// connections that carry nothing and yet accept no stream are closed.
func (o *pools) inVain(index int32) {
	n := o.Slots.At(index)
	p := n.pool
	if o.busy(p) {
		n.Deadline = o.Clock.Now + n.patience
		o.Slots.Alarm(index, n.Deadline)
		return
	}
	what := "connection"
	if p.host.version == version2 || p.host.version == version3 {
		what = "stream"
	}
	for i := len(p.open) - 1; i >= 0; i-- {
		if m := o.Sockets.Conns.At(p.open[i]).multi; m.Count() == 0 && !m.CanOpen() {
			o.streams.retire(p.open[i])
		}
	}
	o.Wire.Fail(index, &http1.Error{Kind: http1.KindTimeout, Detail: fmt.Sprintf("no %s to %s came free in time", what, p.host.Name)})
}

// busy reports whether a connection of a pool carries anything, or is being opened.
func (o *pools) busy(p *pool) bool {
	if p.host.version == version1 || p.count > len(p.open) {
		return p.count > 0
	}
	return slices.ContainsFunc(p.open, func(at int32) bool { return o.Sockets.Conns.At(at).multi.Count() > 0 })
}

// negotiated reports whether an open connection carries several requests.
func (d *dialer) negotiated(c *conn) (bool, error) {
	switch {
	case c.quic != nil:
		return true, nil
	case c.secure == nil && c.host.version == version2 && d.Tunnels.Proxy != nil:
		return false, errProxied
	case c.secure == nil:
		return c.host.version == version2, nil
	}
	chosen := c.secure.tls.ConnectionState().NegotiatedProtocol
	switch {
	case chosen == "h2":
		c.host.version = version2
		return true, nil
	case c.host.carries == carriesCalls:
		return false, errNotGRPC
	case d.workflow.HTTP.Version == request.Version2:
		return false, errNotHTTP2
	}
	c.host.version = version1
	return false, nil
}

// errProxied: without TLS a proxy takes whole requests, not a tunnel.
var errProxied = &http1.Error{Kind: http1.KindProxy, Detail: "a proxy takes http:// requests over HTTP/1.1 alone: write version = \"1.1\" or \"auto\" in http.client, or https://"}

var errNotHTTP2 = &http1.Error{Kind: http1.KindProtocol, Detail: "the server does not choose HTTP/2 by ALPN: write version = \"auto\" or \"1.1\" in http.client"}

var errNotGRPC = &http1.Error{Kind: http1.KindProtocol, Detail: "the server does not choose HTTP/2 by ALPN, and only HTTP/2 carries gRPC"}

// standing uses an open connection: here a protocol begins.
func (d *dialer) standing(at int32) {
	c := d.Sockets.Conns.At(at)
	c.State = connOpen
	switch {
	case c.talk != nil: // its greeting has begun TLS
		d.talks.secured(at)
		return
	case c.host.version == versionTalk:
		d.talks.begin(at)
		return
	}
	index := c.slot
	n := d.Slots.At(index)
	two, err := d.negotiated(c)
	if err != nil {
		d.Wire.Fail(index, err)
		return
	}
	if two && n.reserved == nil { // the host spoke HTTP/1.1 before
		n.reserved = d.Pools.poolOf(n.VU, c.host)
		n.reserved.count++
	}
	p := n.reserved
	n.reserved = nil
	switch {
	case p == nil:
	case two || d.Pools.pooled(c.host):
		c.pool = p
	default: // the host speaks HTTP/1.1: each request has its own connection
		p.count--
		d.Pools.owe(p)
	}
	if two {
		d.streams.multiplex(at)
		return
	}
	d.Slots.parses(n)
	d.Wire.write(index)
}
