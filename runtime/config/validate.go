package config

import (
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/discovery"
	"hyperscale/core/node"
)

// Fault is one value that cannot stand.
type Fault struct {
	Key    string
	Value  string
	Bound  string // what it must be, as a predicate: "must be ..."
	Remedy string
}

func (f Fault) Error() string {
	value := f.Value
	if value == "" {
		value = `""`
	}
	return fmt.Sprintf("%s = %s %s: %s", f.Key, value, f.Bound, f.Remedy)
}

// Faults are all that Validate found, in the order of the keys.
type Faults []Fault

func (f Faults) Error() string {
	lines := []string{"the configuration cannot stand:"}
	for _, one := range f {
		lines = append(lines, "  "+one.Error())
	}
	return strings.Join(lines, "\n")
}

// Bounds of configured values.
const (
	nameMax    = 128
	listMax    = 1024
	coresMax   = 1024 // of one worker; one shard names its cores in an event
	stopMax    = time.Hour
	addressMax = 256
)

// Validate returns Faults, all of them, or nil.
func (n *Node) Validate() error {
	var f Faults
	f.name("id", n.ID, "give the node a name of its own with --id")
	f.name("cluster", n.Cluster, "give the same name to all nodes with --cluster")
	f.name("environment", n.Environment, "give the same name to all nodes with --environment")
	f.address("listen", n.Listen, true, "give host:port to --listen, for example 127.0.0.1:"+PortGate)
	if n.Advertise != "" {
		f.address("advertise", n.Advertise, true, "give the host:port that other nodes reach to --advertise")
		if unspecified(n.Advertise) {
			f.add("advertise", n.Advertise, "must be an address that others can call", "give the host's name or address to --advertise")
		}
	} else if unspecified(n.Listen) {
		f.add("advertise", "", "must be set while listen = "+n.Listen, "give the host:port that other nodes reach to --advertise")
	}
	if err := n.Certs().Check(); err != nil {
		f.add("tls_cert, tls_key, tls_ca", fmt.Sprintf("%q, %q, %q", n.TLSCert, n.TLSKey, n.TLSCA), "must be set together", "give --tls-cert, --tls-key and --tls-ca, or none of them")
	}
	if n.Exposed() && !n.Insecure && n.Listen != "" {
		crosses, who := "as frames would cross in clear", "on all nodes and clients"
		if n.Certs().Given() {
			crosses, who = "as datagrams would cross in clear: certificates protect streams alone", "on all nodes; clients with certificates need none"
		}
		f.add("cluster_secret", "", "must be set while listen = "+n.Listen+" is beyond this machine, "+crosses,
			"make one with `hyperscale secret new FILE`, give that file to --cluster-secret "+who+", or accept clear text with --insecure")
	}
	if n.Admin != "" {
		f.address("admin", n.Admin, true, "give host:port to --admin, for example 127.0.0.1:7490")
	}
	if n.Admin != "" && n.Admin == n.Listen && !strings.HasSuffix(n.Admin, ":0") {
		f.add("admin", n.Admin, "must differ from listen", "give another port to --admin")
	}
	f.list("seeds", n.Seeds, true)
	f.list("gates", n.Gates, false)
	f.list("managers", n.Managers, n.Role == node.RoleWorker)
	if n.Resolver != "" {
		f.address("resolver", n.Resolver, false, "give the IP:PORT of a DNS server to --resolver")
	}
	n.validateWeb(&f)
	if !isProfile(n.Profile) {
		f.add("profile", n.Profile, "must be "+strings.Join(Profiles(), ", "), "correct --profile, or leave it out")
	}
	n.validateRole(&f)
	if n.Data == "" {
		f.add("data", "", "must be a directory", "give one that this node alone uses to --data")
	}
	if n.StopTimeout <= 0 || n.StopTimeout > stopMax {
		f.add("stop_timeout", n.StopTimeout.String(), fmt.Sprintf("must be above 0s and at most %s", stopMax), "use 20s")
	}
	if _, err := Level(n.LogLevel); err != nil {
		f.add("log_level", n.LogLevel, "must be debug, info, warn or error", "correct --log-level")
	}
	if n.LogFormat != "text" && n.LogFormat != "json" {
		f.add("log_format", n.LogFormat, "must be text or json", "correct --log-format")
	}
	if len(f) == 0 {
		return nil
	}
	return f
}

