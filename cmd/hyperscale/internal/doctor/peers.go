package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/resolve"
	"hyperscale/runtime/transport"
)

// lookupMax bounds one look-up of a name.
const lookupMax = 5 * time.Second

// peer is a node that this one calls, and what was found of it.
type peer struct {
	addr  node.Addr
	met   *transport.Met // nil: no handshake fits
	id    string         // as its echo says
	sinks string         // of a gate, as its echo names them; empty: it says none
	found []Finding
}

// network looks at the own port, at names, and at each peer.
func (d *doctor) network(ctx context.Context, t *trust) []Finding {
	sockets, all := d.port(ctx, t)
	if sockets == nil {
		return all
	}
	defer sockets.Close()
	asker := d.asker(t, sockets)
	addrs, found := d.addresses(ctx)
	all = append(all, found...)
	peers := make([]*peer, len(addrs))
	var each sync.WaitGroup
	for i, a := range addrs {
		peers[i] = &peer{addr: a}
		each.Go(func() { peers[i].call(ctx, asker, d.c.Listen) })
	}
	each.Wait()
	d.echoes(asker, peers)
	for _, p := range peers {
		all = append(all, p.found...)
	}
	if len(peers) == 0 {
		all = append(all, ok("peers", d.c.ID, "this node calls no other"))
	}
	return all
}

func (d *doctor) asker(t *trust, s *transport.Sockets) *transport.Asker {
	return transport.NewAsker(transport.Config{
		Self: d.self(), Cluster: d.c.Cluster, Environment: d.c.Environment, Datacenter: d.c.Datacenter, Keys: t.ring, Certs: t.store,
	}, s)
}

// port takes the node's own port for UDP, so that echoes go the way of its datagrams. It gives TCP back, as it accepts
// nothing: peers connect to no port that hangs. Where the node has it, it takes another.
func (d *doctor) port(ctx context.Context, t *trust) (*transport.Sockets, []Finding) {
	const check = "listen"
	s, err := transport.Listen(d.c.Listen)
	if err == nil {
		return s.WithoutTCP(), []Finding{ok(check, d.c.Listen, "the port is free")}
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil, []Finding{fail(check, d.c.Listen, "correct --listen", "%s", err)}
	}
	if s, err = transport.Listen(""); err != nil {
		return nil, []Finding{fail("udp", "", "raise the limit of open files", "%s", err)}
	}
	near := d.c.Listen
	if host, port, err := net.SplitHostPort(near); err == nil && (host == "" || host == "0.0.0.0" || host == "::") {
		near = net.JoinHostPort("127.0.0.1", port)
	}
	_, err = d.asker(t, s).Ask(ctx, node.Addr(near))
	var refused *transport.RefusedError
	if errors.As(err, &refused) && refused.Field == "node" {
		return s, []Finding{ok(check, d.c.Listen, "the node runs, so that echoes leave from another port")}
	}
	why := "a node of another name"
	if err != nil {
		why = err.Error()
	}
	return s, []Finding{fail(check, d.c.Listen, "stop what has the port, or give another one to --listen", "another program has the port: %s", why)}
}

// addresses are those of all peers, each once, with what their names are.
func (d *doctor) addresses(ctx context.Context) (addrs []node.Addr, all []Finding) {
	self := node.Addr(cmp.Or(d.c.Advertise, d.c.Listen))
	add := func(a node.Addr) {
		if a != self && !slices.Contains(addrs, a) {
			addrs = append(addrs, a)
		}
	}
	if d.c.Role != node.RoleWorker {
		for _, a := range d.c.Set() {
			add(a)
		}
	}
	for _, a := range d.c.Join() {
		add(a)
	}
	for _, a := range d.peers {
		add(node.Addr(a))
	}
	all = append(all, resolved(ctx, self, true, d.c.Listen))
	for _, name := range d.c.Discover() {
		f, behind := discovered(ctx, d.c.Resolver, name)
		all = append(all, f)
		for _, a := range behind {
			add(a)
		}
	}
	return addrs, all
}

