package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"hyperscale/core/node"
)

// Key describes one key of a node: what `--help`, docs/settings.md and errors say of it.
type Key struct {
	Name  string      // as a file has it
	Roles []node.Role // those to which it means something; empty: all
	Unit  string
	Range string
	Help  string // what it sets; a word in backquotes is the value's placeholder
	Raise string // what a higher value, or setting it, costs or gives
	Lower string // what a lower one, or leaving it out, does
}

// Flag is the key's flag, without dashes.
func (k Key) Flag() string {
	if k.Name == "seeds" || k.Name == "api_hosts" {
		return strings.TrimSuffix(strings.ReplaceAll(k.Name, "_", "-"), "s")
	}
	return strings.ReplaceAll(k.Name, "_", "-")
}

// Variable is the key's variable of the environment.
func (k Key) Variable() string { return prefix + strings.ToUpper(k.Name) }

// For reports whether the key means something to a role.
func (k Key) For(role node.Role) bool { return len(k.Roles) == 0 || slices.Contains(k.Roles, role) }

// Default is the value of a role without other sources; empty: not set.
func (k Key) Default(role node.Role) string {
	n := Default(role)
	return k.text(&n)
}

// text writes the value of a node as a flag has it; empty: not set.
func (k Key) text(n *Node) string {
	v := reflect.ValueOf(n).Elem().FieldByIndex(k.field().Index)
	switch of := v.Interface().(type) {
	case []string:
		return strings.Join(of, ",")
	case time.Duration:
		if of != 0 {
			return of.String()
		}
		return ""
	}
	if v.IsZero() {
		return ""
	}
	return fmt.Sprint(v.Interface())
}

// Keys are all keys, in the order of the struct.
func Keys() []Key {
	return slices.Concat(placeKeys(), groupKeys(), executorKeys(), homeKeys(), webKeys(), trustKeys())
}

func placeKeys() []Key {
	joins := []node.Role{node.RoleManager, node.RoleWorker}
	return []Key{
		{"id", nil, "name", named(), "`name` of the node, unique in its cluster", "", ""},
		{"listen", nil, "host:port", "port 0 takes a free one", "`host:port` for other nodes and clients", "beyond loopback: needs cluster_secret or insecure", "loopback: this machine alone reaches the node"},
		{"advertise", nil, "host:port", "no 0.0.0.0", "`host:port` that others call; --listen if not given", "others call this address, behind NAT or in a container", "others call listen"},
		{"admin", nil, "host:port", "another port than listen", "`host:port` of /metrics, /healthz and /readyz; none if not given", "any program that reaches it reads metrics; they hold no secret", "probes and Prometheus find nothing"},
		{"datacenter", joins, "name", named(), "`name` of where the node stands", "", ""},
		{"seeds", joins, "list of host:port, dns:NAME:PORT or srv:NAME", listed(listMax), "`host:port` of a node to join (repeatable): a manager's gate, a worker's manager; or dns:NAME:PORT or srv:NAME, for all addresses of a name", "more ways to join", "a node whose only address is dark does not join"},
		{"resolver", joins, "IP:PORT", "", "`IP:PORT` of the DNS server for dns: and srv: names; those of /etc/resolv.conf if not given", "", ""},
	}
}

func groupKeys() []Key {
	owners := []node.Role{node.RoleGate, node.RoleManager}
	return []Key{
		{"gates", owners, "list of host:port", listed(setMax), "`a,b,c`: the configured gates, equal on all gates and managers; alone if not given", "five survive the loss of two; each write waits for three disks", "one survives no loss; two survive none either"},
		{"managers", []node.Role{node.RoleManager, node.RoleWorker}, "list of host:port", listed(setMax), "`a,b,c`: the configured managers of the datacenter, equal on all its managers and workers; alone if not given", "five survive the loss of two", "one survives no loss"},
		{"profile", nil, "word", strings.Join(Profiles(), ", "), "`NAME` of the place whose defaults the node has: local, lan, wan or kubernetes", "other defaults of lease, quorum_timeout, stop_timeout, listen, admin and log_format; what is set besides counts", "the defaults of wan, on loopback"},
		{"lease", owners, "duration", "0.99 of it above a third of it + quorum_timeout + 1s", "`duration` for which a gate may own a job without hearing from a majority, equal on all gates and managers", "patience with slow networks and disks; another gate takes over later", "quicker take-over; a slow disk loses leases"},
		{"subjob_lease", []node.Role{node.RoleManager}, "duration", "0.99 of it above quorum_timeout; at most 3.9s", "`duration`: the same for a manager and a datacenter's subjob", "patience; later take-over", "quicker take-over; a slow disk loses leases"},
		{"quorum_timeout", owners, "duration", "see lease", "`duration` within which a majority must answer", "patience with slow disks; clients hear later that no majority answers", "a slow write counts as failed; use 10 x (slowest fsync + round trip)"},
	}
}

