// Package kube tests deploy/kubernetes and the operator of load tests with the control plane of Kubernetes itself: etcd,
// kube-apiserver, kube-controller-manager and kube-scheduler, built from their published modules. It is a module of its
// own, so that no line of them is a dependency of the product. `make kube` builds and runs it, which takes minutes.
//
// Package kubelet runs pods as processes in network namespaces, packages pods and world test what they do. Kubernetes' own
// kubelet, a network plugin and a volume plugin are not here, and docs/deploy.md says so.
//
// A test whose binary is missing skips itself and says SKIPPED; with HYPERSCALE_KUBE=1 it fails.
package kube
