package redistest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// slots is how many a cluster has.
const slots = 16384

// StartCluster starts a cluster of so many nodes without data, each of which has the same share of the
// slots, in their order.
func StartCluster(tb testing.TB, nodes int) []*Server {
	tb.Helper()
	all := make([]*Server, nodes)
	for i := range all {
		all[i] = startNode(tb)
		from, to := i*slots/nodes, (i+1)*slots/nodes-1
		if got := all[i].Ask("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(from), strconv.Itoa(to)); got != "+OK" {
			tb.Fatal(got)
		}
		all[i].Ask("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		if i > 0 {
			all[i].meets(all[0])
		}
	}
	for _, s := range all {
		s.await(func() bool {
			info := s.Ask("CLUSTER", "INFO")
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_size:"+strconv.Itoa(nodes))
		})
	}
	return all
}

// busPort is where other nodes reach it.
func (s *Server) busPort() int {
	port, _ := strconv.Atoi(strings.TrimPrefix(s.Ask("CONFIG", "GET", "cluster-port"), "cluster-port\n"))
	return port
}

// await waits until something holds.
func (s *Server) await(holds func() bool) {
	s.tb.Helper()
	for until := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			s.tb.Fatal("the cluster does not stand: ", s.Ask("CLUSTER", "INFO"))
		}
	}
}

// Give moves a slot without keys to another node of a cluster.
func Give(all []*Server, slot, to int) {
	id := all[to].Ask("CLUSTER", "MYID")
	for i := range all {
		all[(to+i)%len(all)].Ask("CLUSTER", "SETSLOT", strconv.Itoa(slot), "NODE", id)
	}
}

// Join starts so many other nodes, without slots.
func Join(tb testing.TB, all []*Server, nodes int) (added []*Server) {
	tb.Helper()
	for i := range nodes {
		s := startNode(tb)
		s.Ask("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(len(all)+i+1))
		s.meets(all[0])
		added = append(added, s)
	}
	both := append(slices.Clone(all), added...)
	for _, s := range both {
		s.await(func() bool {
			info := s.Ask("CLUSTER", "INFO")
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:"+strconv.Itoa(len(both)))
		})
	}
	return added
}

// Copy starts a replica of each node, whose data the replica has.
func Copy(tb testing.TB, all []*Server) []*Server {
	tb.Helper()
	copies := Join(tb, all, len(all))
	for i, s := range copies {
		s.Ask("CLUSTER", "REPLICATE", all[i].Ask("CLUSTER", "MYID"))
	}
	for i, s := range copies {
		s.await(func() bool { return strings.Contains(s.Ask("INFO", "replication"), "master_link_status:up") })
		for _, of := range all {
			of.await(func() bool { return strings.Contains(of.Ask("CLUSTER", "SLOTS"), s.Ask("CLUSTER", "MYID")) })
		}
		all[i].await(func() bool { return all[i].Ask("WAIT", "1", "1000") == ":1" })
	}
	return copies
}

// Migrate begins to move a slot to another node: keys that are not at the first node are asked for there.
func Migrate(all []*Server, slot, from, to int) {
	all[to].Ask("CLUSTER", "SETSLOT", strconv.Itoa(slot), "IMPORTING", all[from].Ask("CLUSTER", "MYID"))
	all[from].Ask("CLUSTER", "SETSLOT", strconv.Itoa(slot), "MIGRATING", all[to].Ask("CLUSTER", "MYID"))
}

// Carry moves a key of a slot that moves.
func Carry(all []*Server, key string, from, to int) {
	if got := all[from].Ask("MIGRATE", "127.0.0.1", strconv.Itoa(all[to].port), key, "0", "5000"); got != "+OK" {
		all[from].tb.Fatal(got)
	}
}

// meets makes two nodes know each other.
func (s *Server) meets(other *Server) {
	other.Ask("CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(s.port), strconv.Itoa(s.busPort()))
}

func startNode(tb testing.TB) *Server {
	return Start(tb, "--cluster-enabled", "yes", "--cluster-port", anyPort, "--cluster-node-timeout", "5000", "--repl-diskless-sync-delay", "0", "--cluster-allow-replica-migration", "no")
}
