package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// stored are the objects of a namespace at the API server.
type stored struct {
	ctx       context.Context
	client    kubernetes.Interface
	namespace string
}

func (s stored) configMap(name string) (map[string][]byte, error) {
	m, err := s.client.CoreV1().ConfigMaps(s.namespace).Get(s.ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	values := map[string][]byte{}
	for key, text := range m.Data {
		values[key] = []byte(text)
	}
	for key, text := range m.BinaryData {
		values[key] = text
	}
	return values, nil
}

func (s stored) secret(name string) (map[string][]byte, error) {
	secret, err := s.client.CoreV1().Secrets(s.namespace).Get(s.ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return secret.Data, nil
}

// claim is the folder of a bound claim.
func (s stored) claim(name string) (string, error) {
	claim, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Get(s.ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if claim.Status.Phase != corev1.ClaimBound {
		return "", fmt.Errorf("claim %s is %s", name, claim.Status.Phase)
	}
	volume, err := s.client.CoreV1().PersistentVolumes().Get(s.ctx, claim.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if volume.Spec.HostPath == nil {
		return "", fmt.Errorf("volume %s: this kubelet knows volumes with hostPath alone", volume.Name)
	}
	return volume.Spec.HostPath.Path, os.MkdirAll(volume.Spec.HostPath.Path, 0o755)
}

// mountVolumes makes the folders of a pod's volumes below a folder, and returns their paths by name.
func mountVolumes(pod *corev1.Pod, below string, s stored) (map[string]string, error) {
	group := -1
	if c := pod.Spec.SecurityContext; c != nil && c.FSGroup != nil {
		group = int(*c.FSGroup)
	}
	paths := map[string]string{}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		path := filepath.Join(below, v.Name)
		var err error
		switch {
		case v.EmptyDir != nil:
			if err = os.MkdirAll(path, 0o777); err == nil {
				err = errors.Join(os.Chmod(path, 0o777), own(path, group))
			}
		case v.PersistentVolumeClaim != nil:
			if path, err = s.claim(v.PersistentVolumeClaim.ClaimName); err == nil {
				err = own(path, group)
			}
		case v.Secret != nil:
			var values map[string][]byte
			if values, err = s.secret(v.Secret.SecretName); err == nil || is(v.Secret.Optional) {
				err = project(path, values, v.Secret.Items, modeOf(v.Secret.DefaultMode), group)
			}
		case v.ConfigMap != nil:
			var values map[string][]byte
			if values, err = s.configMap(v.ConfigMap.Name); err == nil || is(v.ConfigMap.Optional) {
				err = project(path, values, v.ConfigMap.Items, modeOf(v.ConfigMap.DefaultMode), group)
			}
		default:
			err = errors.New("this kubelet knows claims, ConfigMaps, Secrets and emptyDir")
		}
		if err != nil {
			return nil, fmt.Errorf("volume %s: %w", v.Name, err)
		}
		paths[v.Name] = path
	}
	return paths, nil
}

func modeOf(mode *int32) fs.FileMode {
	if mode == nil {
		return fs.FileMode(corev1.SecretVolumeSourceDefaultMode)
	}
	return fs.FileMode(*mode)
}

// project writes values as files, all of them unless some are named.
func project(folder string, values map[string][]byte, items []corev1.KeyToPath, mode fs.FileMode, group int) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if len(items) == 0 {
		for key := range values {
			items = append(items, corev1.KeyToPath{Key: key, Path: key})
		}
	}
	for _, item := range items {
		text, found := values[item.Key]
		if !found {
			return fmt.Errorf("key %q is missing", item.Key)
		}
		path := filepath.Join(folder, filepath.Clean("/"+item.Path))
		mode := mode
		if item.Mode != nil {
			mode = fs.FileMode(*item.Mode)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o600), os.Chown(path, 0, group), os.Chmod(path, mode)); err != nil {
			return err
		}
	}
	return nil
}

// own gives a volume to a group, which may write it. Below zero it stays as it is.
func own(folder string, group int) error {
	if group < 0 {
		return nil
	}
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode() | 0o660
		if entry.IsDir() {
			mode |= 0o110 | fs.ModeSetgid
		}
		if err := os.Lchown(path, -1, group); err != nil || !entry.IsDir() && !entry.Type().IsRegular() {
			return err
		}
		return os.Chmod(path, mode)
	})
}
