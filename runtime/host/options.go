package host

import (
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"

	"github.com/benbjohnson/clock"

	"hyperscale/core/node"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/loop"
	"hyperscale/runtime/outputs/carrier"
	"hyperscale/runtime/resolve"
	"hyperscale/runtime/transport"
	"hyperscale/runtime/transport/echo"
)

// Stand is where a node stands among others.
type Stand struct {
	// Datacenter is where a manager or a worker stands: its certificate must claim it.
	Datacenter string
	// Set is the configured set that the node is a member of: an echo tells it. Empty: none.
	Set []node.Addr
	// Leases are those of a gate or a manager: an echo tells them.
	Leases echo.Leases
	// Sinks names the sinks of a gate: an echo tells it. Empty: it tells none.
	Sinks string
}

// Makers make parts that tell the machine news.
type Makers struct {
	// NewExec makes the executor; its news go to sink, from any goroutine. An
	// executor that is an io.Closer is closed at the end. Nil: this node has none.
	NewExec func(sink func(node.ExecEvent)) node.Executor

	// NewSinks makes the sinks of a gate; their answers go to tell, from any goroutine. Nil: this node has none.
	NewSinks func(tell func(node.Delivered)) *carrier.Carrier
}

// Options describe a node's parts.
type Options struct {
	Role        node.Role
	ID          node.ID
	Cluster     string
	Environment string

	Listen    string // host:port; port 0: the system chooses; empty: no node connects to this one
	Advertise string // what others call; a port of 0 or none is that of Listen; empty: Listen
	Admin     string // host:port of /metrics, /healthz and /readyz; empty: no such listener
	DataDir   string // empty: memory

	// SecretFile holds the secrets of the cluster, one a line: runtime/seal. The node reads it again
	// when it changes. Empty: frames cross in clear.
	SecretFile string

	Stand
	// Certs are the files of the node's certificate. The node reads them again when they change. Zero:
	// streams do without TLS.
	Certs certs.Files

	// Resolver is the IP:PORT of the DNS server that names of several addresses are asked of: dns: and
	// srv:. Empty: those of /etc/resolv.conf.
	Resolver string

	// Machine is the logic. NewMachine, if set, makes it once the address and the
	// incarnation are known.
	Machine    node.Machine
	NewMachine func(self node.Peer) node.Machine
	Makers

	Clock    clock.Clock      // nil: the real one
	Limits   transport.Limits // zero: transport.DefaultLimits
	Logger   *slog.Logger     // nil: nothing is logged
	Observer func(node.Event) // sees each event, one at a time; must not wait
	History  io.Writer        // gets each event as a line of JSON
}

// check names everything that is missing.
func (o *Options) check() error {
	var faults []error
	if !o.Role.Valid() {
		faults = append(faults, fmt.Errorf("role = %v is none: set it", o.Role))
	}
	for _, name := range []struct{ key, value string }{
		{"id", string(o.ID)}, {"cluster", o.Cluster}, {"environment", o.Environment},
	} {
		if name.value == "" || len(name.value) > 128 {
			faults = append(faults, fmt.Errorf("%s = %q must have 1 to 128 bytes: set --%s", name.key, name.value, name.key))
		}
	}
	if (o.Machine == nil) == (o.NewMachine == nil) {
		faults = append(faults, errors.New("exactly one of Machine and NewMachine must be set"))
	}
	return errors.Join(faults...)
}

// advertised is the address that others call.
func (o *Options) advertised(s *transport.Sockets) (node.Addr, error) {
	if o.Listen == "" {
		return "", nil
	}
	if o.Advertise == "" {
		if s.Unspecified() {
			return "", fmt.Errorf("listen = %s is every address of this machine, and others cannot call that: set --advertise to the one that they reach", o.Listen)
		}
		return node.Addr(s.Addr()), nil
	}
	address, port, err := net.SplitHostPort(o.Advertise)
	if err != nil {
		address, port = o.Advertise, ""
	}
	if port == "" || port == "0" {
		port = s.Port()
	}
	return node.Addr(net.JoinHostPort(address, port)), nil
}

// resolver returns the one that was chosen; nil: the machine's own.
func (o *Options) resolver() (*resolve.Resolver, error) {
	if o.Resolver == "" {
		return nil, nil
	}
	r, err := transport.ResolverAt(o.Resolver)
	if err != nil {
		return nil, fmt.Errorf("resolver %w: correct --resolver, or leave it out", err)
	}
	return r, nil
}

// draw returns a random number that is not zero.
func draw() uint64 {
	var b [8]byte
	_, _ = crand.Read(b[:]) // it never returns an error, it ends the process
	return max(1, binary.LittleEndian.Uint64(b[:]))
}

// listenAdmin takes the port for operators.
func listenAdmin(address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, transport.ListenError(address, "--admin", err)
	}
	return l, nil
}

// isOurs recognizes a stop that this process asked for.
func isOurs(err error) bool { return errors.Is(err, loop.ErrKilled) }
