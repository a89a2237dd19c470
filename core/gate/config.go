package gate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/gate/job"
	"hyperscale/core/lease"
	"hyperscale/core/node"
	"hyperscale/core/output"
	"hyperscale/core/plan"
	"hyperscale/core/setting"
	"hyperscale/core/uplink"
	"hyperscale/core/window"
)

// Config bounds a gate. Every value must be positive.
type Config struct {
	Group
	Room
	Dispatching
	Running
	Pace
	Retention

	// Sinks are those that a job may name: all gates have the same.
	Sinks []output.Sink
}

// Group says how a gate and the other gates own jobs.
type Group struct {
	// Gates is the configured set, including this gate: a majority of it stores each job's
	// record. If Gates is empty, this gate is alone.
	Gates []node.Addr

	// Recover founds a new epoch of the group on this gate's disk: lease.Config.Recover.
	Recover bool

	// SinkDigest names this gate's sinks by name, kind and window, in at most 32 bytes; empty: it has none. Gates whose
	// digests differ warn of it.
	SinkDigest string

	// Exposed says that other machines reach this gate, in clear text: it rejects secrets.
	Exposed bool

	Lease          time.Duration // how long a gate acts for a job after a majority last renewed its lease
	QuorumTimeout  time.Duration // how long a majority may take to answer before the gate tells the waiting clients
	RenewalTimeout time.Duration // of the workers: a shard stops this long after its worker asked for its last renewal
	DriftPPM       int64         // a clock is at most this many ppm fast or slow
	StopTimeout    time.Duration // for handing jobs over at a graceful stop
}

// Room bounds what a gate holds in memory.
type Room struct {
	QueueMax        int // jobs accepted and not dispatched
	JobsMax         int // jobs that the gate holds, ended ones included
	KeysMax         int // ended jobs beside those, of which it remembers the key and the end
	ProgramBytesMax int // of one job's files
	SpecBytesMax    int // programs and plans of all jobs that have not ended
	WaitersMax      int // requests that wait for one job
	LookupsMax      int // jobs that the gate is looking up on a majority
	WatchersMax     int
	DatacentersMax  int
	ManagersMax     int
	ReportsMax      int // reports of figures a second that this gate asks managers for
}

// Dispatching says how a gate finds managers, and when it gives one up.
type Dispatching struct {
	ManagerSilence time.Duration // a manager silent for so long is lost
	ManagerAge     time.Duration // a lost manager counts in its datacenter's majority for so long
	DatacenterAge  time.Duration // a datacenter without managers is known for so long
	DispatchRetry  time.Duration // between looks at the stream of a dispatch without an answer, and between choices of a manager
	AnswerTimeout  time.Duration // after so long without an answer the gate dispatches to another manager
	RedispatchMax  int           // of one subjob, after losses
	MissedMax      int           // consecutive heartbeats without an accepted subjob before the gate considers it lost

	DispatchRateMax int           // jobs that the gate dispatches in a second, at most
	DispatchTarget  time.Duration // while jobs take longer than this from their dispatch to their start, the gate dispatches fewer
}

// Running bounds how long a job waits, runs, and takes to stop.
type Running struct {
	QueueInterval   time.Duration // between two checks of the ages of queued jobs
	QueueTimeout    time.Duration // a job fails after its datacenter was UNHEALTHY for so long
	QueueAgeMax     time.Duration // any other wait in the queue ends after so long
	QueueStep       time.Duration // a wait of so long raises a queued job by one class of importance
	RunTimeoutMax   time.Duration
	RunTimeoutExtra time.Duration // added to the longest chain of workflows, where the job names no timeout
	RunGrace        time.Duration // how long the gate waits for subjobs to confirm after RunTimeout

	CancelRetry   time.Duration // between two sendings of an unconfirmed cancellation
	CancelTimeout time.Duration // after so long the gate gives up a subjob of a lost manager
	CancelAgeMax  time.Duration // after so long the gate gives up any other subjob
}

// Pace is the time between two attempts, statuses or sweeps.
type Pace struct {
	RetryAfter    time.Duration // sent to clients that the gate refuses for lack of room, with jitter up to double
	StoreRetry    time.Duration // between two attempts of a write that the disk refused
	PushInterval  time.Duration // between two statuses to one watcher while no state changes
	PushMin       time.Duration // between any two statuses to one watcher
	SweepInterval time.Duration
}

