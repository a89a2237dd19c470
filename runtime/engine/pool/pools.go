package pool

import (
	"fmt"
	"slices"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool/lanes"
	"hyperscale/runtime/protocol/http1"
)

// pool holds the connections to one host if their number is bounded: those that all virtual
// users share, or over HTTP/2 the one of a virtual user. Requests that find none free wait in
// order. A connection that carries several requests is never free: it takes another stream, or not.
type pool struct {
	lanes.Lanes[ticket]
	host *Host
	next *pool   // of the same virtual user
	open []int32 // over HTTP/2: connections that may take another stream, now or later
	due  bool    // it is listed in pools.due
	over bool    // its host is gone: what becomes free is closed
	// moved is when a connection last took a request, also one that a transaction keeps.
	moved int64
	turn  uint32 // which trunk the next one is compared with
}

// shared returns how many connections to a host all users share; 0: they share none.
func (o *pools) shared(h *Host) int {
	if h.talks() {
		return h.shared
	}
	return int(o.workflow.Plan.Connections)
}

// version is the protocol that a host speaks.
type version uint8

const (
	versionUnknown version = iota // ALPN will decide
	version1
	version2
	version3
	versionTalk  // exchanges of messages: one at a time on a connection
	versionTrunk // several at once
)

// talks reports that a host gets exchanges of messages.
func (h *Host) talks() bool { return h.version >= versionTalk }

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
	return h.version == version2 || h.version == version3 || h.version == versionUnknown || o.shared(h) > 0
}

