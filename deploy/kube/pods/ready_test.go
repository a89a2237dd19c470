package pods

import (
	"testing"
	"time"
)

// readyWithin bounds the time from `kubectl apply` to the last pod's readiness.
const readyWithin = 30 * time.Second

// TestReady: the overlay one-cluster is applied once, and all pods are ready in time. A job runs on all workers, and its
// requests are those that the target has.
func TestReady(t *testing.T) {
	w := start(t, 3)
	began := time.Now()
	w.apply()
	w.Pods.Wait(5 * time.Minute)
	took := time.Since(began)
	t.Logf("ready after %v", took.Round(100*time.Millisecond))
	if took > readyWithin {
		t.Errorf("all pods were ready after %v, want %v", took, readyWithin)
	}
	j := w.Submit(t.Context(), "first", 3, 3*time.Second)
	t.Log(j)
	j.Whole(t, w.Target)
}