func executorKeys() []Key {
	workers := []node.Role{node.RoleWorker}
	return []Key{
		{"cores", workers, "number", fmt.Sprintf("0 to %d, at most what the machine has", coresMax), "`N` executors, one a core; all physical cores but one if not given", "more load; the worker itself competes with executors, and latency is wrong", "less load; 0 offers all but one"},
		{"feeds", workers, "folder", "", "`folder` of files that are too large to travel with a program: rows and bodies", "", ""},
		{"executor_user", workers, "name or uid:gid", "of a worker that runs as root", "`NAME` or uid:gid that executors run as, of a worker that runs as root; the worker's user if not given", "", ""},
		{"executor_env", workers, "list of names", "", "`A,B`: variables of the environment that executors get beside TZ, SSL_CERT_FILE and a few more", "programs see more of the machine", "programs see less"},
		{"executor_sandbox", workers, "word", "auto, require or off", "auto, require or off: executors give up system calls that they never need, if the kernel lets them", "require: no start on a kernel without it", "off: a program has all rights of its user"},
		{"custom", workers, "folder", "", "`folder` of programs that custom.client may start, and no others; none if not given", "jobs start these programs on the worker", "jobs that need them fail"},
	}
}

func homeKeys() []Key {
	return []Key{
		{"data", nil, "folder", "of this node alone: never shared, never a network's", "`directory` of what must survive a restart", "", ""},
		{"cluster", nil, "name", named(), "`name` of the cluster, equal on all its nodes", "", ""},
		{"environment", nil, "name", named(), "`name` of the environment, equal on all its nodes", "", ""},
		{"stop_timeout", nil, "duration", fmt.Sprintf("above 0s, at most %s; what the role needs at least", brief(stopMax)), "`duration` in which SIGTERM ends the node", "a stopped worker ends longer shards itself; the platform's kill must come 10 s later", "shards of a stopped worker move to others"},
		{"set", nil, "KEY=VALUE", "the keys below", "`KEY=VALUE` of docs/settings.md (repeatable), such as gate.results_max=2000", "", ""},
	}
}

func webKeys() []Key {
	gates := []node.Role{node.RoleGate}
	return []Key{
		{"api", gates, "host:port", "another port than listen and admin; beyond loopback with api_cert", "`host:port` of the HTTP API; none if not given", "programs and pages with a token submit and watch jobs", "the commands of clients alone do"},
		{"api_tokens", gates, "file", "together with api; others must not write it", "`FILE` of who may call the HTTP API, of `hyperscale token new`", "", ""},
		{"api_cert", gates, "PEM file", "together with api_key", "PEM `FILE` of the HTTP API's certificate: it speaks HTTPS", "tokens cross the network encrypted", "plain HTTP, on loopback alone"},
		{"api_key", gates, "PEM file", "together with api_cert", "PEM `FILE` of that certificate's key", "", ""},
		{"api_client_cert", gates, "PEM file", "with api, where nodes have certificates", "PEM `FILE` of the certificate with which the HTTP API asks gates, where nodes have certificates: an operator's", "an operator's: tokens may do what their roles say", "a viewer's: the API reads alone, whatever the tokens' roles"},
		{"api_client_key", gates, "PEM file", "together with api_client_cert", "PEM `FILE` of that certificate's key", "", ""},
		{"api_hosts", gates, "list of names", listed(listMax), "`a,b`: names by which clients call the HTTP API, beside those of --api, --advertise and loopback", "the API answers to these names", "it rejects a request under another name"},
	}
}

func trustKeys() []Key {
	return []Key{
		{"cluster_secret", nil, "file", "readable by its owner alone", "`FILE` of the secret that all nodes and clients of the cluster share, of `hyperscale secret new`; clear text if not given", "frames are encrypted", "frames cross in clear: loopback alone, or insecure"},
		{"tls_cert", nil, "PEM file", "all three or none", "PEM `FILE` of the node's certificate: streams run over TLS, and claims tell nodes and clients apart", "clients have roles", "all clients may do all"},
		{"tls_key", nil, "PEM file", "all three or none", "PEM `FILE` of the certificate's key, which only its owner may read", "", ""},
		{"tls_ca", nil, "PEM file", "all three or none", "PEM `FILE` of the authorities that sign the certificates of nodes and clients", "", ""},
		{"insecure", nil, "truth", "true or false", "listen beyond this machine without a secret: frames cross in clear, and any program that reaches the port may speak as a node", "anything that reaches the port may speak as a node", "no start beyond loopback without a secret"},
		{"log_level", nil, "word", "debug, info, warn or error", "debug, info, warn or error", "error: what waits for an operator, alone", "debug: lines of each second and job"},
		{"log_format", nil, "word", "text or json", "text or json", "", ""},
	}
}

func named() string { return fmt.Sprintf("1 to %d letters, digits or .-_", nameMax) }

func listed(most int) string { return fmt.Sprintf("at most %d", most) }

// brief writes 1h0m0s as 1h.
func brief(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

// KeyOf finds a key by its name.
func KeyOf(name string) (Key, bool) {
	all := Keys()
	at := slices.IndexFunc(all, func(k Key) bool { return k.Name == name })
	if at < 0 {
		return Key{}, false
	}
	return all[at], true
}

// field is the key's field of Node.
func (k Key) field() reflect.StructField {
	all := fields()
	return all[slices.IndexFunc(all, func(f reflect.StructField) bool { return f.Tag.Get("yaml") == k.Name })]
}