// Retention bounds how long, and how much of, what has ended a gate keeps.
type Retention struct {
	KeyAge         time.Duration // how long, at least, the gate remembers a key and how its job ended
	ResultAge      time.Duration // how long the gate keeps its result
	FileAge        time.Duration // age at which the gate deletes a file that no record names
	ResultsMax     int
	ResultBytesMax int // of all results together

	OutputTimeout time.Duration // after the end of a job, for what its sinks have not taken

	LetterAge      time.Duration // how long a dead letter can be replayed
	LettersMax     int           // dead letters; the oldest makes room
	LetterBytesMax int           // of their programs together

	// FilesMax and FileBytesMax bound the programs and results on this gate's disk, including
	// those of other gates' jobs. The gate accepts a program only if room for ResultsMax and
	// ResultBytesMax remains: without a result no job can end and free room.
	FilesMax     int
	FileBytesMax int
}

// Default returns the configuration of a cluster's gate.
func Default() Config {
	return Config{
		Group: Group{
			Lease: 30 * time.Second, QuorumTimeout: 5 * time.Second, RenewalTimeout: 5 * time.Second, DriftPPM: 10_000, StopTimeout: 3 * time.Second,
		},
		Room: Room{
			QueueMax: 1000, JobsMax: 10_000, KeysMax: 1_500_000, ProgramBytesMax: programBytesMax, SpecBytesMax: 128 << 20,
			WaitersMax: 64, LookupsMax: 1000, WatchersMax: 10_000, DatacentersMax: 64, ManagersMax: 1024, ReportsMax: 1000,
		},
		Dispatching: Dispatching{
			ManagerSilence: 5 * time.Second, ManagerAge: 15 * time.Minute, DatacenterAge: 2 * time.Hour,
			DispatchRetry: 2 * time.Second, AnswerTimeout: 10 * time.Second, RedispatchMax: 3, MissedMax: 3,
			DispatchRateMax: 100, DispatchTarget: 30 * time.Second,
		},
		Running: Running{
			QueueInterval: 5 * time.Second, QueueTimeout: 10 * time.Minute, QueueAgeMax: time.Hour, QueueStep: 10 * time.Minute,
			RunTimeoutMax: plan.DurationMax + plan.TimeoutMax, RunTimeoutExtra: time.Minute, RunGrace: 10 * time.Second,
			CancelRetry: time.Second, CancelTimeout: 10 * time.Second, CancelAgeMax: time.Minute,
		},
		Pace: Pace{
			RetryAfter: 5 * time.Second, StoreRetry: time.Second,
			PushInterval: 500 * time.Millisecond, PushMin: 50 * time.Millisecond, SweepInterval: time.Minute,
		},
		Retention: Retention{
			KeyAge: 24 * time.Hour, ResultAge: 24 * time.Hour, OutputTimeout: 10 * time.Minute, FileAge: archive.Default().SweepAge, ResultsMax: 1000, ResultBytesMax: 64 << 20,
			LetterAge: 7 * 24 * time.Hour, LettersMax: 10_000, LetterBytesMax: 64 << 20,
			FilesMax: 50_000, FileBytesMax: 256 << 20,
		},
	}
}

// programBytesMax is what a dispatch can carry: it must fit a frame.
const programBytesMax = plan.FileBytesMax

