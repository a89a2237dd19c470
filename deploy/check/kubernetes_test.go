package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestManifests: each overlay renders, decodes strictly, and passes every check below.
func TestManifests(t *testing.T) {
	for _, overlay := range overlays {
		m, faults := decode(render(t, overlay))
		for _, fault := range append(faults, m.faults()...) {
			t.Errorf("%s: %s", overlay, fault)
		}
		roles := map[string]int{"one-cluster": 3, "dev": 3, "gates-only": 1, "datacenter-only": 2}
		if len(m.workloads) != roles[overlay] {
			t.Errorf("%s has %d workloads, want %d", overlay, len(m.workloads), roles[overlay])
		}
	}
}

// faults are all that a cluster would refuse, or would run wrongly.
func (m *manifests) faults() (faults []string) {
	for _, w := range m.workloads {
		if w.role == "operator" {
			faults = append(faults, m.operatorFaults(w)...)
			continue
		}
		faults = append(faults, m.nodeFaults(w)...)
		faults = append(faults, securityFaults(w)...)
		faults = append(faults, resourceFaults(w)...)
		faults = append(faults, m.portFaults(w)...)
		faults = append(faults, m.budgetFaults(w)...)
		faults = append(faults, m.setFaults(w)...)
	}
	return append(faults, m.policyFaults()...)
}

// nodeFaults asks the binary about every pod, and compares a set with the pods that have its names.
func (m *manifests) nodeFaults(w *workload) (faults []string) {
	var members []string
	var set string
	var env map[string]string
	for n := range w.replicas {
		var more []string
		if env, more = m.environment(w, n); len(more) > 0 {
			return more
		}
		args := arguments(w, env)
		if err := configured(args, env); err != nil {
			return append(faults, fmt.Sprintf("%s: %v", w.name, err))
		}
		if args[0] != w.role {
			faults = append(faults, fmt.Sprintf("%s: label role = %s, and it runs a %s", w.name, w.role, args[0]))
		}
		members, set = append(members, flag(args, "advertise")), env["HYPERSCALE_"+strings.ToUpper(w.role)+"S"]
	}
	if w.service != "" && !slices.Equal(strings.Split(set, ","), members) {
		faults = append(faults, fmt.Sprintf("%s: its pods advertise %q, and the set is %q: replicas and names must be those of the ConfigMap", w.name, members, set))
	}
	stop := 20 * time.Second
	if text, ok := env["HYPERSCALE_STOP_TIMEOUT"]; ok {
		stop, _ = time.ParseDuration(text) // the binary has taken it
	}
	if grace := w.template.Spec.TerminationGracePeriodSeconds; grace == nil || time.Duration(*grace)*time.Second < stop+10*time.Second {
		faults = append(faults, fmt.Sprintf("%s: terminationGracePeriodSeconds must be stop_timeout (%v) and 10 s at least", w.name, stop))
	}
	return faults
}

// securityFaults compares with the restricted profile of pod security, and with what the image can do.
func securityFaults(w *workload) (faults []string) {
	s, c := &w.template.Spec, &w.template.Spec.Containers[0]
	is := func(b *bool, want bool) bool { return b != nil && *b == want }
	check := func(ok bool, text string) {
		if !ok {
			faults = append(faults, w.name+": "+text)
		}
	}
	pod, box := s.SecurityContext, c.SecurityContext
	if pod == nil || box == nil {
		return []string{w.name + ": a securityContext is missing"}
	}
	check(is(pod.RunAsNonRoot, true) && pod.RunAsUser != nil && strconv.FormatInt(*pod.RunAsUser, 10) == user, "runAsNonRoot, runAsUser: use "+user)
	check(pod.FSGroup != nil && strconv.FormatInt(*pod.FSGroup, 10) == user, "fsGroup: the node writes its volume as group "+user)
	check(pod.SeccompProfile != nil && pod.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault, "seccompProfile: use RuntimeDefault")
	check(is(box.AllowPrivilegeEscalation, false), "allowPrivilegeEscalation: use false")
	check(is(box.ReadOnlyRootFilesystem, true), "readOnlyRootFilesystem: use true")
	check(box.Capabilities != nil && slices.Equal(box.Capabilities.Drop, []corev1.Capability{"ALL"}) && len(box.Capabilities.Add) == 0, "capabilities: drop ALL")
	check(is(s.AutomountServiceAccountToken, w.role == "operator"), "automountServiceAccountToken: no node asks the API server, and the operator does")
	check(is(s.EnableServiceLinks, false), "enableServiceLinks: a Service hyperscale-* would set variables of nodes")
	check(!s.HostNetwork && !s.HostPID && !s.HostIPC, "host namespaces: use none")
	for _, v := range s.Volumes {
		check(v.HostPath == nil, "volume "+v.Name+" is of the host")
	}
	if w.role == "operator" { // it keeps nothing
		return faults
	}
	return append(faults, volumeFaults(w)...)
}

