package kubelet

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
)

const (
	domain   = "cluster.local"
	ttl      = 5  // seconds, of every answer, as of CoreDNS
	staleTTL = 30 // while it lies
)

// names answers DNS queries for names of Services and pods, from what its informers have.
type names struct {
	conn     net.PacketConn
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister

	mu    sync.Mutex
	ttl   uint32                // seconds, of every answer
	stale map[string]netip.Addr // by name: an address that answers have as well
}

func newNames(factory informers.SharedInformerFactory) (*names, error) {
	conn, err := net.ListenPacket("udp4", net.JoinHostPort(Address, "53"))
	if err != nil {
		return nil, err
	}
	return &names{conn: conn, ttl: ttl, services: factory.Core().V1().Services().Lister(), slices: factory.Discovery().V1().EndpointSlices().Lister()}, nil
}

// serve answers until the context ends.
func (n *names) serve(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { _ = n.conn.Close() }) // which ends the loop below
	defer stop()
	packet := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(packet)
		if err != nil {
			return
		}
		if answer := n.answer(packet[:size]); answer != nil {
			_, _ = n.conn.WriteTo(answer, from) // a client asks again
		}
	}
}

// answer is that to one packet, or nil where it is no query.
func (n *names) answer(packet []byte) []byte {
	var p dnsmessage.Parser
	header, err := p.Start(packet)
	if err != nil || header.Response {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	name := strings.ToLower(q.Name.String())
	addresses, known := n.lookUp(name)
	n.mu.Lock()
	seconds := n.ttl
	if stale := n.stale[name]; stale.IsValid() {
		addresses, known = append([]netip.Addr{stale}, addresses...), true
	}
	n.mu.Unlock()
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: header.ID, Response: true, Authoritative: true, RecursionDesired: header.RecursionDesired, RecursionAvailable: true},
		Questions: []dnsmessage.Question{q},
	}
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	if q.Type == dnsmessage.TypeA {
		for _, a := range addresses {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET, TTL: seconds},
				Body:   &dnsmessage.AResource{A: a.As4()},
			})
		}
	}
	answer, err := m.Pack()
	if err != nil {
		return nil
	}
	return answer
}

// lookUp finds the addresses of SERVICE.NAMESPACE.svc.cluster.local, or of a pod's hostname before it. A known name may have none.
func (n *names) lookUp(name string) (found []netip.Addr, known bool) {
	short, ok := strings.CutSuffix(name, ".svc."+domain+".")
	parts := strings.Split(short, ".")
	if !ok || len(parts) < 2 || len(parts) > 3 {
		return nil, false
	}
	host, service, namespace := "", parts[len(parts)-2], parts[len(parts)-1]
	if len(parts) == 3 {
		host = parts[0]
	}
	if _, err := n.services.Services(namespace).Get(service); err != nil {
		return nil, false
	}
	all, err := n.slices.EndpointSlices(namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service}))
	if err != nil {
		return nil, false
	}
	known = host == ""
	for _, slice := range all {
		for i := range slice.Endpoints {
			e := &slice.Endpoints[i]
			if slice.AddressType != discoveryv1.AddressTypeIPv4 || e.Conditions.Ready != nil && !*e.Conditions.Ready || host != "" && (e.Hostname == nil || *e.Hostname != host) {
				continue
			}
			for _, text := range e.Addresses {
				if address, err := netip.ParseAddr(text); err == nil && address.Is4() {
					found, known = append(found, address), true
				}
			}
		}
	}
	slices.SortFunc(found, netip.Addr.Compare)
	return slices.Compact(found), known
}

// Names are the addresses of a Service's pods, or of one of them, as its name leads to them now.
func (k *Kubelet) Names(namespace, name string) []netip.Addr {
	found, _ := k.names.lookUp(name + "." + namespace + ".svc." + domain + ".")
	return found
}

// Lie makes DNS answers live for longer, and the name of a pod lead to a stale address first. The zero address ends it.
func (k *Kubelet) Lie(namespace, name string, stale netip.Addr) {
	k.names.mu.Lock()
	defer k.names.mu.Unlock()
	k.names.ttl, k.names.stale = ttl, nil
	if stale.IsValid() {
		k.names.ttl, k.names.stale = staleTTL, map[string]netip.Addr{name + "." + namespace + ".svc." + domain + ".": stale}
	}
}