// validateWeb checks the HTTP API.
func (n *Node) validateWeb(f *Faults) {
	if n.API == "" {
		for _, one := range [...]struct{ key, value string }{{"api_tokens", n.APITokens}, {"api_cert", n.APICert}, {"api_key", n.APIKey}, {"api_client_cert", n.APIClientCert}, {"api_client_key", n.APIClientKey}, {"api_hosts", strings.Join(n.APIHosts, ",")}} {
			if one.value != "" {
				f.add(one.key, one.value, "is of the HTTP API, which api turns on", "give host:port to --api, for example 127.0.0.1:"+PortAPI)
			}
		}
		return
	}
	f.address("api", n.API, true, "give host:port to --api, for example 127.0.0.1:"+PortAPI)
	if (n.API == n.Listen || n.API == n.Admin) && !strings.HasSuffix(n.API, ":0") {
		f.add("api", n.API, "must differ from listen and admin", "give another port to --api")
	}
	if n.APITokens == "" {
		f.add("api_tokens", "", "must be set while api = "+n.API, "make a token with `hyperscale token new --role viewer --name me FILE`, and give that file to --api-tokens")
	}
	if (n.APICert == "") != (n.APIKey == "") {
		f.add("api_cert, api_key", fmt.Sprintf("%q, %q", n.APICert, n.APIKey), "must be set together", "give --api-cert and --api-key, or none of them")
	}
	if n.APICert == "" && !node.Addr(n.API).Near() {
		f.add("api_cert", "", "must be set while api = "+n.API+" is beyond this machine, as tokens would cross in clear", "give a certificate and its key to --api-cert and --api-key")
	}
	switch certified, given := n.Certs().Given(), n.APIClientCert != "" && n.APIClientKey != ""; {
	case certified && !given:
		f.add("api_client_cert, api_client_key", fmt.Sprintf("%q, %q", n.APIClientCert, n.APIClientKey), "must be set while the nodes have certificates", "give the certificate of an operator and its key to --api-client-cert and --api-client-key")
	case !certified && n.APIClientCert+n.APIClientKey != "":
		f.add("api_client_cert, api_client_key", fmt.Sprintf("%q, %q", n.APIClientCert, n.APIClientKey), "mean nothing while the nodes have no certificates", "take them out, or give --tls-cert, --tls-key and --tls-ca")
	}
	if len(n.APIHosts) > listMax {
		f.add("api_hosts", fmt.Sprintf("%d names", len(n.APIHosts)), fmt.Sprintf("must be at most %d", listMax), "name fewer")
	}
}

// validateRole checks what means something to some roles only.
func (n *Node) validateRole(f *Faults) {
	for _, k := range Keys() {
		if value := k.text(n); value != "" && !k.For(n.Role) {
			f.add(k.Name, value, "means nothing to a "+n.Role.String(), "take it out")
		}
	}
	if len(n.Outputs) > 0 && n.Role != node.RoleGate {
		f.add(outputsKey, strings.Join(slices.Sorted(maps.Keys(n.Outputs)), ", "), "means nothing to a "+n.Role.String(), "take it out")
	}
	n.validateSet(f)
	manager, worker := n.Role == node.RoleManager, n.Role == node.RoleWorker
	if n.Role != node.RoleGate {
		f.name("datacenter", n.Datacenter, "say where the node stands with --datacenter")
	}
	if worker && (n.Cores < 0 || n.Cores > coresMax) {
		f.add("cores", strconv.Itoa(n.Cores), fmt.Sprintf("must be 0 to %d", coresMax), "0 offers all but one")
	}
	switch {
	case manager && len(n.Join())+len(n.Discover()) == 0:
		f.add("gates", "", "must name at least one gate", "give the gates' addresses to --gates, or one of them to --seed")
	case worker && len(n.Join())+len(n.Discover()) == 0:
		f.add("managers", "", "must name at least one manager", "give the managers' addresses to --managers, or one of them to --seed")
	}
}