// discovered looks up a name of several addresses.
func discovered(ctx context.Context, server string, name node.Addr) (Finding, []node.Addr) {
	const check = "name"
	var r *resolve.Resolver
	if server != "" {
		r, _ = transport.ResolverAt(server) // the configuration was valid
	}
	n := transport.Find(ctx, r, name)
	if len(n.Addrs) == 0 {
		why := n.Err
		if n.Absent {
			why = "there is no such name"
		}
		return fail(check, string(name), "correct the name, or see that the servers of --resolver or /etc/resolv.conf know it", "%s", why), nil
	}
	texts := make([]string, len(n.Addrs))
	for i, a := range n.Addrs {
		texts[i] = string(a)
	}
	return ok(check, string(name), "%s, valid for %s", strings.Join(texts, ", "), n.TTL.Round(time.Second)), n.Addrs
}

// resolved looks up the host of one address, as the node does.
func resolved(ctx context.Context, a node.Addr, own bool, listen string) Finding {
	const check = "name"
	host, _, err := net.SplitHostPort(string(a))
	if err != nil {
		return fail(check, string(a), "write host:port", "%s", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lookupMax)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return fail(check, string(a), "correct the name, or add it to DNS or /etc/hosts of this machine", "%s", err)
	}
	texts := make([]string, len(found))
	for i, ip := range found {
		texts[i] = ip.Unmap().String()
	}
	text := strings.Join(texts, ", ")
	switch {
	case found[0].Unmap().IsLoopback() && !node.Addr(listen).Near():
		return warn(check, string(a), "take the name out of /etc/hosts, or write the address that other machines call", "%s is this machine alone", text)
	case own && !here(found):
		return warn(check, string(a), "correct --advertise, or forward its port for TCP and UDP", "no interface of this machine has %s", text)
	}
	return ok(check, string(a), "%s", text)
}

// here reports whether an interface of this machine has one of the addresses.
func here(found []netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return true // it cannot tell
	}
	return slices.ContainsFunc(found, func(ip netip.Addr) bool {
		return ip.IsLoopback() || slices.ContainsFunc(all, func(a net.Addr) bool {
			own, err := netip.ParsePrefix(a.String())
			return err == nil && own.Addr().Unmap() == ip.Unmap()
		})
	})
}

// call resolves, connects to and greets a peer.
func (p *peer) call(ctx context.Context, asker *transport.Asker, listen string) {
	name := resolved(ctx, p.addr, false, listen)
	p.found = append(p.found, name)
	if name.State == isFail {
		return
	}
	what := string(p.addr)
	met, err := asker.Ask(ctx, p.addr)
	if met == nil {
		p.found = append(p.found, unreached(p.addr, err))
		return
	}
	p.found = append(p.found, ok("tcp", what, "connected in %s", met.Took.Round(10*time.Microsecond)))
	var refused *transport.RefusedError
	switch {
	case errors.As(err, &refused):
		p.found = append(p.found, fail("handshake", what, refused.Remedy, "%s", strings.TrimSuffix(refused.Error(), ": "+refused.Remedy)))
	case err != nil:
		p.found = append(p.found, fail("handshake", what, "correct the address, or see that hyperscale runs there without a proxy before it", "%s", err))
	case met.Hello == nil:
		p.met = met
		p.found = append(p.found, ok("handshake", what, "it fits, and an older version says no more"))
	default:
		p.met = met
		h := met.Hello
		p.found = append(p.found, ok("handshake", what, "%s, a %s of version %s", h.Node, node.Role(h.Role), message.VersionText(h.Minor)))
	}
}

// unreached says why no connection is there.
func unreached(a node.Addr, err error) Finding {
	_, port, _ := net.SplitHostPort(string(a))
	remedy := "see that a route leads there"
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		remedy = "start the node there, or correct the address"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		remedy = fmt.Sprintf("allow TCP port %s in the firewalls between, and see that its machine is up", port)
	}
	var dial *net.OpError
	if errors.As(err, &dial) {
		err = dial.Err
	}
	return fail("tcp", string(a), remedy, "no connection: %s", err)
}
