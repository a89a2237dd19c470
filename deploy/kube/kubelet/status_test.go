package kubelet

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func running(ready bool) corev1.ContainerStatus {
	return corev1.ContainerStatus{Ready: ready, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func ended(code int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
}

func TestPhases(t *testing.T) {
	waits := corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}
	restarts := waits
	restarts.LastTerminationState = ended(1).State
	now := metav1.Now()
	for _, tt := range []struct {
		what    string
		policy  corev1.RestartPolicy
		deleted bool
		all     []corev1.ContainerStatus
		want    corev1.PodPhase
	}{
		{"one has never started", corev1.RestartPolicyAlways, false, []corev1.ContainerStatus{running(true), waits}, corev1.PodPending},
		{"all run", corev1.RestartPolicyAlways, false, []corev1.ContainerStatus{running(true), running(false)}, corev1.PodRunning},
		{"one waits for its restart", corev1.RestartPolicyAlways, false, []corev1.ContainerStatus{restarts}, corev1.PodRunning},
		{"one has ended and starts again", corev1.RestartPolicyAlways, false, []corev1.ContainerStatus{ended(0)}, corev1.PodRunning},
		{"all have ended well for good", corev1.RestartPolicyOnFailure, false, []corev1.ContainerStatus{ended(0)}, corev1.PodSucceeded},
		{"one has failed for good", corev1.RestartPolicyNever, false, []corev1.ContainerStatus{ended(0), ended(1)}, corev1.PodFailed},
		{"a deleted one has ended well", corev1.RestartPolicyAlways, true, []corev1.ContainerStatus{ended(0)}, corev1.PodSucceeded},
		{"a deleted one was killed", corev1.RestartPolicyAlways, true, []corev1.ContainerStatus{ended(137)}, corev1.PodFailed},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: tt.policy}}
		if tt.deleted {
			pod.DeletionTimestamp = &now
		}
		if got := phase(pod, tt.all); got != tt.want {
			t.Errorf("%s: phase %s, want %s", tt.what, got, tt.want)
		}
	}
}

// TestConditions: the scheduler's condition stays, and a time changes only with its condition.
func TestConditions(t *testing.T) {
	first := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pod := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyAlways}}
	v := view{began: first, addresses: addresses{pod: "10.0.0.7", host: "10.0.0.1"}, containers: []corev1.ContainerStatus{running(false)}}
	s := v.status(pod, corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}}, first)
	v.containers[0].Ready = true
	later := first.Add(time.Minute)
	s = v.status(pod, s, later)
	got := map[corev1.PodConditionType]corev1.PodCondition{}
	for _, c := range s.Conditions {
		got[c.Type] = c
	}
	if len(got) != 5 || len(s.Conditions) != 5 {
		t.Fatalf("conditions %v, want five", s.Conditions)
	}
	for kind, at := range map[corev1.PodConditionType]time.Time{corev1.PodReady: later, corev1.ContainersReady: later, corev1.PodInitialized: first} {
		if c := got[kind]; c.Status != corev1.ConditionTrue || !c.LastTransitionTime.Equal(&metav1.Time{Time: at}) || c.Reason != "" {
			t.Errorf("condition %v, want it true since %v without a reason", c, at)
		}
	}
	if got[corev1.PodScheduled].Status != corev1.ConditionTrue || s.PodIP != "10.0.0.7" || s.HostIP != "10.0.0.1" {
		t.Errorf("status %v, want the scheduler's condition and both addresses", s)
	}
}
