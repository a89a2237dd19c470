package config

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"hyperscale/core/discovery"
	"hyperscale/core/lease"
	"hyperscale/core/manager"
	"hyperscale/core/node"
	"hyperscale/core/window"
	"hyperscale/runtime/certs"
)

// Node configures one node. A text or list that is empty is not set.
type Node struct {
	Role node.Role `yaml:"-"`

	// ID is the node's name, unique in its cluster: 1 to 128 letters, digits and
	// ".-_".
	ID string `yaml:"id" env:"ID"`
	// Listen is the address for streams and datagrams, on one port.
	Listen string `yaml:"listen" env:"LISTEN"`
	// Advertise is the address that other nodes call; Listen if it is not set.
	Advertise string `yaml:"advertise" env:"ADVERTISE"`
	// Admin is the address of /metrics, /healthz and /readyz; without it there is
	// no such listener.
	Admin string `yaml:"admin" env:"ADMIN"`
	// Datacenter is where a manager or a worker stands. A gate belongs to none.
	Datacenter string `yaml:"datacenter" env:"DATACENTER"`
	// Seeds are addresses of nodes to join: a manager's gates, a worker's managers. They are
	// added to Gates or Managers. They may be names of several addresses, dns:HOST:PORT or srv:NAME. A gate joins no node: others connect to it.
	Seeds []string `yaml:"seeds" env:"SEEDS"`
	// Resolver is the IP:PORT of the DNS server that dns: and srv: names are asked of; those of
	// /etc/resolv.conf if it is not set.
	Resolver string `yaml:"resolver" env:"RESOLVER"`
	// Gates is the configured set of gates, as they advertise themselves: equal on
	// all gates and managers. A gate that has none is alone.
	Gates []string `yaml:"gates" env:"GATES"`
	// Managers is the configured set of a datacenter's managers: equal on all its
	// managers and workers. A manager that has none is alone.
	Managers  []string `yaml:"managers" env:"MANAGERS"`
	Terms     `yaml:",inline"`
	Executors `yaml:",inline"`
	// Data is the directory of the files that must survive a restart.
	Data string `yaml:"data" env:"DATA"`
	// Cluster and Environment must be equal on all nodes that talk to each other.
	Cluster     string `yaml:"cluster" env:"CLUSTER"`
	Environment string `yaml:"environment" env:"ENVIRONMENT"`
	// StopTimeout is how long a graceful stop may take before the node is killed. It is above
	// the ten seconds that executors need to stop, and below the thirty after which Kubernetes
	// kills the node.
	StopTimeout time.Duration `yaml:"stop_timeout" env:"STOP_TIMEOUT"`
	// Settings holds values of the role's own configuration by key, such as gate.results_max:
	// docs/settings.md lists them. A source adds to those of the ones before.
	Settings map[string]string `yaml:"set" env:"SET" envSeparator:"," envKeyValSeparator:"="`
	// Outputs are a gate's sinks by name, which jobs may name: runtime/outputs/named reads them. Only a file has them.
	Outputs map[string]map[string]any `yaml:"outputs"`
	Trust   `yaml:",inline"`
	Log     `yaml:",inline"`
}

// Executors says what a worker's executors get of its machine.
type Executors struct {
	// Cores is how many a worker offers; 0: all but one, at least one.
	Cores int `yaml:"cores" env:"CORES"`
	// Feeds is the folder in which a worker finds the files of rows that are too large
	// to travel with a program, at the paths that the program names.
	Feeds string `yaml:"feeds" env:"FEEDS"`
	// ExecutorUser is whom executors of a worker that runs as root run as: a name, or uid:gid.
	ExecutorUser string `yaml:"executor_user" env:"EXECUTOR_USER"`
	// ExecutorEnv names the variables of the worker's environment that executors get in addition to
	// the few that they need.
	ExecutorEnv []string `yaml:"executor_env" env:"EXECUTOR_ENV"`
	// ExecutorSandbox is auto, require or off: whether executors give up the system calls that they
	// never need. Empty: auto.
	ExecutorSandbox string `yaml:"executor_sandbox" env:"EXECUTOR_SANDBOX"`
	// Custom is the folder of programs that custom.client may start: those below it, and no others.
	// Empty: none.
	Custom string `yaml:"custom" env:"CUSTOM"`
}

// Terms are the durations that a group agrees on, and the profile that they have their defaults from.
type Terms struct {
	// Profile is a name of Profiles, whose defaults the node has. Empty: those of Default.
	Profile string `yaml:"profile" env:"PROFILE"`
	// Lease is how long a gate may act for a job without hearing from a majority of
	// the gates: equal on all gates and managers.
	Lease time.Duration `yaml:"lease" env:"LEASE"`
	// SubjobLease is the same for a manager and a datacenter's subjob, equal on
	// the managers of a datacenter.
	SubjobLease time.Duration `yaml:"subjob_lease" env:"SUBJOB_LEASE"`
	// QuorumTimeout is how long a majority may take to answer.
	QuorumTimeout time.Duration `yaml:"quorum_timeout" env:"QUORUM_TIMEOUT"`
}

