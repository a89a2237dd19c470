package main

import (
	"net"
	"net/netip"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// nameServer is a DNS server on loopback that knows services, and the host gates.test.
type nameServer struct {
	socket net.PacketConn

	mu       sync.Mutex
	services map[string][]string // addresses by name
	dark     bool
	asked    int
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{socket: socket, services: map[string][]string{}}
	t.Cleanup(func() { _ = socket.Close() }) // it only answers
	go s.serve()
	return s
}

func (s *nameServer) addr() string { return s.socket.LocalAddr().String() }

// set changes what a service is, or what all names are if the server goes dark.
func (s *nameServer) set(dark bool, service string, addresses ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dark, s.services[service+"."] = dark, addresses
}

func (s *nameServer) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *nameServer) serve() {
	b := make([]byte, 2048)
	for {
		n, from, err := s.socket.ReadFrom(b)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		if s.answer(&m); m.Response {
			if out, err := m.Pack(); err == nil {
				_, _ = s.socket.WriteTo(out, from) // a lost answer is asked for again
			}
		}
	}
}

func (s *nameServer) answer(m *dnsmessage.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked++; s.dark {
		return
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	add := func(body dnsmessage.ResourceBody) {
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}, Body: body})
	}
	addresses, known := s.services[q.Name.String()]
	switch {
	case known && q.Type == dnsmessage.TypeSRV:
		for _, a := range addresses {
			_, port, _ := net.SplitHostPort(a)
			n, _ := strconv.ParseUint(port, 10, 16)
			add(&dnsmessage.SRVResource{Target: dnsmessage.MustNewName("host.test."), Port: uint16(n)})
		}
	case q.Name.String() == "host.test.":
		if q.Type == dnsmessage.TypeA {
			add(&dnsmessage.AResource{A: netip.MustParseAddr("127.0.0.1").As4()})
		}
	default:
		m.RCode = dnsmessage.RCodeNameError
	}
}

// TestJoinsByName: a worker finds its manager by a service of which one target is dead and one is of
// another cluster; the manager and clients find the gate in the same way. When the resolver is dead, a
// client asks the gates of its cache. A set that is a name is rejected.
func TestJoinsByName(t *testing.T) {
	t.Parallel()
	dns, dir, caches := newNameServer(t), t.TempDir(), t.TempDir()
	gate, manager, other, dead := hostiletest.FreeAddress(t), hostiletest.FreeAddress(t), hostiletest.FreeAddress(t), hostiletest.FreeAddress(t)
	dns.set(false, "_gate._tcp.test", dead, gate)
	dns.set(false, "_manager._tcp.test", dead, other, manager)
	file := func(id string) []string { return []string{"--id", id, "--data", dir + "/" + id} }
	resolver := []string{"--resolver", dns.addr()}

	start(t, slices.Concat([]string{"gate", "--listen", gate}, file("gate-1"))...)
	stranger := start(t, slices.Concat([]string{"manager", "--listen", other, "--datacenter", "here", "--cluster", "other", "--gates", gate}, file("manager-2"))...)
	stranger.await("msg=up")
	m := start(t, slices.Concat([]string{"manager", "--listen", manager, "--datacenter", "here", "--seed", "srv:_gate._tcp.test"}, resolver, file("manager-1"))...)
	w := start(t, slices.Concat([]string{"worker", "--listen", "127.0.0.1:0", "--datacenter", "here", "--cores", "1", "--seed", "srv:_manager._tcp.test"}, resolver, file("worker-1"))...)
	m.await(`peer-registered .*peer=gate-1`)
	w.await(`peer-registered .*peer=manager-1`)
	w.await(`no stream could be opened.*cluster is .*other`)
	stranger.await(`a connection was refused.*cluster is .*default`)
	if s := w.err.String(); strings.Contains(s, "peer=manager-2") {
		t.Errorf("the worker speaks with a manager of another cluster:\n%s", s)
	}

	ask := func(code int) *process {
		p := startAs(t, func(c *exec.Cmd) { c.Env = append(c.Environ(), "XDG_CACHE_HOME="+caches) },
			slices.Concat([]string{"datacenters", "--gate", "srv:_gate._tcp.test"}, resolver)...)
		return p.expect(code)
	}
	eventually(t, "the gate has the worker's core", patience, func() bool {
		return matches(`here +`, ask(command.ExitGood).out.String())
	})
	dns.set(true, "_gate._tcp.test", gate)
	if out := ask(command.ExitGood).out.String(); !matches(`here +`, out) {
		t.Errorf("without a resolver the client says:\n%s", out)
	}
	if before := dns.questions(); before == 0 {
		t.Error("the name server was asked nothing")
	}
	dns.set(false, "_gate._tcp.test", gate)
	start(t, slices.Concat([]string{"worker", "--listen", "127.0.0.1:0", "--datacenter", "here", "--cores", "1", "--seed", "srv:_absent._tcp.test"}, resolver, file("worker-2"))...).
		await(`name-failed .*name=srv:_absent._tcp.test .*no such name`)

	p := start(t, slices.Concat([]string{"gate", "--listen", dead, "--gates", dead + ",dns:gates.test:7400"}, file("gate-9"))...)
	p.expect(command.ExitUsage).says(`gates\[1\] = dns:gates.test:7400 must be the host:port of one member, as a majority counts configured members`)
}
