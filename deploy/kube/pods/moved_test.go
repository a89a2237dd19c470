package pods

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"hyperscale/deploy/kube/world"
)

// memberWithin bounds the time from the start of a pod with a new address until it is a member, and memberStays is for how long
// the others go on to hear it: a member that answers no datagrams is dead after less.
const (
	memberWithin = 10 * time.Second
	memberStays  = 12 * time.Second
)

// TestNewAddress: a gate and a manager are evicted, and return with other addresses, while DNS answers live for 30 s and have the
// former address as well. Each is a member again in time.
func TestNewAddress(t *testing.T) {
	w := start(t, 3)
	w.apply()
	w.Pods.Wait(5 * time.Minute)
	for _, role := range []string{"gate", "manager"} {
		pod, service := "hyperscale-"+role+"-1", "hyperscale-"+role
		former := w.Pods.Pod(pod)
		w.Kubelet.Lie(world.Space, pod+"."+service, netip.MustParseAddr(former.Status.PodIP))
		w.evict(pod)
		var began time.Time
		world.Within(t, 2*time.Minute, pod+" runs at another address", func() bool {
			current := w.Pods.Pod(pod)
			if current == nil || current.UID == former.UID || current.Status.PodIP == "" || current.Status.PodIP == former.Status.PodIP || len(current.Status.ContainerStatuses) == 0 {
				return false
			}
			running := current.Status.ContainerStatuses[0].State.Running
			if running == nil {
				return false
			}
			began = running.StartedAt.Time // whole seconds: the bar is stricter by less than one
			return healthy(current, "/readyz") && w.alive(role, pod)
		})
		took := time.Since(began)
		t.Logf("%s is a member %.1f s after its start", pod, took.Seconds())
		if took > memberWithin {
			t.Errorf("%s was a member %v after its start, want %v", pod, took, memberWithin)
		}
		for end := time.Now().Add(memberStays); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
			if !w.alive(role, pod) {
				t.Fatalf("another %s takes %s for dead, or suspects it", role, pod)
			}
		}
		w.Kubelet.Lie("", "", netip.Addr{})
		w.Pods.Wait(time.Minute)
	}
}

// alive asks the other pods of a role whether each of their members is.
func (w *cell) alive(role, not string) bool {
	for _, pod := range w.Pods.Names(role) {
		if pod == not {
			continue
		}
		if w.metric(pod, `hyperscale_swim_members{state="alive"}`) < float64(world.Members()[role]-1) ||
			w.metric(pod, `hyperscale_swim_members{state="suspect"}`) > 0 || w.metric(pod, `hyperscale_swim_members{state="dead"}`) > 0 {
			return false
		}
	}
	return true
}

// healthy asks a node's admin port.
func healthy(pod *corev1.Pod, path string) bool {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + pod.Status.PodIP + ":9400" + path)
	if err != nil {
		return false
	}
	_ = answer.Body.Close() // its status says all
	return answer.StatusCode == http.StatusOK
}
