package kubelet

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// probed has a startup probe that may fail twice, a liveness probe that may fail once, and a readiness probe that needs two
// successes and may fail once.
func probed() *health {
	return newHealth(&corev1.Container{
		StartupProbe:   &corev1.Probe{FailureThreshold: 3, SuccessThreshold: 1},
		LivenessProbe:  &corev1.Probe{FailureThreshold: 2, SuccessThreshold: 1},
		ReadinessProbe: &corev1.Probe{FailureThreshold: 2, SuccessThreshold: 2},
	})
}

func TestProbes(t *testing.T) {
	type step struct {
		kind                 kind
		good                 bool
		started, ready, dead bool
	}
	for name, steps := range map[string][]step{
		"a start that fails three times ends the container": {
			{startup, false, false, false, false}, {startup, false, false, false, false}, {startup, false, false, false, true},
		},
		"failures that a success divides do not add up": {
			{startup, true, true, false, false}, {liveness, false, true, false, false}, {liveness, true, true, false, false},
			{liveness, false, true, false, false}, {liveness, false, true, false, true},
		},
		"readiness comes and goes by its thresholds, and ends nothing": {
			{startup, true, true, false, false}, {readiness, true, true, false, false}, {readiness, true, true, true, false},
			{readiness, false, true, true, false}, {readiness, true, true, true, false}, {readiness, false, true, true, false},
			{readiness, false, true, false, false}, {readiness, false, true, false, false},
		},
		"nothing is ready before it has started": {
			{readiness, true, false, false, false}, {readiness, true, false, false, false}, {startup, true, true, true, false},
		},
	} {
		h := probed()
		for i, s := range steps {
			h.add(s.kind, s.good)
			_, dead := h.dead()
			if h.started() != s.started || h.ready() != s.ready || dead != s.dead {
				t.Errorf("%s: step %d: started %v, ready %v, dead %v, want %v, %v, %v", name, i, h.started(), h.ready(), dead, s.started, s.ready, s.dead)
			}
		}
	}
}

func TestProbesRunInOrder(t *testing.T) {
	h := probed()
	due := func() (all []kind) {
		for k := range kinds {
			if h.due(k) {
				all = append(all, k)
			}
		}
		return all
	}
	if got := due(); len(got) != 1 || got[0] != startup {
		t.Errorf("before the start %v are due, want the startup probe", got)
	}
	h.add(startup, true)
	if got := due(); len(got) != 2 || got[0] != liveness || got[1] != readiness {
		t.Errorf("after the start %v are due, want the two others", got)
	}
	bare := newHealth(&corev1.Container{})
	if !bare.started() || !bare.ready() || bare.due(liveness) {
		t.Error("a container without probes is ready at once, and none is due")
	}
}
