package talk

import (
	"encoding/json"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/workflow/keyspace"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/http1"
)

// Cluster is what a loop knows of a Redis cluster: which node has which slot. An operation learns it that
// meets a cluster of which nothing is known, on the connection that it opens. After MOVED or ASK the
// operation that got it fails, and learns the layout anew before it ends: nothing is sent twice, unless its
// client follows redirects.
type Cluster struct {
	key    string // of hosts
	secure bool
	shared int // connections to a node that all users share; 0: each has its own
	nodes  []*Node
	slots  *[keyspace.Slots]uint16 // places in nodes, from 1; 0: unknown. Nil: all are
	reads  bool                    // replicas answer reads
	copies map[uint16][]*Node      // the replicas of a master, by its place
	turn   uint                    // of the replica that was read last
	learns bool                    // an operation asks for the layout after a MOVED
	gone   []*pool.Host            // those of nodes that have left, until Gone tells them
	absent
}

// absent is the node of a cluster that could not be reached, until an operation has learnt the layout anew.
type absent struct {
	away *Node // nil: none
	at   int64 // since when
}

// These bound how often operations that fail make others learn the layout: those that did not reach a node, and
// those that had no answer in time, as of a node that is only slow.
const (
	loseEvery     = time.Second
	loseSlowEvery = 10 * time.Second
)

// lose notes that a node could not be reached, or did not answer: another may have its slots by now. The next
// operation on one of them asks another node for the layout.
func (c *Cluster) lose(n *Node, now int64, every time.Duration) {
	place := slices.Index(c.nodes, n) + 1
	if c.slots == nil || place == 0 || c.at > 0 && now-c.at < int64(every) {
		return
	}
	c.absent = absent{n, max(now, 1)}
	for i, at := range c.slots {
		if int(at) == place {
			c.slots[i] = 0
		}
	}
	//lint:orderfree each by itself
	for master, all := range c.copies {
		c.copies[master] = slices.DeleteFunc(slices.Clone(all), func(one *Node) bool { return one == n })
	}
}

// another returns a node to ask for the layout, in turn, other than the one that is away; nil: there is none.
func (c *Cluster) another() *Node {
	for range c.nodes {
		c.turn++
		if n := c.nodes[c.turn%uint(len(c.nodes))]; n != c.away {
			return n
		}
	}
	return nil
}

// Node is a node of a cluster.
type Node struct {
	Host pool.TalkHost // where its connections go
	Call http1.Call    // the same, as a URL
	At   *pool.Host    // the destination, once an engine has made it
}

const (
	nodesMost    = 1000 // of a cluster: the specification ends there
	clustersMost = 16   // that a loop remembers: functions may make them up
)

// node returns the node that has a slot; nil: that is not known.
func (c *Cluster) node(slot int) *Node {
	if at := c.slots[slot]; at > 0 {
		return c.nodes[at-1]
	}
	return nil
}

// replica returns a replica of the node that has a slot, each in its turn; nil: none is known.
func (c *Cluster) replica(slot int) *Node {
	all := c.copies[c.slots[slot]]
	if len(all) == 0 {
		return nil
	}
	c.turn++
	return all[c.turn%uint(len(all))]
}

// movedTo reads MOVED and ASK, of a slot that the node has no more, or still has: asks. The slot is below 0 if
// they name none.
func movedTo(e *http1.Error) (to string, slot int, asks, was bool) {
	if e == nil || e.Kind != "server MOVED" && e.Kind != "server ASK" {
		return "", 0, false, false
	}
	_, text, _ := strings.Cut(e.Detail, strings.TrimPrefix(string(e.Kind), "server ")+" ")
	words := strings.Fields(text)
	slot = -1
	if len(words) > 1 {
		if n, err := strconv.Atoi(words[0]); err == nil && n >= 0 && n < keyspace.Slots {
			slot, to = n, strings.TrimSuffix(words[1], ":")
		}
	}
	return to, slot, e.Kind == "server ASK", true
}

