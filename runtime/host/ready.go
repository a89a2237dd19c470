package host

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"hyperscale/core/alert"
	"hyperscale/core/event"
	"hyperscale/core/node"
)

// work holds what a node needs to get work, as its events report. It needs a peer that has
// work: a worker's managers, a manager's gates. Owners of jobs or subjobs also need the
// membership of their group.
type work struct {
	from  node.Role // none: it gets work from any node that connects
	group bool      // it must have joined one

	mu      sync.Mutex
	peers   map[node.ID]bool // registered with
	joined  bool
	trouble string            // why it is no member
	refused string            // why the last peer with work refused it
	set     []node.Addr       // of the group: configured, or later by its disk; sorted
	near    map[string]string // by setting: how much of a bound is used that is near; and alerts, by name
	lacks   []string          // what sinks that were given up lack of jobs, until the watch takes it
}

// lacksMax bounds the sinks that one look of the watch names.
const lacksMax = 8

func newWork(role node.Role, set []node.Addr) *work {
	w := &work{set: set, peers: map[node.ID]bool{}, near: map[string]string{}}
	switch role {
	case node.RoleWorker:
		w.from = node.RoleManager
	case node.RoleManager:
		w.from, w.group = node.RoleGate, true
	case node.RoleGate:
		w.group = true
	}
	return w
}

func (w *work) observe(e node.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := e.(type) {
	case event.PeerRegistered:
		if e.Role == w.from {
			w.peers[e.Peer], w.refused = true, ""
		}
	case event.PeerRefused:
		if e.Role == w.from {
			w.refused = fmt.Sprintf("%s refuses this node: %s", e.Peer, e.Reason)
		}
	case event.PeerLost:
		delete(w.peers, e.Peer)
	case event.GroupMoved:
		w.set = nil
		for member := range strings.SplitSeq(e.Set, ",") {
			w.set = append(w.set, node.Addr(member))
		}
		slices.Sort(w.set)
	case event.SinkEnded:
		if e.Failed != "" && len(w.lacks) < lacksMax {
			w.lacks = append(w.lacks, fmt.Sprintf("%s (job %v lacks %d rows there, with %d requests: %s)", e.Sink, e.Job, e.Lost, e.LostRequests, e.Failed))
		}
	case event.GroupJoined:
		w.joined, w.trouble = true, ""
	case event.GroupAlarm:
		if !e.Speaks {
			w.joined, w.trouble = false, e.Reason
		}
	case event.BoundNear:
		delete(w.near, e.Setting)
		if e.Near {
			w.near[e.Setting] = fmt.Sprintf("%s = %d is near, %d are used: raise it", e.Setting, e.Bound, e.Used)
		}
	case event.Alert:
		delete(w.near, e.Alert)
		if e.Change == event.AlertRaised || e.Change == event.AlertTaken {
			w.near[e.Alert] = alert.Text(e.Alert, e.Why)
		}
	case event.GroupRefused:
		if !w.joined {
			w.trouble = fmt.Sprintf("%s is configured with the set %s, this node with %s: give both the same one", e.Peer, e.Theirs, e.Ours)
		}
	}
}

// retell says why a raised alert stands now: a certificate that was to expire has expired.
func (w *work) retell(id alert.ID, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, on := w.near[id.String()]; on {
		w.near[id.String()] = alert.Text(id.String(), why)
	}
}

// alerts are those that the host judges and no machine tells of, sorted.
func (w *work) alerts() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range alert.IDs {
		if text, on := w.near[id.String()]; on && alert.RuleOf(id).Host {
			all = append(all, text)
		}
	}
	return all
}

// takeLacks returns what sinks lack of jobs that have ended since the last call.
func (w *work) takeLacks() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.lacks
	w.lacks = nil
	return all
}

// members is the set that the node is a member of.
func (w *work) members() []node.Addr {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.set
}

func (w *work) ready() (bool, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.group && !w.joined {
		why := "this node is no member of its group yet: a new group waits for all of its members, a member whose disk is empty for a majority of the others"
		if w.trouble != "" {
			why = w.trouble
		}
		return false, why
	}
	if w.from.Valid() && len(w.peers) == 0 && w.refused != "" {
		return false, w.refused
	}
	if w.from.Valid() && len(w.peers) == 0 {
		return false, fmt.Sprintf("no %s has taken this node in: see that one runs, and that --%ss or --seed has the address of one that has a seat now: `hyperscale status --cluster` lists them", w.from, w.from)
	}
	return true, strings.Join(slices.Sorted(maps.Values(w.near)), "; ")
}

// alive is false when one step has been going on for so long that only a restart
// helps.
func (n *Node) alive() (bool, string) {
	if running := n.loop.Stats().Running; running > stepMax {
		return false, fmt.Sprintf("one step of the machine has been running for %s: see the log, restart the node", running.Round(time.Second))
	}
	return true, ""
}

// ready returns false while no work can arrive. That is so before the machine has started,
// before it is a member of its group, before a peer with work has registered it, and after
// Stop.
func (n *Node) ready() (bool, string) {
	if n.loop.Stopping() {
		return false, "the node is stopping"
	}
	if s := n.loop.Stats(); s.Handled[node.InputStart][node.Critical] == 0 {
		return false, "the node is starting"
	}
	ok, near := n.work.ready()
	if !ok {
		return false, near
	}
	if ok, why := n.alive(); !ok {
		return false, why
	}
	if ok, why := n.sinks.Ready(); !ok {
		return false, why
	}
	return true, near
}
