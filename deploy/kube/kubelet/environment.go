package kubelet

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/api/v1/resource"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// objects are the ConfigMaps and Secrets of one namespace. Text of both is bytes.
type objects interface {
	configMap(name string) (map[string][]byte, error)
	secret(name string) (map[string][]byte, error)
}

// addresses are what a pod's fields tell of its network.
type addresses struct{ pod, host string }

// environment is a container's: its variables by name.
func environment(pod *corev1.Pod, c *corev1.Container, a addresses, of objects) (map[string]string, error) {
	env := map[string]string{}
	for _, from := range c.EnvFrom {
		var values map[string][]byte
		var err error
		optional := false
		switch {
		case from.ConfigMapRef != nil:
			values, err = of.configMap(from.ConfigMapRef.Name)
			optional = is(from.ConfigMapRef.Optional)
		case from.SecretRef != nil:
			values, err = of.secret(from.SecretRef.Name)
			optional = is(from.SecretRef.Optional)
		}
		if err != nil && !optional {
			return nil, err
		}
		for key, value := range values {
			env[from.Prefix+key] = string(value)
		}
	}
	for _, v := range c.Env {
		value, found, err := variable(pod, c, a, of, v, env)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Name, err)
		}
		if found {
			env[v.Name] = value
		}
	}
	return env, nil
}

// variable is the value of one variable. Those before it may be in it.
func variable(pod *corev1.Pod, c *corev1.Container, a addresses, of objects, v corev1.EnvVar, before map[string]string) (value string, found bool, _ error) {
	if v.ValueFrom == nil {
		return expansion.Expand(v.Value, expansion.MappingFuncFor(before)), true, nil
	}
	var values map[string][]byte
	var key string
	var optional bool
	var err error
	switch from := v.ValueFrom; {
	case from.FieldRef != nil:
		value, err = field(pod, a, from.FieldRef.FieldPath)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err = resource.ExtractContainerResourceValue(from.ResourceFieldRef, c)
		return value, true, err
	case from.ConfigMapKeyRef != nil:
		key, optional = from.ConfigMapKeyRef.Key, is(from.ConfigMapKeyRef.Optional)
		values, err = of.configMap(from.ConfigMapKeyRef.Name)
	case from.SecretKeyRef != nil:
		key, optional = from.SecretKeyRef.Key, is(from.SecretKeyRef.Optional)
		values, err = of.secret(from.SecretKeyRef.Name)
	default:
		return "", false, fmt.Errorf("valueFrom = %v: this kubelet knows fields, resources, ConfigMaps and Secrets", from)
	}
	text, found := values[key]
	if err == nil && !found {
		err = fmt.Errorf("key %q is missing", key)
	}
	if err != nil && !optional {
		return "", false, err
	}
	return string(text), found, nil
}

// field is a field of a pod. The kubelet knows addresses before the status has them.
func field(pod *corev1.Pod, a addresses, path string) (string, error) {
	switch path {
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.podIP", "status.podIPs":
		return a.pod, nil
	case "status.hostIP", "status.hostIPs":
		return a.host, nil
	}
	return fieldpath.ExtractFieldPathAsString(pod, path)
}

// arguments are a container's flags with the values of its variables. Its command must be that of the image.
func arguments(c *corev1.Container, env map[string]string) ([]string, error) {
	if len(c.Command) > 0 && c.Command[0] != program {
		return nil, fmt.Errorf("command = %q: the image has %s alone", c.Command, program)
	}
	args := []string{}
	for _, arg := range slices.Concat(c.Command, c.Args) {
		args = append(args, expansion.Expand(arg, expansion.MappingFuncFor(env)))
	}
	return args[min(len(c.Command), 1):], nil
}

// assignments are variables as a process gets them.
func assignments(env map[string]string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, name+"="+env[name])
	}
	return all
}

func is(b *bool) bool { return b != nil && *b }
