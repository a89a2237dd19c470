package transport

import (
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/node"
	"hyperscale/runtime/epoll"
)

// descriptorsKept are for what is no accepted stream: the store, the ports, streams that this node
// opens, connections of the admin port.
const descriptorsKept = 192

// bounded derives from the limit of open files how many connections a node takes in. Clients have
// half of the places, so that they never keep a node of the cluster out.
func (l Limits) bounded(descriptors uint64) Limits {
	left := max(int(min(descriptors, 1<<20))-descriptorsKept, 64)
	l.Strangers = max(1, min(l.Strangers, left/8))
	l.Clients = max(1, min(l.Clients, (left-l.Strangers)/2))
	l.Nodes = max(1, min(l.Nodes, left-l.Strangers-l.Clients))
	return l
}

// descriptors is how many files this process may have open.
func descriptors() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024 // what a shell gives
	}
	return limit.Cur
}

// crowd counts the accepted streams of clients and of nodes.
type crowd struct {
	mu      sync.Mutex
	nodes   int
	clients int
	sources map[netip.Addr]int // of clients
}

// sourceOf is who pays for a client's connection: its address, or the network that one IPv6 host
// has for itself.
func sourceOf(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	ip := tcp.AddrPort().Addr().Unmap()
	if ip.Is6() {
		ip = netip.PrefixFrom(ip.WithZone(""), 64).Masked().Addr()
	}
	return ip
}

// enter gives a peer a place, or says why there is none. One source has at most half of the
// clients' places.
func (c *crowd) enter(l *Limits, role node.Role, from netip.Addr) *RefusedError {
	c.mu.Lock()
	defer c.mu.Unlock()
	refuse := func(place, want, remedy string) *RefusedError {
		return &RefusedError{Field: fieldPlace, Got: place, Want: want, Remedy: remedy}
	}
	const raise = "raise that node's limit of open files (ulimit -n), or spread over more of them"
	switch own := c.sources[from]; {
	case role != node.RoleClient && c.nodes >= l.Nodes:
		return refuse(fmt.Sprintf("node %d", c.nodes+1), fmt.Sprintf("at most %d nodes", l.Nodes), raise)
	case role != node.RoleClient:
		c.nodes++
	case c.clients >= l.Clients:
		return refuse(fmt.Sprintf("client %d", c.clients+1), fmt.Sprintf("at most %d clients", l.Clients), "close commands that wait, ask another gate, or "+raise)
	case own >= max(1, l.Clients/2):
		return refuse(fmt.Sprintf("client %d of %s", own+1, from), fmt.Sprintf("at most %d of one address", max(1, l.Clients/2)), "close commands that wait, ask another gate, or "+raise)
	default:
		c.clients++
		c.sources[from] = own + 1
	}
	return nil
}

// leave gives a place back.
func (c *crowd) leave(role node.Role, from netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if role != node.RoleClient {
		c.nodes--
		return
	}
	c.clients--
	if c.sources[from]--; c.sources[from] == 0 {
		delete(c.sources, from)
	}
}

// admit lets a guest that enters end pauses, if its source has few. The lock is held.
func (h *hall) admit(g *guest) {
	few := g.source.guests <= calmFew
	if few && g.s.peer.Role == node.RoleClient && h.calm.guests < calmMost && h.calm.set.Add(g.conn.fd, epoll.In|epoll.RdHup|epoll.Edge, uint64(g.s.id)) == nil {
		g.calm = true
		h.calm.guests++
	}
	if g.source.guests != calmFew+1 {
		return
	}
	//lint:orderfree each by itself
	for _, o := range h.guests {
		if o.calm && o.source == g.source {
			_ = h.calm.set.Del(o.conn.fd) // it may have left
			h.excite(o)
		}
	}
}

// excite lets a guest end no pause any more. The lock is held.
func (h *hall) excite(g *guest) {
	if g.calm {
		g.calm = false
		h.calm.guests--
	}
}

// calmTimes is how often a pause ends early. Those who ask more often wait as others do.
const calmTimes = 16

// rouse ends a pause for a message to a calm guest. The lock is held.
func (h *hall) rouse(g *guest) {
	if g.calm && h.calm.rests {
		h.calm.rests = false
		_ = h.calm.set.Wake() // only a full counter is an error, and that wakes too
	}
}

// rest is the pause of a busy hall: others work. Calm guests end it for themselves.
func (h *hall) rest(events []epoll.Event, until time.Time) {
	for range calmTimes {
		if h.rests(true) {
			return
		}
		n := h.calm.wait(events, until)
		if over := h.rests(false); n == 0 || over {
			return
		}
		h.attend(events[:n])
		h.serve(time.Now(), h.sourcesThatWait())
	}
	time.Sleep(time.Until(until))
}

// rests notes whether the hall does, and says whether it is over.
func (h *hall) rests(is bool) (over bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calm.rests = is
	return h.over
}

// sourcesThatWait is after how many turns each source has had one.
func (h *hall) sourcesThatWait() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return min(len(h.turns), hallTurn)
}

// serve gives guests their turns, at most so many.
func (h *hall) serve(now time.Time, turns int) {
	for range turns {
		g, why := h.take()
		if g == nil {
			return
		}
		if why&says != 0 {
			h.say(g, now)
		}
		if why&hears != 0 {
			h.hear(g, now)
		}
		if h.calm.urgent {
			h.calm.urgent = false
			runtime.Gosched() // the machine is the next that runs here, if it has slept
		}
	}
}
