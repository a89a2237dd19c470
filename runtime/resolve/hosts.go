package resolve

import (
	"bytes"
	"net/netip"
	"strings"
)

// Hosts are names with fixed addresses, which need no look-up.
type Hosts map[string][]netip.Addr

// hostsMax bounds how much of a hosts file it reads.
const hostsMax = 100_000

// ParseHosts reads a hosts(5).
func ParseHosts(text []byte) Hosts {
	h := Hosts{}
	for line := range bytes.Lines(text) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		words := strings.Fields(string(line))
		if len(words) < 2 {
			continue
		}
		a, err := netip.ParseAddr(words[0])
		if err != nil {
			continue
		}
		for _, name := range words[1:] {
			h.Add(name, a)
		}
	}
	return h
}

// Add gives a name one more address.
func (h Hosts) Add(name string, a netip.Addr) {
	name = canonical(name)
	if all, known := h[name]; (known || len(h) < hostsMax) && len(all) < AddressesMax && isName(name) {
		h[name] = append(all, a.Unmap())
	}
}

// canonical is a name as it is compared.
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// Find returns the addresses that a name has here.
func (h Hosts) Find(name string) ([]netip.Addr, bool) {
	all, ok := h[canonical(name)]
	return all, ok
}

// find answers without a server: addresses, hosts, localhost.
func (h Hosts) find(name string) (Answer, bool) {
	if a, err := netip.ParseAddr(name); err == nil {
		return Answer{Name: name, Canonical: name, Source: "the URL", Records: []Record{{Addr: a.Unmap()}}}, true
	}
	low := canonical(name)
	if all, ok := h[low]; ok {
		answer := Answer{Name: name, Canonical: low, Source: "hosts"}
		for _, a := range all {
			answer.Records = append(answer.Records, Record{Addr: a})
		}
		return answer, true
	}
	if low == "localhost" || strings.HasSuffix(low, ".localhost") {
		return Answer{Name: name, Canonical: low, Source: "localhost", Records: []Record{{Addr: netip.AddrFrom4([4]byte{127, 0, 0, 1})}, {Addr: netip.IPv6Loopback()}}}, true
	}
	return Answer{}, false
}
