package gate

import "hyperscale/core/setting"

// Settings are the values that an operator may set.
func (c *Config) Settings() []setting.Setting {
	return []setting.Setting{
		setting.Count("gate.queue_max", &c.QueueMax, 0, "jobs that are accepted and wait for cores", "longer bursts are kept", "clients hear earlier that the queue is full"),
		setting.Count("gate.jobs_max", &c.JobsMax, 0, "jobs and keys that are remembered, ended ones included", "memory: about 1 KiB a job", "a key of an ended job can run again earlier"),
		setting.Count("gate.program_bytes_max", &c.ProgramBytesMax, programBytesMax, "bytes of one job's files", "nothing above 512KiB: a dispatch must fit a frame", "large programs are rejected"),
		setting.Count("gate.spec_bytes_max", &c.SpecBytesMax, 0, "bytes of programs and plans of all jobs that have not ended", "memory", "fewer large jobs wait"),
		setting.Count("gate.waiters_max", &c.WaitersMax, 0, "requests that wait for one job", "memory", "further requests are rejected, to be retried"),
		setting.Count("gate.lookups_max", &c.LookupsMax, 0, "jobs that are being looked up on a majority", "more load on the other gates", "further requests are rejected, to be retried"),
		setting.Count("gate.watchers_max", &c.WatchersMax, 0, "clients that follow jobs", "memory and pushes", "further watchers are rejected"),
		setting.Count("gate.datacenters_max", &c.DatacentersMax, 0, "datacenters that are known", "memory", "managers of further ones are rejected"),
		setting.Count("gate.managers_max", &c.ManagersMax, 0, "managers that are known", "memory", "further ones are rejected"),
		setting.Count("gate.results_max", &c.ResultsMax, 0, "results that are kept", "disk, see gate.files_max", "old results go earlier"),
		setting.Count("gate.result_bytes_max", &c.ResultBytesMax, 0, "bytes of all results", "disk, see gate.file_bytes_max", "old results go earlier"),
		setting.Count("gate.files_max", &c.FilesMax, 0, "programs and results on this gate's disk", "memory and disk", "submissions are rejected earlier"),
		setting.Count("gate.file_bytes_max", &c.FileBytesMax, 0, "bytes of these files", "memory and disk: each gate holds them in both", "submissions are rejected earlier"),
		setting.Count("gate.redispatch_max", &c.RedispatchMax, 0, "times that a datacenter's share is dispatched again after losses", "patience with managers that fail", "a job fails earlier"),
		setting.Count("gate.missed_max", &c.MissedMax, 0, "heartbeats that may leave out an accepted share before it counts as lost", "later recovery", "a slow manager loses what it has just accepted"),

		setting.Span("gate.manager_silence", &c.ManagerSilence, "silence after which a manager counts as lost", "later recovery", "a pause of a manager looks like a loss"),
		setting.Span("gate.manager_age", &c.ManagerAge, "time for which a lost manager counts in its datacenter's majority", "a datacenter that shrank stays UNHEALTHY longer", "a datacenter that lost most managers looks healthy earlier"),
		setting.Span("gate.dispatch_retry", &c.DispatchRetry, "time between sends of a dispatch that is not answered", "later starts after a loss", "more messages"),
		setting.Span("gate.answer_timeout", &c.AnswerTimeout, "wait for a manager's answer to a dispatch, before another is asked", "patience with slow managers", "more dispatches are taken back"),
		setting.Span("gate.queue_interval", &c.QueueInterval, "time between looks at the age of what waits", "later expiry", "work"),
		setting.Span("gate.queue_timeout", &c.QueueTimeout, "wait of a job whose datacenter is UNHEALTHY", "jobs survive longer outages", "they fail earlier"),
		setting.Span("gate.queue_age_max", &c.QueueAgeMax, "wait of any job", "jobs survive longer queues", "they fail earlier"),
		setting.Span("gate.run_timeout_max", &c.RunTimeoutMax, "longest run", "a job that hangs holds its cores longer", "longer plans are rejected: the default takes all that a plan may declare, 744h and a timeout"),
		setting.Span("gate.run_timeout_extra", &c.RunTimeoutExtra, "time beyond the longest chain of workflows, where a plan asks for none", "later end of runs that hang", "slow starts time out"),
		setting.Span("gate.run_grace", &c.RunGrace, "time in which datacenters confirm the end of a run that timed out", "fuller results", "parts of the result are missing"),
		setting.Span("gate.cancel_retry", &c.CancelRetry, "time between sends of a cancellation that is not confirmed", "later cancellation", "messages"),
		setting.Span("gate.cancel_timeout", &c.CancelTimeout, "wait for a lost manager's confirmation of a cancellation", "fuller results", "parts of the result are missing"),
		setting.Span("gate.cancel_age_max", &c.CancelAgeMax, "wait for any other confirmation of a cancellation", "fuller results", "parts of the result are missing"),
		setting.Span("gate.retry_after", &c.RetryAfter, "wait that a rejected client is told, doubled at random", "fewer retries", "clients return earlier"),
		setting.Span("gate.store_retry", &c.StoreRetry, "time between tries of a write that the disk refused", "later recovery", "work"),
		setting.Span("gate.push_interval", &c.PushInterval, "time between statuses for one watcher while no state changes", "fewer messages", "smoother displays"),
		setting.Span("gate.push_min", &c.PushMin, "time between any two statuses for one watcher", "fewer messages", "quicker displays"),
		setting.Span("gate.sweep_interval", &c.SweepInterval, "time between looks for what is too old", "memory and disk are freed later", "work"),
		setting.Span("gate.key_age", &c.KeyAge, "time for which an ended job and its key are remembered", "memory", "a key can run again earlier"),
		setting.Span("gate.result_age", &c.ResultAge, "time for which a result is kept", "disk", "late readers find no result"),
		setting.Span("gate.file_age", &c.FileAge, "age after which a file that no record names is swept", "disk", "a record has less time to reach a majority"),
	}
}
