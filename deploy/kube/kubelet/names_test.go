package kubelet

import (
	"fmt"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

// gates answers for a Service with a ready pod and one that is not.
func gates(t *testing.T) *names {
	t.Helper()
	services := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	slices := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	zero, one, yes, no := "gate-0", "gate-1", true, false
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "load", Name: "gate-x", Labels: map[string]string{discoveryv1.LabelServiceName: "gate"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{
			{Addresses: []string{"10.0.0.7"}, Hostname: &zero, Conditions: discoveryv1.EndpointConditions{Ready: &yes}},
			{Addresses: []string{"10.0.0.8"}, Hostname: &one, Conditions: discoveryv1.EndpointConditions{Ready: &no}},
		},
	}
	for _, name := range []string{"gate", "empty"} {
		if err := services.Add(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "load", Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := slices.Add(slice); err != nil {
		t.Fatal(err)
	}
	return &names{ttl: ttl, services: corelisters.NewServiceLister(services), slices: discoverylisters.NewEndpointSliceLister(slices)}
}

func TestNames(t *testing.T) {
	n := gates(t)
	for _, tt := range []struct {
		name string
		kind dnsmessage.Type
		want string
	}{
		{"gate.load.svc.cluster.local.", dnsmessage.TypeA, "RCodeSuccess [10.0.0.7]"},
		{"GATE-0.gate.load.svc.cluster.local.", dnsmessage.TypeA, "RCodeSuccess [10.0.0.7]"},
		{"gate-0.gate.load.svc.cluster.local.", dnsmessage.TypeAAAA, "RCodeSuccess []"},
		{"gate-1.gate.load.svc.cluster.local.", dnsmessage.TypeA, "RCodeNameError []"}, // it is not ready
		{"empty.load.svc.cluster.local.", dnsmessage.TypeA, "RCodeSuccess []"},
		{"gate.other.svc.cluster.local.", dnsmessage.TypeA, "RCodeNameError []"},
		{"gate.load.svc.", dnsmessage.TypeA, "RCodeNameError []"},
		{"a.b.gate.load.svc.cluster.local.", dnsmessage.TypeA, "RCodeNameError []"},
	} {
		query := dnsmessage.Message{
			Header:    dnsmessage.Header{ID: 7, RecursionDesired: true},
			Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(tt.name), Type: tt.kind, Class: dnsmessage.ClassINET}},
		}
		packet, err := query.Pack()
		if err != nil {
			t.Fatal(err)
		}
		var answer dnsmessage.Message
		if err := answer.Unpack(n.answer(packet)); err != nil || answer.ID != 7 || !answer.Response {
			t.Fatalf("%s: %v, answer %v", tt.name, err, answer)
		}
		addresses := []string{}
		for _, r := range answer.Answers {
			a := r.Body.(*dnsmessage.AResource).A
			addresses = append(addresses, fmt.Sprintf("%d.%d.%d.%d", a[0], a[1], a[2], a[3]))
			if r.Header.TTL != ttl {
				t.Errorf("%s: TTL %d, want %d", tt.name, r.Header.TTL, ttl)
			}
		}
		if got := fmt.Sprint(answer.RCode, " ", addresses); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	for _, packet := range [][]byte{nil, {1, 2, 3}, make([]byte, 12)} {
		if answer := n.answer(packet); answer != nil {
			t.Errorf("%v: answer %v, want none", packet, answer)
		}
	}
}
