package pods

import (
	"testing"
	"time"

	"hyperscale/deploy/kube/world"
)

// rolloutWithin bounds each rollout of three members, each of which waits for the one before. The helper of kubectl waits for 180 s.
const rolloutWithin = "170s"

// TestRollouts: gates, managers and workers are restarted, get another image and go back while jobs run. No job is lost, no
// request of theirs fails, and of each group two members stay ready.
func TestRollouts(t *testing.T) {
	w := start(t, 3)
	w.apply()
	w.Pods.Wait(5 * time.Minute)
	w.Pods.Floor()
	jobs := w.KeepBusy(2, 15*time.Second)
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
	for _, j := range jobs.Stop() {
		j.Completed(t)
	}
	for role, n := range world.Members() {
		if least := w.Pods.Lowest(role); least < n-1 {
			t.Errorf("of %d pods with role %s only %d were ready, want %d at any time", n, role, least, n-1)
		}
	}
}
