package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/node"
	"hyperscale/runtime/certs"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "node.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const workerFile = `
id: worker-1
datacenter: east
managers: ["10.0.0.2:7500", "10.0.0.3:7500"]
data: /tmp/w1
cores: 2
stop_timeout: 15s
log_level: warn
`

func TestLaterSourcesAreStronger(t *testing.T) {
	got, err := Load(node.RoleWorker, Sources{
		File: write(t, workerFile),
		Environ: []string{"HYPERSCALE_CORES=3", "HYPERSCALE_DATACENTER=west", "HYPERSCALE_MANAGERS=10.0.0.4:7500, 10.0.0.5:7500", "PATH=/bin",
			"HYPERSCALE_SET_TARGET=x", "HYPERSCALE_HISTORY=off", "HYPERSCALE_SECRET_T=x", "HYPERSCALE_GATE_PORT=tcp://10.0.0.1:7400", "HYPERSCALE_GATE_SERVICE_PORT_API=8443", "HYPERSCALE_GATE_PORT_7400_TCP_ADDR=10.0.0.1", "HYPERSCALE_SERVICE_HOST=10.0.0.1", "HYPERSCALE_PORT_7400_TCP=tcp://10.0.0.1:7400"},
		Flags: map[string]string{"cores": "4", "log-format": "json", "seed": "10.0.0.4:7500,10.0.0.6:7500"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Node{
		Role: node.RoleWorker, ID: "worker-1", Listen: "127.0.0.1:7600", Datacenter: "west",
		Seeds: []string{"10.0.0.4:7500", "10.0.0.6:7500"}, Managers: []string{"10.0.0.4:7500", "10.0.0.5:7500"},
		Data: "/tmp/w1", Cluster: "default", Environment: "default", StopTimeout: 15 * time.Second,
		Executors: Executors{Cores: 4, ExecutorSandbox: "auto"}, Log: Log{LogLevel: "warn", LogFormat: "json"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff([]node.Addr{"10.0.0.4:7500", "10.0.0.5:7500", "10.0.0.6:7500"}, got.Join()); d != "" {
		t.Errorf("join: -want +got:\n%s", d)
	}
}

// TestListsAsFlagsHaveThem: a file may write a list as a flag does.
func TestListsAsFlagsHaveThem(t *testing.T) {
	for _, gates := range []string{"a:1,b:1", "a:1, b:1", "[a:1, b:1]", "\n- a:1\n- b:1"} {
		n, err := Load(node.RoleManager, Sources{File: write(t, "id: m\ndata: d\ndatacenter: east\ngates: "+gates+"\n")})
		if want := []string{"a:1", "b:1"}; err != nil || !slices.Equal(n.Gates, want) {
			t.Errorf("%q: got %q and %v, want %q", gates, n.Gates, err, want)
		}
	}
}

func TestSourcesThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		what string
		s    Sources
		want []string
	}{
		{"no such file", Sources{File: "/no/such.yaml"}, []string{"/no/such.yaml", "correct --config"}},
		{"unknown key", Sources{File: write(t, "id: a\nlistem: b\n")}, []string{`[2:1] unknown field "listem"`, "keys are (did you mean listen?): id, listen, advertise"}},
		{"key said twice", Sources{File: write(t, "id: a\nid: b\n")}, []string{"[2:1]", `"id" already defined`}},
		{"wrong kinds", Sources{File: write(t, "cores: many\ninsecure: maybe\nid: [a]\n")}, []string{
			"[1:8] cores = many is no number: write a whole number", `[2:11] insecure = maybe is no truth: write "true" or "false"`, "[3:5] id = [a] is no text: write one word"}},
		{"half a core", Sources{File: write(t, "cores: 1.5\n")}, []string{"[1:8] cores = 1.5 is no number: write a whole number"}},
		{"duration without unit", Sources{File: write(t, "stop_timeout: 30\n")}, []string{"[1:15] stop_timeout = 30 is no duration: write a number and its unit"}},
		{"a list in a map", Sources{File: write(t, "set: {a: [1]}\n")}, []string{"set = {a: [1]} is no map: write it as {key: value}"}},
		{"an unknown key above a list of a flag's form", Sources{File: write(t, "id: a\nlisen: b\ngates: a:1, b:1\n")}, []string{`[2:1] unknown field "lisen"`}},
		{"a map for a list", Sources{File: write(t, "id: a\ngates: {a: 1}\n")}, []string{"gates = {a: 1} is no list: write it as [a, b]"}},
		{"sinks that are no maps", Sources{File: write(t, "outputs: [a]\n")}, []string{"[1:10] outputs = [a] is no map of sinks: write it as {NAME: {kind: jsonl, address: rows/}}"}},
		{"a sink that is no map", Sources{File: write(t, "outputs:\n  a: rows.jsonl\n")}, []string{"is no map of sinks: write it as"}},
		{"a sink said twice", Sources{File: write(t, "outputs:\n  a: {kind: jsonl}\n  a: {kind: jsonl}\n")}, []string{`[3:3]`, `"a" already defined`}},
		{"a section nearly named", Sources{File: write(t, "output: {}\n")}, []string{`[1:1] unknown field "output"`, "(did you mean outputs?)"}},
		{"sinks of the environment", Sources{Environ: []string{"HYPERSCALE_OUTPUTS=a"}}, []string{"HYPERSCALE_OUTPUTS is no setting"}},
		{"no YAML", Sources{File: write(t, "id: [a\n")}, []string{"["}},
		{"two documents", Sources{File: write(t, "id: a\n---\nid: b\n")}, []string{"more than one document"}},
		{"environment", Sources{Environ: []string{"HYPERSCALE_CORES=x", "HYPERSCALE_STOP_TIMEOUT=30"}},
			[]string{`HYPERSCALE_CORES = "x" is no number: write a whole number`, `HYPERSCALE_STOP_TIMEOUT = "30" is no duration: write a number and its unit`}},
		{"unknown variables", Sources{Environ: []string{"HYPERSCALE_LEASEE=3s", "HYPERSCALE_CORE=2", "HYPERSCALE_CORES=x"}},
			[]string{"HYPERSCALE_LEASEE is no setting (did you mean HYPERSCALE_LEASE?)", "HYPERSCALE_CORE is no setting (did you mean HYPERSCALE_CORES?)", "settings are: HYPERSCALE_ID, HYPERSCALE_LISTEN", `HYPERSCALE_CORES = "x"`}},
		{"a variable behind a known one", Sources{Environ: []string{"HYPERSCALE_CIX=1", "HYPERSCALE_lease=3s", "HYPERSCALE_SETS=a=1"}}, []string{"HYPERSCALE_CIX is", "HYPERSCALE_lease is", "HYPERSCALE_SETS is"}},
		{"flag", Sources{Flags: map[string]string{"stop-timeout": "soon"}}, []string{`--stop-timeout = "soon" is no duration`}},
	} {
		_, err := Load(node.RoleWorker, c.s)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v\nwant %q in it", c.what, err, want)
			}
		}
	}
}

// TestSinksAreOfGates: a gate's file has them, and so has what else reads the section.
func TestSinksAreOfGates(t *testing.T) {
	file := write(t, "id: a\ndata: d\noutputs:\n  rows: {kind: jsonl, address: rows.jsonl, window: 5s}\n")
	n, err := Load(node.RoleGate, Sources{File: file})
	if err != nil || n.Outputs["rows"]["window"] != "5s" {
		t.Errorf("%v: %v", n.Outputs, err)
	}
	section, err := ReadOutputs(file)
	if d := cmp.Diff(n.Outputs, section); err != nil || d != "" {
		t.Errorf("%v: %s", err, d)
	}
	_, err = Load(node.RoleWorker, Sources{File: file, Flags: map[string]string{"datacenter": "east", "managers": "m:1"}})
	if want := "outputs = rows means nothing to a worker: take it out"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	good := func(role node.Role) Node {
		n := Default(role)
		n.ID, n.Data = "a", "/tmp/a"
		switch role {
		case node.RoleManager:
			n.Datacenter, n.Gates = "east", []string{"gate-1:7400"}
		case node.RoleWorker:
			n.Datacenter, n.Seeds = "east", []string{"manager-1:7500"}
		}
		return n
	}
	for _, role := range []node.Role{node.RoleGate, node.RoleManager, node.RoleWorker} {
		n := good(role)
		if err := n.Validate(); err != nil {
			t.Errorf("%v: %v", role, err)
		}
	}
	n := good(node.RoleGate)
	n.ID, n.Cluster, n.Environment = "a b", "", strings.Repeat("e", 129)
	n.Listen, n.Admin = "0.0.0.0:7400", "nowhere"
	n.Seeds, n.Gates = []string{"x:0", ":7400"}, []string{"g:1", "g:1", "g:99999"}
	n.Datacenter, n.Cores, n.Data = "east", 2, ""
	n.StopTimeout, n.LogLevel, n.LogFormat = -time.Second, "loud", ""
	want := `the configuration cannot stand:
  id = "a b" must be 1 to 128 letters, digits or .-_: give the node a name of its own with --id
  cluster = "" must be 1 to 128 letters, digits or .-_: give the same name to all nodes with --cluster
  environment = "` + n.Environment + `" must be 1 to 128 letters, digits or .-_: give the same name to all nodes with --environment
  advertise = "" must be set while listen = 0.0.0.0:7400: give the host:port that other nodes reach to --advertise
  cluster_secret = "" must be set while listen = 0.0.0.0:7400 is beyond this machine, as frames would cross in clear: make one with ` + "`hyperscale secret new FILE`" + `, give that file to --cluster-secret on all nodes and clients, or accept clear text with --insecure
  admin = nowhere must be host:port: give host:port to --admin, for example 127.0.0.1:7490
  seeds[0] = x:0 must end in a port from 1 to 65535: give the host:port that the node advertises
  seeds[1] = :7400 must name a host: give the host:port that the node advertises
  gates[1] = g:1 must be named once: take one out
  gates[2] = g:99999 must end in a port from 1 to 65535: give the host:port that the node advertises
  datacenter = east means nothing to a gate: take it out
  seeds = x:0,:7400 means nothing to a gate: take it out
  cores = 2 means nothing to a gate: take it out
  gates = [g:1 g:1 g:99999] must contain this node's own address, 0.0.0.0:7400: add it, or correct --advertise
  data = "" must be a directory: give one that this node alone uses to --data
  stop_timeout = -1s must be above 0s and at most 1h0m0s: use 20s
  log_level = loud must be debug, info, warn or error: correct --log-level
  log_format = "" must be text or json: correct --log-format`
	if d := cmp.Diff(want, n.Validate().Error()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	m := good(node.RoleManager)
	m.Gates, m.Datacenter = nil, ""
	w := good(node.RoleWorker)
	w.Seeds, w.Gates, w.Cores = nil, []string{"g:1"}, -1
	for _, c := range []struct {
		n    Node
		want int
	}{{m, 2}, {w, 3}} {
		if faults, _ := c.n.Validate().(Faults); len(faults) != c.want {
			t.Errorf("%v: %v, want %d faults", c.n.Role, faults, c.want)
		}
	}
}

// FuzzYAML: no bytes crash the process, and an accepted file reads the same way twice.
func FuzzYAML(f *testing.F) {
	f.Add([]byte(workerFile))
	f.Add([]byte("id: &a [*a]\n"))
	f.Add([]byte("? [a]\n: b\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 4096 {
			return
		}
		one, two := Default(node.RoleWorker), Default(node.RoleWorker)
		if one.YAML(b) != nil {
			return
		}
		if err := two.YAML(b); err != nil {
			t.Fatalf("read once, then: %v", err)
		}
		if d := cmp.Diff(one, two); d != "" {
			t.Fatal(d)
		}
	})
}

// Names of several addresses find managers and gates to join; a set whose majority counts has none.
func TestNamesAreNoMembers(t *testing.T) {
	manager := func(n *Node) { n.Datacenter, n.Gates, n.Data, n.ID = "east", []string{"gate-1:7400"}, "/tmp/a", "a" }
	for _, c := range []struct {
		role   node.Role
		change func(*Node)
		join   []node.Addr
		want   string // fault
	}{
		{node.RoleWorker, func(n *Node) {
			n.Seeds, n.Managers = []string{"srv:_m._tcp.x", "dns:m"}, []string{"dns:m:7500", "m1:1"}
		},
			[]node.Addr{"m1:1", "dns:m:7500", "srv:_m._tcp.x"}, ""},
		{node.RoleManager, func(n *Node) { n.Seeds = []string{"dns:g"} }, []node.Addr{"gate-1:7400", "dns:g:7400"}, ""},
		{node.RoleManager, func(n *Node) { n.Gates, n.Seeds = nil, []string{"dns:g"} }, []node.Addr{"dns:g:7400"}, ""},
		{node.RoleManager, func(n *Node) { n.Gates = []string{"dns:g:7400"} }, nil, "gates[0] = dns:g:7400 must be the host:port of one member"},
		{node.RoleManager, func(n *Node) { n.Managers = []string{n.Listen, "srv:_m._tcp.x"} }, nil, "managers[1] = srv:_m._tcp.x must be the host:port of one member"},
		{node.RoleGate, func(n *Node) { n.Datacenter, n.Gates = "", []string{n.Listen, "dns:g:7400"} }, nil, "gates[1] = dns:g:7400 must be the host:port of one member"},
		{node.RoleWorker, func(n *Node) { n.Seeds = []string{"dns:m:0"} }, nil, "seeds[0] = dns:m:0 must end in a port from 1 to 65535, or in none: correct the name"},
		{node.RoleWorker, func(n *Node) { n.Seeds, n.Resolver = []string{"dns:m"}, "53" }, nil, "resolver = 53 must be host:port"},
		{node.RoleGate, func(n *Node) { n.Datacenter, n.Gates, n.Resolver = "", nil, "127.0.0.1:53" }, nil, "resolver = 127.0.0.1:53 means nothing to a gate"},
	} {
		n := Default(c.role)
		manager(&n)
		if c.role == node.RoleWorker {
			n.Gates = nil
		}
		c.change(&n)
		err := n.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: got %v, want %q", c.role, err, c.want)
		}
		if got := append(n.Join(), n.Discover()...); c.want == "" && !cmp.Equal(got, c.join) {
			t.Errorf("%v joins %v, want %v", c.role, got, c.join)
		}
	}
}

func TestWarningsTellWhatASetSurvives(t *testing.T) {
	for _, test := range []struct {
		gates string
		want  []string
	}{
		{"", []string{"one gate alone: losing its disk loses what it has acknowledged, and nothing goes on while it is away; three survive the loss of one"}},
		{"a:1,b:1", []string{"2 gates survive the loss of 0, as 1 would: one more would make the loss of 1 harmless, one less costs nothing"}},
		{"a:1,b:1,c:1", nil},
		{"a:1,a:2,c:1", []string{"2 of 3 gates are on host a: losing that host loses the majority"}},
		{"a:1,b:1,c:1,d:1", []string{"4 gates survive the loss of 1, as 3 would: one more would make the loss of 2 harmless, one less costs nothing"}},
		{"a:1,a:2,b:1,b:2,c:1", nil},
	} {
		n := Default(node.RoleGate)
		if test.gates != "" {
			n.Gates = strings.Split(test.gates, ",")
		}
		if d := cmp.Diff(test.want, n.Warnings()); d != "" {
			t.Errorf("%q: -want +got:\n%s", test.gates, d)
		}
	}
}

// TestWarningsOfAShortLease: a take-over must fit between the word of one owner and that of the next, however many gates
// may die at once. The lease that a warning names gives none, and one second less does.
func TestWarningsOfAShortLease(t *testing.T) {
	for _, test := range []struct {
		profile string
		gates   int
		want    string
	}{
		{"local", 1, ""},
		{"local", 3, ""},
		{"local", 5, "lease = 3s is short: a datacenter gives a job up after 5.939s without the word of an owner, and a take-over from a gate that died may need 6.531s: give all gates and managers --lease 4s"},
		{"local", 9, "lease = 3s is short: a datacenter gives a job up after 5.939s without the word of an owner, and a take-over from a gate that died may need 8.531s: give all gates and managers --lease 6s"},
		{"lan", 7, ""},
		{"lan", 9, "lease = 6s is short: a datacenter gives a job up after 11.879s without the word of an owner, and a take-over from a gate that died may need 12.061s: give all gates and managers --lease 7s, or --quorum-timeout 800ms"},
		{"wan", 25, ""},
	} {
		n := placed(node.RoleGate, test.profile)
		for i := range test.gates {
			n.Gates = append(n.Gates, fmt.Sprintf("h%d:1", i))
		}
		got := n.shortLease()
		if got != test.want || got != "" && !slices.Contains(n.Warnings(), got) {
			t.Errorf("%s with %d gates: got %q of %q, want %q", test.profile, test.gates, got, n.Warnings(), test.want)
		}
		if _, quick, found := strings.Cut(got, "--quorum-timeout "); found {
			was := n.QuorumTimeout
			n.QuorumTimeout, _ = time.ParseDuration(quick)
			if still := n.shortLease(); still != "" {
				t.Errorf("%s with %d gates and %v for a majority: %s", test.profile, test.gates, n.QuorumTimeout, still)
			}
			if n.QuorumTimeout += majorityStep; n.shortLease() == "" {
				t.Errorf("%s with %d gates: %v for a majority would do", test.profile, test.gates, n.QuorumTimeout)
			}
			n.QuorumTimeout = was
		}
		if _, after, found := strings.Cut(got, "--lease "); found {
			text, _, _ := strings.Cut(after, ",")
			n.Lease, _ = time.ParseDuration(text)
			if still := n.shortLease(); still != "" {
				t.Errorf("%s with %d gates: %s", test.profile, test.gates, still)
			}
			if n.Lease -= time.Second; n.shortLease() == "" {
				t.Errorf("%s with %d gates: %v would do", test.profile, test.gates, n.Lease)
			}
		}
	}
}

// TestCertificatesDoNotProtectDatagrams: beyond this machine a node needs the secret, too, and the files
// of a certificate come together.
func TestCertificatesDoNotProtectDatagrams(t *testing.T) {
	load := func(environ ...string) (Node, error) {
		return Load(node.RoleGate, Sources{Environ: append(environ, "HYPERSCALE_ID=g", "HYPERSCALE_DATA=d", "HYPERSCALE_LISTEN=10.0.0.1:7400")})
	}
	all := []string{"HYPERSCALE_TLS_CERT=c", "HYPERSCALE_TLS_KEY=k", "HYPERSCALE_TLS_CA=a"}
	if _, err := load(all...); err == nil || !strings.Contains(err.Error(), "as datagrams would cross in clear: certificates protect streams alone") {
		t.Errorf("without a secret: %v", err)
	}
	if _, err := load(append(all[:2:2], "HYPERSCALE_CLUSTER_SECRET=s")...); err == nil || !strings.Contains(err.Error(), `tls_cert, tls_key, tls_ca = "c", "k", "" must be set together`) {
		t.Errorf("without an authority: %v", err)
	}
	n, err := load(append(all, "HYPERSCALE_CLUSTER_SECRET=s")...)
	if err != nil || n.Certs() != (certs.Files{Cert: "c", Key: "k", CA: "a"}) {
		t.Errorf("%+v: %v", n.Certs(), err)
	}
	n, err = load(append(all, "HYPERSCALE_INSECURE=true")...)
	if err != nil || len(n.Warnings()) == 0 || !strings.HasPrefix(n.Warnings()[0], "datagrams cross the network in clear") {
		t.Errorf("%v, warnings %v", err, n.Warnings())
	}
}

// The table describes each key of a node, and nothing else: a field that it forgets has no flag and no line in the manual.
func TestKeysAreDescribed(t *testing.T) {
	var described []string
	for _, k := range Keys() {
		described = append(described, k.Name)
		if k.Help == "" || k.Unit == "" || (k.Raise == "") != (k.Lower == "") {
			t.Errorf("%s lacks help, unit, or one of what a higher and a lower value do", k.Name)
		}
	}
	have := keys()
	slices.Sort(have)
	slices.Sort(described)
	if d := cmp.Diff(have, described); d != "" {
		t.Errorf("keys of Node and of the table: -want +got:\n%s", d)
	}
}

// Each variable of the prefix that code of this repository reads is a setting or a known other: a node that a test starts
// inherits it.
func TestVariablesOfToolsAreKnown(t *testing.T) {
	names := regexp.MustCompile(`\bHYPERSCALE_([A-Z0-9_]+)`)
	found := 0
	look := func(path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range names.FindAllSubmatch(b, -1) {
			found++
			if rest := string(m[1]); !known(rest) && !slices.Contains([]string{"SECRET", "SET"}, strings.TrimSuffix(rest, "_")) {
				t.Errorf("%s reads %s%s, which nodes refuse: add it to others", path, prefix, rest)
			}
		}
	}
	for _, pattern := range []string{"../../Makefile", "../../.ci/*", "../../cmd/hyperscale/*_test.go", "../../cmd/chaos/*.go", "../../scenarios/*.go", "../../runtime/*/*.go", "../../bench/*/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v and %v", pattern, paths, err)
		}
		for _, path := range paths {
			if !strings.HasSuffix(path, "config_test.go") {
				look(path)
			}
		}
	}
	if found < 30 {
		t.Errorf("found %d variables, want 30 at least: the pattern finds nothing", found)
	}
}

// TestTheAPINeedsItsFiles: tokens always, a certificate beyond this machine, and one for its client where nodes have them.
func TestTheAPINeedsItsFiles(t *testing.T) {
	load := func(environ ...string) string {
		_, err := Load(node.RoleGate, Sources{Environ: append(environ, "HYPERSCALE_ID=g", "HYPERSCALE_DATA=d")})
		if err == nil {
			return ""
		}
		return err.Error()
	}
	tls := []string{"HYPERSCALE_TLS_CERT=c", "HYPERSCALE_TLS_KEY=k", "HYPERSCALE_TLS_CA=a"}
	for _, c := range []struct {
		environ []string
		want    string // of the fault; empty: none
	}{
		{[]string{"HYPERSCALE_API=127.0.0.1:7480"}, `api_tokens = "" must be set while api = 127.0.0.1:7480`},
		{[]string{"HYPERSCALE_API=127.0.0.1:7480", "HYPERSCALE_API_TOKENS=t"}, ""},
		{[]string{"HYPERSCALE_API=10.0.0.1:7480", "HYPERSCALE_API_TOKENS=t"}, "as tokens would cross in clear: give a certificate and its key to --api-cert and --api-key"},
		{[]string{"HYPERSCALE_API=10.0.0.1:7480", "HYPERSCALE_API_TOKENS=t", "HYPERSCALE_API_CERT=c"}, `api_cert, api_key = "c", "" must be set together`},
		{[]string{"HYPERSCALE_API=10.0.0.1:7480", "HYPERSCALE_API_TOKENS=t", "HYPERSCALE_API_CERT=c", "HYPERSCALE_API_KEY=k"}, ""},
		{[]string{"HYPERSCALE_API_HOSTS=x"}, "api_hosts = x is of the HTTP API, which api turns on"},
		{append(tls, "HYPERSCALE_API=127.0.0.1:7480", "HYPERSCALE_API_TOKENS=t"), "must be set while the nodes have certificates"},
		{[]string{"HYPERSCALE_API=127.0.0.1:7480", "HYPERSCALE_API_TOKENS=t", "HYPERSCALE_API_CLIENT_CERT=c", "HYPERSCALE_API_CLIENT_KEY=k"}, "mean nothing while the nodes have no certificates"},
		{[]string{"HYPERSCALE_API=127.0.0.1:7400", "HYPERSCALE_API_TOKENS=t"}, "api = 127.0.0.1:7400 must differ from listen and admin"},
	} {
		if got := load(c.environ...); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v: got %q, want %q", c.environ, got, c.want)
		}
	}
}