// volumeFaults looks for the folder of --data, and for the secret that the node may read.
func volumeFaults(w *workload) (faults []string) {
	c, found := &w.template.Spec.Containers[0], map[string]string{}
	for _, claim := range w.claims {
		found[claim.Name] = "claim"
	}
	for _, v := range w.template.Spec.Volumes {
		switch {
		case v.Secret != nil:
			found[v.Name] = "secret"
			if v.Secret.DefaultMode == nil || *v.Secret.DefaultMode != 0o440 {
				faults = append(faults, w.name+": volume "+v.Name+": defaultMode: the node takes no secret that others may read: use 0440")
			}
		case v.EmptyDir != nil:
			found[v.Name] = "empty"
			if v.EmptyDir.SizeLimit == nil {
				faults = append(faults, w.name+": volume "+v.Name+" has no sizeLimit: the kubelet evicts a pod that fills the disk")
			}
		}
	}
	for _, want := range []struct{ path, kind string }{{"/data", "claim empty"}, {"/run/secrets/hyperscale", "secret"}} {
		if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
			return m.MountPath == want.path && found[m.Name] != "" && strings.Contains(want.kind, found[m.Name])
		}) {
			faults = append(faults, fmt.Sprintf("%s: no volume of kind %s at %s", w.name, want.kind, want.path))
		}
	}
	return faults
}

// resourceFaults: whole processors, no throttled ones, and one more than a worker offers.
func resourceFaults(w *workload) (faults []string) {
	c := &w.template.Spec.Containers[0]
	cpu, limit := c.Resources.Requests.Cpu(), c.Resources.Limits.Cpu()
	if cpu.MilliValue() == 0 || cpu.MilliValue()%1000 != 0 {
		faults = append(faults, fmt.Sprintf("%s: requests.cpu = %v must be a whole number", w.name, cpu))
	}
	if !limit.IsZero() && limit.Cmp(*cpu) != 0 {
		faults = append(faults, fmt.Sprintf("%s: limits.cpu = %v differs from requests.cpu = %v: a quota stops a process for 50 ms", w.name, limit, cpu))
	}
	if c.Resources.Limits.Memory().IsZero() {
		faults = append(faults, w.name+": limits.memory is missing")
	}
	for _, v := range c.Env {
		if v.Name == "HYPERSCALE_CORES" && v.Value != strconv.FormatInt(cpu.Value()-1, 10) {
			faults = append(faults, fmt.Sprintf("%s: HYPERSCALE_CORES = %s: a worker offers one less than requests.cpu = %v", w.name, v.Value, cpu))
		}
	}
	return faults
}

