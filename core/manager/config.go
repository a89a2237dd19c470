package manager

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/core/node"
)

// Config is one manager.
type Config struct {
	Datacenter string
	Gates      []node.Addr // it registers with all of them

	Heartbeat        time.Duration // to each gate
	Silence          time.Duration // of a gate before its stream is opened anew, of a worker before it is lost
	ReconnectMin     time.Duration // first wait before a stream is opened again, at most this
	ReconnectMax     time.Duration // the wait doubles up to here
	ProgressInterval time.Duration // between two JobProgress of a part that moves
	Retry            time.Duration // between two sends of what is not answered: dispatches, cancellations, results
	DenialAge        time.Duration // how old an acceptance must be before heartbeats can deny it
	DispatchTimeout  time.Duration // how long a slice waits for cores
	DrainTimeout     time.Duration // how long a stop waits for parts to end
	Retention        time.Duration // of a finished part after its acknowledgement
	ResultAge        time.Duration // of a finished part whose gate never acknowledges it
	SweepInterval    time.Duration
	RerunMax         int // dispatches of one slice after the loss of a worker
	DispatchMax      int // dispatches of one slice in all
	PartsMax         int // parts whose result is not acknowledged
	FinishedMax      int // finished parts that are remembered
}

// Default returns a manager that lacks only its datacenter and gates.
func Default() Config {
	return Config{
		Heartbeat:        time.Second,
		Silence:          5 * time.Second,
		ReconnectMin:     250 * time.Millisecond,
		ReconnectMax:     2 * time.Second,
		ProgressInterval: 500 * time.Millisecond,
		Retry:            time.Second,
		DenialAge:        2 * time.Second,
		DispatchTimeout:  5 * time.Minute,
		DrainTimeout:     20 * time.Second,
		Retention:        5 * time.Minute,
		ResultAge:        24 * time.Hour,
		SweepInterval:    time.Minute,
		RerunMax:         3,
		DispatchMax:      5,
		PartsMax:         1000,
		FinishedMax:      256,
	}
}

// Validate reports all faults.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Datacenter == "" || len(c.Datacenter) > 64 {
		fault("manager.datacenter = %q must have 1 to 64 bytes: name the datacenter as its workers do", c.Datacenter)
	}
	if len(c.Gates) == 0 || len(c.Gates) > 64 {
		fault("manager.gates has %d addresses, must have 1 to 64: list all gates", len(c.Gates))
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"heartbeat", c.Heartbeat}, {"silence", c.Silence}, {"reconnect_min", c.ReconnectMin}, {"reconnect_max", c.ReconnectMax},
		{"progress_interval", c.ProgressInterval}, {"retry", c.Retry}, {"denial_age", c.DenialAge}, {"dispatch_timeout", c.DispatchTimeout},
		{"drain_timeout", c.DrainTimeout}, {"retention", c.Retention}, {"result_age", c.ResultAge}, {"sweep_interval", c.SweepInterval},
	} {
		if d.value < time.Millisecond {
			fault("manager.%s = %v must be at least 1ms: leave it out for the default", d.name, d.value)
		}
	}
	if c.Silence < 2*c.Heartbeat {
		fault("manager.silence = %v must be at least twice manager.heartbeat = %v: one lost heartbeat is no silence", c.Silence, c.Heartbeat)
	}
	if c.ReconnectMax < c.ReconnectMin {
		fault("manager.reconnect_max = %v is below manager.reconnect_min = %v: raise it", c.ReconnectMax, c.ReconnectMin)
	}
	for _, n := range []struct {
		name       string
		value, max int
	}{{"rerun_max", c.RerunMax, 100}, {"dispatch_max", c.DispatchMax, 100}, {"parts_max", c.PartsMax, 4000}, {"finished_max", c.FinishedMax, 100_000}} {
		if n.value < 1 || n.value > n.max {
			fault("manager.%s = %d must be 1 to %d: leave it out for the default", n.name, n.value, n.max)
		}
	}
	return errors.Join(faults...)
}
