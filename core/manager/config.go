package manager

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/setting"
	"hyperscale/core/window"
)

// Config is one manager.
type Config struct {
	Group
	Windows
	Pace
	Ages
	Bounds
}

// Group names the nodes that a manager works with.
type Group struct {
	Datacenter string
	Gates      []node.Addr // the configured set: the manager registers with all of them, and they compare it with their own
	Seeds      []node.Addr // gates that it registers with, in the set or not
	Discover   []node.Addr // names of more gates that it registers with, such as dns:gates:7400: core/discovery
	Managers   []node.Addr // the configured set of the datacenter, including this one; empty: this one alone

	// Recover founds a new epoch of the managers on this one's disk: lease.Config.Recover.
	Recover bool

	// Exposed says that other machines reach this manager, in clear text: it rejects secrets.
	Exposed bool
}

// Windows say how long an answer of a majority, a gate or a worker is valid.
type Windows struct {
	SubjobLease     time.Duration // of a subjob's register, among the managers
	DatacenterLease time.Duration // a subjob stops this long after its gate last owned it
	RenewalTimeout  time.Duration // workers stop a shard this long after they sent their last answered heartbeat
	QuorumTimeout   time.Duration // how long a majority may take to answer
	DriftPPM        int64         // maximum deviation of a clock's rate from real time, in millionths
}

// Pace is the time between two attempts or reports.
type Pace struct {
	Heartbeat        time.Duration // to each gate
	Silence          time.Duration // of a gate before the manager opens a new stream, of a worker before it is lost
	ReconnectMin     time.Duration // upper bound of the first wait before a reconnect
	ReconnectMax     time.Duration // the wait doubles up to this
	ProgressInterval time.Duration // between two JobProgress of a subjob that makes progress
	Retry            time.Duration // between two sends of unanswered dispatches, cancellations and results
	SweepInterval    time.Duration
}

// Ages say how long a manager waits for something, or remembers it.
type Ages struct {
	DenialAge       time.Duration // how old an acceptance must be before heartbeats can contradict it
	DispatchTimeout time.Duration // how long a shard waits for cores
	DrainTimeout    time.Duration // how long a stop waits for subjobs to end
	Retention       time.Duration // of a finished subjob after its acknowledgement
	ResultAge       time.Duration // of a finished subjob that no gate acknowledges
	FileAge         time.Duration // age at which a manager deletes a file that no record names
}

// Bounds limit what a manager holds.
type Bounds struct {
	SpillAt          int // size in bytes from which on a record becomes a file
	RerunMax         int // dispatches of one shard after losses of workers
	WorkflowRerunMax int // of all shards of a workflow; a tenth of its shards if that is more
	JobRerunMax      int // of all shards of a subjob; a tenth of its shards if that is more
	DispatchMax      int // dispatches of one shard in all
	SubjobsMax       int // subjobs without an acknowledged result
	FinishedMax      int // finished subjobs that the manager remembers
	WorkersMax       int // registered workers
	CoresMax         int // cores that scaling can reach in the datacenter; 0: gates count those that they have seen
	ReportsMax       int // reports of figures a second that this manager asks its workers for
}

// spillMax is what a register can hold.
const spillMax = 32 << 10

// coresMost bounds the cores of a datacenter.
const coresMost = 10_000_000

// Default returns the configuration of a manager without its datacenter and gates.
func Default() Config {
	return Config{
		Windows: Windows{
			SubjobLease:     2 * time.Second,
			DatacenterLease: time.Minute,
			RenewalTimeout:  5 * time.Second,
			QuorumTimeout:   time.Second,
			DriftPPM:        10_000,
		},
		Pace: Pace{
			Heartbeat:        time.Second,
			Silence:          5 * time.Second,
			ReconnectMin:     250 * time.Millisecond,
			ReconnectMax:     2 * time.Second,
			ProgressInterval: 500 * time.Millisecond,
			Retry:            time.Second,
			SweepInterval:    time.Minute,
		},
		Ages: Ages{
			DenialAge:       2 * time.Second,
			DispatchTimeout: 5 * time.Minute,
			DrainTimeout:    20 * time.Second,
			Retention:       5 * time.Minute,
			ResultAge:       24 * time.Hour,
			FileAge:         archive.Default().SweepAge,
		},
		Bounds: Bounds{
			SpillAt:          16 << 10,
			RerunMax:         3,
			WorkflowRerunMax: 3,
			JobRerunMax:      20,
			DispatchMax:      5,
			SubjobsMax:       1000,
			FinishedMax:      256,
			WorkersMax:       10_000,
			ReportsMax:       2000, // at 40 us with decoding, a twelfth of a core
		},
	}
}

