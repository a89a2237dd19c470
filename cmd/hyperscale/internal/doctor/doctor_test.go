package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/core/node"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/config"
	"hyperscale/runtime/seal"
	"hyperscale/runtime/transport"
	"hyperscale/runtime/transport/echo"
)

// deaf is the sink of a node that does nothing.
type deaf struct{ t *testing.T }

func (d deaf) StreamOpened(node.StreamID, node.Peer)             { d.t.Error("a stream was opened") }
func (deaf) StreamBroken(node.StreamID, node.Peer, string, bool) {}
func (deaf) Message(node.Peer, node.StreamID, node.Message) bool { return true }
func (deaf) Resolved(node.Names)                                 {}

// world is a healthy node with its machine, and two peers. A fault changes it before it is examined.
type world struct {
	t       *testing.T
	c       config.Node
	machine *machine
	peers   []node.Addr         // that run
	told    []node.Addr         // the set that they tell
	lease   time.Duration       // that they tell; zero: that of the node
	sinks   string              // that the second peer tells; empty: none
	peer    transport.Config    // of both
	hook    func([]byte) []byte // sees what comes back from the first peer by UDP; nil: nothing is between. It drops by nil
	clock   time.Time
	slow    time.Duration // of a write
}

const own = "127.0.0.1:0"

func newWorld(t *testing.T) *world {
	w := &world{t: t, c: config.Default(node.RoleGate), clock: time.Now()}
	w.c.ID, w.c.Data, w.c.Listen = "gate-1", t.TempDir(), free(t, "127.0.0.1")
	w.c.Gates = []string{w.c.Listen, free(t, "127.0.0.2"), free(t, "127.0.0.3")}
	w.told = w.c.Set()
	w.peers = []node.Addr{node.Addr(w.c.Gates[1]), node.Addr(w.c.Gates[2])}
	w.peer = transport.Config{Cluster: "default", Environment: "default"}
	w.machine = &machine{
		root: t.TempDir(), patience: time.Second, span: 50 * time.Millisecond,
		volume: func(string) (volume, error) { return volume{size: 100 << 30, free: 50 << 30, kind: 0xEF53}, nil },
		files:  func() (uint64, error) { return 1 << 20, nil },
		now:    func() time.Time { return w.clock },
		sync:   func(*os.File) error { w.clock = w.clock.Add(w.slow); return nil },
	}
	w.slow = 2 * time.Millisecond
	for path, text := range map[string]string{
		"proc/self/cgroup":                          "0::/a/b\n",
		"sys/fs/cgroup/a/cpu.max":                   "max 100000\n",
		"sys/fs/cgroup/a/cpu.stat":                  "nr_periods 1000\nnr_throttled 1\n",
		"sys/fs/cgroup/a/memory.max":                "max\n",
		"sys/fs/cgroup/a/b/memory.max":              "1073741824\n",
		"proc/sys/net/core/somaxconn":               "4096\n",
		"proc/sys/net/core/rmem_max":                "8388608\n",
		"proc/sys/net/ipv4/ip_local_port_range":     "1024\t65535\n",
		"proc/sys/net/netfilter/nf_conntrack_count": "10\n",
		"proc/sys/net/netfilter/nf_conntrack_max":   "262144\n",
	} {
		w.file(path, text)
	}
	return w
}

