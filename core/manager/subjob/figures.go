package subjob

import (
	"fmt"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// The executors' names for a function that failed, and for a value that cannot stand where a
// request wants it.
const (
	KindScript = "script"
	KindValue  = "value"
)

// Broken says why a run measured nothing: each iteration that ended failed by the test itself (its
// function failed, or a value of it fits nowhere), or no request was answered. An answer of 500 is
// one. It judges the sum of all shards: one user of many may have a bad row.
func Broken(s *message.Stats) string {
	var failed, broken, silent uint64
	var first message.ErrorCount
	for i := range s.Steps {
		step := &s.Steps[i]
		if !step.Kind.Measured() {
			continue
		}
		if step.OK > 0 {
			return ""
		}
		failed += step.Failed + step.TimedOut
		for _, e := range step.Errors {
			switch {
			case e.Kind == KindScript || e.Kind == KindValue:
				broken += e.Count
			case stats.Unanswered(e.Kind) && len(step.Statuses) == 0:
				silent += e.Count
			default:
				continue
			}
			if e.Count > first.Count {
				first = e
			}
		}
	}
	switch {
	case failed == 0 || broken+silent < failed:
		return ""
	case broken == 0 && strings.HasPrefix(first.Kind, "tls"): // its example has the remedy
		return fmt.Sprintf("not one of %d TLS handshakes succeeded (%s): %s", failed, first.Kind, first.Example)
	case broken == 0 && stats.Unconnected(first.Kind):
		return fmt.Sprintf("not one of %d requests reached the target (%s): %s: check that it runs and that the URL is right", failed, first.Kind, first.Example)
	case silent > 0:
		return fmt.Sprintf("not one of %d requests was answered (%s): %s: check that the target serves this address, and its logs", failed, first.Kind, first.Example)
	}
	return fmt.Sprintf("not one of %d iterations worked (%s): %s", failed, first.Kind, first.Example)
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

// Began is when a workflow began, since the job began to run anywhere.
func (f *Workflow) Began() time.Duration {
	if f.Started == 0 || f.Subjob.Dispatch == nil {
		return 0
	}
	return f.Subjob.Dispatch.Ran + max(0, f.Started.Sub(f.Subjob.Accepted))
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