// Validate reports all faults.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Datacenter == "" || len(c.Datacenter) > 64 {
		fault("manager.datacenter = %q must have 1 to 64 bytes: name the datacenter as its workers do", c.Datacenter)
	}
	if n := len(c.Gates) + len(c.Seeds) + len(c.Discover); n == 0 || n > 128 {
		fault("manager.gates and manager.seeds have %d addresses, must have 1 to 128: list all gates", n)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"subjob_lease", c.SubjobLease}, {"datacenter_lease", c.DatacenterLease}, {"renewal_timeout", c.RenewalTimeout},
		{"quorum_timeout", c.QuorumTimeout}, {"drain_timeout", c.DrainTimeout},
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
	faults = append(faults, c.groupFaults()...)
	faults = append(faults, setting.Check(c.Settings())...)
	return errors.Join(faults...)
}

// groupFaults reports what is wrong with the set, the leases and the drift.
func (c Config) groupFaults() []error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if len(c.Managers) > message.OrdinalMax {
		fault("manager.managers has %d addresses, must have at most %d: split the datacenter", len(c.Managers), message.OrdinalMax)
	}
	if set := slices.Compact(slices.Sorted(slices.Values(c.Managers))); len(set) != len(c.Managers) {
		fault("manager.managers lists an address twice: list each manager of the datacenter once")
	}
	if c.DriftPPM < 1 || c.DriftPPM > 100_000 {
		fault("manager.drift_ppm = %d must be 1 to 100000: 10000 is one part in a hundred", c.DriftPPM)
		return faults
	}
	if h := c.hold(c.SubjobLease); h <= c.QuorumTimeout {
		fault("manager.subjob_lease = %v leaves a window of lease (1 - drift) - 1ms = %v, which must be above manager.quorum_timeout = %v: lengthen the lease", c.SubjobLease, h, c.QuorumTimeout)
	}
	files := archive.Config{SweepAge: c.FileAge}
	if spare := files.Spare(c.DriftPPM); spare < c.SubjobLease+c.QuorumTimeout || spare < 2*c.SweepInterval {
		fault("manager.file_age = %v leaves a record %v to reach a majority, a quarter less the drift of two clocks; "+
			"that must be at least subjob_lease + quorum_timeout = %v and 2 sweep_interval = %v: lengthen it",
			c.FileAge, spare, c.SubjobLease+c.QuorumTimeout, 2*c.SweepInterval)
	}
	if g := c.guard(c.SubjobLease) + c.Heartbeat; c.RenewalTimeout <= g {
		fault("manager.renewal_timeout = %v must be above lease (1 + drift) + 1ms + heartbeat = %v: else shards stop before another manager can take their subjob over", c.RenewalTimeout, g)
	}
	if h := c.terms().Hold(); h <= c.Silence {
		fault("manager.datacenter_lease = %v leaves a window of lease (1 - drift) - 1ms = %v, which must be above manager.silence = %v: one lost stream is no cut", c.DatacenterLease, h, c.Silence)
	}
	return faults
}

// terms are the times that gates and workers use as well.
func (c Config) terms() window.Terms {
	return window.Terms{Word: c.DatacenterLease, Renewal: c.RenewalTimeout, DriftPPM: c.DriftPPM}
}

// hold is how long a holder relies on a lease, by its own clock.
func (c Config) hold(lease time.Duration) time.Duration { return window.Hold(lease, c.DriftPPM) }

// guard is how long others wait for the lease to end.
func (c Config) guard(lease time.Duration) time.Duration { return window.Guard(lease, c.DriftPPM) }