// free is an address that nothing listens at.
func free(t *testing.T, host string) string {
	s, err := transport.Listen(host + ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return s.Addr()
}

func (w *world) file(path, text string) {
	path = filepath.Join(w.machine.root, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

// worker makes the node a worker of the peers.
func (w *world) worker() {
	listen, data := w.c.Listen, w.c.Data
	managers := w.c.Gates[1:]
	w.c = config.Default(node.RoleWorker)
	w.c.ID, w.c.Listen, w.c.Data, w.c.Datacenter, w.c.Managers, w.c.Cores = "worker-1", listen, data, "east", managers, 1
	w.peer.Self.Role = node.RoleManager
	w.told = w.peers
}

// secret writes a file of a new secret.
func (w *world) secret() string {
	path := filepath.Join(w.t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(seal.New()+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// sealed gives the node a secret, and its peers another one.
func (w *world) sealed() {
	w.c.ClusterSecret = w.secret()
	others, err := seal.Parse([]byte(seal.New()))
	if err != nil {
		w.t.Fatal(err)
	}
	w.peer.Keys = seal.NewRing(transport.Scope("default", "default"), others)
}

// certified gives the node a certificate until then.
func (w *world) certified(until time.Time) {
	issuer, err := certs.NewIssuer("authority", w.clock.Add(-1000*time.Hour), w.clock.Add(9000*time.Hour))
	if err != nil {
		w.t.Fatal(err)
	}
	certificate, key, err := issuer.Issue(&certs.Request{Name: "gate-1", Role: "gate", Cluster: "default", Environment: "default", From: w.clock.Add(-900 * time.Hour), Until: until})
	if err != nil {
		w.t.Fatal(err)
	}
	authority, _, err := issuer.PEM()
	if err != nil {
		w.t.Fatal(err)
	}
	dir := w.t.TempDir()
	for name, text := range map[string][]byte{"node.crt": certificate, "node.key": key, "ca.crt": authority} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	w.c.TLSCert, w.c.TLSKey, w.c.TLSCA = filepath.Join(dir, "node.crt"), filepath.Join(dir, "node.key"), filepath.Join(dir, "ca.crt")
}

// examine starts the peers and looks.
func (w *world) examine() []Finding {
	for i, a := range w.peers {
		listen := string(a)
		if hidden := w.hook != nil && i == 0; hidden {
			listen = own
		}
		s, err := transport.Listen(listen)
		if err != nil {
			w.t.Fatal(err)
		}
		c := w.peer
		c.Self = node.Peer{ID: node.ID(fmt.Sprintf("peer-%d", i)), Incarnation: 1, Role: max(w.peer.Self.Role, node.RoleGate), Addr: a}
		if w.peer.Self.ID != "" {
			c.Self.ID = w.peer.Self.ID
		}
		c.Set = func() []node.Addr { return w.told }
		if c.Sinks == "" && c.Self.Role == node.RoleGate {
			c.Sinks = "none"
		}
		if i == 1 && w.sinks != "" {
			c.Sinks = w.sinks
		}
		c.Leases = echo.Leases{Lease: w.c.Lease, SubjobLease: w.c.SubjobLease}
		if w.lease > 0 {
			c.Leases.Lease = w.lease
		}
		t := transport.New(c, s)
		t.Serve(deaf{w.t})
		w.t.Cleanup(t.Kill)
		if listen == own {
			w.between(string(a), netip.MustParseAddrPort(t.Addr()))
		}
	}
	d := doctor{c: w.c, machine: w.machine}
	return d.examine(context.Background(), w.c.Validate())
}

// between passes all of TCP to a peer, and of UDP what the hook lets.
func (w *world) between(at string, to netip.AddrPort) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		w.t.Fatal(err)
	}
	u, err := net.ListenPacket("udp", at)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _, _ = l.Close(), u.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to.String())
			if err != nil {
				return
			}
			pass := func(a, b net.Conn) { _, _ = io.Copy(a, b); _ = a.(*net.TCPConn).CloseWrite() }
			go pass(in, out)
			go pass(out, in)
		}
	}()
	go func() {
		out, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
		if err != nil {
			return
		}
		defer func() { _ = out.Close() }()
		b := make([]byte, 2048)
		for {
			n, from, err := u.ReadFrom(b)
			if err != nil {
				return
			}
			if w.hook(b[:n]) == nil {
				continue
			}
			_, _ = out.Write(b[:n])
			_ = out.SetReadDeadline(time.Now().Add(time.Second))
			if n, err = out.Read(b); err == nil {
				_, _ = u.WriteTo(w.hook(b[:n]), from)
			}
		}
	}()
}

// A healthy node has no finding but ok, as a gate and as a worker.
func TestTheHealthyAreWell(t *testing.T) {
	for name, change := range map[string]func(*world){
		"gate": func(*world) {}, "worker": (*world).worker,
		"through a proxy": func(w *world) { w.hook = func(b []byte) []byte { return b } },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			change(w)
			all := w.examine()
			if code := worst(all); code != 0 {
				t.Fatalf("exit code %d: %s", code, bad(all))
			}
			for _, check := range []string{"config", "files", "cpu", "memory", "kernel", "disk", "fsync", "listen", "name", "tcp", "handshake", "udp", "mtu", "set", "lease", "sinks", "clock"} {
				if (check == "lease" || check == "sinks") && w.c.Role == node.RoleWorker {
					continue // it has none
				}
				if !slices.ContainsFunc(all, func(f Finding) bool { return f.Check == check && f.State == isOK }) {
					t.Errorf("no finding of %s", check)
				}
			}
		})
	}
}

