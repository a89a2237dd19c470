package kube

import (
	"os"
	"testing"
	"time"

	"hyperscale/deploy/kube/controlplane"
)

// awayUsual is for how long the API server is away; HYPERSCALE_KUBE_AWAY names another time.
const awayUsual = 45 * time.Second

// TestAPIServerAway: the API server is killed while jobs run. Nothing is cancelled or submitted twice, the load goes on, and what ended
// meanwhile is in the statuses soon after its return.
func TestAPIServerAway(t *testing.T) {
	away := awayUsual
	if text := os.Getenv("HYPERSCALE_KUBE_AWAY"); text != "" {
		var err error
		if away, err = time.ParseDuration(text); err != nil {
			t.Fatalf("HYPERSCALE_KUBE_AWAY=%s: %v: want a time like 10m", text, err)
		}
	}
	b := newBench(t, 2)
	b.Apply(t, b.loadTest("long", "30m")+b.loadTest("doomed", "30m"))
	for _, name := range []string{"long", "doomed"} {
		controlplane.Within(t, patience, name+" runs", func() bool { return b.phase(t, name) == "Running" })
	}
	b.Apply(t, b.loadTest("short", "20s"))
	controlplane.Within(t, patience, "short runs", func() bool { return b.phase(t, "short") == "Running" })
	b.Kill(t, controlplane.APIServer)
	killed, most := time.Now(), time.Duration(0)
	for time.Since(killed) < away {
		time.Sleep(100 * time.Millisecond)
		most = max(most, time.Since(time.Unix(0, b.target.last.Load())))
	}
	if most > endMax {
		t.Errorf("the load paused for %v while the API server was away", most)
	}
	b.ended(t, map[string]string{"long": "RUNNING", "doomed": "RUNNING", "short": "COMPLETED"})
	b.Resume(t, controlplane.APIServer)
	back := time.Now()
	b.Apply(t, b.loadTest("late", "10m"))
	if out, err := b.Kubectl(t, "", "delete", "loadtest", "doomed", "-n", home); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	controlplane.Within(t, rightMax-time.Since(back), "all is right", func() bool {
		jobs := b.cell.jobs(t)
		return b.phase(t, "short") == "Completed" && b.phase(t, "long") == "Running" && b.phase(t, "late") == "Running" &&
			len(jobs["doomed"]) == 1 && jobs["doomed"][0].State == "CANCELLED"
	})
	t.Logf("all is right %v after the API server was back, which was away for %v", time.Since(back).Round(10*time.Millisecond), back.Sub(killed).Round(time.Second))
	b.ended(t, map[string]string{"long": "RUNNING", "doomed": "CANCELLED", "short": "COMPLETED", "late": "RUNNING"})
	// An API server that starts answers 403 until it has read the roles: TestLoadTest asks for the rights.
}
