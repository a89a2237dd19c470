package check

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// addSet decodes what keeps a group at the size of its set. deploy/kube has a real API server judge it.
func (m *manifests) addSet(kind metav1.TypeMeta, part string) error {
	switch kind.APIVersion + " " + kind.Kind {
	case "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy":
		p := new(admissionv1.ValidatingAdmissionPolicy)
		m.setPolicies = append(m.setPolicies, p)
		return strictly(part, p)
	case "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding":
		b := new(admissionv1.ValidatingAdmissionPolicyBinding)
		m.setBindings = append(m.setBindings, b)
		return strictly(part, b)
	}
	return fmt.Errorf("%s %s is no kind that these tests know", kind.APIVersion, kind.Kind)
}

// setFaults: one policy counts the members of a group, in its set, and its binding denies.
func (m *manifests) setFaults(w *workload) []string {
	if w.service == "" {
		return nil
	}
	set := "HYPERSCALE_" + strings.ToUpper(w.role) + "S"
	for _, p := range m.setPolicies {
		rules := p.Spec.MatchConstraints.ResourceRules
		if len(rules) != 1 || !slices.Equal(rules[0].ResourceNames, []string{w.name}) || !slices.Equal(rules[0].Resources, []string{"statefulsets", "statefulsets/scale"}) {
			continue
		}
		for _, b := range m.setBindings {
			if b.Spec.PolicyName != p.Name || b.Spec.ParamRef == nil || !slices.Equal(b.Spec.ValidationActions, []admissionv1.ValidationAction{admissionv1.Deny}) {
				continue
			}
			names := m.maps[b.Spec.ParamRef.Name]
			if names != nil && names.Data[set] != "" && len(p.Spec.Validations) == 1 && strings.Contains(p.Spec.Validations[0].Expression, "<= params.data."+set+".split(',').size()") {
				return nil
			}
		}
	}
	return []string{fmt.Sprintf("%s: no policy and binding reject more replicas than %s has names", w.name, set)}
}
