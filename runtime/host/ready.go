package host

import (
	"fmt"
	"sync"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// work is whom a node gets its work from, as its events tell: a worker's managers,
// a manager's gates.
type work struct {
	from node.Role // none: it gets work from whoever calls

	mu    sync.Mutex
	peers map[node.ID]bool // registered with
}

func newWork(role node.Role) *work {
	w := &work{peers: map[node.ID]bool{}}
	switch role {
	case node.RoleWorker:
		w.from = node.RoleManager
	case node.RoleManager:
		w.from = node.RoleGate
	}
	return w
}

func (w *work) observe(e node.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := e.(type) {
	case event.PeerRegistered:
		if e.Role == w.from {
			w.peers[e.Peer] = true
		}
	case event.PeerLost:
		delete(w.peers, e.Peer)
	}
}

func (w *work) ready() (bool, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.from.Valid() && len(w.peers) == 0 {
		return false, fmt.Sprintf("no %s has taken this node in: see that one runs, and its address in --%ss or --seed", w.from, w.from)
	}
	return true, ""
}

// alive is false when one step has been going on for so long that only a restart
// helps.
func (n *Node) alive() (bool, string) {
	if running := n.loop.Stats().Running; running > stepMax {
		return false, fmt.Sprintf("one step of the machine has been running for %s: see the log, restart the node", running.Round(time.Second))
	}
	return true, ""
}

// ready is false while no work can come: until the machine has started, while
// nobody who has work has taken the node in, and from Stop on.
func (n *Node) ready() (bool, string) {
	if n.loop.Stopping() {
		return false, "the node is stopping"
	}
	if s := n.loop.Stats(); s.Handled[node.InputStart][node.Critical] == 0 {
		return false, "the node is starting"
	}
	if ok, why := n.work.ready(); !ok {
		return false, why
	}
	return n.alive()
}
