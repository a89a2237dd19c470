package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// scaledObject has the fields of KEDA's ScaledObject that the component sets. KEDA's own schema is not asked.
type scaledObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		ScaleTargetRef struct {
			Name string `json:"name"`
		} `json:"scaleTargetRef"`
		MinReplicaCount int32 `json:"minReplicaCount"`
		MaxReplicaCount int32 `json:"maxReplicaCount"`
		PollingInterval int32 `json:"pollingInterval"`
		CooldownPeriod  int32 `json:"cooldownPeriod"`
		Triggers        []struct {
			Type       string            `json:"type"`
			MetricType string            `json:"metricType"`
			Metadata   map[string]string `json:"metadata"`
		} `json:"triggers"`
		Advanced struct {
			Config struct {
				Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior"`
			} `json:"horizontalPodAutoscalerConfig"`
		} `json:"advanced"`
	} `json:"spec"`
}

// scaling is what an autoscaler says, of either kind.
type scaling struct {
	kind, target       string
	least, floor, most int32 // floor: below which the kind cannot go
	metric, datacenter string
	each               string // cores that a worker offers
	behavior           *autoscalingv2.HorizontalPodAutoscalerBehavior
	faults             []string
}

func scalingOfHPA(h *autoscalingv2.HorizontalPodAutoscaler) *scaling {
	s := &scaling{kind: h.Spec.ScaleTargetRef.Kind, target: h.Spec.ScaleTargetRef.Name, floor: 1, least: 1, most: h.Spec.MaxReplicas, behavior: h.Spec.Behavior}
	if h.Spec.MinReplicas != nil {
		s.least = *h.Spec.MinReplicas
	}
	if len(h.Spec.Metrics) != 1 || h.Spec.Metrics[0].Type != autoscalingv2.ExternalMetricSourceType || h.Spec.Metrics[0].External == nil {
		s.faults = append(s.faults, "want one metric of type External")
		return s
	}
	x := h.Spec.Metrics[0].External
	s.metric = x.Metric.Name
	if x.Metric.Selector != nil {
		s.datacenter = x.Metric.Selector.MatchLabels["datacenter"]
	}
	if x.Target.Type != autoscalingv2.AverageValueMetricType || x.Target.AverageValue == nil {
		s.faults = append(s.faults, fmt.Sprintf("target type %s: want AverageValue, which divides the cores by those of a worker", x.Target.Type))
		return s
	}
	s.each = x.Target.AverageValue.String()
	return s
}

var scalingQuery = regexp.MustCompile(`^sum\((\w+)\{datacenter="([^"]*)"\}\)$`)

func scalingOfKEDA(o *scaledObject) *scaling {
	s := &scaling{kind: "Deployment", target: o.Spec.ScaleTargetRef.Name, least: o.Spec.MinReplicaCount, most: o.Spec.MaxReplicaCount, behavior: o.Spec.Advanced.Config.Behavior}
	if len(o.Spec.Triggers) != 1 || o.Spec.Triggers[0].Type != "prometheus" || o.Spec.Triggers[0].MetricType != "AverageValue" {
		s.faults = append(s.faults, "want one trigger of type prometheus, with metricType AverageValue")
		return s
	}
	with := o.Spec.Triggers[0].Metadata
	query := scalingQuery.FindStringSubmatch(with["query"])
	if query == nil {
		s.faults = append(s.faults, fmt.Sprintf("query %q: want the sum over gates for one datacenter", with["query"]))
		return s
	}
	s.metric, s.datacenter, s.each = query[1], query[2], with["threshold"]
	if with["ignoreNullValues"] != "false" {
		s.faults = append(s.faults, "ignoreNullValues: without an answer of Prometheus no worker would stay")
	}
	if o.Spec.CooldownPeriod < 600 {
		s.faults = append(s.faults, fmt.Sprintf("cooldownPeriod = %d: want 600 s at least", o.Spec.CooldownPeriod))
	}
	return s
}

