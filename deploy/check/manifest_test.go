package check

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// overlays are what a user applies.
var overlays = []string{"one-cluster", "gates-only", "datacenter-only", "dev"}

// manifests are the objects of an overlay, decoded.
type manifests struct {
	workloads []*workload
	services  []*corev1.Service
	maps      map[string]*corev1.ConfigMap
	budgets   []*policyv1.PodDisruptionBudget
	policies  []*networkingv1.NetworkPolicy
	scalings  []*scaling
	roles     []*rbacv1.Role
	bindings  []*rbacv1.RoleBinding
	resources int // CustomResourceDefinitions

	setPolicies []*admissionv1.ValidatingAdmissionPolicy
	setBindings []*admissionv1.ValidatingAdmissionPolicyBinding
}

// workload is a StatefulSet or a Deployment.
type workload struct {
	name, service string // service of a StatefulSet
	namespace     string
	replicas      int
	scaled        bool // replicas is not set: an autoscaler has it
	role          string
	template      *corev1.PodTemplateSpec
	selector      *metav1.LabelSelector
	claims        []corev1.PersistentVolumeClaim
}

// render is what `kubectl apply -k` would send.
func render(t *testing.T, overlay string) string {
	t.Helper()
	return output(t, exec.Command(need(t, "kubectl"), "kustomize", filepath.Join("..", "kubernetes", "overlays", overlay)))
}

// decode reads rendered manifests strictly: an unknown field, a field twice, and a wrong case are faults.
func decode(text string) (*manifests, []string) {
	m := &manifests{maps: map[string]*corev1.ConfigMap{}}
	var faults []string
	for _, part := range strings.Split(text, "\n---\n") {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(part), &kind); err != nil {
			faults = append(faults, err.Error())
			continue
		}
		if err := m.add(kind, part); err != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", kind.Kind, err))
		}
	}
	return m, faults
}

// strictly decodes one document.
func strictly(part string, into any) error {
	text, err := yaml.YAMLToJSONStrict([]byte(part))
	if err != nil {
		return err
	}
	strict, err := kjson.UnmarshalStrict(text, into)
	if err == nil && len(strict) > 0 {
		err = strict[0]
	}
	return err
}

func (m *manifests) add(kind metav1.TypeMeta, part string) error {
	switch kind.APIVersion + " " + kind.Kind {
	case "apps/v1 StatefulSet":
		var s appsv1.StatefulSet
		if err := strictly(part, &s); err != nil {
			return err
		}
		w := &workload{name: s.Name, namespace: s.Namespace, service: s.Spec.ServiceName, replicas: int(*s.Spec.Replicas), template: &s.Spec.Template, selector: s.Spec.Selector, claims: s.Spec.VolumeClaimTemplates}
		w.role = w.template.Labels["role"]
		m.workloads = append(m.workloads, w)
		if s.Spec.PodManagementPolicy != appsv1.ParallelPodManagement {
			return fmt.Errorf("%s: podManagementPolicy = %q: a new group waits for all of its members, use Parallel", s.Name, s.Spec.PodManagementPolicy)
		}
	case "apps/v1 Deployment":
		var d appsv1.Deployment
		if err := strictly(part, &d); err != nil {
			return err
		}
		w := &workload{name: d.Name, namespace: d.Namespace, replicas: 1, scaled: d.Spec.Replicas == nil, template: &d.Spec.Template, selector: d.Spec.Selector}
		if !w.scaled {
			w.replicas = int(*d.Spec.Replicas)
		}
		w.role = w.template.Labels["role"]
		m.workloads = append(m.workloads, w)
	case "v1 Service":
		s := new(corev1.Service)
		m.services = append(m.services, s)
		return strictly(part, s)
	case "v1 ConfigMap":
		c := new(corev1.ConfigMap)
		err := strictly(part, c)
		m.maps[c.Name] = c
		return err
	case "policy/v1 PodDisruptionBudget":
		b := new(policyv1.PodDisruptionBudget)
		m.budgets = append(m.budgets, b)
		return strictly(part, b)
	case "networking.k8s.io/v1 NetworkPolicy":
		p := new(networkingv1.NetworkPolicy)
		m.policies = append(m.policies, p)
		return strictly(part, p)
	case "autoscaling/v2 HorizontalPodAutoscaler":
		h := new(autoscalingv2.HorizontalPodAutoscaler)
		err := strictly(part, h)
		m.scalings = append(m.scalings, scalingOfHPA(h))
		return err
	case "keda.sh/v1alpha1 ScaledObject":
		o := new(scaledObject)
		err := strictly(part, o)
		m.scalings = append(m.scalings, scalingOfKEDA(o))
		return err
	default:
		return m.addOperator(kind, part)
	}
	return nil
}

// environment is what a container of a workload's n-th pod gets. A Secret as a source is a fault: variables are in
// `kubectl describe` and in crash dumps.
func (m *manifests) environment(w *workload, n int) (env map[string]string, faults []string) {
	env = map[string]string{}
	c := &w.template.Spec.Containers[0]
	for _, from := range c.EnvFrom {
		switch {
		case from.ConfigMapRef == nil:
			faults = append(faults, fmt.Sprintf("%s: envFrom of a Secret: mount it as a file", w.name))
		case m.maps[from.ConfigMapRef.Name] == nil:
			faults = append(faults, fmt.Sprintf("%s: ConfigMap %s is missing", w.name, from.ConfigMapRef.Name))
		default:
			for name, value := range m.maps[from.ConfigMapRef.Name].Data {
				env[name] = value
			}
		}
	}
	fields := map[string]string{"metadata.name": fmt.Sprintf("%s-%d", w.name, n), "metadata.namespace": w.namespace, "status.podIP": "10.1.2.3"}
	for _, v := range c.Env {
		switch {
		case v.ValueFrom == nil:
			env[v.Name] = v.Value
		case v.ValueFrom.FieldRef != nil && fields[v.ValueFrom.FieldRef.FieldPath] != "":
			env[v.Name] = fields[v.ValueFrom.FieldRef.FieldPath]
		default:
			faults = append(faults, fmt.Sprintf("%s: %s comes from something that is no field of the pod: mount secrets as files", w.name, v.Name))
		}
	}
	return env, faults
}

// arguments are a container's, with its variables in place.
func arguments(w *workload, env map[string]string) []string {
	var replace []string
	for name, value := range env {
		replace = append(replace, "$("+name+")", value)
	}
	edit := strings.NewReplacer(replace...)
	var args []string
	for _, a := range w.template.Spec.Containers[0].Args {
		args = append(args, edit.Replace(a))
	}
	return args
}

// flag is the value of --name=value among arguments.
func flag(args []string, name string) string {
	for _, a := range args {
		if value, ok := strings.CutPrefix(a, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}

// configured asks the binary whether a node with these arguments and variables would start.
func configured(args []string, env map[string]string) error {
	cmd := exec.Command(built, append([]string{"config", "check", args[0], "--apart"}, args[1:]...)...)
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}