// portFaults compares what a node listens on with ports, probes and Services.
func (m *manifests) portFaults(w *workload) (faults []string) {
	c := &w.template.Spec.Containers[0]
	ports := map[string]string{}
	for _, p := range c.Ports {
		protocol := p.Protocol
		if protocol == "" {
			protocol = corev1.ProtocolTCP
		}
		ports[p.Name] = fmt.Sprintf("%d/%s", p.ContainerPort, protocol)
	}
	listen, admin := last(flag(c.Args, "listen")), last(flag(c.Args, "admin"))
	for name, want := range map[string]string{"node-tcp": listen + "/TCP", "node-udp": listen + "/UDP", "admin": admin + "/TCP"} {
		if ports[name] != want {
			faults = append(faults, fmt.Sprintf("%s: port %s is %q, and the node listens on %s", w.name, name, ports[name], want))
		}
	}
	for name, probe := range map[string]*corev1.Probe{"startupProbe /healthz": c.StartupProbe, "livenessProbe /healthz": c.LivenessProbe, "readinessProbe /readyz": c.ReadinessProbe} {
		_, path, _ := strings.Cut(name, " ")
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path || probe.HTTPGet.Port.StrVal != "admin" {
			faults = append(faults, fmt.Sprintf("%s: %s must ask for %s at port admin", w.name, name, path))
		}
	}
	headless := w.service == ""
	for _, s := range m.services {
		if !matches(&metav1.LabelSelector{MatchLabels: s.Spec.Selector}, w.template.Labels) {
			continue
		}
		for _, p := range s.Spec.Ports {
			protocol := p.Protocol
			if protocol == "" {
				protocol = corev1.ProtocolTCP
			}
			if got := ports[p.TargetPort.StrVal]; got != fmt.Sprintf("%d/%s", p.Port, protocol) {
				faults = append(faults, fmt.Sprintf("service %s: port %d/%s leads to %q of %s", s.Name, p.Port, protocol, got, w.name))
			}
		}
		headless = headless || s.Name == w.service && s.Spec.ClusterIP == corev1.ClusterIPNone && s.Spec.PublishNotReadyAddresses
	}
	if !headless {
		faults = append(faults, fmt.Sprintf("%s: its Service %q must exist, be headless, and publish addresses that are not ready", w.name, w.service))
	}
	return faults
}

func last(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

func matches(s *metav1.LabelSelector, labels map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labelSet(labels))
}

// budgetFaults: exactly one budget, that lets a node drain, and never two members at once.
func (m *manifests) budgetFaults(w *workload) (faults []string) {
	if !matches(w.selector, w.template.Labels) {
		return []string{w.name + ": its selector does not match its own pods"}
	}
	var own []*policyv1.PodDisruptionBudget
	for _, b := range m.budgets {
		if matches(b.Spec.Selector, w.template.Labels) {
			own = append(own, b)
		}
	}
	if len(own) != 1 || own[0].Spec.MaxUnavailable == nil {
		return []string{fmt.Sprintf("%s: %d budgets with maxUnavailable, want one", w.name, len(own))}
	}
	most, err := intstr.GetScaledValueFromIntOrPercent(own[0].Spec.MaxUnavailable, w.replicas, true)
	if err != nil || most < 1 {
		faults = append(faults, fmt.Sprintf("%s: maxUnavailable = %v: no machine could be drained", w.name, own[0].Spec.MaxUnavailable))
	}
	if w.service != "" && (most > 1 || w.replicas > 1 && most >= w.replicas) {
		faults = append(faults, fmt.Sprintf("%s: maxUnavailable = %v: a group of %d that loses more than one has no majority", w.name, own[0].Spec.MaxUnavailable, w.replicas))
	}
	if w.service != "" {
		a := w.template.Spec.Affinity
		if a == nil || a.PodAntiAffinity == nil || len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) == 0 ||
			!matches(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector, w.template.Labels) {
			faults = append(faults, w.name+": two members on one host are no majority: require anti-affinity by host")
		}
	}
	return faults
}

