package check

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// addOperator decodes what the component operator has besides.
func (m *manifests) addOperator(kind metav1.TypeMeta, part string) error {
	switch kind.APIVersion + " " + kind.Kind {
	case "apiextensions.k8s.io/v1 CustomResourceDefinition":
		m.resources++
		_, faults := resourceOf(part)
		if len(faults) > 0 {
			return fmt.Errorf("%s", strings.Join(faults, "; "))
		}
		return nil
	case "v1 ServiceAccount":
		return strictly(part, new(corev1.ServiceAccount))
	case "rbac.authorization.k8s.io/v1 Role":
		r := new(rbacv1.Role)
		m.roles = append(m.roles, r)
		return strictly(part, r)
	case "rbac.authorization.k8s.io/v1 RoleBinding":
		b := new(rbacv1.RoleBinding)
		m.bindings = append(m.bindings, b)
		return strictly(part, b)
	}
	return m.addSet(kind, part)
}

// rights are all that the operator may do: runtime/operator asks for nothing else.
var rights = []string{
	"configmaps get", "load.hyperscale.internal/loadtests delete", "load.hyperscale.internal/loadtests list",
	"load.hyperscale.internal/loadtests watch", "load.hyperscale.internal/loadtests/status patch",
}

// operatorFaults compares the operator with the binary's flags, with its rights, and with what it reaches.
func (m *manifests) operatorFaults(w *workload) (faults []string) {
	faults = append(securityFaults(w), m.budgetFaults(w)...)
	say := func(format string, args ...any) { faults = append(faults, w.name+": "+fmt.Sprintf(format, args...)) }
	c := &w.template.Spec.Containers[0]
	cmd := exec.Command(built, c.Args...)
	cmd.Env = []string{"HYPERSCALE_HISTORY=off"} // without the variables of a pod it takes its flags, and stops
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "this is no pod of Kubernetes") {
		say("its flags are wrong: %s", out)
	}
	mounted := map[string]bool{}
	for _, mount := range c.VolumeMounts {
		for _, v := range w.template.Spec.Volumes {
			if v.Name == mount.Name && v.Secret != nil && v.Secret.DefaultMode != nil && *v.Secret.DefaultMode == 0o440 && mount.ReadOnly {
				mounted[mount.MountPath] = true
			}
		}
	}
	for _, name := range []string{"gates-ca", "token"} {
		file := flag(c.Args, name)
		if at := strings.LastIndexByte(file, '/'); at < 0 || !mounted[file[:at]] {
			say("--%s=%s is in no Secret that is mounted read-only, with defaultMode 0440", name, file)
		}
	}
	for name, probe := range map[string]*corev1.Probe{"/healthz": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != name || probe.HTTPGet.Port.StrVal != "admin" || !slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
			return p.Name == "admin" && fmt.Sprint(p.ContainerPort) == last(flag(c.Args, "admin"))
		}) {
			say("a probe must ask for %s at port admin, where it listens", name)
		}
	}
	if c.Resources.Limits.Memory().IsZero() {
		say("limits.memory is missing")
	}
	faults = append(faults, m.rightFaults(w)...)
	return append(faults, m.gatesFaults(flag(c.Args, "gates"))...)
}

func (m *manifests) rightFaults(w *workload) (faults []string) {
	var has []string
	for _, role := range m.roles {
		for _, b := range m.bindings {
			if b.RoleRef.Kind != "Role" || b.RoleRef.Name != role.Name || !slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool {
				return s.Kind == "ServiceAccount" && s.Name == w.template.Spec.ServiceAccountName
			}) {
				continue
			}
			for _, rule := range role.Rules {
				for _, group := range rule.APIGroups {
					for _, resource := range rule.Resources {
						for _, verb := range rule.Verbs {
							has = append(has, strings.TrimPrefix(group+"/"+resource+" "+verb, "/"))
						}
					}
				}
			}
		}
	}
	slices.Sort(has)
	if !slices.Equal(has, rights) {
		faults = append(faults, fmt.Sprintf("%s: its rights are %q, want %q", w.name, has, rights))
	}
	if m.resources != 1 {
		faults = append(faults, fmt.Sprintf("%d definitions of LoadTest, want one", m.resources))
	}
	return faults
}

