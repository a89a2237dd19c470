package pods

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hyperscale/deploy/kube/kubelet"
	"hyperscale/deploy/kube/world"
)

// TestLosses: pods are killed and evicted, and nodes drained, while jobs run. Each job has one result and no failed request,
// and none comes when all have ended.
func TestLosses(t *testing.T) {
	w := start(t, 4)
	w.apply()
	w.Pods.Wait(5 * time.Minute)
	losses, seed := number(t, "HYPERSCALE_KUBE_LOSSES", 20), number(t, "HYPERSCALE_KUBE_SEED", 1)
	draw := rand.New(rand.NewPCG(uint64(seed), 0))
	jobs := w.KeepBusy(2, 15*time.Second)
	for n := range losses {
		began := time.Now()
		what := w.lose(draw)
		w.Pods.Wait(4 * time.Minute)
		t.Logf("%d of %d (seed %d): %s: all pods ready after %.1f s", n+1, losses, seed, what, time.Since(began).Seconds())
	}
	ids := map[string]string{}
	for _, j := range jobs.Stop() {
		j.Completed(t)
		if former, twice := ids[j.Result.Job]; twice {
			t.Errorf("jobs %s and %s have one id: %s", former, j.Path(), j.Result.Job)
		}
		ids[j.Result.Job] = j.Path()
	}
	w.Target.Quiet(t, 3*time.Second)
}

// lose kills a pod, evicts one, or drains a node.
func (w *cell) lose(draw *rand.Rand) string {
	w.t.Helper()
	roles := []string{"gate", "manager", "worker"}
	pods := w.Pods.Names(roles[draw.IntN(len(roles))])
	pod := pods[draw.IntN(len(pods))]
	switch draw.IntN(5) {
	case 0:
		node := kubelet.Node(1 + draw.IntN(4))
		w.drain(node)
		return "drain " + node
	case 1, 2:
		w.evict(pod)
		return "evict " + pod
	default:
		before := restarts(w.Pods.Pod(pod))
		if err := w.Kubelet.Kill(world.Space, pod); err != nil {
			w.t.Fatal(err)
		}
		world.Within(w.t, time.Minute, "the process of "+pod+" starts again", func() bool {
			now := w.Pods.Pod(pod)
			return now == nil || restarts(now) > before
		})
		return "kill " + pod
	}
}

// restarts counts the starts of a pod's container after its first one.
func restarts(pod *corev1.Pod) (n int32) {
	if pod == nil {
		return 0
	}
	for _, c := range pod.Status.ContainerStatuses {
		n += c.RestartCount
	}
	return n
}

// evict evicts a pod as `kubectl drain` does: it asks again while the budget says no.
func (w *cell) evict(pod string) {
	w.t.Helper()
	uid := w.Pods.Pod(pod).UID
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: world.Space}}
	world.Within(w.t, time.Minute, "the budget lets "+pod+" go", func() bool {
		err := w.Client.PolicyV1().Evictions(world.Space).Evict(w.t.Context(), eviction)
		if err != nil && !errors.IsTooManyRequests(err) {
			w.t.Fatalf("evict %s: %v", pod, err)
		}
		return err == nil
	})
	world.Within(w.t, 3*time.Minute, pod+" goes", func() bool {
		now := w.Pods.Pod(pod)
		return now == nil || now.UID != uid || now.DeletionTimestamp != nil
	})
}

// drain empties a node and lets it take pods again. The test waits less long than kubectl may.
func (w *cell) drain(node string) {
	w.t.Helper()
	w.kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=150s")
	w.kubectl("uncordon", node)
}

// number is a setting of the test.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s = %q: give a number of at least 1", name, text)
	}
	return n
}

// shareWithin bounds how long a job sends less than before, after one of its workers has died.
const shareWithin = 8 * time.Second

// TestShareReturns: a worker that runs a part of a job is killed. The job's other workers, or its next process, send its
// share again in time.
func TestShareReturns(t *testing.T) {
	w := start(t, 3)
	w.apply()
	w.Pods.Wait(5 * time.Minute)
	done := make(chan *world.Job, 1)
	go func() { done <- w.Submit(t.Context(), "shared", 3, 40*time.Second) }()
	path := "/shared"
	rate := func(span time.Duration) float64 {
		before := w.Target.Count(path)
		time.Sleep(span)
		return float64(w.Target.Count(path)-before) / span.Seconds()
	}
	world.Within(t, 20*time.Second, "the job sends", func() bool { return w.Target.Count(path) > 0 })
	time.Sleep(3 * time.Second)
	whole := rate(3 * time.Second)
	victim := w.busiest()
	if err := w.Kubelet.Kill(world.Space, victim); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	var back time.Duration
	for r := 0.0; r < 0.9*whole && back < 30*time.Second; back = time.Since(killed) {
		r = rate(time.Second)
		t.Logf("%4.1f s after the end of %s: %.0f of %.0f requests/s", time.Since(killed).Seconds(), victim, r, whole)
	}
	if back > shareWithin {
		t.Errorf("the share was back after %v, want %v", back, shareWithin)
	}
	j := <-done
	t.Log(j)
	if j.Result.Outcome != "COMPLETED" {
		t.Errorf("want a completed job: %v", j)
	}
}

// busiest is the worker that has sent most requests.
func (w *cell) busiest() (name string) {
	w.t.Helper()
	most := 0
	for _, worker := range w.Pods.Names("worker") {
		if n := w.Target.From(w.Pods.Pod(worker).Status.PodIP); n > most {
			name, most = worker, n
		}
	}
	if name == "" {
		w.t.Fatal("no worker has sent a request")
	}
	return name
}
