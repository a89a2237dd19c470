package operate

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/discovery"
	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/node"
	"hyperscale/core/setting"
	"hyperscale/core/worker"
	"hyperscale/runtime/config"
	"hyperscale/runtime/exec"
	"hyperscale/runtime/host"
	"hyperscale/runtime/local"
	"hyperscale/runtime/transport/echo"
)

func addresses(list []string) []node.Addr {
	all := make([]node.Addr, len(list))
	for i, a := range list {
		all[i] = node.Addr(a)
	}
	return all
}

// nodeExtras are a node's values in addition to its configuration.
type nodeExtras struct {
	logger  *slog.Logger
	history io.Writer        // nil for none
	observe func(node.Event) // nil without an observer
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
		return command.Usage("--set: %w", errors.Join(faults...))
	}
	return nil
}

// drainTimeout is how long a stopped node waits for its work: stop_timeout less the time for
// its own end, and less a second to leave its group.
func drainTimeout(c *config.Node, end time.Duration) (time.Duration, error) {
	const leave = time.Second
	if least := end + 2*leave; c.StopTimeout < least {
		return 0, command.Usage("stop_timeout = %v must be at least %v for a %s, which needs that to end what it does: raise --stop-timeout, 20s is the default", c.StopTimeout, least, c.Role)
	}
	return c.StopTimeout - end - leave, nil
}

// surround sets what executors get of the worker's machine.
func surround(pool *exec.Config, c *config.Executors) (err error) {
	pool.Pass, pool.Sandbox = c.ExecutorEnv, exec.Sandbox(cmp.Or(c.ExecutorSandbox, string(pool.Sandbox)))
	pool.Custom = c.Custom
	if c.ExecutorUser != "" {
		pool.User, err = exec.FindUser(c.ExecutorUser)
	}
	if err = errors.Join(err, pool.Validate()); err == nil && pool.User == nil && os.Geteuid() == 0 {
		pool.Logger.Warn("executors run as root: they need no rights: name a user of their own with --executor-user")
	}
	return err
}

// gateOf is what a gate's machine decides by.
func gateOf(c *config.Node, extra *nodeExtras) (gate.Config, error) {
	g := gate.Default()
	g.Gates, g.Lease, g.QuorumTimeout = c.Set(), c.Lease, c.QuorumTimeout
	g.Recover, g.Exposed = extra.recover, c.Exposed()
	_, short := drainTimeout(c, g.StopTimeout)
	return g, command.AsUsage(errors.Join(short, sinksOf(c, &g), settle(g.Settings(), c.Settings), g.Validate()))
}

// managerOf is what a manager's machine decides by.
func managerOf(c *config.Node, extra *nodeExtras) (manager.Config, error) {
	m := manager.Default()
	m.Datacenter, m.Gates, m.Seeds, m.Managers = c.Datacenter, addresses(c.Gates), addresses(slices.DeleteFunc(slices.Clone(c.Seeds), discovery.Is)), c.Set()
	m.Discover = c.Discover()
	m.SubjobLease, m.DatacenterLease, m.QuorumTimeout = c.SubjobLease, 2*c.Lease, c.QuorumTimeout
	m.Recover, m.Exposed = extra.recover, c.Exposed()
	var short error
	m.DrainTimeout, short = drainTimeout(c, 0)
	return m, command.AsUsage(errors.Join(short, settle(m.Settings(), c.Settings), m.Validate()))
}

// workerOf is what a worker's machine decides by, and how its executors run.
func workerOf(c *config.Node, extra *nodeExtras) (worker.Config, exec.Config, error) {
	w, pool := worker.Default(), exec.Default()
	w.Datacenter, w.Managers, w.Discover, w.Cores = c.Datacenter, c.Join(), c.Discover(), c.Cores
	if w.Cores == 0 {
		w.Cores = local.Cores()
	}
	var faults []error
	if most := len(exec.Usable()); w.Cores > most {
		faults = append(faults, command.Usage("cores = %d is more than this machine has: give at most %d to --cores, or leave it out", w.Cores, most))
	}
	faults = append(faults, settle(slices.Concat(w.Settings(), pool.Settings()), c.Settings))
	var short error
	w.DrainTimeout, short = drainTimeout(c, w.StopMargin())
	faults = append(faults, short, w.Validate())
	pool.Cores, pool.Feeds, pool.Logger = w.Cores, c.Feeds, extra.logger
	faults = append(faults, surround(&pool, &c.Executors))
	return w, pool, command.AsUsage(errors.Join(faults...))
}

func startNode(c config.Node, extra nodeExtras) (*host.Node, error) {
	o := hostOptions(&c, &extra)
	switch c.Role {
	case node.RoleGate:
		g, err := gateOf(&c, &extra)
		if err != nil {
			return nil, err
		}
		if err := deliver(&c, &o); err != nil {
			return nil, err
		}
		o.Machine = gate.New(g)
	case node.RoleManager:
		m, err := managerOf(&c, &extra)
		if err != nil {
			return nil, err
		}
		o.Machine = manager.New(m)
	case node.RoleWorker:
		w, pool, err := workerOf(&c, &extra)
		if err != nil {
			return nil, err
		}
		o.Machine = worker.New(w)
		return local.StartWorker(o, pool)
	default:
		return nil, fmt.Errorf("role %v is no node of a cluster", c.Role)
	}
	return host.Start(o)
}

// Check returns why a node would not start with a configuration. Apart: its files and processors are on another
// machine, so that they are not looked for.
func Check(c config.Node, apart bool) error {
	extra := nodeExtras{logger: slog.New(slog.DiscardHandler)}
	var unfit, unread error
	if apart {
		c.Cores, c.ExecutorUser = 0, ""
	} else {
		unread = hostOptions(&c, &extra).CheckFiles()
	}
	switch c.Role {
	case node.RoleGate:
		_, unfit = gateOf(&c, &extra)
	case node.RoleManager:
		_, unfit = managerOf(&c, &extra)
	default:
		_, _, unfit = workerOf(&c, &extra)
	}
	return errors.Join(unfit, unread, hostOptions(&c, &extra).CheckNames())
}

// SettingsOf are the settings that `set` of a role may name, with the role's defaults.
func SettingsOf(role node.Role) []setting.Setting {
	switch role {
	case node.RoleGate:
		g := gate.Default()
		return g.Settings()
	case node.RoleManager:
		m := manager.Default()
		return m.Settings()
	}
	w, e := worker.Default(), exec.Default()
	return slices.Concat(w.Settings(), e.Settings())
}

// ownSet is the configured set that a node is a member of; a worker is of none.
func ownSet(c *config.Node) []node.Addr {
	if c.Role == node.RoleWorker {
		return nil
	}
	return c.Set()
}

func hostOptions(c *config.Node, extra *nodeExtras) host.Options {
	return host.Options{
		Role: c.Role, ID: node.ID(c.ID), Cluster: c.Cluster, Environment: c.Environment,
		Listen: c.Listen, Advertise: c.Advertise, Admin: c.Admin, DataDir: c.Data, Logger: extra.logger,
		History: extra.history, Observer: extra.observe, SecretFile: c.ClusterSecret,
		Stand: host.Stand{Datacenter: c.Datacenter, Set: ownSet(c), Leases: echo.Leases{Lease: c.Lease, SubjobLease: c.SubjobLease}, Sinks: SinksOf(c)}, Certs: c.Certs(), Resolver: c.Resolver,
	}
}
