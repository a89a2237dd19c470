package world

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Members are the pods of the overlay by role.
func Members() map[string]int { return map[string]int{"gate": 3, "manager": 3, "worker": 3} }

// Pods follows all pods of the namespace, and misses no state of theirs while the API server lives.
type Pods struct {
	t     *testing.T
	mu    sync.Mutex
	pods  map[string]*corev1.Pod // by name
	least map[string]int         // by role: fewest ready pods since the floor was set
}

func watch(t *testing.T, client kubernetes.Interface) *Pods {
	t.Helper()
	s := &Pods{t: t, pods: map[string]*corev1.Pod{}, least: map[string]int{}}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(Space))
	seen := func(object any, gone bool) {
		if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = unknown.Obj
		}
		if pod, ok := object.(*corev1.Pod); ok {
			s.seen(pod, gone)
		}
	}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { seen(object, false) }, UpdateFunc: func(_, object any) { seen(object, false) }, DeleteFunc: func(object any) { seen(object, true) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	t.Cleanup(func() {
		stop()
		factory.Shutdown()
	})
	return s
}

// seen takes one change.
func (s *Pods) seen(pod *corev1.Pod, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gone {
		if known := s.pods[pod.Name]; known != nil && known.UID == pod.UID {
			delete(s.pods, pod.Name)
		}
	} else {
		s.pods[pod.Name] = pod
	}
	for role, least := range s.least {
		s.least[role] = min(least, s.count(role))
	}
}

// Floor begins to note the fewest ready pods of each role.
func (s *Pods) Floor() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for role := range Members() {
		s.least[role] = s.count(role)
	}
}

// Lowest is the fewest ready pods of a role since Floor.
func (s *Pods) Lowest(role string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.least[role]
}

// count is how many pods of a role are ready. A terminating one is not.
func (s *Pods) count(role string) (n int) {
	for _, pod := range s.pods {
		if pod.Labels["role"] == role && pod.DeletionTimestamp == nil && isReady(pod) {
			n++
		}
	}
	return n
}

// Wait waits until all members are ready.
func (s *Pods) Wait(limit time.Duration) {
	s.t.Helper()
	s.WaitFor(limit, Members())
}

// WaitFor waits until so many pods of each role are ready.
func (s *Pods) WaitFor(limit time.Duration, members map[string]int) {
	s.t.Helper()
	Within(s.t, limit, fmt.Sprintf("the pods %v are ready", members), func() bool { return maps.Equal(s.ready(), members) })
}

// Pod is the newest version of one, or nil.
func (s *Pods) Pod(name string) *corev1.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pods[name]
}

func (s *Pods) ready() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]int{}
	for role := range Members() {
		all[role] = s.count(role)
	}
	return all
}

// Names are those of a role's pods that do not terminate.
func (s *Pods) Names(role string) (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, pod := range s.pods {
		if pod.Labels["role"] == role && pod.DeletionTimestamp == nil {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
