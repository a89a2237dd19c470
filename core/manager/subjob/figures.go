package subjob

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// KindRefused is the executors' name for a connection that no process accepts.
const KindRefused = "refused"

// Total sums the counts of a workflow's shards.
func (f *Workflow) Total() (message.Stats, error) {
	var subjobs []*message.Stats
	for _, s := range f.Shards {
		if s.Result != nil {
			subjobs = append(subjobs, &s.Result.Stats)
		}
	}
	return stats.Sum(subjobs)
}

// AllRefused says that the target refused every connection.
func AllRefused(s *message.Stats) bool {
	var started, refused uint64
	for i := range s.Steps {
		step := &s.Steps[i]
		if !step.Kind.Measured() {
			continue
		}
		started += step.Started
		for _, e := range step.Errors {
			if e.Kind == KindRefused {
				refused += e.Count
			}
		}
	}
	return started > 0 && refused >= started
}

// Measured sums the requests of a progress report.
func Measured(p *message.ShardProgress) (started, ok uint64) {
	if p == nil {
		return 0, 0
	}
	for i := range p.Stats.Steps {
		if step := &p.Stats.Steps[i]; step.Kind.Measured() {
			started += step.Started
			ok += step.OK
		}
	}
	return started, ok
}

// Duration is how long a workflow has run, or ran.
func (f *Workflow) Duration(now node.Instant) time.Duration {
	switch {
	case f.Started == 0:
		return 0
	case f.Ended != 0:
		return f.Ended.Sub(f.Started)
	}
	return now.Sub(f.Started)
}

// Figures are the counts of a shard: those of its result, or of its current attempt's last
// report.
func (s *Shard) Figures() *message.Stats {
	switch {
	case s.Result != nil:
		return &s.Result.Stats
	case s.Live() && s.Progress != nil:
		return &s.Progress.Stats
	}
	return nil
}