// TestMistakesAreFound plants mistakes into what is applied.
func TestMistakesAreFound(t *testing.T) {
	text := render(t, "one-cluster")
	for _, tt := range []struct{ find, replace, want string }{
		{"podManagementPolicy: Parallel", "podManagementPolicy: OrderedReady", "a new group waits for all"},
		{"terminationGracePeriodSeconds: 40", "terminationGracePeriodSecond: 40", "unknown field"},
		{"readOnlyRootFilesystem", "readonlyRootFilesystem", "unknown field"},
		{"terminationGracePeriodSeconds: 3600", "terminationGracePeriodSeconds: 3599", "stop_timeout (59m50s) and 10 s"},
		{"- --data=/data", "- --dta=/data", "--dta is not a flag"},
		{"HYPERSCALE_STOP_TIMEOUT", "HYPERSCALE_STOP_TIMOUT", "HYPERSCALE_STOP_TIMOUT is no setting"},
		{"value: 3590s", "value: 2h", "stop_timeout = 2h"},
		{"replicas: 3\n  selector:\n    matchLabels:\n      app: hyperscale\n      role: gate", "replicas: 2\n  selector:\n    matchLabels:\n      app: hyperscale\n      role: gate", "the set is"},
		{"hyperscale-manager-2.hyperscale-manager:7500", "hyperscale-manager-3.hyperscale-manager:7500", "must contain this node's own address"},
		{"- configMapRef:\n            name: hyperscale-gates", "- configMapRef:\n            name: hyperscale-gate", "ConfigMap hyperscale-gate is missing"},
		{"containerPort: 7500", "containerPort: 7501", "the node listens on 7500/TCP"},
		{"path: /readyz", "path: /healthz", "readinessProbe /readyz"},
		{"publishNotReadyAddresses: true", "publishNotReadyAddresses: false", "publish addresses that are not ready"},
		{"maxUnavailable: 1\n  selector", "maxUnavailable: 0\n  selector", "no machine could be drained"},
		{"maxUnavailable: 1\n  selector", "maxUnavailable: 2\n  selector", "has no majority"},
		{"runAsUser: 65532", "runAsUser: 0", "runAsUser"},
		{"drop:\n            - ALL", "drop:\n            - NET_RAW", "drop ALL"},
		{"type: RuntimeDefault", "type: Unconfined", "seccompProfile"},
		{"enableServiceLinks: false", "enableServiceLinks: true", "enableServiceLinks"},
		{"defaultMode: 288", "defaultMode: 292", "others may read"},
		{"cpu: \"4\"\n            memory: 4Gi\n          requests", "cpu: \"2\"\n            memory: 4Gi\n          requests", "a quota stops"},
		{"value: \"3\"", "value: \"4\"", "one less than requests.cpu"},
		{"sizeLimit: 1Gi", "medium: Memory", "no sizeLimit"},
		{"resourceNames:\n      - hyperscale-gate\n", "resourceNames:\n      - hyperscale-gates\n", "no policy and binding reject more replicas than HYPERSCALE_GATES"},
		{"params.data.HYPERSCALE_MANAGERS.split", "params.data.HYPERSCALE_GATES.split", "than HYPERSCALE_MANAGERS has names"},
		{"validationActions:\n  - Deny", "validationActions:\n  - Warn", "no policy and binding"},
		{"port: 7400\n      protocol: UDP\n    to:", "port: 7500\n      protocol: UDP\n    to:", "gate to gate 7400/UDP"},
		{"hyperscale/client: \"true\"", "hyperscale/clients: \"true\"", "client to gate 7400/TCP"},
		{"kind: NetworkPolicy\nmetadata:\n  name: hyperscale-worker", "kind: NetworkPolicy\nmetadata:\n  name: hyperscale-worker\n  labels: {a: b, a: c}", "already set"},
	} {
		broken := strings.Replace(text, tt.find, tt.replace, 1)
		if broken == text {
			t.Errorf("%q is not in the manifests", tt.find)
			continue
		}
		m, found := decode(broken)
		if len(found) == 0 {
			found = m.faults()
		}
		if got := strings.Join(found, "\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%q: found %q, want %q in it", tt.replace, got, tt.want)
		}
	}
}
