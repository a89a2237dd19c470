package worker

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/core/node"
	"hyperscale/core/setting"
	"hyperscale/core/swim"
)

// Config is one worker.
type Config struct {
	Datacenter string
	Managers   []node.Addr // of its datacenter: it registers with all
	Cores      int         // executors, one a core; 1 to 1024
	Names      *swim.Names // of members, shared with other workers of this process; nil: with none

	Heartbeat        time.Duration // to each manager
	RenewalTimeout   time.Duration // a shard runs no longer after the last heartbeat whose answer named it
	Silence          time.Duration // of a manager, before its stream is closed and opened again
	ReconnectMin     time.Duration // first wait before a stream is opened again, at most this
	ReconnectMax     time.Duration // the wait doubles up to here
	ProgressInterval time.Duration // between two ShardProgress of a shard that moves
	KillGrace        time.Duration // between asking an executor to stop and killing it
	ResultRetry      time.Duration // between two sends of a result that is not acknowledged
	DrainTimeout     time.Duration // how long a stop waits for running shards and for acknowledgements
	OutboxMax        int           // results that wait; the oldest of absent managers go first
	FencesMax        int           // fences of ended shards that are remembered
	FenceAge         time.Duration // how long they are, and how long a result waits
	SweepInterval    time.Duration
}

// Default returns a worker that lacks only its datacenter, managers and cores.
func Default() Config {
	return Config{
		Heartbeat:        time.Second,
		RenewalTimeout:   5 * time.Second,
		Silence:          5 * time.Second,
		ReconnectMin:     250 * time.Millisecond,
		ReconnectMax:     2 * time.Second,
		ProgressInterval: 500 * time.Millisecond,
		KillGrace:        5 * time.Second,
		ResultRetry:      2 * time.Second,
		DrainTimeout:     20 * time.Second,
		OutboxMax:        256,
		FencesMax:        10_000,
		FenceAge:         24 * time.Hour,
		SweepInterval:    time.Minute,
	}
}

// StopMargin is what a stop takes beyond DrainTimeout: executors get KillGrace to end
// their shards, and the worker writes what they leave.
func (c Config) StopMargin() time.Duration { return c.KillGrace + c.Heartbeat + time.Second }

// Validate reports all faults.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Datacenter == "" || len(c.Datacenter) > 64 {
		fault("worker.datacenter = %q must have 1 to 64 bytes: name the datacenter as its managers do", c.Datacenter)
	}
	if len(c.Managers) == 0 || len(c.Managers) > 64 {
		fault("worker.managers has %d addresses, must have 1 to 64: list the managers of this datacenter", len(c.Managers))
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
