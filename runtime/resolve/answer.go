package resolve

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"time"
)

// Bounds of an answer.
const (
	ChainMax     = 16 // names that a chain of aliases leads through
	AddressesMax = 64
	recordsMax   = 512 // that are looked at
)

// Record is one address.
type Record struct {
	Addr netip.Addr
	TTL  time.Duration // 0 if no server sent it
}

// Alias is a step of the chain from the name to its canonical one.
type Alias struct {
	Name, To string
	TTL      time.Duration
}

// Service is one target of a service (RFC 2782).
type Service struct {
	Target           string
	Port             uint16
	Priority, Weight uint16
	TTL              time.Duration
}

// Answer is the outcome of a lookup.
type Answer struct {
	Name, Canonical string
	Aliases         []Alias
	Services        []Service // of Services: the least priority first, then the most weight
	Texts           []string  // of Texts: each is one record, whose parts are one text
	Records         []Record  // IPv6 and IPv4 in turn, as far as there are both
	Server          netip.AddrPort
	Source          string        // what answered if no server did: "hosts", "localhost", "the URL"
	TCP             bool          // an answer was too large for a datagram
	Queries         int           // sent
	Took            time.Duration // by the caller's clock
}

// TTL is how long the answer is valid: the least of its parts. Zero means no end, as no server
// sent it.
func (a *Answer) TTL() time.Duration {
	least := time.Duration(0)
	for i, r := range a.Records {
		if i == 0 || r.TTL < least {
			least = r.TTL
		}
	}
	for i, s := range a.Services {
		if i == 0 || s.TTL < least {
			least = s.TTL
		}
	}
	for _, c := range a.Aliases {
		least = min(least, c.TTL)
	}
	if least == 0 && a.Source == "" {
		return time.Nanosecond // of use now, and not again
	}
	return least
}

// Addrs are the addresses alone.
func (a *Answer) Addrs() []netip.Addr {
	all := make([]netip.Addr, len(a.Records))
	for i, r := range a.Records {
		all[i] = r.Addr
	}
	return all
}

// order sorts the targets as RFC 2782 prefers them, without its draw: a caller connects to all.
func order(all []Service) []Service {
	slices.SortStableFunc(all, func(a, b Service) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Port, b.Port))
	})
	return all[:min(len(all), AddressesMax)]
}

// notFound, failed and late are the ends without addresses. They are the standard
// library's error, which the engine names by its kind.
func notFound(name string) error {
	return &net.DNSError{Err: "no such name, or it has no address", Name: name, IsNotFound: true}
}

func failed(name, why string, server netip.AddrPort) error {
	e := &net.DNSError{Err: why, Name: name, IsTemporary: true}
	if server.IsValid() {
		e.Server = server.String()
	}
	return e
}

func late(name string, server netip.AddrPort) error {
	return &net.DNSError{Err: "no server has answered in time", Name: name, Server: server.String(), IsTimeout: true, IsTemporary: true}
}
