// Package controlplane runs the control plane of Kubernetes for tests: etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler, as processes on one address of this machine.
//
// It runs no kubelet, no proxy and no DNS: a pod gets a node from the scheduler, and nothing starts it.
//
// Invariants:
//
//	CONTROLPLANE-1 Each cluster has an authority, keys, ports and a folder of its own: two of them never meet.
//	CONTROLPLANE-2 No process outlives its test, nor the process that runs the test.
//	CONTROLPLANE-3 A killed component returns with the same flags, the same port and the same disk.
//
// An example:
//
//	c := controlplane.Start(t, controlplane.Config{})
//	pods, err := c.Client(t).CoreV1().Pods("").List(ctx, metav1.ListOptions{})
//	c.Kill(t, controlplane.APIServer)
//	c.Resume(t, controlplane.APIServer)
//
// Read controlplane.go, flags.go, process.go, authority.go, audit.go.
package controlplane