// Validate reports every fault.
func (c Config) Validate() error {
	faults := setting.Check(c.Settings())
	for _, v := range []struct {
		key   string
		value time.Duration
	}{{"lease", c.Lease}, {"quorum_timeout", c.QuorumTimeout}, {"renewal_timeout", c.RenewalTimeout}, {"stop_timeout", c.StopTimeout}} {
		if v.value <= 0 {
			faults = append(faults, fmt.Errorf("gate.%s = %v must be above 0", v.key, v.value))
		}
	}
	if c.DriftPPM <= 0 {
		faults = append(faults, fmt.Errorf("gate.drift_ppm = %d must be at least 1", c.DriftPPM))
	}
	if c.QueueMax > c.JobsMax {
		faults = append(faults, fmt.Errorf("gate.queue_max = %d must not be above gate.jobs_max = %d: raise the latter", c.QueueMax, c.JobsMax))
	}
	if c.FilesMax <= c.ResultsMax {
		faults = append(faults, fmt.Errorf("gate.files_max = %d must be above gate.results_max = %d: programs need room beside results", c.FilesMax, c.ResultsMax))
	}
	if least := c.ResultBytesMax + c.ProgramBytesMax; c.FileBytesMax <= least {
		faults = append(faults, fmt.Errorf("gate.file_bytes_max = %d must be above gate.result_bytes_max + gate.program_bytes_max = %d: a program needs room beside results", c.FileBytesMax, least))
	}
	if c.DatacenterAge < c.QueueAgeMax {
		faults = append(faults, fmt.Errorf("gate.datacenter_age = %v must not be below gate.queue_age_max = %v: a job may wait so long for its datacenter", c.DatacenterAge, c.QueueAgeMax))
	}
	if c.PushMin > c.PushInterval {
		faults = append(faults, fmt.Errorf("gate.push_min = %v must not be above gate.push_interval = %v: use a tenth of it", c.PushMin, c.PushInterval))
	}
	faults = append(faults, c.checkGroup()...)
	if err := output.CheckSinks(c.Sinks); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// grace is how long managers may take to connect to a gate that has just started: one that began to before the start
// learns within a silence that no gate answered, and tries again after a wait.
func (c Config) grace() time.Duration { return c.ManagerSilence + uplink.Default().ReconnectMax }

// hold is how long the holder of a lease may act after it sent its renewal.
func (c Config) hold() time.Duration {
	return window.Hold(c.Lease, c.DriftPPM)
}

// terms are the times that managers and workers use as well. A manager continues a subjob for
// longer than another gate needs to take over the job.
func (c Config) terms() window.Terms {
	return window.Terms{Word: 2 * c.Lease, Renewal: c.RenewalTimeout, DriftPPM: c.DriftPPM}
}

// patience is how long a gate waits before it repeats a dispatch on a stream that stands. It is a
// way out of a fault of the manager alone: such a stream loses no message.
func (c Config) patience() time.Duration { return 4 * c.AnswerTimeout }

// datacenterGuard is how long a gate waits after it last named a subjob. After that the
// subjob's datacenter has stopped it.
func (c Config) datacenterGuard() time.Duration { return c.terms().Guard() }

// checkGroup checks the settings on which majorities depend.
func (c Config) checkGroup() []error {
	var faults []error
	if c.DriftPPM >= 500_000 {
		faults = append(faults, fmt.Errorf("gate.drift_ppm = %d must be below 500000: no clock is that wrong; 10000 is one in a hundred", c.DriftPPM))
	}
	if least := c.Lease/3 + c.QuorumTimeout + c.StoreRetry; c.hold() <= least {
		faults = append(faults, fmt.Errorf("gate.lease = %v is too short: lease * (1 - %d ppm) - %v = %v must be above lease/3 + quorum_timeout + store_retry = %v: "+
			"a lease is renewed after a third of it, and one slow majority must not lose it: make the lease longer or gate.quorum_timeout = %v shorter",
			c.Lease, c.DriftPPM, window.Granularity, c.hold(), least, c.QuorumTimeout))
	}
	files := archive.Config{SweepAge: c.FileAge}
	if spare := files.Spare(c.DriftPPM); spare < c.Lease+c.QuorumTimeout || spare < 2*c.SweepInterval {
		faults = append(faults, fmt.Errorf("gate.file_age = %v leaves a record %v to reach a majority, a quarter less the drift of two clocks; "+
			"that must be at least lease + quorum_timeout = %v and 2 sweep_interval = %v: lengthen it",
			c.FileAge, spare, c.Lease+c.QuorumTimeout, 2*c.SweepInterval))
	}
	if len(c.Gates) > lease.MembersMax {
		faults = append(faults, fmt.Errorf("gate.gates: %d addresses, must be at most %d: three or five are usual", len(c.Gates), lease.MembersMax))
	}
	sorted := slices.Sorted(slices.Values(c.Gates))
	for i, a := range sorted {
		if a == "" || i > 0 && a == sorted[i-1] {
			faults = append(faults, fmt.Errorf("gate.gates = %v: %q is empty or named twice", c.Gates, a))
		}
	}
	return faults
}

// Warnings lists settings that work but are probably not meant.
func (c Config) Warnings() []string {
	var all []string
	n := len(c.Gates)
	switch {
	case n <= 1:
		all = append(all, "1 gate: losing it stops everything, and losing its disk loses what was acknowledged; 3 lose none")
	case n == 2:
		all = append(all, "2 gates: losing one stops everything, 3 lose none")
	case n%2 == 0:
		all = append(all, fmt.Sprintf("%d gates survive the loss of %d, as %d would: an even one adds nothing but work", n, (n-1)/2, n-1))
	}
	hosts := map[string]int{}
	for _, a := range c.Gates {
		if at := strings.LastIndexByte(string(a), ':'); at > 0 {
			hosts[string(a[:at])]++
		}
	}
	for _, h := range slices.Sorted(maps.Keys(hosts)) {
		if n >= 3 && hosts[h] > (n-1)/2 {
			all = append(all, fmt.Sprintf("%d of %d gates are on host %s: losing that host loses the majority", hosts[h], n, h))
		}
	}
	return all
}

// timing holds the settings from which a job's deadlines follow.
func (c Config) timing() job.Timing {
	return job.Timing{
		CancelRetry: c.CancelRetry, DispatchRetry: c.DispatchRetry, Adoption: c.ManagerSilence, Guard: c.datacenterGuard(),
	}
}

// Settings are the values that an operator may set.
func (c *Config) Settings() []setting.Setting {
	return []setting.Setting{
		setting.Count("gate.queue_max", &c.QueueMax, 0, "jobs that are accepted and wait for cores", "longer bursts are kept", "clients hear earlier that the queue is full"),
		setting.Count("gate.jobs_max", &c.JobsMax, 0, "jobs that a gate holds, ended ones included", "memory: about 3 KiB a job", "of ended jobs only key and end are known earlier"),
		setting.Count("gate.keys_max", &c.KeysMax, 0, "ended jobs beside gate.jobs_max, of which only key and end are remembered for gate.key_age", "memory and disk: 86 bytes and about 400 a job", "submissions are rejected earlier"),
		setting.Count("gate.program_bytes_max", &c.ProgramBytesMax, programBytesMax, "bytes of one job's files", "nothing above 512KiB: a dispatch must fit a frame", "large programs are rejected"),
		setting.Count("gate.spec_bytes_max", &c.SpecBytesMax, 0, "bytes of programs and plans of all jobs that have not ended", "memory", "fewer large jobs wait"),
		setting.Count("gate.waiters_max", &c.WaitersMax, 0, "requests that wait for one job", "memory", "further requests are rejected, to be retried"),
		setting.Count("gate.lookups_max", &c.LookupsMax, 0, "jobs that are being looked up on a majority", "more load on the other gates", "further requests are rejected, to be retried"),
		setting.Count("gate.watchers_max", &c.WatchersMax, 0, "clients that follow jobs", "memory and pushes", "further watchers are rejected"),
		setting.Count("gate.datacenters_max", &c.DatacentersMax, 0, "datacenters that are known", "memory", "managers of further ones are rejected"),
		setting.Count("gate.reports_max", &c.ReportsMax, 100_000, "reports of figures a second for which managers are asked, as often as every 5 s at least", "smoother displays of hundreds of jobs", "less load"),
		setting.Count("gate.managers_max", &c.ManagersMax, 0, "managers that are known", "memory", "further ones are rejected"),
		setting.Count("gate.results_max", &c.ResultsMax, 0, "results that are kept", "disk, see gate.files_max", "old results go earlier, first those that a client has been sent"),
		setting.Count("gate.result_bytes_max", &c.ResultBytesMax, 0, "bytes of all results", "disk, see gate.file_bytes_max", "old results go earlier"),
		setting.Count("gate.letters_max", &c.LettersMax, 0, "dead letters that are kept; the oldest makes room", "memory and disk, see gate.jobs_max and gate.files_max", "old ones cannot be replayed any more"),
		setting.Count("gate.letter_bytes_max", &c.LetterBytesMax, 0, "bytes of the programs of all dead letters", "disk, see gate.file_bytes_max", "old ones cannot be replayed any more"),
		setting.Count("gate.files_max", &c.FilesMax, 0, "programs and results on this gate's disk", "memory and disk", "submissions are rejected earlier"),
		setting.Count("gate.file_bytes_max", &c.FileBytesMax, 0, "bytes of these files", "memory and disk: each gate holds them in both", "submissions are rejected earlier"),
		setting.Count("gate.redispatch_max", &c.RedispatchMax, 0, "times that a datacenter's share is dispatched again after losses", "patience with managers that fail", "a job fails earlier"),
		setting.Count("gate.missed_max", &c.MissedMax, 0, "heartbeats that may leave out an accepted share before it counts as lost", "later recovery", "a slow manager loses what it has just accepted"),

		setting.Count("gate.dispatch_rate_max", &c.DispatchRateMax, 1_000_000, "jobs that are dispatched in a second", "managers and workers meet larger bursts", "jobs start later after a burst"),
		setting.Span("gate.dispatch_target", &c.DispatchTarget, "time from the dispatch of a job to its start, beyond which the gate dispatches fewer", "managers that are behind get further jobs", "a slow start of one job in a hundred slows the queue"),
		setting.Span("gate.manager_silence", &c.ManagerSilence, "silence after which a manager counts as lost", "later recovery", "a pause of a manager looks like a loss"),
		setting.Span("gate.manager_age", &c.ManagerAge, "time for which a lost manager counts in its datacenter's majority", "a datacenter that shrank stays UNHEALTHY longer", "a datacenter that lost most managers looks healthy earlier"),
		setting.Span("gate.datacenter_age", &c.DatacenterAge, "time for which a datacenter without managers stays known, and in lists", "one that went away is listed longer", "a job that names one that is down is rejected earlier"),
		setting.Span("gate.dispatch_retry", &c.DispatchRetry, "time between looks at the stream of a dispatch that is not answered: if the stream broke, the gate dispatches again", "later starts after a loss", "more looks"),
		setting.Span("gate.answer_timeout", &c.AnswerTimeout, "wait for a manager's answer to a dispatch, before another is asked", "patience with slow managers", "more dispatches are taken back"),
		setting.Span("gate.queue_interval", &c.QueueInterval, "time between looks at the age of what waits", "later expiry", "work"),
		setting.Span("gate.queue_timeout", &c.QueueTimeout, "wait of a job whose datacenter is UNHEALTHY", "jobs survive longer outages", "they fail earlier"),
		setting.Span("gate.queue_step", &c.QueueStep, "wait that raises a queued job by one class of importance", "unimportant jobs wait longer behind important ones", "importance counts for less"),
		setting.Span("gate.queue_age_max", &c.QueueAgeMax, "wait of any job", "jobs survive longer queues", "they fail earlier"),
		setting.Span("gate.run_timeout_max", &c.RunTimeoutMax, "longest run", "a job that hangs holds its cores longer", "longer plans are rejected: the default takes all that a plan may declare, 744h and a timeout"),
		setting.Span("gate.run_timeout_extra", &c.RunTimeoutExtra, "time beyond the longest chain of workflows, where a plan asks for none", "later end of runs that hang", "slow starts time out"),
		setting.Span("gate.run_grace", &c.RunGrace, "time in which datacenters confirm the end of a run that timed out", "fuller results", "parts of the result are missing"),
		setting.Span("gate.cancel_retry", &c.CancelRetry, "time between sends of a cancellation that is not confirmed", "later cancellation", "messages"),
		setting.Span("gate.cancel_timeout", &c.CancelTimeout, "wait for a lost manager's confirmation of a cancellation", "fuller results", "parts of the result are missing"),
		setting.Span("gate.cancel_age_max", &c.CancelAgeMax, "wait for any other confirmation of a cancellation", "fuller results", "parts of the result are missing"),
		setting.Span("gate.retry_after", &c.RetryAfter, "wait that a gate gives a rejected client, doubled at random", "fewer retries", "clients return earlier"),
		setting.Span("gate.store_retry", &c.StoreRetry, "time between tries of a write that the disk refused", "later recovery", "work"),
		setting.Span("gate.push_interval", &c.PushInterval, "time between statuses for one watcher while no state changes", "fewer messages", "smoother displays"),
		setting.Span("gate.push_min", &c.PushMin, "time between any two statuses for one watcher", "fewer messages", "quicker displays"),
		setting.Span("gate.sweep_interval", &c.SweepInterval, "time between looks for what is too old", "memory and disk are freed later", "work"),
		setting.Span("gate.key_age", &c.KeyAge, "time for which a key and the end of its job are remembered", "memory, see gate.keys_max", "a key can run again earlier"),
		setting.Span("gate.result_age", &c.ResultAge, "time for which a result is kept", "disk", "late readers find no result"),
		setting.Span("gate.output_timeout", &c.OutputTimeout, "time after the end of a job for which its sinks are tried; what they have not taken then is lost", "sinks survive longer outages", "a register and files of an ended job are freed earlier"),
		setting.Span("gate.letter_age", &c.LetterAge, "time for which a dead letter can be replayed", "memory and disk, see gate.letters_max", "late operators cannot replay"),
		setting.Span("gate.file_age", &c.FileAge, "age after which a file that no record names is swept", "disk", "a record has less time to reach a majority"),
	}
}
