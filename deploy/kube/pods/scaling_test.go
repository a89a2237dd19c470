package pods

import (
	"fmt"
	"math"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hyperscale/deploy/kube/world"
)

// What hpa-external says: how often it looks, and how many workers it adds at once. Each worker of the overlay offers one core.
const (
	scaleEach = 15 * time.Second
	scaleMost = 10
)

// wanted is what the job wants, with one core at first.
const wanted = 10

// cameWithin bounds how long a job waits for workers that need 20 s to come.
const (
	cameWithin  = 60 * time.Second
	workerComes = 20 * time.Second
)

// TestScaling: a job wants ten times the cores that there are, and an autoscaler of the test follows the metric of the gates
// as the HorizontalPodAutoscaler of hpa-external does. The job begins in time. Then most workers are taken away under other jobs,
// which lose nothing.
func TestScaling(t *testing.T) {
	w := start(t, 3)
	w.kubectl("apply", "-k", w.Overlay(fmt.Sprintf(scaled, wanted)))
	members := world.Members()
	members["worker"] = 1
	w.Pods.WaitFor(5*time.Minute, members)
	w.Kubelet.Delay(workerComes)
	began := time.Now()
	wide := make(chan *world.Job, 1)
	go func() { wide <- w.Submit(t.Context(), "wide", wanted, 15*time.Second) }()
	for next := began.Add(scaleEach); w.Target.Count("/wide") == 0; time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > 4*time.Minute {
			t.Fatal("the job has sent nothing")
		}
		if time.Now().After(next) {
			next = next.Add(scaleEach)
			w.follow()
		}
	}
	waited := time.Since(began)
	t.Logf("the job's first request came after %.1f s", waited.Seconds())
	if waited > cameWithin {
		t.Errorf("the job has waited for %v, want %v", waited, cameWithin)
	}
	j := <-wide
	t.Log(j)
	j.Whole(t, w.Target)
	jobs := w.KeepBusy(3, 15*time.Second)
	world.Within(t, time.Minute, "a job sends", func() bool { return w.Target.Count("/job-0-0") > 0 })
	w.scale(3)
	members["worker"] = 3
	w.Pods.WaitFor(2*time.Minute, members)
	time.Sleep(20 * time.Second)
	for _, j := range jobs.Stop() {
		j.Whole(t, w.Target)
	}
}

// scaled is one worker at first, and what scaling can reach.
const scaled = `  - target: {kind: Deployment, name: hyperscale-worker}
    patch: |-
      - {op: replace, path: /spec/replicas, value: 1}
  - target: {kind: StatefulSet, name: hyperscale-manager}
    patch: |-
      - {op: add, path: /spec/template/spec/containers/0/args/-, value: "--set=manager.cores_max=%d"}
`

// follow sets the workers as the HorizontalPodAutoscaler does that looks now: the cores that all gates want, at most twice as many as
// there are, or ten more. It takes none away: that waits for 10 minutes.
func (w *cell) follow() {
	w.t.Helper()
	sum := 0.0
	for _, gate := range w.Pods.Names("gate") {
		sum += w.metric(gate, "hyperscale_gate_wanted_cores{")
	}
	now := len(w.Pods.Names("worker"))
	next := min(int(math.Ceil(sum)), max(2*now, now+scaleMost))
	w.t.Logf("%.0f cores are wanted, %d workers are there", sum, now)
	if next > now {
		w.scale(next)
	}
}

func (w *cell) scale(workers int) {
	w.t.Helper()
	all := w.Client.AppsV1().Deployments(world.Space)
	scale, err := all.GetScale(w.t.Context(), "hyperscale-worker", metav1.GetOptions{})
	if err == nil {
		scale.Spec.Replicas = int32(workers)
		_, err = all.UpdateScale(w.t.Context(), "hyperscale-worker", scale, metav1.UpdateOptions{})
	}
	if err != nil {
		w.t.Fatalf("scale to %d workers: %v", workers, err)
	}
}
