package world

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/client-go/kubernetes"

	"hyperscale/deploy/kube/kubelet"
)

// Space is the namespace of the overlay one-cluster.
const Space = "hyperscale"

// Image is that of the overlays, and Next is another one, of the same binary.
const (
	Image = "registry.example/hyperscale:latest"
	Next  = "registry.example/hyperscale:next"
)

// SecretName is the Secret that the overlays name. Its key is cluster.
const SecretName = "hyperscale-cluster"

// World is what a test has beside a control plane: nodes that run pods, a target, and a secret of the cluster.
type World struct {
	Client  kubernetes.Interface
	Kubelet *kubelet.Kubelet
	Target  *Target
	Pods    *Pods
	Secret  string // a file

	t      *testing.T
	binary string
	folder string
}

// Start starts nodes for the pods of a control plane. The test skips itself outside namespaces of its own.
func Start(t *testing.T, client kubernetes.Interface, nodes int) *World {
	t.Helper()
	Need(t)
	w := &World{Client: client, t: t, binary: binary(t), folder: t.TempDir()}
	if err := os.Chmod(w.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	k, err := kubelet.Start(context.Background(), kubelet.Config{
		Client: client, Nodes: nodes, Images: map[string]string{Image: w.binary, Next: w.binary}, Dir: w.folder,
		Log: func(format string, args ...any) {
			t.Logf("%6.1fs kubelet: %s", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Kubelet = k
	t.Cleanup(func() {
		k.Stop()
		w.showLogs()
	})
	w.resolve()
	w.Target = newTarget(t)
	w.Secret = filepath.Join(w.folder, "secret")
	if out, err := w.command(t.Context(), "secret", "new", w.Secret).CombinedOutput(); err != nil {
		t.Fatalf("make a secret: %v\n%s", err, out)
	}
	w.Pods = watch(t, client)
	return w
}

// Need skips a test that has no namespaces of its own.
func Need(t *testing.T) {
	t.Helper()
	if !kubelet.Inside() {
		t.Skip("SKIPPED: pods need namespaces of their own: set HYPERSCALE_KUBE=1, and run the test as root")
	}
}

// binary is the one under test.
func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("HYPERSCALE_BINARY")
	if path == "" {
		path = filepath.Join("..", "..", "..", "bin", "hyperscale")
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("%v: build it with `make bin/hyperscale`", err)
	}
	return path
}

// command is one of the binary. It rejects variables of this test, whose names begin as those of its settings do.
func (w *World) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.binary, args...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "HYPERSCALE_") }), "HYPERSCALE_HISTORY=off")
	return cmd
}

// resolve makes this process resolve names as pods of the namespace do.
func (w *World) resolve() {
	w.t.Helper()
	path := filepath.Join(w.folder, "resolv.conf")
	err := os.WriteFile(path, fmt.Appendf(nil, "nameserver %s\nsearch %s.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n", kubelet.Address, Space), 0o644)
	if err == nil {
		err = unix.Mount(path, "/etc/resolv.conf", "", unix.MS_BIND, "")
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = unix.Unmount("/etc/resolv.conf", unix.MNT_DETACH) })
}

// small is a person's own kustomization: one-cluster with workers that offer one core each, as a test's machine may have two.
const small = `resources: [%s]
patches:
  - patch: |-
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: hyperscale-worker, namespace: hyperscale}
      spec:
        template:
          spec:
            containers:
              - name: worker
                env: [{name: HYPERSCALE_CORES, value: "1"}]
                resources: {requests: {cpu: "2", memory: 1Gi}, limits: {cpu: "2", memory: 1Gi}}
`

// Overlay writes that kustomization with some more patches, and returns its folder.
func (w *World) Overlay(patches ...string) string {
	w.t.Helper()
	folder := w.t.TempDir()
	path, err := filepath.Abs(filepath.Join("..", "..", "kubernetes", "overlays", "one-cluster"))
	if err == nil {
		path, err = filepath.Rel(folder, path)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "kustomization.yaml"), fmt.Appendf(nil, small+strings.Join(patches, ""), path), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return folder
}

// showLogs shows the ends of the pods' logs after a failure.
func (w *World) showLogs() {
	if !w.t.Failed() {
		return
	}
	all, _ := filepath.Glob(filepath.Join(w.folder, "logs", "*")) // the pattern is right
	for _, path := range all {
		text, _ := os.ReadFile(path) // a log that cannot be read shows as empty
		w.t.Logf("the end of %s:\n%s", filepath.Base(path), text[max(0, len(text)-2000):])
	}
}

// Within fails a test unless something holds before a time is over.
func Within(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// Main runs the tests of a package, in namespaces of their own if HYPERSCALE_KUBE is 1.
func Main(m *testing.M) {
	kubelet.Become()
	if os.Getenv("HYPERSCALE_KUBE") == "1" {
		if err := kubelet.Enter(); err != nil {
			fmt.Fprintln(os.Stderr, "tests of running pods:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}
