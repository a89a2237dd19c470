package worker

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/core/discovery"
	"hyperscale/core/node"
	"hyperscale/core/setting"
	"hyperscale/core/swim"
)

// Config is one worker.
type Config struct {
	Datacenter string
	Managers   []node.Addr // of its datacenter: the worker registers with all
	Cores      int         // number of executors, one per core; 1 to 1024
	Discover   []node.Addr // names of more managers, such as dns:managers:7500: core/discovery
	Names      *swim.Names // member names, shared with other workers of this process; may be nil

	Heartbeat        time.Duration // to each manager
	RenewalTimeout   time.Duration // a shard stops this long after the last heartbeat whose answer named it
	Silence          time.Duration // of a manager, before the worker closes its stream and opens a new one
	ReconnectMin     time.Duration // upper bound of the first wait before a reconnect
	ReconnectMax     time.Duration // the wait doubles up to this
	ProgressInterval time.Duration // between two ShardProgress of a shard that makes progress
	ExecutorSilence  time.Duration // of an executor's loop, before grace: it hangs
	KillGrace        time.Duration // between asking an executor to stop and killing it
	ResultRetry      time.Duration // between two sends of an unacknowledged result
	DrainTimeout     time.Duration // how long a stop waits for running shards and for acknowledgements
	OutboxMax        int           // results that wait; from 80 % on the worker takes no shard, beyond it the oldest of disconnected managers leave
	FencesMax        int           // fences of ended shards that the worker remembers
	FenceAge         time.Duration // how long it remembers them, and how long a result waits
	SweepInterval    time.Duration
}

// Default returns the configuration of a worker without its datacenter, managers and cores.
func Default() Config {
	return Config{
		Heartbeat:        time.Second,
		RenewalTimeout:   5 * time.Second,
		Silence:          5 * time.Second,
		ReconnectMin:     250 * time.Millisecond,
		ReconnectMax:     2 * time.Second,
		ProgressInterval: 500 * time.Millisecond,
		ExecutorSilence:  30 * time.Second,
		KillGrace:        5 * time.Second,
		ResultRetry:      2 * time.Second,
		DrainTimeout:     20 * time.Second,
		OutboxMax:        256,
		FencesMax:        10_000,
		FenceAge:         24 * time.Hour,
		SweepInterval:    time.Minute,
	}
}

// StopMargin is how much longer than DrainTimeout a stop takes: executors get KillGrace to end
// their shards, and the worker writes their results.
func (c Config) StopMargin() time.Duration { return c.KillGrace + c.Heartbeat + time.Second }

// Validate reports all faults.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Datacenter == "" || len(c.Datacenter) > 64 {
		fault("worker.datacenter = %q must have 1 to 64 bytes: name the datacenter as its managers do", c.Datacenter)
	}
	if n := len(c.Managers) + len(c.Discover); n == 0 || n > 64 || len(c.Discover) > discovery.NamesMax {
		fault("worker.managers has %d addresses and %d names, must have 1 to 64, %d of them names: list the managers of this datacenter", len(c.Managers), len(c.Discover), discovery.NamesMax)
	}
	if c.Cores < 1 || c.Cores > 1024 {
		fault("worker.cores = %d must be 1 to 1024: use the number of physical cores less one", c.Cores)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"renewal_timeout", c.RenewalTimeout}, {"drain_timeout", c.DrainTimeout},
	} {
		if d.value < time.Millisecond {
			fault("worker.%s = %v must be at least 1ms: leave it out for the default", d.name, d.value)
		}
	}
	if c.Silence < 2*c.Heartbeat {
		fault("worker.silence = %v must be at least twice worker.heartbeat = %v: one lost heartbeat is no silence", c.Silence, c.Heartbeat)
	}
	if c.RenewalTimeout < 2*c.Heartbeat {
		fault("worker.renewal_timeout = %v must be at least twice worker.heartbeat = %v: each heartbeat renews what runs", c.RenewalTimeout, c.Heartbeat)
	}
	if c.ReconnectMax < c.ReconnectMin {
		fault("worker.reconnect_max = %v is below worker.reconnect_min = %v: raise it", c.ReconnectMax, c.ReconnectMin)
	}
	faults = append(faults, setting.Check(c.Settings())...)
	return errors.Join(faults...)
}

// Settings are the values that an operator may set.
func (c *Config) Settings() []setting.Setting {
	return []setting.Setting{
		setting.Count("worker.outbox_max", &c.OutboxMax, 2000, "results that wait for their managers; from 80 % of it on a worker takes no shard", "memory", "shards wait while managers write, and results of managers that are away for long leave earlier"),
		setting.Count("worker.fences_max", &c.FencesMax, 0, "fences of ended shards that are remembered", "disk", "a very late order finds no fence"),

		setting.Span("worker.heartbeat", &c.Heartbeat, "time between heartbeats to a manager", "later news", "messages"),
		setting.Span("worker.silence", &c.Silence, "silence of a manager before its stream opens anew", "later recovery", "a pause of a manager looks like a loss"),
		setting.Span("worker.reconnect_min", &c.ReconnectMin, "most of the first wait before a stream opens again", "fewer tries", "quicker return"),
		setting.Span("worker.reconnect_max", &c.ReconnectMax, "most that this wait doubles up to", "fewer tries", "quicker return"),
		setting.Span("worker.progress_interval", &c.ProgressInterval, "time between reports of a shard that moves", "fewer messages", "smoother displays"),
		setting.Span("worker.executor_silence", &c.ExecutorSilence, "silence of an executor's loop before it counts as hung; it is killed a third of that later", "functions may compute for longer", "a hung executor holds its cores for less time"),
		setting.Span("worker.kill_grace", &c.KillGrace, "time between asking an executor to stop and killing it", "fuller results of slow targets; --stop-timeout must have room", "results of slow targets are lost"),
		setting.Span("worker.result_retry", &c.ResultRetry, "time between sends of a result that is not acknowledged", "later results after a loss", "messages"),
		setting.Span("worker.fence_age", &c.FenceAge, "time for which fences are remembered and results wait", "disk", "a very late order finds no fence"),
		setting.Span("worker.sweep_interval", &c.SweepInterval, "time between looks for what is too old", "memory and disk are freed later", "work"),
	}
}
