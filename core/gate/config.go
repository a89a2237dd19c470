package gate

import (
	"errors"
	"fmt"
	"time"
)

// Config bounds a gate. Every value must be positive.
type Config struct {
	QueueMax        int // jobs accepted and not dispatched
	JobsMax         int // jobs and keys remembered, ended ones included
	ProgramBytesMax int // of one job's files
	SpecBytesMax    int // programs and plans of all jobs that have not ended
	WaitersMax      int // clients that wait for one job's record or cancellation
	WatchersMax     int
	DatacentersMax  int
	ManagersMax     int

	ManagerSilence time.Duration // a manager not heard for so long is lost
	ManagerAge     time.Duration // a lost one counts in its datacenter's majority for so long
	DispatchRetry  time.Duration // between sendings of what is not answered, and between choices of a manager
	AnswerTimeout  time.Duration // a dispatch not answered for so long goes to another manager
	RedispatchMax  int           // of one part, after losses
	MissedMax      int           // heartbeats that may leave out an accepted part before it counts as lost

	QueueInterval   time.Duration // between looks at the age of what is queued
	QueueTimeout    time.Duration // a job whose datacenter stays UNHEALTHY fails after it
	QueueAgeMax     time.Duration // any other wait in the queue ends after it
	RunTimeoutMax   time.Duration
	RunTimeoutExtra time.Duration // beyond the longest chain of workflows, where none was asked for
	RunGrace        time.Duration // for parts to confirm after RunTimeout

	CancelRetry   time.Duration // between sendings of an unconfirmed cancellation
	CancelTimeout time.Duration // a part of a lost manager is given up after it
	CancelAgeMax  time.Duration // any other part

	RetryAfter    time.Duration // told to those who are refused for want of room, doubled at random
	StoreRetry    time.Duration // between tries of a write that the disk refused
	PushInterval  time.Duration // between statuses pushed to one watcher while nothing changes state
	PushMin       time.Duration // between any two
	SweepInterval time.Duration

	KeyAge         time.Duration // an ended job and its key are remembered for so long
	ResultAge      time.Duration // its result
	ResultsMax     int
	ResultBytesMax int // of all results
}

// Default returns the configuration of a cluster's gate.
func Default() Config {
	return Config{
		QueueMax: 1000, JobsMax: 10_000, ProgramBytesMax: 512 << 10, SpecBytesMax: 128 << 20,
		WaitersMax: 64, WatchersMax: 10_000, DatacentersMax: 64, ManagersMax: 1024,
		ManagerSilence: 5 * time.Second, ManagerAge: 15 * time.Minute,
		DispatchRetry: 2 * time.Second, AnswerTimeout: 10 * time.Second, RedispatchMax: 3, MissedMax: 3,
		QueueInterval: 5 * time.Second, QueueTimeout: 10 * time.Minute, QueueAgeMax: time.Hour,
		RunTimeoutMax: 7 * 24 * time.Hour, RunTimeoutExtra: time.Minute, RunGrace: 10 * time.Second,
		CancelRetry: time.Second, CancelTimeout: 10 * time.Second, CancelAgeMax: time.Minute,
		RetryAfter: 5 * time.Second, StoreRetry: time.Second,
		PushInterval: 500 * time.Millisecond, PushMin: 50 * time.Millisecond, SweepInterval: time.Minute,
		KeyAge: 24 * time.Hour, ResultAge: 24 * time.Hour, ResultsMax: 1000, ResultBytesMax: 64 << 20,
	}
}

// Validate reports every fault.
func (c Config) Validate() error {
	var faults []error
	for _, v := range []struct {
		key   string
		value int64
	}{
		{"queue_max", int64(c.QueueMax)}, {"jobs_max", int64(c.JobsMax)}, {"program_bytes_max", int64(c.ProgramBytesMax)},
		{"spec_bytes_max", int64(c.SpecBytesMax)}, {"waiters_max", int64(c.WaitersMax)}, {"watchers_max", int64(c.WatchersMax)},
		{"datacenters_max", int64(c.DatacentersMax)}, {"managers_max", int64(c.ManagersMax)},
		{"redispatch_max", int64(c.RedispatchMax)}, {"missed_max", int64(c.MissedMax)},
		{"results_max", int64(c.ResultsMax)}, {"result_bytes_max", int64(c.ResultBytesMax)},
	} {
		if v.value <= 0 {
			faults = append(faults, fmt.Errorf("gate.%s = %d must be at least 1", v.key, v.value))
		}
	}
	for _, v := range []struct {
		key   string
		value time.Duration
	}{
		{"manager_silence", c.ManagerSilence}, {"manager_age", c.ManagerAge}, {"dispatch_retry", c.DispatchRetry},
		{"answer_timeout", c.AnswerTimeout}, {"queue_interval", c.QueueInterval}, {"queue_timeout", c.QueueTimeout},
		{"queue_age_max", c.QueueAgeMax}, {"run_timeout_max", c.RunTimeoutMax}, {"run_timeout_extra", c.RunTimeoutExtra},
		{"run_grace", c.RunGrace}, {"cancel_retry", c.CancelRetry}, {"cancel_timeout", c.CancelTimeout},
		{"cancel_age_max", c.CancelAgeMax}, {"retry_after", c.RetryAfter}, {"store_retry", c.StoreRetry},
		{"push_interval", c.PushInterval}, {"push_min", c.PushMin}, {"sweep_interval", c.SweepInterval},
		{"key_age", c.KeyAge}, {"result_age", c.ResultAge},
	} {
		if v.value <= 0 {
			faults = append(faults, fmt.Errorf("gate.%s = %v must be above 0", v.key, v.value))
		}
	}
	if c.QueueMax > c.JobsMax {
		faults = append(faults, fmt.Errorf("gate.queue_max = %d must not be above gate.jobs_max = %d: raise the latter", c.QueueMax, c.JobsMax))
	}
	if c.PushMin > c.PushInterval {
		faults = append(faults, fmt.Errorf("gate.push_min = %v must not be above gate.push_interval = %v: use a tenth of it", c.PushMin, c.PushInterval))
	}
	if c.ProgramBytesMax > 512<<10 {
		faults = append(faults, fmt.Errorf("gate.program_bytes_max = %d must not be above 524288: a dispatch must fit a frame", c.ProgramBytesMax))
	}
	return errors.Join(faults...)
}
