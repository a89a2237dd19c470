package manager

import (
	"hyperscale/core/setting"
)

// Settings are the values that an operator may set.
func (c *Config) Settings() []setting.Setting {
	return []setting.Setting{
		setting.Count("manager.workers_max", &c.WorkersMax, 100_000, "workers that are registered", "memory: about 4 KiB a worker", "further workers are rejected"),
		setting.Count("manager.subjobs_max", &c.SubjobsMax, 4000, "shares of jobs whose result is not acknowledged", "memory", "further dispatches are rejected"),
		setting.Count("manager.finished_max", &c.FinishedMax, 100_000, "ended shares that are remembered", "memory", "a late question about one finds nothing"),
		setting.Count("manager.rerun_max", &c.RerunMax, 100, "dispatches of one shard after losses of its worker", "patience with workers that fail", "a job fails earlier"),
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
