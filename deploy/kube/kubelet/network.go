package kubelet

import (
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// namespaces is where the command ip keeps names of network namespaces.
const namespaces = "/run/netns"

// Address is that of the test itself on the bridge of all pods: targets and the DNS server listen there.
const Address = "10.244.0.1"

const (
	bridge = "pods"
	prefix = "/16" // of the bridge's network
)

// network gives pods their addresses.
type network struct {
	mu   sync.Mutex
	last netip.Addr // no address returns
}

func newNetwork() (*network, error) {
	for _, args := range [][]string{
		{"link", "add", bridge, "type", "bridge"},
		{"addr", "add", Address + prefix, "dev", bridge},
		{"link", "set", bridge, "up"},
	} {
		if err := ip(args...); err != nil {
			return nil, err
		}
	}
	return &network{last: netip.MustParseAddr(Address)}, nil
}

// close removes the bridge.
func (n *network) close() { _ = ip("link", "del", bridge) } // it ends with the namespace at the latest

// wire is the network of one pod.
type wire struct {
	name    string // of its namespace
	address netip.Addr
}

func (w wire) path() string { return filepath.Join(namespaces, w.name) }

// add makes a namespace whose device eth0 is on the bridge.
func (n *network) add() (wire, error) {
	n.mu.Lock()
	n.last = n.last.Next()
	address := n.last
	n.mu.Unlock()
	quad := address.As4()
	w := wire{name: fmt.Sprintf("pod-%d-%d", quad[2], quad[3]), address: address}
	outer := fmt.Sprintf("v%d-%d", quad[2], quad[3])
	for _, args := range [][]string{
		{"netns", "add", w.name},
		{"link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", w.name},
		{"link", "set", outer, "master", bridge, "up"},
		{"-n", w.name, "addr", "add", address.String() + prefix, "dev", "eth0"},
		{"-n", w.name, "link", "set", "lo", "up"},
		{"-n", w.name, "link", "set", "eth0", "up"},
	} {
		if err := ip(args...); err != nil {
			n.remove(w)
			return wire{}, err
		}
	}
	return w, nil
}

// remove deletes a namespace. Its device goes with it once no process is in it.
func (n *network) remove(w wire) { _ = ip("netns", "del", w.name) } // it may be half made

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