// poolOf returns the pool for a user's requests to a host.
func (o *pools) poolOf(vu int32, h *Host) *pool {
	if shared := o.shared(h); shared > 0 {
		if h.pool == nil {
			h.pool = &pool{host: h, Lanes: lanes.Lanes[ticket]{Most: shared}}
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
	u.pools = &pool{host: h, next: u.pools, Lanes: lanes.Lanes[ticket]{Most: 1}}
	return u.pools
}

// thin drops the oldest idle pool of a user: functions and redirects may visit thousands of
// hosts.
func (o *pools) thin(u *keeper) {
	var oldest **pool
	for link := &u.pools; *link != nil; link = &(*link).next {
		if p := *link; p.Waiting() == 0 && !o.busy(p) {
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

// Retire forgets a destination to which nothing goes any more, as its node has left its cluster. Connections
// that users share close as they become free and none waits for one.
func (o *pools) Retire(h *Host) {
	if o.Dialer.Hosts[h.Key] == h {
		delete(o.Dialer.Hosts, h.Key)
	}
	if h.pool != nil {
		h.pool.over = true
		o.owe(h.pool)
	}
}

// closes closes what is free of a pool whose host is gone.
func (o *pools) closes(p *pool) {
	for at, some := p.Take(); some; at, some = p.Take() {
		o.Sockets.HangUp(at)
	}
}

// join gives a slot's request a connection of its pool, or makes it wait for one. Effects of an
// answer wait until the whole read is processed.
func (o *pools) join(index int32) {
	n := o.Slots.At(index)
	p := o.poolOf(n.VU, n.Host)
	n.patience = n.Deadline - o.Clock.Now
	if !o.streams.feeding && p.Waiting() == 0 && o.grant(p, index) {
		return
	}
	n.pool = p
	if o.Pins.holds(n.VU) { // others may wait for its user in turn
		o.Slots.Alarm(index, n.Deadline)
	} else {
		n.Deadline = Never
	}
	p.Wait(ticket{index, n.Serial})
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
	switch p.host.version {
	case version1, versionTalk:
		if at := o.free(p); at >= 0 {
			o.use(at, index)
			return true
		}
	default:
		if at := o.roomiest(p, n); at >= 0 {
			o.streams.open(at, index)
			return true
		}
	}
	if !p.Reserve() {
		return false
	}
	n.reserved = p
	o.Slots.setOut(index)
	o.Dialer.connect(index)
	return true
}

// free takes a free connection that still serves; none: there is none.
func (o *pools) free(p *pool) int32 {
	for {
		at, some := p.Take()
		switch {
		case !some:
			return None
		case o.Sockets.serves(o.Sockets.Conns.At(at)):
			return at
		}
		o.Sockets.HangUp(at)
	}
}

// use sends a slot's request on a connection that was free.
func (o *pools) use(at, index int32) {
	n, c := o.Slots.At(index), o.Sockets.Conns.At(at)
	c.slot, c.used, c.vu, n.Conn = index, true, n.VU, at
	c.pool.moved = o.Clock.Now
	o.Slots.setOut(index)
	o.Slots.parses(n)
	if c.talk != nil {
		o.talks.resume(at)
		return
	}
	o.Wire.write(index)
}

// roomiest returns the connection for one more stream. It prefers the one that the slot used
// last, as its answers arrive together, then one without streams. If another connection is
// allowed, it then returns none; otherwise the one with the fewest streams.
func (o *pools) roomiest(p *pool, n *RequestSlot) int32 {
	if at := n.home.index; at >= 0 {
		if c := o.Sockets.Conns.At(at); c.Generation == n.home.serial && c.pool == p && c.multi.CanOpen() && !o.crowded(p, c.multi) {
			return at
		}
	}
	best, least := int32(None), 0
	for _, at := range p.open {
		if m := o.Sockets.Conns.At(at).multi; m.CanOpen() && (best < 0 || m.Count() < least) {
			best, least = at, m.Count()
		}
	}
	if best >= 0 && least > 0 && p.Count() < p.Most {
		return None
	}
	return best
}

// crowded reports that a trunk has far more under way than another one, in turn.
func (o *pools) crowded(p *pool, m *multi) bool {
	if p.host.version != versionTrunk {
		return false
	}
	p.turn++
	other := o.Sockets.Conns.At(p.open[p.turn%uint32(len(p.open))]).multi
	return m.Count() > 2*other.Count()+crowdLeast && other.CanOpen()
}

// crowdLeast is how much more a trunk may have under way than one that has nothing.
const crowdLeast = 8

// pump gives waiting requests what is free, in order. A cancelled run sends nothing more.
func (o *pools) pump(p *pool) {
	for !o.Halt.Cut && !o.Halt.Cancelled.Load() {
		t, some := p.First(func(t ticket) bool { return o.leftFor(p, t) })
		if !some {
			if p.over {
				o.closes(p)
			}
			return
		}
		n := o.Slots.At(t.index)
		if p.host.version != versionUnknown && !o.pooled(p.host) {
			p.Served()
			n.pool, n.Deadline = nil, o.Clock.Now+n.patience
			o.Requests.Send(t.index) // the host speaks HTTP/1.1: each request has its own connection
			continue
		}
		if !o.grant(p, t.index) {
			o.heads(t.index)
			return
		}
		p.Served()
	}
}

// leftFor reports that a request waits in a pool no longer.
func (o *pools) leftFor(p *pool, t ticket) bool {
	n := o.Slots.At(t.index)
	return n.Serial != t.serial || n.pool != p
}

// heads starts the time of the first request in the queue. The others wait as long as
// connections become free at all: each one's time starts when it is first.
func (o *pools) heads(index int32) {
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

// bereft handles the failure to open a connection within a time: the waiting requests fail with it, unless
// there is another one to wait for. A request of a dialogue whose time ran out says nothing of those that
// have more of it, such as those whose greeting is slow.
func (o *pools) bereft(p *pool, err error, within int64) {
	p.Part(None)
	o.owe(p)
	kind := http1.KindOf(err)
	if p.Count() > 0 || o.Halt.Cut || kind == http1.KindCancelled {
		return
	}
	if !p.host.talks() || !measure.TimedOut(string(kind)) {
		within = Never
	}
	for left := p.Waiting(); left > 0; left-- {
		switch t := p.Served(); {
		case o.leftFor(p, t):
		case o.Slots.At(t.index).patience > within:
			p.Wait(t)
		default:
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
	p.Part(at)
	if i := slices.Index(p.open, at); i >= 0 {
		p.open = slices.Delete(p.open, i, i+1)
	}
	o.owe(p)
}

// giveBack makes a connection idle after its request has ended, or gives it to the next one.
func (o *pools) giveBack(at int32) {
	c := o.Sockets.Conns.At(at)
	c.slot = None
	c.pool.Free(at)
	if c.pool.over || c.pool.Waiting() > 0 {
		o.owe(c.pool)
	}
}

// inVain handles the timeout of a queue's first request, and of one whose user has a transaction open. As long
// as anything of the pool is in flight the first waits: that has its own timeout. It also waits while transactions
// that keep all connections go on. Otherwise the request ends, and connections that carry nothing and yet accept
// no stream are closed.
func (o *pools) inVain(index int32) {
	n := o.Slots.At(index)
	p := n.pool
	holds := o.Pins.holds(n.VU)
	if (o.busy(p) || p.moved > n.Deadline-n.patience) && !holds {
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
	why := fmt.Sprintf("no %s to %s came free in time", what, p.host.Name)
	switch {
	case holds:
		why += ": a transaction of the same virtual user keeps a connection meanwhile, so its time runs"
	case o.Pins.kept(p) > 0:
		why += ": transactions that do nothing keep them"
	}
	o.Wire.Fail(index, &http1.Error{Kind: http1.KindTimeout, Detail: why})
}

// busy reports whether a connection of a pool carries anything, or is being opened.
func (o *pools) busy(p *pool) bool {
	switch {
	case p.host.version == versionTalk:
		return p.Count() > o.Pins.kept(p)
	case p.host.version == version1, p.Count() > len(p.open):
		return p.Count() > 0
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
	case c.host.talks():
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
		n.reserved.Beyond()
	}
	p := n.reserved
	n.reserved = nil
	switch {
	case p == nil:
	case two || d.Pools.pooled(c.host):
		c.pool = p
	default: // the host speaks HTTP/1.1: each request has its own connection
		p.Part(None)
		d.Pools.owe(p)
	}
	if two {
		d.streams.multiplex(at)
		return
	}
	d.Slots.parses(n)
	d.Wire.write(index)
}