// patience is how long a manager waits after the last renewal of a shard, by its own clock.
// After that the worker has stopped the shard by its clock.
func (c Config) patience() time.Duration { return c.terms().Patience() }

// Settings are the values that an operator may set.
func (c *Config) Settings() []setting.Setting {
	return []setting.Setting{
		setting.Count("manager.workers_max", &c.WorkersMax, 100_000, "workers that are registered", "memory: about 4 KiB a worker", "further workers are rejected"),
		{Key: "manager.cores_max", Value: &c.CoresMax, Most: coresMost, Is: "cores that scaling can reach in the datacenter, equal on its managers; 0: those that were registered at once",
			Raise: "a job that wants them waits until they have come", Lower: "a job that wants more is dispatched at once, and divides the cores that there are"},
		setting.Count("manager.subjobs_max", &c.SubjobsMax, 4000, "shares of jobs whose result is not acknowledged", "memory", "further dispatches are rejected"),
		setting.Count("manager.reports_max", &c.ReportsMax, 100_000, "reports of figures a second for which workers are asked, as often as every 5 s at least", "smoother displays of jobs on thousands of workers", "less load"),
		setting.Count("manager.finished_max", &c.FinishedMax, 100_000, "ended shares that are remembered", "memory", "a late question about one finds nothing"),
		setting.Count("manager.rerun_max", &c.RerunMax, 100, "dispatches of one shard after losses of its worker", "patience with workers that fail", "a job fails earlier"),
		setting.Count("manager.workflow_rerun_max", &c.WorkflowRerunMax, 10_000, "dispatches of all shards of a workflow after losses of workers; a tenth of its shards, if that is more", "patience with a fleet that shrinks", "a job fails earlier"),
		setting.Count("manager.job_rerun_max", &c.JobRerunMax, 10_000, "dispatches of all shards of a job in this datacenter after losses of workers; a tenth of its shards, if that is more", "patience with a fleet that shrinks", "a job fails earlier"),
		setting.Count("manager.dispatch_max", &c.DispatchMax, 100, "dispatches of one shard in all", "patience with workers that refuse", "a job fails earlier"),
		setting.Count("manager.spill_at", &c.SpillAt, spillMax, "bytes from which on a record is kept as a file", "larger registers", "more files"),

		setting.Span("manager.heartbeat", &c.Heartbeat, "time between heartbeats to a gate", "later news", "messages"),
		setting.Span("manager.silence", &c.Silence, "silence of a gate before its stream opens anew, and of a worker before it counts as lost", "later recovery", "a pause of a worker looks like a loss"),
		setting.Span("manager.reconnect_min", &c.ReconnectMin, "most of the first wait before a stream opens again", "fewer tries", "quicker return"),
		setting.Span("manager.reconnect_max", &c.ReconnectMax, "most that this wait doubles up to", "fewer tries", "quicker return"),
		setting.Span("manager.progress_interval", &c.ProgressInterval, "time between reports of a share that moves", "fewer messages", "smoother displays"),
		setting.Span("manager.retry", &c.Retry, "time between sends of what is not answered", "later starts after a loss", "messages"),
		setting.Span("manager.denial_age", &c.DenialAge, "age of an acceptance before a worker's heartbeat can deny it", "later recovery", "a slow worker loses what it has just accepted"),
		setting.Span("manager.dispatch_timeout", &c.DispatchTimeout, "wait of a shard for cores", "patience with workers that return", "a job fails earlier"),
		setting.Span("manager.retention", &c.Retention, "time for which an ended share is remembered after its acknowledgement", "memory", "a late question about one finds nothing"),
		setting.Span("manager.result_age", &c.ResultAge, "time for which a result is kept that no gate acknowledges", "disk", "a gate that returns late finds no result"),
		setting.Span("manager.file_age", &c.FileAge, "age after which a file that no record names is swept", "disk", "a record has less time to reach a majority"),
		setting.Span("manager.sweep_interval", &c.SweepInterval, "time between looks for what is too old", "memory and disk are freed later", "work"),
	}
}
