// Package pods tests deploy/kubernetes with pods that run below the control plane of Kubernetes: rollouts, evictions, drains,
// kills, and new addresses. Package world says what the tests need.
//
// Read main_test.go, then ready_test.go, rollout_test.go, losses_test.go, moved_test.go.
package pods