// setMax bounds a set of gates, or of managers: one of them stands in each token.
const setMax = 255

// validateSet checks the set that this node is a member of. Whether the durations
// fit each other is the role's to say, which knows the formula.
func (n *Node) validateSet(f *Faults) {
	key, set := "gates", n.Set()
	if n.Role == node.RoleManager {
		key = "managers"
	}
	if n.Role == node.RoleWorker || len(set) == 0 {
		return
	}
	if len(set) > setMax {
		f.add(key, fmt.Sprintf("%d addresses", len(set)), fmt.Sprintf("must be at most %d", setMax), "name fewer: three or five are usual")
	}
	self := n.Advertise
	if self == "" {
		self = n.Listen
	}
	if !slices.Contains(set, node.Addr(self)) {
		f.add(key, fmt.Sprint(set), "must contain this node's own address, "+self, "add it, or correct --advertise")
	}
}

func (f *Faults) add(key, value, bound, remedy string) {
	*f = append(*f, Fault{Key: key, Value: value, Bound: bound, Remedy: remedy})
}

// name checks a value that becomes part of keys, labels and logs.
func (f *Faults) name(key, value, remedy string) {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_", r)
	}
	if value == "" || len(value) > nameMax || strings.ContainsFunc(value, func(r rune) bool { return !plain(r) }) {
		f.add(key, strconv.Quote(value), fmt.Sprintf("must be 1 to %d letters, digits or .-_", nameMax), remedy)
	}
}

// address checks host:port. Port 0 is valid for a listener, not for an address to call.
func (f *Faults) address(key, value string, zero bool, remedy string) {
	bad := func(bound string) { f.add(key, value, bound, remedy) }
	host, port, err := net.SplitHostPort(value)
	if err != nil || len(value) > addressMax || strings.ContainsAny(host, " /") {
		bad("must be host:port")
		return
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 && !zero {
		bad("must end in a port from 1 to 65535")
		return
	}
	if host == "" && !zero {
		bad("must name a host")
	}
}

// named checks a name of several addresses. A configured set has none: its majority counts the
// members that a person wrote, and all members must count the same.
func (f *Faults) named(key, value string, may bool) {
	if !may {
		f.add(key, value, "must be the host:port of one member, as a majority counts configured members and no answers of DNS",
			"write each member's own address; a worker's managers and a manager's --seed may be names")
		return
	}
	if _, err := discovery.Parse(value, PortGate); err != nil {
		f.add(key, value, err.Error(), "correct the name")
	}
}

// list checks addresses, and names where they may be.
func (f *Faults) list(key string, values []string, names bool) {
	if len(values) > listMax {
		f.add(key, fmt.Sprintf("%d addresses", len(values)), fmt.Sprintf("must be at most %d", listMax), "name fewer")
		return
	}
	for i, v := range values {
		if discovery.Is(v) {
			f.named(fmt.Sprintf("%s[%d]", key, i), v, names)
		} else {
			f.address(fmt.Sprintf("%s[%d]", key, i), v, false, "give the host:port that the node advertises")
		}
		if slices.Contains(values[:i], v) {
			f.add(fmt.Sprintf("%s[%d]", key, i), v, "must be named once", "take one out")
		}
	}
}

// unspecified says whether an address is one that no other node can call.
func unspecified(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// Level reads a log level.
func Level(s string) (slog.Level, error) {
	switch s {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("log level %q is none: use debug, info, warn or error", s)
}
