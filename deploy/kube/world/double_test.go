package world

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"

	"hyperscale/deploy/kube/kubelet"
)

func TestMain(m *testing.M) { Main(m) }

// double stands for the controllers: it makes the pods of an overlay, on a node each, and the endpoints of Services.
type double struct {
	*World
	client kubernetes.Interface
	made   int                    // pods
	pods   map[string]*corev1.Pod // as they are made, by name
}

// apply makes what the overlay has. Objects of other kinds than pods need count for nothing.
func (d *double) apply() {
	d.t.Helper()
	out, err := exec.Command("kubectl", "kustomize", d.Overlay()).Output()
	if err != nil {
		d.t.Fatal(err)
	}
	var workloads []runtime.Object
	for text := range strings.SplitSeq(string(out), "\n---\n") {
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(text), nil, nil)
		if err != nil {
			d.t.Fatal(err)
		}
		switch o := object.(type) {
		case *corev1.Service:
			_, err = d.client.CoreV1().Services(Space).Create(d.t.Context(), o, metav1.CreateOptions{})
		case *corev1.ConfigMap:
			_, err = d.client.CoreV1().ConfigMaps(Space).Create(d.t.Context(), o, metav1.CreateOptions{})
		case *appsv1.StatefulSet, *appsv1.Deployment:
			workloads = append(workloads, o)
		}
		if err != nil {
			d.t.Fatal(err)
		}
	}
	for _, object := range workloads {
		for n := range 3 {
			switch o := object.(type) {
			case *appsv1.StatefulSet:
				d.define(fmt.Sprintf("%s-%d", o.Name, n), n, o.Spec.Template, o.Spec.ServiceName)
			case *appsv1.Deployment:
				d.define(fmt.Sprintf("%s-%d", o.Name, n), n, o.Spec.Template, "")
			}
		}
	}
}

// define makes a pod, and its claim if it is a member of a Service.
func (d *double) define(name string, n int, template corev1.PodTemplateSpec, service string) {
	d.t.Helper()
	pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
	pod.Name, pod.Namespace, pod.Spec.NodeName, pod.Spec.RestartPolicy = name, Space, kubelet.Node(n+1), corev1.RestartPolicyAlways
	if service != "" {
		pod.Spec.Hostname, pod.Spec.Subdomain = name, service
		claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + name}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}})
		_, err := d.client.CoreV1().PersistentVolumes().Create(d.t.Context(), &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: filepath.Join(d.folder, "disk-"+name)},
			}},
		}, metav1.CreateOptions{})
		if err != nil {
			d.t.Fatal(err)
		}
		_, err = d.client.CoreV1().PersistentVolumeClaims(Space).Create(d.t.Context(), &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: claim.ClaimName, Namespace: Space},
			Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: name}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
		}, metav1.CreateOptions{})
		if err != nil {
			d.t.Fatal(err)
		}
	}
	d.pods[name] = pod
	d.make(name)
}

func (d *double) make(name string) {
	d.t.Helper()
	d.made++
	pod := d.pods[name].DeepCopy()
	pod.UID = types.UID(fmt.Sprintf("pod-%d", d.made))
	if _, err := d.client.CoreV1().Pods(Space).Create(d.t.Context(), pod, metav1.CreateOptions{}); err != nil {
		d.t.Fatal(err)
	}
}

// publish writes the endpoints of all Services again and again, as the controller of EndpointSlices does on each change.
func (d *double) publish(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		services, err := d.client.CoreV1().Services(Space).List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		for i := range services.Items {
			d.publishOne(ctx, &services.Items[i])
		}
	}
}

func (d *double) publishOne(ctx context.Context, service *corev1.Service) {
	pods, err := d.client.CoreV1().Pods(Space).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(service.Spec.Selector).String()})
	if err != nil {
		return
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: service.Name, Namespace: Space, Labels: map[string]string{discoveryv1.LabelServiceName: service.Name}},
		AddressType: discoveryv1.AddressTypeIPv4,
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.PodIP == "" {
			continue
		}
		ready := service.Spec.PublishNotReadyAddresses || isReady(pod) && pod.DeletionTimestamp == nil
		e := discoveryv1.Endpoint{Addresses: []string{pod.Status.PodIP}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}
		if pod.Spec.Subdomain == service.Name {
			e.Hostname = &pod.Spec.Hostname
		}
		slice.Endpoints = append(slice.Endpoints, e)
	}
	slices := d.client.DiscoveryV1().EndpointSlices(Space)
	if _, err = slices.Update(ctx, slice, metav1.UpdateOptions{}); errors.IsNotFound(err) {
		_, err = slices.Create(ctx, slice, metav1.CreateOptions{})
	}
	if err != nil && ctx.Err() == nil {
		d.t.Error(err)
	}
}

// restart deletes a pod, waits until it has ended, makes it again, and waits until it is ready.
func (d *double) restart(name string) {
	d.t.Helper()
	pods := d.client.CoreV1().Pods(Space)
	pod, err := pods.Get(d.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	now := metav1.Now()
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &now, pod.Spec.TerminationGracePeriodSeconds
	if _, err := pods.Update(d.t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		d.t.Fatal(err)
	}
	began := time.Now()
	Within(d.t, 2*time.Minute, name+" has ended", func() bool {
		_, err := pods.Get(d.t.Context(), name, metav1.GetOptions{})
		return errors.IsNotFound(err)
	})
	ended := time.Since(began)
	d.make(name)
	d.Pods.Wait(2 * time.Minute)
	d.t.Logf("%s ended after %.1f s, and all pods were ready after %.1f s", name, ended.Seconds(), time.Since(began).Seconds())
}

// TestOverlayRuns: the pods of the overlay become ready in time and run a job. Each is then restarted with a new address while
// jobs run: none is lost, no request of theirs fails, and none comes when all have ended.
func TestOverlayRuns(t *testing.T) {
	Need(t)
	client := fake.NewClientset()
	d := &double{World: Start(t, client, 3), client: client, pods: map[string]*corev1.Pod{}}
	secret, err := os.ReadFile(d.Secret)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().Secrets(Space).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: SecretName, Namespace: Space}, Data: map[string][]byte{"cluster": secret},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.publish(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	began := time.Now()
	d.apply()
	d.Pods.Wait(3 * time.Minute)
	t.Logf("all pods are ready after %.1f s", time.Since(began).Seconds())
	j := d.Submit(t.Context(), "first", 3, 3*time.Second)
	t.Log(j)
	j.Completed(t)
	if got := d.Target.Count(j.Path()); uint64(got) != j.Result.Totals.Started {
		t.Errorf("the target had %d requests, and the result says %d", got, j.Result.Totals.Started)
	}
	jobs := d.KeepBusy(2, 10*time.Second)
	for _, role := range []string{"gate", "manager", "worker"} {
		for n := range 3 {
			d.restart(fmt.Sprintf("hyperscale-%s-%d", role, n))
		}
	}
	for _, j := range jobs.Stop() {
		j.Completed(t)
	}
	d.Target.Quiet(t, 3*time.Second)
}