// bad lists what is not ok.
func bad(all []Finding) string {
	var text strings.Builder
	for _, f := range all {
		if f.State != isOK {
			fmt.Fprintf(&text, "\n%s %s %s: %s: %s", f.State, f.Check, f.What, f.Found, f.Remedy)
		}
	}
	return text.String()
}

// Each planted fault is named, with its remedy, and nothing else is.
func TestPlantedFaultsAreNamed(t *testing.T) {
	for name, one := range map[string]struct {
		plant  func(*world)
		state  string
		check  string
		found  string
		remedy string
	}{
		"UDP is closed": {func(w *world) { w.hook = func([]byte) []byte { return nil } }, isFail, "udp", "none came back", "allow UDP port"},
		"TCP is closed": {func(w *world) {
			w.peers = w.peers[:1]
		}, isFail, "tcp", "connection refused", "start the node"},
		"MTU of 1280":   {func(w *world) { w.hook = narrow }, isFail, "mtu", "datagrams of 1400 bytes do not come back", "raise the MTU"},
		"another lease": {func(w *world) { w.lease = 31 * time.Second }, isFail, "lease", "has --lease 31s, this node 30s", "the same --lease"},
		"other sinks":   {func(w *world) { w.sinks = "0123456789abcdef" }, isWarn, "sinks", "the sinks of peer-1 are not those of gate-1", "the same section outputs"},
		"sinks of its own": {func(w *world) {
			w.c.Outputs = map[string]map[string]any{"rows": {"kind": "postgres", "address": "postgres://load@h/load"}}
		}, isWarn, "sinks", "the sinks of peer-0 are not those of gate-1", "config show gate"},
		"another set":       {func(w *world) { w.told = w.told[:2] }, isFail, "set", "is configured with", "the same --gates"},
		"another cluster":   {func(w *world) { w.peer.Cluster = "staging" }, isFail, "handshake", `cluster is "staging"`, "--cluster"},
		"another secret":    {func(w *world) { w.sealed() }, isFail, "handshake", "secret", "--cluster-secret"},
		"the name twice":    {func(w *world) { w.peer.Self.ID = "gate-1" }, isFail, "handshake", `node is "gate-1"`, "--id"},
		"a manager's place": {func(w *world) { w.worker(); w.peer.Self.Role = node.RoleGate }, isFail, "handshake", `role is "gate"`, "--managers"},
		"an unknown name":   {func(w *world) { w.c.Gates[2] = "gate-3.invalid:7400"; w.told = w.c.Set(); w.peers = w.peers[:1] }, isFail, "name", "gate-3.invalid", "DNS"},
		"a fast clock":      {func(w *world) { w.hook = hasty(w) }, isFail, "clock", "too fast", "NTP"},
		"another day":       {func(w *world) { w.hook = late }, isWarn, "clock", "time of the day", "NTP"},
		"a slow disk":       {func(w *world) { w.slow = 600 * time.Millisecond }, isFail, "fsync", "p99", "faster disk"},
		"a full disk":       {func(w *world) { w.space(9 << 20) }, isFail, "disk", "9 MiB are free", "free space"},
		"a disk at 5 %":     {func(w *world) { w.space(5 << 30) }, isWarn, "disk", "5 % of the volume", "free space"},
		"a disk of NFS": {func(w *world) {
			w.machine.volume = func(string) (volume, error) { return volume{1 << 40, 1 << 39, 0x6969}, nil }
		}, isFail, "disk", "NFS", "local disk"},
		"a quota":           {func(w *world) { w.worker(); w.file("sys/fs/cgroup/a/cpu.max", "150000 100000\n") }, isFail, "cpu", "1.5 cores for 1 executors", "limits.cpu"},
		"throttling":        {func(w *world) { w.file("sys/fs/cgroup/a/cpu.stat", "nr_periods 1000\nnr_throttled 70\n") }, isWarn, "throttling", "7 % of its periods", "quota"},
		"little memory":     {func(w *world) { w.file("sys/fs/cgroup/a/b/memory.max", "134217728\n") }, isWarn, "memory", "128 MiB", "limits.memory"},
		"few open files":    {func(w *world) { w.machine.files = func() (uint64, error) { return 256, nil } }, isFail, "files", "256 files", "LimitNOFILE"},
		"few ports":         {func(w *world) { w.worker(); w.file("proc/sys/net/ipv4/ip_local_port_range", "60000 61000\n") }, isWarn, "kernel", "1001 connections", "ip_local_port_range"},
		"expired":           {func(w *world) { w.certified(w.clock.Add(-time.Hour)) }, isFail, "certificate", "expired at", "renew"},
		"a readable secret": {func(w *world) { w.c.ClusterSecret = w.secret(); _ = os.Chmod(w.c.ClusterSecret, 0o644) }, isFail, "secret", "mode", "chmod"},
		"the port is taken": {func(w *world) { w.occupy() }, isFail, "listen", "another program has the port", "--listen"},
		"a wrong setting":   {func(w *world) { w.c.Lease = time.Second }, isFail, "config", "lease", "correct"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			one.plant(w)
			all := w.examine()
			named := slices.IndexFunc(all, func(f Finding) bool {
				return f.State == one.state && f.Check == one.check && strings.Contains(f.Found, one.found) && strings.Contains(f.Remedy+f.Found, one.remedy)
			})
			if named < 0 {
				t.Fatalf("want %s %s %q with %q, got: %s", one.state, one.check, one.found, one.remedy, bad(all))
			}
			for _, f := range all {
				if f.State != isOK && f.Check != one.check && f.Check != "peers" {
					t.Errorf("beside it: %s", bad([]Finding{f}))
				}
			}
		})
	}
}

