// Package world is what tests of running pods share: nodes of kubelet, the overlay one-cluster, a target that counts
// requests, and clients that follow jobs to their end. The control plane is the test's own choice.
//
// Its own test has a double in place of a control plane: client-go's fake, and loops that make pods and endpoints. It shows that
// pods of the overlay find each other and survive restarts, and nothing of Kubernetes' controllers. Package pods has
// these.
//
// TestMain calls Main. Tests need root, the command ip and HYPERSCALE_KUBE=1, which makes a test run itself again in
// namespaces of its own. The binary is bin/hyperscale, or HYPERSCALE_BINARY.
//
// An example:
//
//	w := world.Start(t, client, 3)
//	apply(w.Overlay())
//	w.Pods.Wait(time.Minute)
//	w.Submit(ctx, "job-1", 3, 5*time.Second).Completed(t)
//
// Read world.go, pods.go, jobs.go, target.go.
package world
