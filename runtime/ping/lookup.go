package ping

import (
	"context"
	"net"
	"net/netip"
	"time"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/resolve"
)

// Names is the result of a lookup.
type Names struct {
	Name      string   `json:"name"`
	Canonical string   `json:"canonical"`
	Aliases   []Alias  `json:"aliases"`
	Records   []Record `json:"records"`
	Server    string   `json:"server"` // that answered
	Source    string   `json:"source"` // what did, where it was no server
	TCP       bool     `json:"tcp"`
	Queries   int      `json:"queries"`
	NS        int64    `json:"ns"`
	Kind      string   `json:"kind"` // of the failure; empty: there are addresses
	Error     string   `json:"error"`
}

// Record is an address with the seconds for which it may be used; -1: it comes from no
// server.
type Record struct {
	Address string `json:"address"`
	TTL     int64  `json:"ttl"`
}

// Alias is a step from the name to its canonical one.
type Alias struct {
	Name string `json:"name"`
	To   string `json:"to"`
	TTL  int64  `json:"ttl"`
}

// Lookup looks up a name's addresses and does nothing else. Its result includes failures.
func Lookup(ctx context.Context, resolver *resolve.Resolver, name string) *Names {
	a, err := resolver.Lookup(ctx, name)
	if err != nil {
		a, err = system(ctx, name, a, err)
	}
	n := &Names{Name: name, Canonical: a.Canonical, Aliases: []Alias{}, Records: []Record{}, Source: a.Source, TCP: a.TCP, Queries: a.Queries, NS: int64(a.Took)}
	if a.Server.IsValid() {
		n.Server = a.Server.String()
	}
	for _, c := range a.Aliases {
		n.Aliases = append(n.Aliases, Alias{Name: c.Name, To: c.To, TTL: int64(c.TTL / time.Second)})
	}
	for _, r := range a.Records {
		ttl := int64(r.TTL / time.Second)
		if a.Source != "" {
			ttl = -1
		}
		n.Records = append(n.Records, Record{Address: r.Addr.String(), TTL: ttl})
	}
	if err != nil {
		n.Kind, n.Error = string(http1.KindDNS), err.Error()
	}
	return n
}

// system asks the standard library, which knows this machine's other sources of names
// (nsswitch, multicast). Its error says no more than ours.
func system(ctx context.Context, name string, a resolve.Answer, err error) (resolve.Answer, error) {
	found, other := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if other != nil || len(found) == 0 {
		return a, err
	}
	a.Source, a.Canonical = "the system", name
	for _, addr := range found[:min(len(found), resolve.AddressesMax)] {
		a.Records = append(a.Records, resolve.Record{Addr: addr.Unmap()})
	}
	return a, nil
}

// names looks up the host of a call.
func (r *Report) names(ctx context.Context, resolver *resolve.Resolver, call *http1.Call) ([]netip.AddrPort, error) {
	r.DNS = Lookup(ctx, resolver, call.Host)
	if r.DNS.Kind != "" {
		return nil, &http1.Error{Kind: http1.KindDNS, Detail: r.DNS.Error}
	}
	var all []netip.AddrPort
	for _, found := range r.DNS.Records {
		if a, err := netip.ParseAddr(found.Address); err == nil {
			all = append(all, netip.AddrPortFrom(a, call.Port))
		}
	}
	return all, nil
}
