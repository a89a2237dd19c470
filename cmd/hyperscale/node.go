package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/node"
	"hyperscale/core/setting"
	"hyperscale/core/worker"
	"hyperscale/runtime/config"
	"hyperscale/runtime/exec"
	"hyperscale/runtime/host"
	"hyperscale/runtime/local"
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
	{"seed", "`host:port` of a node to join (repeatable): a manager's gate, a worker's manager", []node.Role{node.RoleManager, node.RoleWorker}},
	{"gates", "`a,b,c`: the configured gates, equal on all gates and managers; alone if not given", []node.Role{node.RoleGate, node.RoleManager}},
	{"managers", "`a,b,c`: the configured managers of the datacenter, equal on all its managers and workers; alone if not given", []node.Role{node.RoleManager, node.RoleWorker}},
	{"lease", "`duration` for which a gate may own a job without hearing from a majority, equal on all gates and managers", []node.Role{node.RoleGate, node.RoleManager}},
	{"subjob-lease", "`duration`: the same for a manager and a datacenter's subjob", []node.Role{node.RoleManager}},
	{"quorum-timeout", "`duration` within which a majority must answer", []node.Role{node.RoleGate, node.RoleManager}},
	{"feeds", "`folder` of files of rows that are too large to travel with a program", []node.Role{node.RoleWorker}},
	{"cores", "`N` executors, one a core; all physical cores but one if not given", []node.Role{node.RoleWorker}},
	{"stop-timeout", "`duration` in which SIGTERM ends the node", nil},
	{"set", "`KEY=VALUE` of docs/settings.md (repeatable), such as gate.results_max=2000", nil},
	{"data", "`directory` of what must survive a restart", nil},
	{"cluster", "`name` of the cluster, equal on all its nodes", nil},
	{"environment", "`name` of the environment, equal on all its nodes", nil},
	{"log-level", "debug, info, warn or error", nil},
	{"log-format", "text or json", nil},
}

func newNodeCommand(role node.Role, short string) *cobra.Command {
	var file, history string
	cmd := &cobra.Command{
		Use:   role.String(),
		Short: short,
		Long: short + `.

Settings come from the file, then the environment (HYPERSCALE_ID, ...), then flags.
SIGTERM and ctrl-c stop the node gracefully, a second one at once.`,
		Args: exactly(),
		RunE: runs(func(cmd *cobra.Command, _ []string) error {
			given, dropped := settingsFor(role, cmd)
			n, err := config.Load(role, config.Sources{File: file, Environ: os.Environ(), Flags: given})
			if err != nil {
				return asUsage(err)
			}
			return runNode(cmd.Context(), n, history, dropped)
		}),
	}
	addNodeFlags(cmd, &file, role)
	flags := cmd.Flags()
	flags.StringVar(&history, "history", "", "append each event to `FILE` as a line of JSON, for whoever wants to check what the node did")
	return cmd
}

// addNodeFlags gives a command the flags of the roles, with the defaults of the
// first, and those of others, hidden.
func addNodeFlags(cmd *cobra.Command, file *string, roles ...node.Role) {
	flags := cmd.Flags()
	flags.StringVar(file, "config", "", "YAML `FILE` of the node's settings")
	defaults := map[string]string{}
	d := config.Default(roles[0])
	defaults["listen"], defaults["cluster"], defaults["environment"] = d.Listen, d.Cluster, d.Environment
	defaults["log-level"], defaults["log-format"] = d.LogLevel, d.LogFormat
	for name, value := range map[string]time.Duration{"lease": d.Lease, "subjob-lease": d.SubjobLease, "quorum-timeout": d.QuorumTimeout, "stop-timeout": d.StopTimeout} {
		if value > 0 {
			defaults[name] = value.String()
		}
	}
	for _, f := range nodeFlags {
		if f.name == "seed" || f.name == "set" {
			flags.StringArray(f.name, nil, f.help)
		} else {
			flags.String(f.name, defaults[f.name], f.help)
		}
		if !slices.ContainsFunc(roles, func(r node.Role) bool { return !needless(f.name, r) }) {
			_ = flags.MarkHidden(f.name) // it was declared a line above
		}
	}
}

// needless says that a role has no use for a flag. One script may start all roles
// with the same flags, so it is accepted, kept out of help, and told in the log.
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
var notSettings = []string{"config", "history", "help", "unsafe", "role"}

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