// named returns the place of the node that another one named at the host that was asked; 0: it is none.
func (c *Cluster) named(address, asked string) uint16 {
	at := strings.LastIndexByte(address, ':')
	if at < 0 || c.slots == nil {
		return 0
	}
	return c.place(address[:at], address[at+1:], asked, nil)
}

// move notes that a node has a slot, as another one said at the host that was asked.
func (c *Cluster) move(slot int, address, asked string) {
	if place := c.named(address, asked); place > 0 {
		c.slots[slot] = place
	}
}

// place returns the place of a node, from 1; 0: it is none. Former are nodes that may be among those again.
func (c *Cluster) place(host, port, asked string, former []*Node) uint16 {
	if host == "" || host == "?" {
		host = asked // the node does not know its own name
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || len(host) > 253 {
		return 0
	}
	key := c.key + " " + net.JoinHostPort(host, port)
	named := func(n *Node) bool { return n.Host.Key == key }
	if i := slices.IndexFunc(c.nodes, named); i >= 0 {
		return uint16(i + 1)
	}
	if len(c.nodes) == nodesMost {
		return 0
	}
	if i := slices.IndexFunc(former, named); i >= 0 {
		c.nodes = append(c.nodes, former[i])
		return uint16(len(c.nodes))
	}
	scheme := "redis"
	if c.secure {
		scheme = "rediss"
	}
	c.nodes = append(c.nodes, &Node{Host: pool.TalkHost{Key: key, Secure: c.secure, Shared: c.shared}, Call: http1.Call{Method: "Redis", Scheme: scheme, Host: host, Port: uint16(n)}})
	return uint16(len(c.nodes))
}

// read reads the answer to CLUSTER SLOTS. A node that is not in it has left the cluster.
func (c *Cluster) read(body []byte, asked string) error {
	former := c.nodes
	c.nodes = nil
	if err := c.readRanges(body, asked, former); err != nil {
		c.nodes = former
		return err
	}
	c.away = nil
	for _, n := range former {
		if n.At != nil && !slices.Contains(c.nodes, n) {
			c.gone = append(c.gone, n.At)
		}
	}
	return nil
}

// readRanges reads ranges of slots, each with its nodes, the master first.
func (c *Cluster) readRanges(body []byte, asked string, former []*Node) error {
	var ranges [][]json.RawMessage
	if err := json.Unmarshal(body, &ranges); err != nil {
		return errLayout
	}
	slots, copies := new([keyspace.Slots]uint16), map[uint16][]*Node{}
	for _, r := range ranges {
		var from, to int
		if len(r) < 3 || json.Unmarshal(r[0], &from) != nil || json.Unmarshal(r[1], &to) != nil || from < 0 || to < from || to >= keyspace.Slots {
			return errLayout
		}
		place, err := c.readNode(r[2], asked, former)
		if err != nil {
			return err
		}
		for slot := from; slot <= to; slot++ {
			slots[slot] = place
		}
		if !c.reads || place == 0 || copies[place] != nil {
			continue
		}
		for _, one := range r[3:] {
			replica, err := c.readNode(one, asked, former)
			if err != nil {
				return err
			}
			if replica > 0 {
				copies[place] = append(copies[place], c.nodes[replica-1])
			}
		}
	}
	c.slots, c.copies = slots, copies
	return nil
}

// readNode reads one node of a range and returns its place.
func (c *Cluster) readNode(text json.RawMessage, asked string, former []*Node) (place uint16, err error) {
	var node []json.RawMessage
	var host *string
	var port json.Number
	if json.Unmarshal(text, &node) != nil || len(node) < 2 || json.Unmarshal(node[0], &host) != nil || json.Unmarshal(node[1], &port) != nil {
		return 0, errLayout
	}
	if host == nil {
		host = new(string)
	}
	return c.place(*host, port.String(), asked, former), nil
}

var errLayout = &http1.Error{Kind: http1.KindProtocol, Detail: "the server's answer to CLUSTER SLOTS is no layout of a cluster"}
