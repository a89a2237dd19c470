package kube

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hyperscale/deploy/kube/controlplane"
)

// patience bounds what a controller does at once. The tests share a machine with others.
const patience = 2 * time.Minute

// home is the namespace of the overlay one-cluster.
const home = "hyperscale"

var loadTests = schema.GroupVersionResource{Group: "load.hyperscale.internal", Version: "v1alpha1", Resource: "loadtests"}

// start is a control plane whose nodes are objects: nothing renews them, and no pod leaves them for that.
func start(t *testing.T) *controlplane.Cluster {
	t.Helper()
	return controlplane.Start(t, controlplane.Config{Flags: map[string][]string{
		controlplane.ControllerManager: {"--node-monitor-grace-period=1h"},
	}})
}

// alone is an API server and its store: enough for what is rejected, and for what the operator does.
func alone(t *testing.T) *controlplane.Cluster {
	t.Helper()
	return controlplane.Start(t, controlplane.Config{Only: []string{controlplane.Etcd, controlplane.APIServer}})
}

// machines creates nodes, each in a zone of its own.
func machines(t *testing.T, c *controlplane.Cluster, n int) {
	t.Helper()
	size := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: resource.MustParse("64Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	for i := range n {
		name := fmt.Sprintf("machine-%d", i+1)
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: "zone-" + name}},
			Status: corev1.NodeStatus{Capacity: size, Allocatable: size, Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()},
			}},
		}
		if _, err := c.Client(t).CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// volumes creates disks that claims without a class get.
func volumes(t *testing.T, c *controlplane.Cluster, n int) {
	t.Helper()
	for range n {
		v := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "disk-"},
			Spec: corev1.PersistentVolumeSpec{
				Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
				PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/nowhere"}},
			},
		}
		if _, err := c.Client(t).CoreV1().PersistentVolumes().Create(t.Context(), v, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// manifests is a part of deploy/kubernetes.
func manifests(parts ...string) string {
	return filepath.Join(append([]string{"..", "kubernetes"}, parts...)...)
}

// with is an overlay and components beside it, as a person's own kustomization has them.
func with(t *testing.T, overlay string, components ...string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	to := func(parts ...string) string {
		path, err := filepath.Abs(manifests(parts...))
		if err == nil {
			path, err = filepath.Rel(folder, path)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := "namespace: hyperscale\nresources: [" + to("overlays", overlay) + "]\n"
	for i, name := range components {
		components[i] = to("components", name)
	}
	if len(components) > 0 {
		text += "components: [" + strings.Join(components, ", ") + "]\n"
	}
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// apply applies a kustomization, and fails the test with what the API server rejects or warns of.
func apply(t *testing.T, c *controlplane.Cluster, folder string) string {
	t.Helper()
	out, err := c.Kubectl(t, "", "apply", "-k", folder)
	if err != nil || strings.Contains(out, "Warning") {
		t.Fatalf("kubectl apply -k %s: %v\n%s", folder, err, out)
	}
	return out
}

// served applies the component operator, and returns when the API server has LoadTests.
func served(t *testing.T, c *controlplane.Cluster) {
	t.Helper()
	c.Restricted(t, home)
	apply(t, c, with(t, "one-cluster", "operator"))
	controlplane.Within(t, patience, "LoadTest is served", func() bool {
		_, err := c.Dynamic(t).Resource(loadTests).Namespace(home).List(t.Context(), metav1.ListOptions{})
		return err == nil
	})
}
