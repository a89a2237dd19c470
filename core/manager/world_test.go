package manager

import (
	"container/heap"
	"fmt"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// net is a small world of several nodes: real managers, and models of a gate and workers.
// Streams and datagrams take a millisecond; a cut drops messages silently.
type net struct {
	t       testing.TB
	now     node.Instant
	order   uint64
	queue   queue
	hosts   map[node.Addr]*host
	cut     map[[2]node.Addr]bool
	streams map[node.StreamID]*wire
	next    node.StreamID
	events  []node.Event
	watch   func(h *host, e node.Event)
}

type wire struct{ from, to node.Addr }

type happening struct {
	at    node.Instant
	order uint64
	do    func()
}

type queue []happening

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(happening)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// host is one node of the world.
type host struct {
	net     *net
	peer    node.Peer
	make    func() node.Machine
	machine node.Machine // nil while it is down
	life    uint64
	timers  map[node.TimerKey]uint64
	set     uint64
	disk    map[string][]byte
	rands   [node.Purposes]*node.Rand
}

var _ node.Env = (*host)(nil)

func newNet(t testing.TB) *net {
	return &net{
		t: t, now: node.Instant(time.Hour), hosts: map[node.Addr]*host{}, cut: map[[2]node.Addr]bool{}, streams: map[node.StreamID]*wire{},
	}
}

func (n *net) add(id node.ID, role node.Role, make func() node.Machine) *host {
	h := &host{net: n, peer: node.Peer{ID: id, Role: role, Addr: node.Addr(id + ":1")}, make: make, disk: map[string][]byte{}}
	for p := range h.rands {
		h.rands[p] = node.NewRand(1, id, node.Purpose(p))
	}
	n.hosts[h.peer.Addr] = h
	return h
}

func (n *net) at(d time.Duration, do func()) {
	n.order++
	heap.Push(&n.queue, happening{n.now.Add(d), n.order, do})
}

// run advances the clock.
func (n *net) run(d time.Duration) {
	end := n.now.Add(d)
	for len(n.queue) > 0 && n.queue[0].at <= end {
		next := heap.Pop(&n.queue).(happening)
		n.now = next.at
		next.do()
	}
	n.now = end
}

// until runs until ok returns true, or fails.
func (n *net) until(what string, most time.Duration, ok func() bool) {
	n.t.Helper()
	for end := n.now.Add(most); !ok(); n.run(10 * time.Millisecond) {
		if n.now > end {
			n.t.Fatalf("not within %v: %s", most, what)
		}
	}
}

func (n *net) blocked(a, b node.Addr) bool { return n.cut[[2]node.Addr{a, b}] }

// part cuts or repairs the links between two nodes.
func (n *net) part(a, b *host, cut bool) {
	n.cut[[2]node.Addr{a.peer.Addr, b.peer.Addr}] = cut
	n.cut[[2]node.Addr{b.peer.Addr, a.peer.Addr}] = cut
}

func (h *host) start() {
	h.life++
	h.peer.Incarnation++
	h.timers = map[node.TimerKey]uint64{}
	h.machine = h.make()
	h.step(&node.Input{Kind: node.InputStart})
}

// crash takes a node down; its streams break.
func (h *host) crash() {
	h.life++
	h.machine = nil
	for id := node.StreamID(1); id <= h.net.next; id++ {
		if w := h.net.streams[id]; w != nil && (w.from == h.peer.Addr || w.to == h.peer.Addr) {
			h.net.end(id, w, h.peer.Addr, "reset")
		}
	}
}

// end breaks a stream for the side that did not close it.
func (n *net) end(id node.StreamID, w *wire, by node.Addr, why string) {
	delete(n.streams, id)
	other := n.hosts[w.from]
	if w.from == by {
		other = n.hosts[w.to]
	}
	if other == nil || n.blocked(by, other.peer.Addr) {
		return
	}
	life := other.life
	n.at(time.Millisecond, func() {
		if other.life == life {
			other.step(&node.Input{Kind: node.InputStreamBroken, Stream: id, From: n.hosts[by].peer, Reason: why})
		}
	})
}

func (h *host) step(in *node.Input) {
	if h.machine != nil {
		h.machine.Step(h, in)
	}
}

// deliver delivers a message to the process that runs at its arrival.
func (h *host) deliver(to *host, stream node.StreamID, m node.Message) {
	if to == nil || h.net.blocked(h.peer.Addr, to.peer.Addr) {
		return
	}
	copied, _, err := message.Clone(m, nil)
	if err != nil {
		h.net.t.Fatalf("%v: a message that cannot cross a wire: %v", h.peer, err)
	}
	from, life := h.peer, to.life
	h.net.at(time.Millisecond, func() {
		if to.life == life && (stream == 0 || h.net.streams[stream] != nil) {
			to.step(&node.Input{Kind: node.InputMessage, From: from, Stream: stream, Message: copied})
		}
	})
}

func (h *host) Self() node.Peer                       { return h.peer }
func (h *host) Now() node.Instant                     { return h.net.now }
func (h *host) Rand(p node.Purpose) *node.Rand        { return h.rands[p] }
func (h *host) Store() node.Store                     { return h }
func (h *host) Exec() node.Executor                   { return nil }
func (h *host) Outputs() node.Outputs                 { return nil }
func (h *host) Answer(node.CommandID, node.Message)   {}
func (h *host) Datagram(to node.Addr, m node.Message) { h.deliver(h.net.hosts[to], 0, m) }

func (h *host) Emit(e node.Event) {
	h.net.events = append(h.net.events, e)
	if h.net.watch != nil {
		h.net.watch(h, e)
	}
}

func (h *host) Restart(reason string) { h.Halt("restart: " + reason) }
func (h *host) Halt(reason string) {
	if reason != "" {
		h.net.t.Errorf("%v halts: %s", h.peer, reason)
	}
	h.net.at(0, h.crash)
}

func (h *host) Resolve(node.Addr) {}

func (h *host) Backlog(node.StreamID) (bytes, bound int) { return 0, 0 }

func (h *host) Open(to node.Addr) node.StreamID {
	n := h.net
	n.next++
	id, other, life := n.next, n.hosts[to], h.life
	if other == nil || n.blocked(h.peer.Addr, to) {
		return id // it neither opens nor breaks
	}
	w := &wire{h.peer.Addr, to}
	n.at(time.Millisecond, func() {
		if other.machine == nil {
			if h.life == life {
				h.step(&node.Input{Kind: node.InputStreamBroken, Stream: id, Reason: "connection refused"})
			}
			return
		}
		if h.life != life {
			return
		}
		n.streams[id] = w
		other.step(&node.Input{Kind: node.InputStreamOpened, Stream: id, From: h.peer})
		if n.streams[id] != nil {
			h.step(&node.Input{Kind: node.InputStreamOpened, Stream: id, From: other.peer})
		}
	})
	return id
}

func (h *host) Send(id node.StreamID, m node.Message) {
	w := h.net.streams[id]
	if w == nil {
		return
	}
	to := w.to
	if to == h.peer.Addr {
		to = w.from
	}
	h.deliver(h.net.hosts[to], id, m)
}

func (h *host) Close(id node.StreamID) {
	if w := h.net.streams[id]; w != nil {
		h.net.end(id, w, h.peer.Addr, "closed")
	}
}

func (h *host) SetTimer(k node.TimerKey, d time.Duration) {
	h.set++
	set, life := h.set, h.life
	h.timers[k] = set
	h.net.at(d, func() {
		if h.life == life && h.timers[k] == set {
			delete(h.timers, k)
			h.step(&node.Input{Kind: node.InputTimer, Timer: k})
		}
	})
}

func (h *host) CancelTimer(k node.TimerKey) { delete(h.timers, k) }

func (h *host) Put(records []node.Record, t node.WriteID) {
	life := h.life
	h.net.at(time.Millisecond, func() {
		if h.life != life {
			return
		}
		for _, r := range records {
			if r.Value == nil {
				delete(h.disk, r.Key)
			} else {
				h.disk[r.Key] = r.Value
			}
		}
		h.step(&node.Input{Kind: node.InputStored, WriteID: t})
	})
}

func (h *host) Load(prefix string) []node.Record {
	return loadSorted(h.disk, prefix)
}

func (h *host) String() string { return fmt.Sprint(h.peer.ID) }