// runNode runs one node until it is asked to stop, or ends by itself.
func runNode(ctx context.Context, c config.Node, history string, dropped []string) error {
	log := logFlags{level: c.LogLevel, format: c.LogFormat}
	logger := log.logger(os.Stderr)
	if len(dropped) > 0 {
		slices.Sort(dropped)
		logger.Warn("flags that this role has no use for are ignored", "role", c.Role, "flags", strings.Join(dropped, " "))
	}
	var events io.Writer
	if history != "" {
		f, err := openHistory(history)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // each line was written by itself, and its error told
		events = f
	}
	for _, warning := range c.Warnings() {
		logger.Warn(warning, "role", c.Role.String(), "id", c.ID)
	}
	signals := catchInterrupts()
	defer signals.release()
	n, err := startNode(c, nodeExtras{logger: logger, history: events})
	if err != nil {
		return asUsage(err) // a port, a directory: something that was asked for cannot be had
	}
	logger.Info("up", "role", c.Role.String(), "id", c.ID, "addr", string(n.Addr()), "admin", n.AdminAddr(), "data", c.Data, "version", version())
	select {
	case <-n.Done():
		return n.Err()
	case <-signals.asked:
	}
	logger.Info("stopping", "id", c.ID, "at_most", c.StopTimeout)
	ctx, cancel := context.WithTimeout(ctx, c.StopTimeout)
	defer cancel()
	go func() {
		select {
		case <-signals.asked:
			cancel() // Stop kills the node then
		case <-ctx.Done():
		}
	}()
	return n.Stop(ctx)
}

func addresses(list []string) []node.Addr {
	all := make([]node.Addr, len(list))
	for i, a := range list {
		all[i] = node.Addr(a)
	}
	return all
}

// nodeExtras are what a node gets beside its configuration.
type nodeExtras struct {
	logger  *slog.Logger
	history io.Writer        // nil for none
	observe func(node.Event) // nil for nobody
	recover bool             // found a new epoch upon this node's disk
}

// settle sets what --set names, and reports all faults.
func settle(all []setting.Setting, values map[string]string) error {
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := setting.Set(all, key, values[key]); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) > 0 {
		return usage("--set: %w", errors.Join(faults...))
	}
	return nil
}

// drainTimeout is how long a stopped node waits for what it does: what remains of
// stop_timeout for its own end, and a second to leave its group.
func drainTimeout(c *config.Node, end time.Duration) (time.Duration, error) {
	const leave = time.Second
	if least := end + 2*leave; c.StopTimeout < least {
		return 0, usage("stop_timeout = %v must be at least %v for a %s, which needs that to end what it does: raise --stop-timeout, 20s is the default", c.StopTimeout, least, c.Role)
	}
	return c.StopTimeout - end - leave, nil
}

func startNode(c config.Node, extra nodeExtras) (*host.Node, error) {
	o := host.Options{
		Role: c.Role, ID: node.ID(c.ID), Cluster: c.Cluster, Environment: c.Environment,
		Listen: c.Listen, Advertise: c.Advertise, Admin: c.Admin, DataDir: c.Data, Logger: extra.logger,
		History: extra.history, Observer: extra.observe,
	}
	switch c.Role {
	case node.RoleGate:
		g := gate.Default()
		g.Gates, g.Lease, g.QuorumTimeout = c.Set(), c.Lease, c.QuorumTimeout
		g.Recover = extra.recover
		if _, err := drainTimeout(&c, g.StopTimeout); err != nil {
			return nil, err
		}
		if err := settle(g.Settings(), c.Settings); err != nil {
			return nil, err
		}
		if err := g.Validate(); err != nil {
			return nil, asUsage(err)
		}
		o.Machine = gate.New(g)
	case node.RoleManager:
		m := manager.Default()
		m.Datacenter, m.Gates, m.Seeds, m.Managers = c.Datacenter, addresses(c.Gates), addresses(c.Seeds), c.Set()
		m.SubjobLease, m.DatacenterLease, m.QuorumTimeout = c.SubjobLease, 2*c.Lease, c.QuorumTimeout
		m.Recover = extra.recover
		var err error
		if m.DrainTimeout, err = drainTimeout(&c, 0); err != nil {
			return nil, err
		}
		if err := settle(m.Settings(), c.Settings); err != nil {
			return nil, err
		}
		if err := m.Validate(); err != nil {
			return nil, asUsage(err)
		}
		o.Machine = manager.New(m)
	case node.RoleWorker:
		w := worker.Default()
		w.Datacenter, w.Managers, w.Cores = c.Datacenter, c.Join(), c.Cores
		if w.Cores == 0 {
			w.Cores = local.Cores()
		}
		pool := exec.Default()
		if err := settle(slices.Concat(w.Settings(), pool.Settings()), c.Settings); err != nil {
			return nil, err
		}
		var err error
		if w.DrainTimeout, err = drainTimeout(&c, w.StopMargin()); err != nil {
			return nil, err
		}
		if err := w.Validate(); err != nil {
			return nil, asUsage(err)
		}
		o.Machine = worker.New(w)
		pool.Cores, pool.Feeds, pool.Logger = w.Cores, c.Feeds, extra.logger
		return local.StartWorker(o, pool)
	default:
		return nil, fmt.Errorf("role %v is no node of a cluster", c.Role)
	}
	return host.Start(o)
}
