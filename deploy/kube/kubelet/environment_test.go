package kubelet

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// known are the ConfigMaps of a test; it has no Secret.
type known map[string]map[string][]byte

func (k known) configMap(name string) (map[string][]byte, error) {
	if k[name] == nil {
		return nil, errors.New("no ConfigMap " + name)
	}
	return k[name], nil
}

func (k known) secret(name string) (map[string][]byte, error) {
	return nil, errors.New("no Secret " + name)
}

func TestEnvironmentAndArguments(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "gate-0", Namespace: "load"}}
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	c := &corev1.Container{
		Args:    []string{"gate", "--advertise=$(ID).gate.$(SPACE).svc:7400", "$$(ID)", "$(MISSING)"},
		EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "gates"}}}},
		Env: []corev1.EnvVar{
			{Name: "ID", ValueFrom: field("metadata.name")},
			{Name: "SPACE", ValueFrom: field("metadata.namespace")},
			{Name: "IP", ValueFrom: field("status.podIP")},
			{Name: "CPUS", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "requests.cpu"}}},
			{Name: "BOTH", Value: "$(ID) of $(SET), not $(LATER)"},
			{Name: "LATER", Value: "no"},
		},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3500m")}},
	}
	of := known{"gates": {"SET": []byte("gate-0,gate-1")}}
	env, err := environment(pod, c, addresses{pod: "10.0.0.7"}, of)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"BOTH=gate-0 of gate-0,gate-1, not $(LATER)", "CPUS=4", "ID=gate-0", "IP=10.0.0.7", "LATER=no", "SET=gate-0,gate-1", "SPACE=load"}
	if got := assignments(env); !slices.Equal(got, want) {
		t.Errorf("variables %q, want %q", got, want)
	}
	args, err := arguments(c, env)
	if want := []string{"gate", "--advertise=gate-0.gate.load.svc:7400", "$(ID)", "$(MISSING)"}; err != nil || !slices.Equal(args, want) {
		t.Errorf("arguments %q, %v, want %q", args, err, want)
	}
	if _, err := environment(pod, c, addresses{}, known{}); err == nil || !strings.Contains(err.Error(), "no ConfigMap gates") {
		t.Errorf("without the ConfigMap: %v", err)
	}
	yes := true
	c.EnvFrom[0].ConfigMapRef.Optional = &yes
	if _, err := environment(pod, c, addresses{}, known{}); err != nil {
		t.Errorf("without an optional ConfigMap: %v", err)
	}
	c.Command = []string{"/bin/sh"}
	if _, err := arguments(c, env); err == nil || !strings.Contains(err.Error(), "command") {
		t.Errorf("another command: %v", err)
	}
}
