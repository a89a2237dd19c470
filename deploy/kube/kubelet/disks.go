package kubelet

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// provisioner is the name of what makes disks for claims, and of its class.
const provisioner = "folders.hyperscale.internal"

// asked is where the controller manager names the provisioner that a claim waits for.
const asked = "volume.kubernetes.io/storage-provisioner"

// provision makes a folder for each claim that waits for one. Its pod may move between nodes, as with a disk of a network.
func (k *Kubelet) provision(ctx context.Context, factory informers.SharedInformerFactory) error {
	now := storagev1.VolumeBindingImmediate
	_, err := k.config.Client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: "folders", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner: provisioner, VolumeBindingMode: &now,
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("make the class of disks: %w", err)
	}
	seen := func(object any) {
		claim, ok := object.(*corev1.PersistentVolumeClaim)
		if !ok || claim.Spec.VolumeName != "" || claim.Annotations[asked] != provisioner {
			return
		}
		if err := k.disk(ctx, claim); err != nil && !errors.IsAlreadyExists(err) {
			k.config.Log("make a disk for claim %s: %v", claim.Name, err) // the claim's next change tries again
		}
	}
	_, err = factory.Core().V1().PersistentVolumeClaims().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: seen, UpdateFunc: func(_, object any) { seen(object) },
	})
	return err
}

// disk makes the volume of a claim.
func (k *Kubelet) disk(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	path := k.path(disks, string(claim.UID))
	if err := makeFolder(path); err != nil {
		return err
	}
	_, err := k.config.Client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "disk-" + string(claim.UID), Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": provisioner}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: claim.Spec.Resources.Requests, AccessModes: claim.Spec.AccessModes, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			StorageClassName:       *claim.Spec.StorageClassName,
			ClaimRef:               &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}},
		},
	}, metav1.CreateOptions{})
	return err
}

func makeFolder(path string) error { return os.MkdirAll(path, 0o755) }
