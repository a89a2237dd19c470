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

func startNode(c config.Node, extra nodeExtras) (*host.Node, error) {
	o := host.Options{
		Role: c.Role, ID: node.ID(c.ID), Cluster: c.Cluster, Environment: c.Environment,
		Listen: c.Listen, Advertise: c.Advertise, Admin: c.Admin, DataDir: c.Data, Logger: extra.logger,
		History: extra.history, Observer: extra.observe, SecretFile: c.ClusterSecret,
		Datacenter: c.Datacenter, Certs: c.Certs(), Resolver: c.Resolver,
	}
	switch c.Role {
	case node.RoleGate:
		g := gate.Default()
		g.Gates, g.Lease, g.QuorumTimeout = c.Set(), c.Lease, c.QuorumTimeout
		g.Recover, g.Exposed = extra.recover, c.Exposed()
		if _, err := drainTimeout(&c, g.StopTimeout); err != nil {
			return nil, err
		}
		if err := settle(g.Settings(), c.Settings); err != nil {
			return nil, err
		}
		if err := g.Validate(); err != nil {
			return nil, command.AsUsage(err)
		}
		o.Machine = gate.New(g)
	case node.RoleManager:
		m := manager.Default()
		m.Datacenter, m.Gates, m.Seeds, m.Managers = c.Datacenter, addresses(c.Gates), addresses(slices.DeleteFunc(slices.Clone(c.Seeds), discovery.Is)), c.Set()
		m.Discover = c.Discover()
		m.SubjobLease, m.DatacenterLease, m.QuorumTimeout = c.SubjobLease, 2*c.Lease, c.QuorumTimeout
		m.Recover, m.Exposed = extra.recover, c.Exposed()
		var err error
		if m.DrainTimeout, err = drainTimeout(&c, 0); err != nil {
			return nil, err
		}
		if err := settle(m.Settings(), c.Settings); err != nil {
			return nil, err
		}
		if err := m.Validate(); err != nil {
			return nil, command.AsUsage(err)
		}
		o.Machine = manager.New(m)
	case node.RoleWorker:
		w := worker.Default()
		w.Datacenter, w.Managers, w.Discover, w.Cores = c.Datacenter, c.Join(), c.Discover(), c.Cores
		if w.Cores == 0 {
			w.Cores = local.Cores()
		}
		if most := len(exec.Usable()); w.Cores > most {
			return nil, command.Usage("cores = %d is more than this machine has: give at most %d to --cores, or leave it out", w.Cores, most)
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
			return nil, command.AsUsage(err)
		}
		o.Machine = worker.New(w)
		pool.Cores, pool.Feeds, pool.Logger = w.Cores, c.Feeds, extra.logger
		if err := surround(&pool, &c.Executors); err != nil {
			return nil, command.AsUsage(err)
		}
		return local.StartWorker(o, pool)
	default:
		return nil, fmt.Errorf("role %v is no node of a cluster", c.Role)
	}
	return host.Start(o)
}