// gatesFaults: the operator's URL is a Service that leads to where the gates answer HTTPS, under a name that they take.
func (m *manifests) gatesFaults(url string) (faults []string) {
	name, port, _ := strings.Cut(strings.TrimPrefix(url, "https://"), ":")
	for _, w := range m.workloads {
		if w.role != "gate" {
			continue
		}
		env, _ := m.environment(w, 0) // nodeFaults has its faults
		for _, s := range m.services {
			if s.Name != name || !matches(&metav1.LabelSelector{MatchLabels: s.Spec.Selector}, w.template.Labels) {
				continue
			}
			if fmt.Sprint(s.Spec.Ports[0].Port) != port || last(env["HYPERSCALE_API"]) != port || !slices.Contains(strings.Split(env["HYPERSCALE_API_HOSTS"], ","), name) {
				faults = append(faults, fmt.Sprintf("--gates=%s: Service %s has port %d, the gates listen on %q, and take the names %q", url, name, s.Spec.Ports[0].Port, env["HYPERSCALE_API"], env["HYPERSCALE_API_HOSTS"]))
			}
			return faults
		}
	}
	return append(faults, fmt.Sprintf("--gates=%s leads to no Service of the gates", url))
}

func operatorFound(text string) []string {
	m, faults := decode(text)
	if len(faults) == 0 {
		faults = m.faults()
	}
	if len(m.workloads) != 4 {
		faults = append(faults, fmt.Sprintf("%d workloads, want 4", len(m.workloads)))
	}
	return faults
}

// TestOperator: the component fits one-cluster: flags, rights, Secrets, the way to the gates, and network policies.
func TestOperator(t *testing.T) {
	for _, fault := range operatorFound(renderWith(t, "operator")) {
		t.Error(fault)
	}
	source, err := os.ReadFile("../../runtime/operator/kube.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"http.MethodPatch", "http.MethodDelete", "http.MethodGet"} { // the verbs of the rights above
		if !strings.Contains(string(source), method) {
			t.Errorf("the operator never uses %s: take the right away", method)
		}
	}
}

// TestOperatorMistakes: planted mistakes are found, each for its own reason.
func TestOperatorMistakes(t *testing.T) {
	rendered := renderWith(t, "operator")
	for _, tt := range []struct{ find, replace, want string }{
		{"--gates-ca=", "--gate-ca=", "--gate-ca is not a flag"},
		{"- --token=/run/secrets/hyperscale-operator/token\n", "- --label=prod\n", "--gates and --token are required"},
		{"--token=/run/secrets/hyperscale-operator/token", "--token=/run/secrets/operator/token", "is in no Secret"},
		{"--gates=https://hyperscale-api:8443", "--gates=https://hyperscale-apis:8443", "leads to no Service"},
		{"--gates=https://hyperscale-api:8443", "--gates=https://hyperscale-api:443", "Service hyperscale-api has port 8443"},
		{"value: hyperscale-api\n", "value: api\n", `take the names "api"`},
		{"value: 0.0.0.0:8443", "value: 0.0.0.0:8444", "the gates listen on"},
		{"verbs:\n  - patch", "verbs:\n  - update", "its rights are"},
		{"- configmaps\n", "- secrets\n", "its rights are"},
		{"kind: Role\n  name: hyperscale-operator", "kind: ClusterRole\n  name: hyperscale-operator", "its rights are"},
		{"automountServiceAccountToken: true", "automountServiceAccountToken: false", "the operator does"},
		{"- ports:\n    - port: 8443\n      protocol: TCP\n    to:", "- ports:\n    - port: 8444\n      protocol: TCP\n    to:", "operator to gate 8443/TCP"},
		{"- port: 6443\n      protocol: TCP\n    to:\n    - ipBlock:\n        cidr: 0.0.0.0/0\n        except:\n        - 169.254.0.0/16", "- port: 6443\n      protocol: TCP\n    to:\n    - ipBlock:\n        cidr: 0.0.0.0/0\n        except:\n        - 10.0.0.0/8", "operator to metadata 443/TCP"},
		{"self.program == oldSelf.program", "self.progam == oldSelf.program", "undefined field"},
		{"name: HYPERSCALE_API_TOKENS", "name: HYPERSCALE_API_TOKEN", "HYPERSCALE_API_TOKEN is no setting"},
		{"kind: ServiceAccount\nmetadata:", "kind: ServiceAccount\nmetdata:", "unknown field"},
	} {
		broken := strings.Replace(rendered, tt.find, tt.replace, 1)
		if broken == rendered {
			t.Errorf("the manifests have no %q", tt.find)
			continue
		}
		if got := strings.Join(operatorFound(broken), "\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%q: found %q, want %q in it", tt.replace, got, tt.want)
		}
	}
}
