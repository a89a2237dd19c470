package kubelet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"
)

func TestMain(m *testing.M) {
	Become()
	if os.Getenv("HYPERSCALE_KUBE") == "1" {
		if err := Enter(); err != nil {
			fmt.Fprintln(os.Stderr, "the tests of the kubelet:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// served is a pod whose container is a target, with a Secret and an emptyDir.
func served() *corev1.Pod {
	yes, user, mode, grace := true, int64(65532), int32(0o440), int64(20)
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("http")}}, PeriodSeconds: 1, TimeoutSeconds: 5, FailureThreshold: 60}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "load", Name: "target", UID: "1234"},
		Spec: corev1.PodSpec{
			NodeName: Node(1), RestartPolicy: corev1.RestartPolicyAlways, TerminationGracePeriodSeconds: &grace,
			SecurityContext: &corev1.PodSecurityContext{RunAsUser: &user, RunAsGroup: &user, FSGroup: &user},
			Containers: []corev1.Container{{
				Name: "target", Image: "hyperscale", Args: []string{"target", "--listen=$(IP):8080"},
				Env:            []corev1.EnvVar{{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}}},
				Ports:          []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
				StartupProbe:   probe.DeepCopy(),
				ReadinessProbe: probe.DeepCopy(),
				SecurityContext: &corev1.SecurityContext{
					ReadOnlyRootFilesystem: &yes,
				},
				VolumeMounts: []corev1.VolumeMount{{Name: "secret", MountPath: "/run/secrets/load", ReadOnly: true}, {Name: "data", MountPath: "/data"}},
			}},
			Volumes: []corev1.Volume{
				{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "load", DefaultMode: &mode}}},
				{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
		},
	}
}

// TestPodRuns: a pod waits for its Secret, becomes ready, starts again at once when it is killed, waits the second time, and
// leaves when it is deleted.
func TestPodRuns(t *testing.T) {
	if !Inside() {
		t.Skip("SKIPPED: containers need namespaces of their own: set HYPERSCALE_KUBE=1, and run the test as root")
	}
	binary, err := filepath.Abs("../../../bin/hyperscale")
	if err != nil {
		t.Fatal(err)
	}
	if path := os.Getenv("HYPERSCALE_BINARY"); path != "" {
		binary = path
	}
	client := fake.NewClientset()
	k, err := Start(t.Context(), Config{Client: client, Nodes: 1, Images: map[string]string{"hyperscale": binary}, Dir: t.TempDir(), Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Stop()
	pods := client.CoreV1().Pods("load")
	if _, err := pods.Create(t.Context(), served(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until := func(what string, holds func(corev1.PodStatus) bool) corev1.PodStatus {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			pod, err := pods.Get(t.Context(), "target", metav1.GetOptions{})
			if err == nil && len(pod.Status.ContainerStatuses) == 1 && holds(pod.Status) {
				return pod.Status
			}
			if time.Now().After(end) {
				t.Fatalf("not within 30 s: %s: %v, status %+v", what, err, pod.Status)
			}
		}
	}
	until("it waits for its Secret", func(s corev1.PodStatus) bool {
		w := s.ContainerStatuses[0].State.Waiting
		return s.Phase == corev1.PodPending && w != nil && strings.Contains(w.Message, `"load" not found`)
	})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "load", Name: "load"}, Data: map[string][]byte{"key": []byte("value")}}
	if _, err := client.CoreV1().Secrets("load").Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ready := func(restarts int32) func(corev1.PodStatus) bool {
		return func(s corev1.PodStatus) bool {
			c := s.ContainerStatuses[0]
			return s.Phase == corev1.PodRunning && c.Ready && c.RestartCount == restarts
		}
	}
	until("it is ready", ready(0))
	checkContainer(t, k)
	if err := k.Kill("load", "target"); err != nil {
		t.Fatal(err)
	}
	s := until("it is ready again", ready(1))
	if code := s.ContainerStatuses[0].LastTerminationState.Terminated.ExitCode; code != 137 {
		t.Errorf("a killed container has code %d, want 137", code)
	}
	if err := k.Kill("load", "target"); err != nil {
		t.Fatal(err)
	}
	until("it waits before its second restart", func(s corev1.PodStatus) bool {
		w := s.ContainerStatuses[0].State.Waiting
		return w != nil && w.Reason == "CrashLoopBackOff"
	})
	s = until("it is ready a third time", ready(2))
	if rest := s.ContainerStatuses[0].State.Running.StartedAt.Sub(s.ContainerStatuses[0].LastTerminationState.Terminated.FinishedAt.Time); rest < 9*time.Second {
		t.Errorf("the second restart waited %v, want 10 s", rest)
	}
	pod, err := pods.Get(t.Context(), "target", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	now, grace := metav1.Now(), int64(20)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &now, &grace
	if _, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := pods.Get(t.Context(), "target", metav1.GetOptions{}); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("SIGTERM has not ended the pod within 15 s, and its grace is 20 s")
		}
	}
	if err := k.Kill("load", "target"); err == nil {
		t.Error("a process of a pod that has left still lives")
	}
}

// checkContainer looks at a container from outside: its user, rights, root and namespaces.
func checkContainer(t *testing.T, k *Kubelet) {
	t.Helper()
	k.mu.Lock()
	pid := k.pods["1234"].processes()[0].cmd.Process.Pid
	k.mu.Unlock()
	proc := fmt.Sprintf("/proc/%d", pid)
	text, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Uid:\t65532\t65532\t65532\t65532\n", "Gid:\t65532\t65532\t65532\t65532\n", "CapEff:\t0000000000000000\n", "CapBnd:\t0000000000000000\n", "NoNewPrivs:\t1\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the process's status lacks %q:\n%s", want, text)
		}
	}
	if secret, err := os.ReadFile(filepath.Join(proc, "root/run/secrets/load/key")); err != nil || string(secret) != "value" {
		t.Errorf("the Secret is %q, %v", secret, err)
	}
	if err := os.WriteFile(filepath.Join(proc, "root/written"), nil, 0o600); err == nil {
		t.Error("the root can be written")
	}
	if err := os.WriteFile(filepath.Join(proc, "root/run/secrets/load/written"), nil, 0o600); err == nil {
		t.Error("the Secret can be written")
	}
	if err := os.WriteFile(filepath.Join(proc, "root/data/written"), nil, 0o600); err != nil {
		t.Errorf("the emptyDir cannot be written: %v", err)
	}
	own, _ := os.Readlink("/proc/self/ns/net")
	if other, err := os.Readlink(filepath.Join(proc, "ns/net")); err != nil || other == own {
		t.Errorf("the network namespace is %s, %v, and so is the test's", other, err)
	}
}
