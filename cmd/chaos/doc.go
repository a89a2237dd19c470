// Command chaos runs a real cluster, breaks it for a minute, heals it, and lets
// the simulator's checker judge what happened.
//
// Each node is a process in a network namespace of its own, on a disk of its own. Its packets
// pass through a switch in this process (a TUN device per namespace). The switch loses, delays,
// doubles and cuts as a schedule from a seed says: real partitions without any kernel module.
// Signals kill and stop processes. Clients submit all the time. Nodes and clients write
// histories (--history), and one checker reads them all.
//
// With --flood, a thousand connections send requests, garbage and halves of frames to all gates
// meanwhile, and obey nothing. Executors of some workers die as soon as they start. The flood
// goes on until the last honest client has its answer.
//
// With --former it runs a cluster of two versions: of each role some nodes run the other binary, as do half of
// the clients. A third of the faults then stops a node, which comes back on its disk as the other version.
// A summary tells how many registers passed between the versions.
//
// With --replace it breaks nothing: while jobs run and are submitted, each gate in turn ends for good, and a new one with an
// empty disk gets its seat at another address. A summary tells how long each step took.
//
// With --measure it breaks nothing: it cancels jobs at a gate which it floods every other four seconds, and
// compares. All nodes then share one namespace, so that no switch carries their packets.
//
// With --fleet it breaks nothing: one manager gets thousands of workers without executors, at rest and then with one
// job on all of them. It tells the manager's processor time, which its heartbeats, reports and sums take.
//
// With --apart it breaks nothing: jobs run on three datacenters whose switch passes nothing between them but TCP of the
// gates' port. Each has one result, and together they have all requests that the target had.
//
// It is not the simulator: nothing repeats exactly, a seed only draws the same schedule again.
// It needs Linux, root, /dev/net/tun and the ip command, and says so where they are missing.
// All namespaces are its own, and gone when it ends.
//
// Invariants:
//
//	CHAOS-1 What it starts ends with it: all processes live in one PID namespace.
//	CHAOS-2 It never touches the host's network.
//	CHAOS-3 A run is good only if the checker finds nothing, and every acknowledged job ended
//	        within a minute of healing. Memory and goroutines must be back near where they
//	        began.
//	CHAOS-4 A flooded run is good only if no node ever took more than 192 MiB, and the flood
//	        was answered and refused.
//	CHAOS-5 Runs of two versions are good only if registers passed to each of them.
//	CHAOS-6 A run that replaces gates is good only if no job fails, and each step ends within a minute.
//
// Read main.go, switch.go, hosts.go, cluster.go, faults.go, versions.go, replace.go, apart.go, flood.go, clients.go,
// judge.go, then measure.go, prober.go and fleet.go.
package main