// Web is a gate's HTTP API.
type Web struct {
	// API is the address of the HTTP API; without it there is none.
	API string `yaml:"api" env:"API"`
	// APITokens is the file of who may call it: runtime/api/tokens. The gate reads it again when it changes.
	APITokens string `yaml:"api_tokens" env:"API_TOKENS"`
	// APICert and APIKey are the PEM files of its certificate for HTTPS. Empty: plain HTTP, on loopback alone.
	APICert string `yaml:"api_cert" env:"API_CERT"`
	APIKey  string `yaml:"api_key" env:"API_KEY"`
	// APIClientCert and APIClientKey are the PEM files of the certificate with which the API's client inside asks gates, where
	// nodes have certificates: what it claims bounds what any token may do.
	APIClientCert string `yaml:"api_client_cert" env:"API_CLIENT_CERT"`
	APIClientKey  string `yaml:"api_client_key" env:"API_CLIENT_KEY"`
	// APIHosts are names by which clients call it, beside that of API, that of Advertise and loopback.
	APIHosts []string `yaml:"api_hosts" env:"API_HOSTS"`
}

// Trust says how a node knows the others, and a gate the callers of its HTTP API.
type Trust struct {
	// ClusterSecret is the file of the secrets that all nodes and clients of the cluster share, one
	// a line: the node seals what it says with the first, and opens with each. Empty: frames cross
	// in clear.
	ClusterSecret string `yaml:"cluster_secret" env:"CLUSTER_SECRET"`
	// TLSCert, TLSKey and TLSCA are the PEM files of the node's certificate, its key, and the
	// authorities of its peers' certificates. Streams then run over TLS. Empty: without it.
	TLSCert string `yaml:"tls_cert" env:"TLS_CERT"`
	TLSKey  string `yaml:"tls_key" env:"TLS_KEY"`
	TLSCA   string `yaml:"tls_ca" env:"TLS_CA"`
	// Insecure allows a node without a secret to listen beyond loopback.
	Insecure bool `yaml:"insecure" env:"INSECURE"`
	Web      `yaml:",inline"`
}

// Log says how a node logs.
type Log struct {
	// LogLevel is debug, info, warn or error; LogFormat is text or json.
	LogLevel  string `yaml:"log_level" env:"LOG_LEVEL"`
	LogFormat string `yaml:"log_format" env:"LOG_FORMAT"`
}

// The default ports of nodes.
const (
	PortGate    = "7400"
	PortManager = "7500"
	PortWorker  = "7600"
	PortAPI     = "7480" // of a gate's HTTP API; no default
)

// Default returns a role's configuration without the values that only the user knows: id and
// data, for managers and workers also the datacenter and the addresses to join. It listens on
// loopback: a user must open the port to a network explicitly, and then give the cluster a secret.
func Default(role node.Role) Node {
	n := Node{
		Role: role, Cluster: "default", Environment: "default", StopTimeout: 20 * time.Second,
		Log: Log{LogLevel: "info", LogFormat: "text"},
	}
	switch role {
	case node.RoleGate:
		n.Listen = "127.0.0.1:" + PortGate
		n.Lease, n.QuorumTimeout = 30*time.Second, 5*time.Second
	case node.RoleManager:
		n.Listen = "127.0.0.1:" + PortManager
		n.Lease, n.SubjobLease, n.QuorumTimeout = 30*time.Second, 2*time.Second, time.Second
	case node.RoleWorker:
		n.Listen, n.ExecutorSandbox = "127.0.0.1:"+PortWorker, "auto"
	default:
		node.Bug("config: role %v has no configuration", role)
	}
	return n
}

// ClientCerts are the files of the certificate of the API's client.
func (t *Trust) ClientCerts() certs.Files {
	if t.APIClientCert == "" {
		return certs.Files{}
	}
	return certs.Files{Cert: t.APIClientCert, Key: t.APIClientKey, CA: t.TLSCA}
}

// Certs are the files of the node's certificate.
func (t *Trust) Certs() certs.Files { return certs.Files{Cert: t.TLSCert, Key: t.TLSKey, CA: t.TLSCA} }

// Exposed says that other machines reach the node, in clear text.
func (n *Node) Exposed() bool { return n.ClusterSecret == "" && !node.Addr(n.Listen).Near() }

