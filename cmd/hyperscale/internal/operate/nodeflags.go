package operate

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hyperscale/core/node"
	"hyperscale/runtime/config"
	"hyperscale/runtime/exec"
)

// nodeFlags are the flags of nodes, by role: a role's help lists those that do something.
var nodeFlags = []struct {
	name, help string
	roles      []node.Role // empty: all
}{
	{"id", "`name` of the node, unique in its cluster", nil},
	{"listen", "`host:port` for other nodes and clients", nil},
	{"advertise", "`host:port` that others call; --listen if not given", nil},
	{"admin", "`host:port` of /metrics, /healthz and /readyz; none if not given", nil},
	{"datacenter", "`name` of where the node stands", []node.Role{node.RoleManager, node.RoleWorker}},
	{"seed", "`host:port` of a node to join (repeatable): a manager's gate, a worker's manager; or dns:NAME:PORT or srv:NAME, for all addresses of a name", []node.Role{node.RoleManager, node.RoleWorker}},
	{"gates", "`a,b,c`: the configured gates, equal on all gates and managers; alone if not given", []node.Role{node.RoleGate, node.RoleManager}},
	{"managers", "`a,b,c`: the configured managers of the datacenter, equal on all its managers and workers; alone if not given", []node.Role{node.RoleManager, node.RoleWorker}},
	{"resolver", "`IP:PORT` of the DNS server for dns: and srv: names; those of /etc/resolv.conf if not given", []node.Role{node.RoleManager, node.RoleWorker}},
	{"lease", "`duration` for which a gate may own a job without hearing from a majority, equal on all gates and managers", []node.Role{node.RoleGate, node.RoleManager}},
	{"subjob-lease", "`duration`: the same for a manager and a datacenter's subjob", []node.Role{node.RoleManager}},
	{"quorum-timeout", "`duration` within which a majority must answer", []node.Role{node.RoleGate, node.RoleManager}},
	{"feeds", "`folder` of files that are too large to travel with a program: rows and bodies", []node.Role{node.RoleWorker}},
	{"executor-user", "`NAME` or uid:gid that executors run as, of a worker that runs as root; the worker's user if not given", []node.Role{node.RoleWorker}},
	{"executor-env", "`A,B`: variables of the environment that executors get beside TZ, SSL_CERT_FILE and a few more", []node.Role{node.RoleWorker}},
	{"executor-sandbox", "auto, require or off: executors give up system calls that they never need, if the kernel lets them", []node.Role{node.RoleWorker}},
	{"custom", "`folder` of programs that custom.client may start, and no others; none if not given", []node.Role{node.RoleWorker}},
	{"cores", "`N` executors, one a core; all physical cores but one if not given", []node.Role{node.RoleWorker}},
	{"stop-timeout", "`duration` in which SIGTERM ends the node", nil},
	{"set", "`KEY=VALUE` of docs/settings.md (repeatable), such as gate.results_max=2000", nil},
	{"data", "`directory` of what must survive a restart", nil},
	{"cluster-secret", "`FILE` of the secret that all nodes and clients of the cluster share, of `hyperscale secret new`; clear text if not given", nil},
	{"tls-cert", "PEM `FILE` of the node's certificate: streams run over TLS, and claims tell nodes and clients apart", nil},
	{"tls-key", "PEM `FILE` of the certificate's key, which only its owner may read", nil},
	{"tls-ca", "PEM `FILE` of the authorities that sign the certificates of nodes and clients", nil},
	{"insecure", "listen beyond this machine without a secret: frames cross in clear, and any program that reaches the port may speak as a node", nil},
	{"cluster", "`name` of the cluster, equal on all its nodes", nil},
	{"environment", "`name` of the environment, equal on all its nodes", nil},
	{"log-level", "debug, info, warn or error", nil},
	{"log-format", "text or json", nil},
}

// addNodeFlags gives a command the flags of the roles, with the defaults of the
// first, and those of others, hidden.
func addNodeFlags(cmd *cobra.Command, file *string, roles ...node.Role) {
	flags := cmd.Flags()
	flags.StringVar(file, "config", "", "YAML `FILE` of the node's settings")
	defaults := map[string]string{}
	d := config.Default(roles[0])
	defaults["listen"], defaults["cluster"], defaults["environment"] = d.Listen, d.Cluster, d.Environment
	defaults["executor-sandbox"] = string(exec.SandboxAuto)
	defaults["log-level"], defaults["log-format"] = d.LogLevel, d.LogFormat
	for name, value := range map[string]time.Duration{"lease": d.Lease, "subjob-lease": d.SubjobLease, "quorum-timeout": d.QuorumTimeout, "stop-timeout": d.StopTimeout} {
		if value > 0 {
			defaults[name] = value.String()
		}
	}
	for _, f := range nodeFlags {
		switch f.name {
		case "seed", "set":
			flags.StringArray(f.name, nil, f.help)
		case "insecure":
			flags.Bool(f.name, false, f.help)
		default:
			flags.String(f.name, defaults[f.name], f.help)
		}
		if !slices.ContainsFunc(roles, func(r node.Role) bool { return !needless(f.name, r) }) {
			_ = flags.MarkHidden(f.name) // it was declared a line above
		}
	}
}

// needless says that a role has no use for a flag. One script may start all roles with the same
// flags, so the command accepts the flag, omits it from help, and logs it.
func needless(flag string, role node.Role) bool {
	for _, f := range nodeFlags {
		if f.name == flag {
			return len(f.roles) > 0 && !hasRole(f.roles, role)
		}
	}
	return false
}

func hasRole(roles []node.Role, role node.Role) bool {
	for _, r := range roles {
		if r == role {
			return true
		}
	}
	return false
}

// notSettings are flags of commands that run nodes, and no settings of a node.
var notSettings = []string{"config", "history", "help", "unsafe", "role", "partial"}

// settingsFor are the flags that were set, without those that the role has no use
// for.
func settingsFor(role node.Role, cmd *cobra.Command) (given map[string]string, dropped []string) {
	given = changedFlags(cmd)
	for name := range given {
		if needless(name, role) {
			dropped = append(dropped, "--"+name)
			delete(given, name)
		}
	}
	return given, dropped
}

// changedFlags are those that were set, by name, for config.
func changedFlags(cmd *cobra.Command) map[string]string {
	set := map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(notSettings, f.Name) {
			return
		}
		set[f.Name] = f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			set[f.Name] = strings.Join(list.GetSlice(), ",")
		}
	})
	return set
}

// AddGateFlags gives a command the flags of a gate.
func AddGateFlags(cmd *cobra.Command, file *string) { addNodeFlags(cmd, file, node.RoleGate) }

// GateSettings returns the settings of a gate, from the file, the environment and the flags.
func GateSettings(cmd *cobra.Command, file string) (config.Node, error) {
	given, _ := settingsFor(node.RoleGate, cmd)
	return config.Load(node.RoleGate, config.Sources{File: file, Environ: os.Environ(), Flags: given})
}
