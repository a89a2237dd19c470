package kube

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hyperscale/deploy/kube/controlplane"
)

// TestMembersBeyondTheSet: the API server rejects more members than the set has names, says why, and takes all other sizes.
func TestMembersBeyondTheSet(t *testing.T) {
	c := alone(t)
	for namespace, overlay := range map[string]string{"hyperscale": "one-cluster", "hyperscale-dev": "dev"} {
		c.Restricted(t, namespace)
		apply(t, c, manifests("overlays", overlay))
	}
	scale := func(namespace, workload string, n int) (string, error) {
		return c.Kubectl(t, "", "scale", "-n", namespace, workload, fmt.Sprintf("--replicas=%d", n))
	}
	// A policy counts once the API server has read it.
	controlplane.Within(t, patience, "a fourth gate is rejected", func() bool {
		if _, err := scale("hyperscale", "statefulset/hyperscale-gate", 4); err != nil {
			return true
		}
		_, _ = scale("hyperscale", "statefulset/hyperscale-gate", 3) // the next try asks for 4 again
		return false
	})
	for _, tt := range []struct {
		namespace, workload string
		n                   int
		want                string // empty: it is taken
	}{
		{"hyperscale", "statefulset/hyperscale-gate", 4, "replicas = 4: HYPERSCALE_GATES in the ConfigMap hyperscale-gates names 3, and a gate that is not in the set does not join: add its name there first"},
		{"hyperscale", "statefulset/hyperscale-manager", 4, "replicas = 4: HYPERSCALE_MANAGERS in the ConfigMap hyperscale-managers names 3, and a manager"},
		{"hyperscale-dev", "statefulset/hyperscale-gate", 2, "replicas = 2: HYPERSCALE_GATES in the ConfigMap hyperscale-gates names 1"},
		{"hyperscale", "statefulset/hyperscale-gate", 2, ""},
		{"hyperscale", "statefulset/hyperscale-gate", 0, ""},
		{"hyperscale", "statefulset/hyperscale-gate", 3, ""},
		{"hyperscale", "deployment/hyperscale-worker", 9, ""},
	} {
		out, err := scale(tt.namespace, tt.workload, tt.n)
		if (err == nil) != (tt.want == "") || !strings.Contains(out, tt.want) {
			t.Errorf("%s: %s to %d: %v: %q, want %q", tt.namespace, tt.workload, tt.n, err, out, tt.want)
		}
	}
	patch := []byte(`{"spec": {"replicas": 5}}`)
	_, err := c.Client(t).AppsV1().StatefulSets("hyperscale").Patch(t.Context(), "hyperscale-gate", types.MergePatchType, patch, metav1.PatchOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "names 3") {
		t.Errorf("a patch to 5 gates: %v, want it rejected", err)
	}
	// The set grows first, then the group.
	grow := []byte(`{"data": {"HYPERSCALE_GATES": "a:7400,b:7400,c:7400,d:7400"}}`)
	if _, err := c.Client(t).CoreV1().ConfigMaps("hyperscale").Patch(t.Context(), "hyperscale-gates", types.MergePatchType, grow, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	controlplane.Within(t, patience, "a set of four takes a fourth gate", func() bool {
		_, err := scale("hyperscale", "statefulset/hyperscale-gate", 4)
		return err == nil
	})
}

// TestBudgets: one member of a group may be evicted, and no second one while the first is away.
func TestBudgets(t *testing.T) {
	c := start(t)
	machines(t, c, 3)
	volumes(t, c, 6)
	c.Restricted(t, "hyperscale")
	apply(t, c, manifests("overlays", "one-cluster"))
	pods := map[string]int{"gate": 3, "manager": 3, "worker": 3}
	controlplane.Within(t, patience, "all pods are bound", func() bool { return bound(t, c, "hyperscale", pods) })
	all, err := c.Client(t).CoreV1().Pods("hyperscale").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all.Items {
		run := &all.Items[i] // as the kubelet would say it
		run.Status.Phase, run.Status.Conditions = corev1.PodRunning, append(run.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
		if _, err := c.Client(t).CoreV1().Pods("hyperscale").UpdateStatus(t.Context(), run, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, role := range []string{"gate", "manager"} {
		name := "hyperscale-" + role
		controlplane.Within(t, patience, name+" has a budget of one", func() bool {
			b, err := c.Client(t).PolicyV1().PodDisruptionBudgets("hyperscale").Get(t.Context(), name, metav1.GetOptions{})
			return err == nil && b.Status.CurrentHealthy == 3 && b.Status.DisruptionsAllowed == 1
		})
		evict := func(n int) error {
			return c.Client(t).PolicyV1().Evictions("hyperscale").Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, n), Namespace: "hyperscale"}})
		}
		if err := evict(0); err != nil {
			t.Errorf("%s-0: %v, want it evicted", name, err)
		}
		for n := 1; n < 3; n++ {
			if err := evict(n); !apierrors.IsTooManyRequests(err) {
				t.Errorf("%s-%d: %v, want its eviction rejected while %s-0 is away", name, n, err, name)
			}
		}
	}
}

// TestSpecIsImmutable: the API server rejects another program for a load test, and a cancellation that is taken back.
func TestSpecIsImmutable(t *testing.T) {
	c := alone(t)
	served(t, c)
	object := func(more string) string {
		return "apiVersion: load.hyperscale.internal/v1alpha1\nkind: LoadTest\nmetadata: {name: one, namespace: hyperscale}\nspec: {program: {inline: x}" + more + "}\n"
	}
	c.Apply(t, object(", vus: 2"))
	for _, tt := range []struct{ more, want string }{
		{", vus: 3", "spec.vus: Invalid value"},
		{", vus: 3", "immutable: delete the load test, or give another one another name"},
		{"", "spec.vus: Invalid value"},
		{", vus: 2, rate: fast", "spec.rate"},
		{", vus: 2, vsu: 2", `unknown field "spec.vsu"`},
		{", vus: 2, ttlAfterFinished: 1h", ""},
		{", vus: 2, cancel: true", ""},
		{", vus: 2, cancel: false", "a cancelled load test stays cancelled"},
	} {
		out, err := c.Kubectl(t, object(tt.more), "apply", "-f", "-")
		if (err == nil) != (tt.want == "") || !strings.Contains(out, tt.want) {
			t.Errorf("%q: %v: %q, want %q", tt.more, err, out, tt.want)
		}
	}
}
