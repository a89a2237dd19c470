package redistest

import (
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

// Join starts another node, without slots.
func Join(tb testing.TB, all []*Server) *Server {
	tb.Helper()
	s := startNode(tb)
	s.Ask("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(len(all)+1))
	s.meets(all[0])
	for _, of := range append([]*Server{s}, all...) {
		of.await(func() bool {
			info := of.Ask("CLUSTER", "INFO")
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:"+strconv.Itoa(len(all)+1))
		})
	}
	return s
}

// meets makes two nodes know each other.
func (s *Server) meets(other *Server) {
	other.Ask("CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(s.port), strconv.Itoa(s.busPort()))
}

func startNode(tb testing.TB) *Server {
	return Start(tb, "--cluster-enabled", "yes", "--cluster-port", anyPort, "--cluster-node-timeout", "5000")
}
