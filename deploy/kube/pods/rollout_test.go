package pods

import (
	"testing"
	"time"

	"hyperscale/deploy/kube/world"
)

// rolloutWithin bounds each rollout of three members, each of which waits for the one before. The helper of kubectl waits for 180 s.
const rolloutWithin = "170s"

// A job under a rollout lasts so long, and takes so much longer at most: a client that hears of its end late has waited for a lease.
const (
	rolloutJob    = 15 * time.Second
	rolloutSlower = 10 * time.Second
)

// TestRollouts: gates, managers and workers are restarted, get another image and go back while jobs run. No job is lost or late, no
// request or attempt of theirs fails, and of each group two members stay ready.
func TestRollouts(t *testing.T) {
	w := start(t, 3)
	w.apply()
	w.Pods.Wait(5 * time.Minute)
	w.Pods.Floor()
	jobs := w.KeepBusy(2, rolloutJob)
	for _, step := range [][]string{
		{"rollout", "restart", "statefulset/hyperscale-gate"},
		{"rollout", "restart", "statefulset/hyperscale-manager"},
		{"rollout", "restart", "deployment/hyperscale-worker"},
		{"set", "image", "statefulset/hyperscale-gate", "gate=" + world.Next},
		{"rollout", "undo", "statefulset/hyperscale-gate"},
		{"set", "image", "statefulset/hyperscale-manager", "manager=" + world.Next},
		{"rollout", "undo", "statefulset/hyperscale-manager"},
	} {
		began := time.Now()
		w.kubectl(append(step, "-n", world.Space)...)
		w.kubectl("-n", world.Space, "rollout", "status", step[2], "--timeout", rolloutWithin)
		t.Logf("%v took %.1f s", step, time.Since(began).Seconds())
	}
	slowest := time.Duration(0)
	for _, j := range jobs.Stop() {
		j.Whole(t, w.Target)
		slowest = max(slowest, j.Took())
	}
	t.Logf("the slowest job took %.1f s", slowest.Seconds())
	if slowest > rolloutJob+rolloutSlower {
		t.Errorf("a job of %v took %v, want %v more at most", rolloutJob, slowest, rolloutSlower)
	}
	for role, n := range world.Members() {
		if least := w.Pods.Lowest(role); least < n-1 {
			t.Errorf("of %d pods with role %s only %d were ready, want %d at any time", n, role, least, n-1)
		}
	}
}
