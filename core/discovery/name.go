package discovery

import (
	"errors"
	"strconv"
	"strings"

	"hyperscale/core/node"
)

// Prefixes of names.
const (
	prefixHost    = "dns:"
	prefixService = "srv:"
)

// nameMax bounds the length of a host's or a service's name (RFC 1035).
const nameMax = 253

// Name is what a name asks for.
type Name struct {
	Service bool   // look up SRV records, which name ports
	Host    string // or the name of the service
	Port    uint16 // of a host
}

// Is reports whether a configured address is a name to look up, and not host:port.
func Is(a string) bool {
	return strings.HasPrefix(a, prefixHost) || strings.HasPrefix(a, prefixService)
}

// Parse reads dns:HOST, dns:HOST:PORT or srv:NAME. Port is the one of a host without its own.
func Parse(a, port string) (Name, error) {
	if name, ok := strings.CutPrefix(a, prefixService); ok {
		if !isName(name) {
			return Name{}, errors.New("must be srv:NAME of a service, such as srv:_manager._tcp.example.org")
		}
		return Name{Service: true, Host: name}, nil
	}
	wrong := errors.New("must be dns:HOST or dns:HOST:PORT, such as dns:managers.example.org:7500")
	host, ok := strings.CutPrefix(a, prefixHost)
	if !ok {
		return Name{}, wrong
	}
	if name, service, ported := strings.Cut(host, ":"); ported {
		host, port = name, service
	}
	if !isName(host) {
		return Name{}, wrong
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return Name{}, errors.New("must end in a port from 1 to 65535, or in none")
	}
	return Name{Host: host, Port: uint16(n)}, nil
}

// isName accepts what a resolver can look up.
func isName(s string) bool {
	if s == "" || len(s) > nameMax {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, foreign) {
			return false
		}
	}
	return true
}

// foreign says that a character is in no name of a host or a service.
func foreign(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// Addr writes a name in its one form, with the port.
func (n Name) Addr() node.Addr {
	if n.Service {
		return node.Addr(prefixService + n.Host)
	}
	return node.Addr(prefixHost + n.Host + ":" + strconv.Itoa(int(n.Port)))
}