// While it looks, no peer can connect to the node's own port, where nothing accepts.
func TestNoPeerHangs(t *testing.T) {
	w := newWorld(t)
	d := doctor{c: w.c, machine: w.machine}
	s, all := d.port(t.Context(), &trust{})
	if s == nil || worst(all) != 0 {
		t.Fatal(bad(all))
	}
	defer s.Close()
	if c, err := net.Dial("tcp", w.c.Listen); err == nil {
		_ = c.Close()
		t.Fatal("a peer connects, and hangs until its handshake ends")
	}
}

// A node that was given no set is its only member: it tells an empty one.
func TestALoneOwnerFits(t *testing.T) {
	d := doctor{c: config.Default(node.RoleManager)}
	d.c.Gates = []string{"127.0.0.1:7400"}
	for addr, want := range map[node.Addr]string{"127.0.0.1:7400": isOK, "127.0.0.2:7400": isFail} {
		if got := d.set(&peer{addr: addr}, &transport.Echo{Node: echo.Node{Role: uint8(node.RoleGate), ID: "g1"}}); len(got) != 1 || got[0].State != want {
			t.Errorf("%s: %+v, want %s", addr, got, want)
		}
	}
	d.c.Gates = append(d.c.Gates, "127.0.0.2:7400")
	if got := d.set(&peer{addr: "127.0.0.1:7400"}, &transport.Echo{Node: echo.Node{Role: uint8(node.RoleGate)}}); worst(got) != 2 {
		t.Errorf("%+v: two gates, and one of them is alone", got)
	}
}

