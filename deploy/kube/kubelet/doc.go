// Package kubelet runs the pods of a test's control plane as processes of this machine, without a container engine. One
// process stands for all nodes.
//
// A pod has a network namespace on one bridge, and an address that no other pod ever gets. A container has PID, mount and UTS
// namespaces, a root of its own with the binary as its only file, the user of its security context, and no capability. Its
// first process is the binary. Environment, volumes, probes, restarts, grace and status follow the kubelet.
// Some of them are its own code: expansion of variables, fields of pods and containers, and the back-off of restarts.
//
// A DNS server answers from Services and EndpointSlices. There is no proxy: the name of a Service with an address leads to its
// ready pods, as that of a headless one does.
//
// These are left out: init containers, exec and gRPC probes, image pulls, volumes but claims, ConfigMaps, Secrets and emptyDir,
// changes of a mounted Secret, limits of CPU and memory, network policies, garbage collection, restarts of the kubelet. A
// pod that needs more waits, and its status says for what.
//
// Invariants:
//
//	KUBELET-1 It touches no network, mount or process of the machine: Enter gives the test namespaces of its own.
//	KUBELET-2 A container's processes end with its first one, and all of them with the test.
//	KUBELET-3 A pod leaves the API server only when its processes have ended.
//
// An example; TestMain calls Become and Enter:
//
//	k, err := kubelet.Start(ctx, kubelet.Config{Client: client, Nodes: 3, Images: map[string]string{"hyperscale": "bin/hyperscale"}, Dir: t.TempDir()})
//	defer k.Stop()
//
// Read kubelet.go, node.go, pod.go, container.go, probe.go, status.go, environment.go, volumes.go, process.go,
// birth.go, network.go, names.go, disks.go, namespaces.go.
package kubelet