// Join returns the addresses of the nodes to register with: the configured set,
// then the seeds, each once.
func (n *Node) Join() []node.Addr {
	var all []node.Addr
	seen := map[string]bool{}
	for _, list := range [][]string{n.upstream(), n.Seeds} {
		for _, a := range list {
			if !seen[a] && !discovery.Is(a) {
				seen[a] = true
				all = append(all, node.Addr(a))
			}
		}
	}
	return all
}

// Discover returns the names of nodes that Join has no address of: with the port of their role if
// they have none.
func (n *Node) Discover() (all []node.Addr) {
	port := PortGate
	if n.Role == node.RoleWorker {
		port = PortManager
	}
	for _, a := range slices.Concat(n.upstream(), n.Seeds) {
		if !discovery.Is(a) {
			continue
		}
		if name, err := discovery.Parse(a, port); err == nil && !slices.Contains(all, name.Addr()) {
			all = append(all, name.Addr())
		}
	}
	return all
}

// Set is the configured set that this node is a member of, in order; itself alone
// if none is configured, which is known once it listens.
func (n *Node) Set() []node.Addr {
	list := n.Gates
	if n.Role == node.RoleManager {
		list = n.Managers
	}
	set := make([]node.Addr, len(list))
	for i, a := range list {
		set[i] = node.Addr(a)
	}
	slices.Sort(set)
	return set
}

// Warnings lists settings that work but are probably not meant.
func (n *Node) Warnings() []string {
	set := n.Set()
	var all []string
	if n.Exposed() && n.Certs().Given() {
		all = append(all, "datagrams cross the network in clear, as certificates protect streams alone, and any program that reaches "+n.Listen+" may speak of members as a node: give all nodes a --cluster-secret")
	} else if n.Exposed() {
		all = append(all, "frames cross the network in clear, and any program that reaches "+n.Listen+" may speak as a node: give all nodes and clients a --cluster-secret")
	}
	if n.Role == node.RoleWorker {
		return all
	}
	if what := n.Role.String(); len(set) <= 1 {
		all = append(all, "one "+what+" alone: losing its disk loses what it has acknowledged, and nothing goes on while it is away; three survive the loss of one")
	} else if len(set)%2 == 0 {
		all = append(all, fmt.Sprintf("%d %ss survive the loss of %d, as %d would: one more would make the loss of %d harmless, one less costs nothing",
			len(set), what, len(set)/2-1, len(set)-1, len(set)/2))
	}
	if why := n.shortLease(); why != "" {
		all = append(all, why)
	}
	hosts := map[string]int{}
	for _, a := range set {
		if host, _, err := net.SplitHostPort(string(a)); err == nil {
			hosts[host]++
		}
	}
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		if len(set) >= 3 && hosts[host] > (len(set)-1)/2 {
			all = append(all, fmt.Sprintf("%d of %d %ss are on host %s: losing that host loses the majority", hosts[host], len(set), n.Role, host))
		}
	}
	return all
}

// shortLease says that a datacenter may give a job up before another gate can take it over: its managers act for two
// leases without the word of an owner. Half of the gates may have died with the owner, and each has its turn first.
func (n *Node) shortLease() string {
	if n.Role != node.RoleGate || len(n.Gates) < 3 {
		return "" // a smaller group takes no job over
	}
	of := lease.Default()
	turns := time.Duration((len(n.Gates)-1)/2) * of.RankWait
	fits := func(l time.Duration) (hold, need time.Duration, ok bool) {
		hold = window.Terms{Word: 2 * l, DriftPPM: of.DriftPPM}.Hold()
		need = window.TakeOver(l, turns, n.QuorumTimeout, manager.Default().Heartbeat, of.DriftPPM)
		return hold, need, hold > need
	}
	hold, need, ok := fits(n.Lease)
	if ok {
		return ""
	}
	least := n.Lease.Truncate(time.Second) + time.Second
	for _, _, ok = fits(least); !ok; _, _, ok = fits(least) {
		least += time.Second
	}
	remedy := fmt.Sprintf("--lease %v", least)
	if quick := (hold - need + n.QuorumTimeout - 1).Truncate(majorityStep); quick > 0 {
		remedy += fmt.Sprintf(", or --quorum-timeout %v", quick)
	}
	return fmt.Sprintf("lease = %v is short: a datacenter gives a job up after %v without the word of an owner, and a take-over from a gate that died may need %v: give all gates and managers %s",
		n.Lease, hold.Round(time.Millisecond), need.Round(time.Millisecond), remedy)
}

// majorityStep is the least time for a majority that a warning proposes, and its steps.
const majorityStep = 100 * time.Millisecond

// upstream is the configured set that this role registers with.
func (n *Node) upstream() []string {
	switch n.Role {
	case node.RoleManager:
		return n.Gates
	case node.RoleWorker:
		return n.Managers
	}
	return nil
}
