package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// view is what a pod's status is made of.
type view struct {
	began      time.Time // when the kubelet took it up
	addresses  addresses // empty until it has a network
	containers []corev1.ContainerStatus
}

// status is the former one with what the kubelet knows: others, such as the scheduler, have conditions in it, too.
func (v *view) status(pod *corev1.Pod, former corev1.PodStatus, now time.Time) corev1.PodStatus {
	s := *former.DeepCopy()
	began := metav1.NewTime(v.began.Truncate(time.Second))
	s.StartTime, s.ObservedGeneration = &began, pod.Generation
	s.HostIP, s.HostIPs = v.addresses.host, []corev1.HostIP{{IP: v.addresses.host}}
	if v.addresses.pod != "" {
		s.PodIP, s.PodIPs = v.addresses.pod, []corev1.PodIP{{IP: v.addresses.pod}}
	}
	s.ContainerStatuses = v.containers
	s.Phase = phase(pod, v.containers)
	ready := true
	for _, c := range v.containers {
		ready = ready && c.Ready
	}
	reason := ""
	if !ready {
		reason = "ContainersNotReady"
	}
	for _, c := range []corev1.PodCondition{
		{Type: corev1.PodReadyToStartContainers, Status: status(v.addresses.pod != "")},
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue},
		{Type: corev1.ContainersReady, Status: status(ready), Reason: reason},
		{Type: corev1.PodReady, Status: status(ready), Reason: reason},
	} {
		c.ObservedGeneration = pod.Generation
		setCondition(&s, c, now)
	}
	return s
}

func status(yes bool) corev1.ConditionStatus {
	if yes {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

// setCondition replaces the condition of its type. It keeps the time of the last change where nothing changes.
func setCondition(s *corev1.PodStatus, c corev1.PodCondition, now time.Time) {
	c.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
	for i := range s.Conditions {
		former := &s.Conditions[i]
		if former.Type != c.Type {
			continue
		}
		if former.Status == c.Status {
			c.LastTransitionTime = former.LastTransitionTime
		}
		*former = c
		return
	}
	s.Conditions = append(s.Conditions, c)
}

// phase is Running from the first start of all containers until the last one has ended for good.
func phase(pod *corev1.Pod, all []corev1.ContainerStatus) corev1.PodPhase {
	ended, failed := 0, false
	for _, c := range all {
		switch {
		case c.State.Running == nil && c.State.Terminated == nil && c.LastTerminationState.Terminated == nil:
			return corev1.PodPending
		case c.State.Terminated != nil && (pod.DeletionTimestamp != nil || !again(pod.Spec.RestartPolicy, c.State.Terminated.ExitCode)):
			ended++
			failed = failed || c.State.Terminated.ExitCode != 0
		}
	}
	switch {
	case ended < len(all):
		return corev1.PodRunning
	case failed:
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

// again says whether a container that has ended starts again.
func again(policy corev1.RestartPolicy, code int32) bool {
	return policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && code != 0
}
