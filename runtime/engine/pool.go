package engine

import (
	"fmt"
	"slices"

	"hyperscale/core/load/queue"
	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/http1"
)

// pool are the connections to one host of which there may only be so many: those that all
// virtual users share, or over HTTP/2 the one of a virtual user. Requests that find none free
// wait in the order in which they came.
type pool struct {
	host    *host
	next    *pool   // of the same virtual user
	open    []int32 // over HTTP/2: connections that may take one more stream, now or later
	idle    int32   // over HTTP/1.1: the idle connection that was used last
	count   int     // connections, and those that are being made
	most    int
	waiting queue.Queue[ticket] // lanes; those that gave up are still in it
	due     bool                // it stands in loop.pools
}

// version is what is spoken with a host.
type version uint8

const (
	versionUnknown version = iota // ALPN will tell
	version1
	version2
)

// versionOf is what a workflow's client speaks with a host that has not said anything yet.
func versionOf(w *workflow.Workflow, secure bool) version {
	switch {
	case w.HTTP.Version == workflow.Version2:
		return version2
	case w.HTTP.Version == workflow.VersionAuto && secure:
		return versionUnknown
	}
	return version1
}

// protocols are what is offered by ALPN.
func protocols(w *workflow.Workflow) []string {
	switch w.HTTP.Version {
	case workflow.Version2:
		return []string{"h2"}
	case workflow.VersionAuto:
		return []string{"h2", "http/1.1"}
	}
	return []string{"http/1.1"}
}

// pooled tells whether a host's connections are bounded.
func (l *loop) pooled(h *host) bool {
	return h.version != version1 || l.cfg.Workflow.Plan.Connections > 0
}

// poolOf returns the pool that a user's requests to a host use.
func (l *loop) poolOf(vu int32, h *host) *pool {
	shared := int(l.cfg.Workflow.Plan.Connections)
	if shared > 0 {
		if h.pool == nil {
			h.pool = &pool{host: h, idle: none, most: shared}
		}
		return h.pool
	}
	u := &l.users[vu]
	kept := 0
	for p := u.pools; p != nil; p = p.next {
		if p.host == h {
			return p
		}
		kept++
	}
	if kept >= idleMax {
		l.thin(u)
	}
	u.pools = &pool{host: h, next: u.pools, idle: none, most: 1}
	return u.pools
}

// thin gives up the oldest pool of a user in which nothing goes on: functions and redirects may
// lead to thousands of hosts.
func (l *loop) thin(u *user) {
	var oldest **pool
	for link := &u.pools; *link != nil; link = &(*link).next {
		if p := *link; p.waiting.Len() == 0 && !l.busy(p) {
			oldest = link
		}
	}
	if oldest == nil {
		return
	}
	p := *oldest
	*oldest = p.next
	for len(p.open) > 0 {
		l.retire(p.open[0])
	}
}

// join lets a lane's request use a connection of its pool, or wait for one. What an answer
// brings about waits until all that came with it was read.
func (l *loop) join(index int32) {
	n := l.lane(index)
	p := l.poolOf(n.vu, n.host)
	if !l.feeding && p.waiting.Len() == 0 && l.grant(p, index) {
		return
	}
	n.pool, n.patience, n.deadline = p, n.deadline-l.clock.Now, never
	p.waiting.Push(ticket{index, n.serial})
	l.owe(p)
}

// owe makes a pool be looked at soon.
func (l *loop) owe(p *pool) {
	if !p.due {
		p.due = true
		l.pools = append(l.pools, p)
	}
}

// grant gives a lane a connection, or makes it open one. It tells whether it could.
func (l *loop) grant(p *pool, index int32) bool {
	n := l.lane(index)
	if p.host.version == version1 {
		if at := p.idle; at >= 0 {
			l.conns.at(at).lane = index // no longer in the list
			p.idle = l.conns.at(at).next
			l.use(at, index)
			return true
		}
	} else if at := l.roomiest(p, n); at >= 0 {
		l.open(at, index)
		return true
	}
	if p.count >= p.most {
		return false
	}
	p.count++
	n.reserved = p
	l.setOut(index)
	l.connect(index)
	return true
}

// use sends a lane's request on a connection that is idle.
func (l *loop) use(at, index int32) {
	n, c := l.lane(index), l.conns.at(at)
	c.lane, c.used, c.vu, n.conn = index, true, n.vu, at
	l.setOut(index)
	l.parses(n)
	l.write(index)
}

// setOut puts a request on its way: its time runs, also if it has waited for its turn.
func (l *loop) setOut(index int32) {
	n := l.lane(index)
	if n.pool != nil {
		n.pool = nil
		n.deadline = l.clock.Now + n.patience
	}
	l.count(n)
	l.alarm(index, n.deadline)
}

// parses makes a lane ready for an answer over HTTP/1.1.
func (l *loop) parses(n *lane) {
	n.parser.Share(&l.common)
	n.parser.Reset(n.call.Method)
}

// roomiest returns the connection for one more stream: that which the lane used last, as its
// answers come together; else one that carries nothing, else none as long as there may be
// another one, else that which carries least.
func (l *loop) roomiest(p *pool, n *lane) int32 {
	if at := n.home.index; at >= 0 {
		if c := l.conns.at(at); c.generation == n.home.serial && c.pool == p && c.multi.CanOpen() {
			return at
		}
	}
	best, least := int32(none), 0
	for _, at := range p.open {
		if m := l.conns.at(at).multi; m.CanOpen() && (best < 0 || m.Streams() < least) {
			best, least = at, m.Streams()
		}
	}
	if best >= 0 && least > 0 && p.count < p.most {
		return none
	}
	return best
}

