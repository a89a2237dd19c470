// Package cluster builds worlds of clients, gates, managers and workers, gives them
// jobs, and judges what clients are shown of these.
//
// It holds no world: packages reference, gates, managers and workers do. It judges
// nothing that the events of a history show; package checker does.
//
// Source: DESIGN.md, "The simulator".
//
// Invariants that each cluster must show:
//
//	CLUSTER-1 No submission makes two jobs, and no client is shown two results of one.
//	CLUSTER-2 No client sees a job's state go back.
//	CLUSTER-3 Each acknowledged job's result reaches the client that watches it, once
//	          everything is healed.
//
// Example:
//
//	func build(c *cluster.Cluster) {
//		c.Standard(cluster.GroupTopology(), nil)
//		c.Often(c.Gates, 10*time.Second, sim.FaultCrash, 5*time.Second, 0)
//	}
//
// Read topology.go, cluster.go, workload.go, clients.go, then befall.go (faults that
// recur), judges.go, core.go (who is healed), and wrapper.go, arrival.go and late.go,
// which stand between a machine and its inputs.
package cluster
