package check

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func labelSet(of map[string]string) labels.Set { return of }

// end is a pod, or an address outside of the cluster.
type end struct {
	name      string
	pod       labels.Set // nil: an address
	namespace labels.Set
	own       bool // in the namespace of the policies
	address   netip.Addr
}

// ends are all kinds of what talks to nodes, and of what they talk to.
func ends() []end {
	here, other := labels.Set{"kubernetes.io/metadata.name": "hyperscale"}, labels.Set{"kubernetes.io/metadata.name": "other"}
	system := labels.Set{"kubernetes.io/metadata.name": "kube-system"}
	node := func(role string) end {
		return end{name: role, pod: labels.Set{"app": "hyperscale", "role": role}, namespace: here, own: true, address: netip.MustParseAddr("10.1.0.9")}
	}
	return []end{
		node("gate"), node("manager"), node("worker"), node("operator"),
		{name: "client", pod: labels.Set{"hyperscale/client": "true"}, namespace: other, address: netip.MustParseAddr("10.1.0.10")},
		{name: "prometheus", pod: labels.Set{"app.kubernetes.io/name": "prometheus"}, namespace: other, address: netip.MustParseAddr("10.1.0.11")},
		{name: "dns", pod: labels.Set{"k8s-app": "kube-dns"}, namespace: system, address: netip.MustParseAddr("10.1.0.12")},
		{name: "stranger", pod: labels.Set{"app": "shop"}, namespace: other, address: netip.MustParseAddr("10.1.0.13")},
		{name: "outside", address: netip.MustParseAddr("198.51.100.7")},
		{name: "metadata", address: netip.MustParseAddr("169.254.169.254")},
	}
}

// table is docs/deploy.md's: who may open what to whom. A worker sends load to every address but the cloud's
// metadata; a pod that has a policy of its own, as nodes do, decides for itself.
func table(from, to, port string) bool {
	switch from + " to " + to {
	case "gate to gate":
		return port == "7400/TCP" || port == "7400/UDP"
	case "manager to gate", "client to gate":
		return port == "7400/TCP"
	case "manager to manager", "worker to manager":
		return port == "7500/TCP" || port == "7500/UDP"
	case "manager to worker", "worker to worker":
		return port == "7600/TCP" || port == "7600/UDP"
	case "prometheus to gate", "prometheus to manager", "prometheus to worker":
		return port == "9400/TCP"
	case "operator to gate":
		return port == "8443/TCP"
	case "operator to client", "operator to prometheus", "operator to stranger", "operator to outside":
		return port == "443/TCP" || port == "6443/TCP"
	case "operator to dns":
		return port == "53/UDP" || port == "53/TCP" || port == "443/TCP" || port == "6443/TCP"
	case "gate to dns", "manager to dns":
		return port == "53/UDP" || port == "53/TCP"
	case "worker to dns", "worker to client", "worker to prometheus", "worker to stranger", "worker to outside":
		return true
	}
	return false
}

// policyFaults compares the policies of the roles that are there with the table, over all pairs and ports.
func (m *manifests) policyFaults() (faults []string) {
	there := map[string]bool{}
	for _, w := range m.workloads {
		there[w.role] = true
	}
	elsewhere := !there["gate"] // an overlay whose managers call gates outside
	apart := !there["manager"]  // one whose gates are called from outside
	for _, from := range ends() {
		for _, to := range ends() {
			if !there[from.name] && !there[to.name] || isNode(from.name) && !there[from.name] || isNode(to.name) && !there[to.name] {
				continue
			}
			for _, port := range []string{"7400/TCP", "7400/UDP", "7500/TCP", "7500/UDP", "7600/TCP", "7600/UDP", "8443/TCP", "9400/TCP", "53/UDP", "53/TCP", "443/TCP", "6443/TCP"} {
				want := table(from.name, to.name, port)
				if there["operator"] && from.name == "client" && to.name == "gate" && port == "8443/TCP" {
					want = true
				}
				if elsewhere && from.name == "manager" && !isNode(to.name) && to.name != "metadata" && port == "7400/TCP" {
					want = true
				}
				if apart && to.name == "gate" && !isNode(from.name) && port == "7400/TCP" {
					want = true
				}
				if got := m.allows(from, to, port); got != want {
					faults = append(faults, fmt.Sprintf("network: %s to %s %s: allowed %t, want %t", from.name, to.name, port, got, want))
				}
			}
		}
	}
	return faults
}

func isNode(name string) bool {
	return slices.Contains([]string{"gate", "manager", "worker", "operator"}, name)
}

// allows evaluates all policies: both ends must allow it, and an end without a policy allows everything.
func (m *manifests) allows(from, to end, port string) bool {
	return m.end(from, to, port, networkingv1.PolicyTypeEgress) && m.end(to, from, port, networkingv1.PolicyTypeIngress)
}

func (m *manifests) end(self, peer end, port string, direction networkingv1.PolicyType) bool {
	bound := false
	for _, p := range m.policies {
		if !self.own || self.pod == nil || !matches(&p.Spec.PodSelector, self.pod) || !slices.Contains(p.Spec.PolicyTypes, direction) {
			continue
		}
		bound = true
		if direction == networkingv1.PolicyTypeIngress {
			for _, r := range p.Spec.Ingress {
				if reaches(r.From, r.Ports, peer, port) {
					return true
				}
			}
			continue
		}
		for _, r := range p.Spec.Egress {
			if reaches(r.To, r.Ports, peer, port) {
				return true
			}
		}
	}
	return !bound
}

// reaches says that a rule names a peer and a port; an empty list is all.
func reaches(peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort, peer end, port string) bool {
	named := func(p networkingv1.NetworkPolicyPort) bool {
		protocol := corev1.ProtocolTCP
		if p.Protocol != nil {
			protocol = *p.Protocol
		}
		return p.Port != nil && fmt.Sprintf("%d/%s", p.Port.IntVal, protocol) == port
	}
	is := func(p networkingv1.NetworkPolicyPeer) bool {
		if p.IPBlock != nil {
			return within4(p.IPBlock, peer.address)
		}
		if peer.pod == nil || p.NamespaceSelector == nil && !peer.own || p.NamespaceSelector != nil && !matches(p.NamespaceSelector, peer.namespace) {
			return false
		}
		return p.PodSelector == nil || matches(p.PodSelector, peer.pod)
	}
	return (len(ports) == 0 || slices.ContainsFunc(ports, named)) && (len(peers) == 0 || slices.ContainsFunc(peers, is))
}

func within4(b *networkingv1.IPBlock, address netip.Addr) bool {
	if block, err := netip.ParsePrefix(b.CIDR); err != nil || !block.Contains(address) {
		return false
	}
	return !slices.ContainsFunc(b.Except, func(except string) bool {
		out, err := netip.ParsePrefix(except)
		return err != nil || out.Contains(address)
	})
}