// pump gives those who wait what has come free, in order. A cancelled run sends nothing more.
func (l *loop) pump(p *pool) {
	for p.waiting.Len() > 0 && !l.cut && !l.cancelled.Load() {
		t := p.waiting.First()
		n := l.lane(t.index)
		if n.serial != t.serial || n.pool != p {
			p.waiting.Pop() // it has given up
			continue
		}
		if p.host.version != versionUnknown && !l.pooled(p.host) {
			p.waiting.Pop()
			n.pool, n.deadline = nil, l.clock.Now+n.patience
			l.send(t.index) // the host speaks HTTP/1.1: each has a connection of its own
			continue
		}
		if !l.grant(p, t.index) {
			l.heads(p, t.index)
			return
		}
		p.waiting.Pop()
	}
}

// heads lets the time run of the request that is first in the queue. The others wait as long
// as connections come free at all: each of them takes its time from then on.
func (l *loop) heads(p *pool, index int32) {
	if n := l.lane(index); n.deadline == never {
		n.deadline = l.clock.Now + n.patience
		l.alarm(index, n.deadline)
	}
}

// settlePools looks at what came free, and writes what was queued.
func (l *loop) settlePools() {
	for len(l.pools) > 0 || len(l.dirty) > 0 {
		for i := 0; i < len(l.pools); i++ {
			p := l.pools[i]
			p.due = false
			l.pump(p)
		}
		l.pools = l.pools[:0]
		l.flushDirty()
	}
}

// bereft takes the failure to make a connection: who waits fails with it, if there is no
// other one to wait for.
func (l *loop) bereft(p *pool, err error) {
	p.count--
	l.owe(p)
	if p.count > 0 || l.cut {
		return
	}
	for left := p.waiting.Len(); left > 0; left-- {
		t := p.waiting.Pop()
		if n := l.lane(t.index); n.serial == t.serial && n.pool == p {
			l.fail(t.index, err)
		}
	}
}

// parted takes a connection out of its pool.
func (l *loop) parted(at int32) {
	c := l.conns.at(at)
	p := c.pool
	if p == nil {
		return
	}
	c.pool = nil
	p.count--
	if i := slices.Index(p.open, at); i >= 0 {
		p.open = slices.Delete(p.open, i, i+1)
	}
	l.owe(p)
}

// giveBack makes a connection idle whose request has ended, or gives it to the next one.
func (l *loop) giveBack(at int32) {
	c := l.conns.at(at)
	c.lane, c.next = none, c.pool.idle
	c.pool.idle = at
	if c.pool.waiting.Len() > 0 {
		l.owe(c.pool)
	}
}

// inVain takes the end of a time in which the first request of a queue had no turn. As long
// as anything is under way it waits: that has a time of its own. Else it ends, and
// connections that carry nothing and yet take no stream are given up.
func (l *loop) inVain(index int32) {
	n := l.lane(index)
	p := n.pool
	if l.busy(p) {
		n.deadline = l.clock.Now + n.patience
		l.alarm(index, n.deadline)
		return
	}
	what := "connection"
	if p.host.version == version2 {
		what = "stream"
	}
	for i := len(p.open) - 1; i >= 0; i-- {
		if m := l.conns.at(p.open[i]).multi; m.Streams() == 0 && !m.CanOpen() {
			l.retire(p.open[i])
		}
	}
	l.fail(index, &http1.Error{Kind: http1.KindTimeout, Detail: fmt.Sprintf("no %s to %s came free in time", what, p.host.name)})
}

// busy tells whether a connection of a pool carries anything, or is being made.
func (l *loop) busy(p *pool) bool {
	if p.host.version == version1 || p.count > len(p.open) {
		return p.count > 0
	}
	return slices.ContainsFunc(p.open, func(at int32) bool { return l.conns.at(at).multi.Streams() > 0 })
}

// negotiated tells, of a connection that stands, whether it speaks HTTP/2.
func (l *loop) negotiated(c *conn) (bool, error) {
	switch {
	case c.secure == nil && c.host.version == version2 && l.proxy != nil:
		return false, errProxied
	case c.secure == nil:
		return c.host.version == version2, nil
	}
	chosen := c.secure.tls.ConnectionState().NegotiatedProtocol
	switch {
	case chosen == "h2":
		c.host.version = version2
		return true, nil
	case l.cfg.Workflow.HTTP.Version == workflow.Version2:
		return false, errNotHTTP2
	}
	c.host.version = version1
	return false, nil
}

// errProxied: a proxy takes whole requests, not a wire, where there is no TLS.
var errProxied = &http1.Error{Kind: http1.KindProxy, Detail: "a proxy takes http:// requests over HTTP/1.1 alone: write version = \"1.1\" or \"auto\" in http.client, or https://"}

var errNotHTTP2 = &http1.Error{Kind: http1.KindProtocol, Detail: "the server does not choose HTTP/2 by ALPN: write version = \"auto\" or \"1.1\" in http.client"}

// standing uses a connection that stands: here a protocol begins.
func (l *loop) standing(at int32) {
	c := l.conns.at(at)
	c.state = connOpen
	index := c.lane
	n := l.lane(index)
	two, err := l.negotiated(c)
	if err != nil {
		l.fail(index, err)
		return
	}
	if two && n.reserved == nil { // the host spoke HTTP/1.1 before
		n.reserved = l.poolOf(n.vu, c.host)
		n.reserved.count++
	}
	p := n.reserved
	n.reserved = nil
	switch {
	case p == nil:
	case two || l.pooled(c.host):
		c.pool = p
	default: // the host speaks HTTP/1.1: each has connections of its own
		p.count--
		l.owe(p)
	}
	if two {
		l.multiplex(at)
		return
	}
	l.parses(n)
	l.write(index)
}
