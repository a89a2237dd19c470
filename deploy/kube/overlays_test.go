package kube

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hyperscale/deploy/kube/controlplane"
)

// TestOverlays: the API server takes each overlay in a namespace of the restricted profile, the controllers make its pods, and
// the scheduler gives each a node.
func TestOverlays(t *testing.T) {
	c := start(t)
	machines(t, c, 3)
	for _, tt := range []struct {
		overlay, namespace string
		disks              int
		pods               map[string]int // by role
	}{
		{"one-cluster", "hyperscale", 6, map[string]int{"gate": 3, "manager": 3, "worker": 3}},
		{"gates-only", "hyperscale", 3, map[string]int{"gate": 3}},
		{"datacenter-only", "hyperscale", 3, map[string]int{"manager": 3, "worker": 3}},
		{"dev", "hyperscale-dev", 0, map[string]int{"gate": 1, "manager": 1, "worker": 1}},
	} {
		t.Run(tt.overlay, func(t *testing.T) {
			c.Restricted(t, tt.namespace)
			t.Cleanup(func() { remove(t, c, tt.namespace) })
			volumes(t, c, tt.disks)
			apply(t, c, manifests("overlays", tt.overlay))
			before := generations(t, c, tt.namespace)
			apply(t, c, manifests("overlays", tt.overlay))
			if after := generations(t, c, tt.namespace); after != before || before == "" {
				t.Errorf("the same again changes something:\n%swas\n%s", after, before)
			}
			controlplane.Within(t, patience, fmt.Sprintf("the pods %v are bound, members on hosts of their own", tt.pods), func() bool {
				return bound(t, c, tt.namespace, tt.pods)
			})
		})
	}
}

// generations are those of all objects of a namespace whose specs controllers follow.
func generations(t *testing.T, c *controlplane.Cluster, namespace string) string {
	t.Helper()
	out, err := c.Kubectl(t, "", "get", "statefulsets,deployments,networkpolicies,poddisruptionbudgets", "-n", namespace,
		"-o", `jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid} {.metadata.generation}{"\n"}{end}`)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

// bound says that there are these pods and no other, each on a node, and members of a group on different ones.
func bound(t *testing.T, c *controlplane.Cluster, namespace string, want map[string]int) bool {
	t.Helper()
	all, err := c.Client(t).CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, hosts := map[string]int{}, map[string]bool{}
	for i := range all.Items {
		pod := &all.Items[i]
		role, host := pod.Labels["role"], pod.Spec.NodeName
		if host == "" {
			return false
		}
		if role != "worker" && role != "operator" && hosts[role+" "+host] {
			t.Fatalf("two members of %s are on %s", role, host)
		}
		hosts[role+" "+host] = true
		got[role]++
	}
	if len(got) != len(want) {
		return false
	}
	for role, n := range want {
		if got[role] != n {
			return false
		}
	}
	return true
}

// remove deletes a namespace. No kubelet ends its pods: they are deleted without grace.
func remove(t *testing.T, c *controlplane.Cluster, namespace string) {
	t.Helper()
	for _, args := range [][]string{
		{"delete", "statefulsets,deployments", "--all", "-n", namespace},
		{"delete", "pods", "--all", "-n", namespace, "--grace-period=0", "--force"},
		{"delete", "namespace", namespace, "--timeout=60s"},
	} {
		if out, err := c.Kubectl(t, "", args...); err != nil {
			t.Fatalf("kubectl %v: %v\n%s", args, err, out)
		}
	}
}

// TestRestricted: the namespace of TestOverlays rejects a pod that the restricted profile forbids. Without it TestOverlays proves
// nothing of the profile.
func TestRestricted(t *testing.T) {
	c := alone(t)
	c.Restricted(t, "hyperscale")
	_, err := c.Client(t).CoreV1().Pods("hyperscale").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "root"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "root", Image: "hyperscale"}}},
	}, metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`) {
		t.Fatalf("got %v, want a pod without a securityContext rejected", err)
	}
}