// scalingFaults compares an autoscaler with the workers, and with the metric that gates have.
func (m *manifests) scalingFaults(served string) (faults []string) {
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if len(m.scalings) != 1 {
		say("%d autoscalers, want one: two would fight", len(m.scalings))
	}
	for _, s := range m.scalings {
		faults = append(faults, s.faults...)
		var of *workload
		for _, w := range m.workloads {
			if w.name == s.target && w.service == "" && s.kind == "Deployment" {
				of = w
			}
		}
		if of == nil || of.role != "worker" {
			say("it scales %s %s: only workers scale, the set of gates and managers is configured", s.kind, s.target)
			continue
		}
		if !of.scaled {
			say("%s: replicas is set: each apply would undo the autoscaler", of.name)
		}
		env, more := m.environment(of, 0)
		faults = append(faults, more...)
		if !strings.Contains(served, fmt.Sprintf("%q", s.metric)) {
			say("metric %s: no gate has it", s.metric)
		}
		if want := env["HYPERSCALE_DATACENTER"]; s.datacenter != want {
			say("datacenter %q: the workers are in %q", s.datacenter, want)
		}
		if want := env["HYPERSCALE_CORES"]; s.each != want {
			say("a target of %s cores: a worker offers %s", s.each, want)
		}
		if s.least < s.floor || s.most <= s.least {
			say("%d to %d workers: want %d at least, and room above", s.least, s.most, s.floor)
		}
		switch b := s.behavior; {
		case b == nil || b.ScaleDown == nil || b.ScaleDown.StabilizationWindowSeconds == nil || *b.ScaleDown.StabilizationWindowSeconds < 600:
			say("scaleDown: want a stabilizationWindowSeconds of 600 at least: a gate that restarts reports nothing for a while")
		case b.ScaleUp == nil || b.ScaleUp.StabilizationWindowSeconds == nil || *b.ScaleUp.StabilizationWindowSeconds != 0:
			say("scaleUp: want a stabilizationWindowSeconds of 0: jobs wait")
		}
	}
	return faults
}

// renderWith is an overlay of a user: one-cluster, and a component.
func renderWith(t *testing.T, component string) string {
	t.Helper()
	folder := t.TempDir()
	to := func(parts ...string) string {
		path, err := filepath.Abs(filepath.Join(append([]string{"..", "kubernetes"}, parts...)...))
		if err == nil {
			path, err = filepath.Rel(folder, path)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := fmt.Sprintf("resources: [%s]\ncomponents: [%s]\n", to("overlays", "one-cluster"), to("components", component))
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return output(t, exec.Command(need(t, "kubectl"), "kustomize", folder))
}

func scalingFound(t *testing.T, text string) []string {
	t.Helper()
	served, err := os.ReadFile(filepath.Join("..", "..", "runtime", "metrics", "gate.go"))
	if err != nil {
		t.Fatal(err)
	}
	m, faults := decode(text)
	if len(faults) > 0 {
		return faults
	}
	return append(m.faults(), m.scalingFaults(string(served))...)
}

// TestScaling: each component fits one-cluster: its target, its metric, its datacenter, a worker's cores. No test scales a
// cluster.
func TestScaling(t *testing.T) {
	for _, component := range []string{"hpa-external", "hpa-keda"} {
		for _, fault := range scalingFound(t, renderWith(t, component)) {
			t.Errorf("%s: %s", component, fault)
		}
	}
}

// TestScalingMistakes: planted mistakes are found, each for its own reason.
func TestScalingMistakes(t *testing.T) {
	const hpa, keda = "hpa-external", "hpa-keda"
	rendered := map[string]string{hpa: renderWith(t, hpa), keda: renderWith(t, keda)}
	for _, tt := range []struct{ component, find, replace, want string }{
		{hpa, "averageValue: \"3\"", "averageValue: \"4\"", "a worker offers 3"},
		{hpa, "type: AverageValue", "type: Value", "want AverageValue"},
		{hpa, "datacenter: here\n", "datacenter: fra\n", `the workers are in "here"`},
		{hpa, "name: hyperscale_gate_wanted_cores", "name: hyperscale_wanted_cores", "no gate has it"},
		{hpa, "stabilizationWindowSeconds: 600", "stabilizationWindowSeconds: 60", "scaleDown"},
		{hpa, "stabilizationWindowSeconds: 0", "stabilizationWindowSeconds: 300", "scaleUp"},
		{hpa, "kind: Deployment\n    name: hyperscale-worker", "kind: StatefulSet\n    name: hyperscale-gate", "only workers scale"},
		{hpa, "minReplicas: 2", "minReplicas: 0", "want 1 at least"},
		{hpa, "maxReplicas: 200", "maxReplica: 200", "unknown field"},
		{hpa, "strategy:\n    rollingUpdate", "replicas: 3\n  strategy:\n    rollingUpdate", "each apply would undo"},
		{keda, "threshold: \"3\"", "threshold: \"1\"", "a worker offers 3"},
		{keda, "datacenter=\"here\"", "datacenter=\"fra\"", `the workers are in "here"`},
		{keda, "query: sum(", "query: avg(", "want the sum over gates"},
		{keda, "ignoreNullValues: \"false\"", "ignoreNullValues: \"true\"", "without an answer"},
		{keda, "cooldownPeriod: 600", "cooldownPeriod: 60", "cooldownPeriod = 60"},
		{keda, "cooldownPeriod: 600", "coolDown: 600", "unknown field"},
		{keda, "metricType: AverageValue", "metricType: Value", "metricType AverageValue"},
	} {
		broken := strings.Replace(rendered[tt.component], tt.find, tt.replace, 1)
		if broken == rendered[tt.component] {
			t.Errorf("%s has no %q", tt.component, tt.find)
			continue
		}
		if got := strings.Join(scalingFound(t, broken), "\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%s with %q: found %q, want %q in it", tt.component, tt.replace, got, tt.want)
		}
	}
}