// A manager compares both leases, and what a version does not tell is no fault.
func TestLeasesOfManagers(t *testing.T) {
	d := doctor{c: config.Default(node.RoleManager)}
	for _, tt := range []struct {
		theirs  echo.Leases
		verdict int
		lines   int
	}{
		{echo.Leases{Lease: d.c.Lease, SubjobLease: d.c.SubjobLease}, 0, 2},
		{echo.Leases{Lease: d.c.Lease, SubjobLease: d.c.SubjobLease + 1}, 2, 2},
		{echo.Leases{Lease: d.c.Lease + 1, SubjobLease: d.c.SubjobLease}, 2, 2},
		{echo.Leases{Lease: d.c.Lease}, 0, 1},
		{echo.Leases{}, 0, 0},
	} {
		if got := d.leases(&peer{addr: "a:1"}, &transport.Echo{Node: echo.Node{ID: "m", Leases: tt.theirs}}); worst(got) != tt.verdict || len(got) != tt.lines {
			t.Errorf("%+v: %+v", tt.theirs, got)
		}
	}
}

// A node that is no gate compares gates with each other, and what a version does not tell is no fault.
func TestSinksOfGates(t *testing.T) {
	d := doctor{c: config.Default(node.RoleManager)}
	for _, tt := range []struct {
		told    []string
		verdict int
		lines   int
	}{
		{[]string{"none", "none", "none"}, 0, 2},
		{[]string{"a", "", "a"}, 0, 1},
		{[]string{"a", "b", "a"}, 1, 2},
		{[]string{"", "", "a"}, 0, 0},
		{nil, 0, 0},
	} {
		var peers []*peer
		for i, s := range tt.told {
			peers = append(peers, &peer{addr: "a:1", id: fmt.Sprint("gate-", i), sinks: s})
		}
		d.sinks(peers)
		var got []Finding
		for _, p := range peers {
			got = append(got, p.found...)
		}
		if worst(got) != tt.verdict || len(got) != tt.lines {
			t.Errorf("%q: %+v", tt.told, got)
		}
	}
}

// A certificate that ends soon is a warning.
func TestACertificateEndsSoon(t *testing.T) {
	w := newWorld(t)
	w.certified(w.clock.Add(13 * 24 * time.Hour))
	d := doctor{c: w.c, machine: w.machine}
	all, _ := d.settings(nil)
	if text := bad(all); worst(all) != 1 || !strings.Contains(text, "ends in 312h") {
		t.Fatal(text)
	}
}

// A node that runs beside is found, and counts as no fault.
func TestTheNodeMayRun(t *testing.T) {
	w := newWorld(t)
	s, err := transport.Listen(w.c.Listen)
	if err != nil {
		t.Fatal(err)
	}
	n := transport.New(transport.Config{Self: node.Peer{ID: "gate-1", Incarnation: 3, Role: node.RoleGate, Addr: node.Addr(w.c.Listen)}, Cluster: "default", Environment: "default"}, s)
	n.Serve(deaf{t})
	t.Cleanup(n.Kill)
	all := w.examine()
	if worst(all) != 0 || !slices.ContainsFunc(all, func(f Finding) bool { return strings.Contains(f.Found, "the node runs") }) {
		t.Fatal(bad(all))
	}
}

// narrow is a path that carries 1,280 bytes.
func narrow(b []byte) []byte {
	if len(b)+28 > 1280 {
		return nil
	}
	return b
}

// changed rewrites answers.
func changed(b []byte, change func(*echo.Node)) []byte {
	of, nonce, n, err := echo.Answer(b)
	if err != nil {
		return b
	}
	change(&n)
	return echo.AppendAnswer(nil, of, nonce, len(b), &n)
}

// hasty is a clock that runs three times too fast.
func hasty(*world) func([]byte) []byte {
	return func(b []byte) []byte { return changed(b, func(n *echo.Node) { n.Awake *= 3 }) }
}

// late is a clock that is a minute behind.
func late(b []byte) []byte {
	return changed(b, func(n *echo.Node) { n.Wall -= int64(time.Minute) })
}

func (w *world) space(free uint64) {
	w.machine.volume = func(string) (volume, error) { return volume{100 << 30, free, 0xEF53}, nil }
}

// occupy takes the node's port for something else.
func (w *world) occupy() {
	l, err := net.Listen("tcp", w.c.Listen)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			_ = c.Close()
		}
	}()
}
