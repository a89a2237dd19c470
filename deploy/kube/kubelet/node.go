package kubelet

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A node renews its lease so often. The controller manager waits four times as long.
const heartbeat = 10 * time.Second

// leaseSeconds is what the kubelet writes into its lease.
const leaseSeconds = 40

// room is what each node offers. No cgroup holds a pod to its part of it.
var room = corev1.ResourceList{
	corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("32Gi"),
	corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"), corev1.ResourcePods: resource.MustParse("110"),
}

// Node is the name of a node, counted from 1.
func Node(n int) string { return fmt.Sprintf("node-%d", n) }

func (k *Kubelet) registerNodes(ctx context.Context) error {
	for n := range k.config.Nodes {
		name := Node(n + 1)
		node, err := k.config.Client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelTopologyZone: "zone-" + name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}}}, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("register %s: %w", name, err)
		}
		node.Status = nodeStatus(time.Now())
		if _, err := k.config.Client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("report %s: %w", name, err)
		}
		if err := k.renew(ctx, node); err != nil {
			return fmt.Errorf("lease of %s: %w", name, err)
		}
		k.all.Go(func() {
			for pause(ctx, heartbeat) {
				if err := k.renew(ctx, node); err != nil && ctx.Err() == nil {
					k.config.Log("renew the lease of %s: %v", name, err) // the next heartbeat tries again
				}
			}
		})
	}
	return nil
}

func nodeStatus(now time.Time) corev1.NodeStatus {
	at := metav1.NewTime(now)
	s := corev1.NodeStatus{
		Capacity: room, Allocatable: room,
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: Address}},
		NodeInfo:  corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64", KubeletVersion: "v1.36.3"},
	}
	for kind, yes := range map[corev1.NodeConditionType]bool{corev1.NodeReady: true, corev1.NodeMemoryPressure: false, corev1.NodeDiskPressure: false, corev1.NodePIDPressure: false} {
		s.Conditions = append(s.Conditions, corev1.NodeCondition{Type: kind, Status: status(yes), LastHeartbeatTime: at, LastTransitionTime: at, Reason: "Kubelet"})
	}
	return s
}

// renew writes a node's lease.
func (k *Kubelet) renew(ctx context.Context, node *corev1.Node) error {
	leases := k.config.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	now, seconds := metav1.NowMicro(), int32(leaseSeconds)
	lease, err := leases.Get(ctx, node.Name, metav1.GetOptions{})
	if err == nil {
		lease.Spec.RenewTime = &now
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		return err
	}
	_, err = leases.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, Namespace: corev1.NamespaceNodeLease, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID,
		}}},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &node.Name, LeaseDurationSeconds: &seconds, RenewTime: &now},
	}, metav1.CreateOptions{})
	return err
}

// pause waits, and is false if the context ends before.
func pause(ctx context.Context, how time.Duration) bool {
	timer := time.NewTimer(how)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
