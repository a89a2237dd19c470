// Command chaos runs a real cluster, breaks it for a minute, heals it, and lets
// the simulator's checker judge what happened.
//
// Each node is a process in a network namespace of its own, on a disk of its own. Its packets
// pass through a switch in this process (a TUN device per namespace). The switch loses, delays,
// doubles and cuts as a schedule from a seed says: real partitions without any kernel module.
// Signals kill and stop processes. Clients submit all the time. Nodes and clients write
// histories (--history), and one checker reads them all.
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
//
// Read main.go, switch.go, hosts.go, cluster.go, faults.go, clients.go, judge.go.
package main
