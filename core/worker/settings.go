package worker

import "hyperscale/core/setting"

// Settings are the values that an operator may set.
func (c *Config) Settings() []setting.Setting {
	return []setting.Setting{
		setting.Count("worker.outbox_max", &c.OutboxMax, 2000, "results that wait for their manager", "memory", "results of absent managers go earlier, and their shards run again"),
		setting.Count("worker.fences_max", &c.FencesMax, 0, "fences of ended shards that are remembered", "disk", "a very late order finds no fence"),

		setting.Span("worker.heartbeat", &c.Heartbeat, "time between heartbeats to a manager", "later news", "messages"),
		setting.Span("worker.silence", &c.Silence, "silence of a manager before its stream opens anew", "later recovery", "a pause of a manager looks like a loss"),
		setting.Span("worker.reconnect_min", &c.ReconnectMin, "most of the first wait before a stream opens again", "fewer tries", "quicker return"),
		setting.Span("worker.reconnect_max", &c.ReconnectMax, "most that this wait doubles up to", "fewer tries", "quicker return"),
		setting.Span("worker.progress_interval", &c.ProgressInterval, "time between reports of a shard that moves", "fewer messages", "smoother displays"),
		setting.Span("worker.kill_grace", &c.KillGrace, "time between asking an executor to stop and killing it", "fuller results of slow targets; --stop-timeout must have room", "results of slow targets are lost"),
		setting.Span("worker.result_retry", &c.ResultRetry, "time between sends of a result that is not acknowledged", "later results after a loss", "messages"),
		setting.Span("worker.fence_age", &c.FenceAge, "time for which fences are remembered and results wait", "disk", "a very late order finds no fence"),
		setting.Span("worker.sweep_interval", &c.SweepInterval, "time between looks for what is too old", "memory and disk are freed later", "work"),
	}
}
