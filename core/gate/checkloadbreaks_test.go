package gate

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

func ofLoads() []breach {
	type submit = message.JobSubmit
	type plan = message.WorkflowPlan
	return []breach{
		{name: "think_max", set: func(t *rapid.T, s *submit, w *plan) string {
			w.ThinkMax = beyond(t, longest)
			return fmt.Sprintf("think_max = %v", w.ThinkMax)
		}},
		{name: "think_max below", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Think, w.ThinkMax = 2, 1
			return "think_max = 1ns must not be below think = 2ns"
		}},
		{name: "pace", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Pace = beyond(t, longest)
			return fmt.Sprintf("pace = %v", w.Pace)
		}},
		{name: "graceful_stop", set: func(t *rapid.T, s *submit, w *plan) string {
			w.GracefulStop = beyond(t, longest)
			return fmt.Sprintf("graceful_stop = %v", w.GracefulStop)
		}},
		{name: "interval", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Interval = beyond(t, longest)
			return fmt.Sprintf("interval = %v", w.Interval)
		}},
		{name: "iterations", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Iterations = iterationsMax + 1
			return fmt.Sprintf("iterations = %d", w.Iterations)
		}},
		{name: "priority", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Priority = 5
			return "priority = 5"
		}},
		{name: "session", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Session = 2
			return "session = 2"
		}},
		{name: "connections", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Connections = connectionsMax + 1
			return fmt.Sprintf("connections = %d", w.Connections)
		}},
		{name: "reports", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Report = make([]string, reportsMax+1)
			return fmt.Sprintf("report: %d are", reportsMax+1)
		}},
		{name: "report", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Report = []string{"csv=a", badName(t, pathMax)}
			return fmt.Sprintf("report[1] = %.64q", w.Report[1])
		}},
		{name: "feed without rows", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Feed = message.FeedPlan{Name: "f"}
			return "feed: it has no rows"
		}},
		{name: "rows", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Feed.Rows = rowsMax + 1
			return fmt.Sprintf("feed: rows = %d", w.Feed.Rows)
		}},
		{name: "order", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Feed = message.FeedPlan{Name: "f", Rows: 1, Order: 2, AtEnd: 2}
			if rapid.Bool().Draw(t, "order") {
				w.Feed.Order = 3
			} else {
				w.Feed.AtEnd = 3
			}
			return fmt.Sprintf("feed: order = %d, at_end = %d", w.Feed.Order, w.Feed.AtEnd)
		}},
		{name: "unique", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Feed = message.FeedPlan{Name: "f", Rows: 1, Unique: true, AtEnd: message.RowsStop}
			if rapid.Bool().Draw(t, "random") {
				w.Feed.Order = message.RowsRandom
			} else {
				w.Feed.AtEnd = message.RowsCycle
			}
			return "feed: rows that are taken once"
		}},
		{name: "feed name", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Feed = message.FeedPlan{Name: badName(t, pathMax), Rows: 1}
			return fmt.Sprintf("feed.name = %.64q", w.Feed.Name)
		}},
		{name: "rate_per", set: func(t *rapid.T, s *submit, w *plan) string {
			w.RatePer = rapid.SampledFrom([]time.Duration{1, -time.Second, 2 * time.Second, 24 * time.Hour}).Draw(t, "per")
			return fmt.Sprintf("rate_per = %v", w.RatePer)
		}},
		{name: "rate", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Rate = 1 + map[time.Duration]uint64{0: 1, time.Second: 1, time.Minute: 60, time.Hour: 3600}[w.RatePer]*rateMax*1000
			return fmt.Sprintf("rate = %d must", w.Rate)
		}},
		{name: "stages", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Stages = make([]message.StagePlan, stagesMax+1)
			return fmt.Sprintf("stages: %d are", stagesMax+1)
		}},
		{name: "stage duration", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Stages = []message.StagePlan{{Duration: 1, VUs: 1}, {Duration: rapid.SampledFrom([]time.Duration{-1, longest, 1 << 62}).Draw(t, "long")}}
			return fmt.Sprintf("stages[1]: duration = %v", w.Stages[1].Duration)
		}},
		{name: "stage vus", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Stages = []message.StagePlan{{Duration: 1, VUs: w.VUs + 1}}
			return fmt.Sprintf("stages[0]: vus = %d", w.VUs+1)
		}},
		{name: "stage rate", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Stages = []message.StagePlan{{Duration: 1, Rate: 1 << 60}}
			return fmt.Sprintf("stages[0]: vus = 0, rate = %d", 1<<60)
		}},
		{name: "stages of both or none", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Duration, w.Stages = 1, []message.StagePlan{{Duration: 1}}
			if w.Rate > 0 || rapid.Bool().Draw(t, "both") {
				w.Stages[0].VUs, w.Stages[0].Rate = 1, 1
			}
			return "stages must be of vus or of rates"
		}},
		{name: "stages and duration", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Rate, w.Duration = 0, rapid.SampledFrom([]time.Duration{0, 1, 3}).Draw(t, "duration")
			w.Stages = []message.StagePlan{{Duration: 2, VUs: 1}}
			if w.Duration == 0 {
				w.Stages[0].Duration = 0 // stages that take no time
			}
			return fmt.Sprintf("duration = %v must be that of all stages, %v", w.Duration, w.Stages[0].Duration)
		}},
	}
}

func ofMixes() []breach {
	type submit = message.JobSubmit
	type plan = message.WorkflowPlan
	// Each is planted among the tags of the workflow, or of a step.
	put := func(t *rapid.T, w *plan, tags ...message.Tag) string {
		if rapid.Bool().Draw(t, "of a step") {
			last := &w.Steps[len(w.Steps)-1]
			last.Tags = tags
			return fmt.Sprintf("step %q: tags", last.Name)
		}
		w.Tags = tags
		return "tags"
	}
	return []breach{
		{name: "tags", set: func(t *rapid.T, s *submit, w *plan) string {
			return put(t, w, make([]message.Tag, tagsMax+1)...) + fmt.Sprintf(": %d are", tagsMax+1)
		}},
		{name: "tag name", set: func(t *rapid.T, s *submit, w *plan) string {
			bad := badName(t, nameMax)
			return put(t, w, message.Tag{Name: bad}) + fmt.Sprintf("[0].name = %.64q", bad)
		}},
		{name: "tag order", set: func(t *rapid.T, s *submit, w *plan) string {
			second := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "second")
			return put(t, w, message.Tag{Name: "b"}, message.Tag{Name: second}) + fmt.Sprintf(": %q must be once", second)
		}},
		{name: "tag value", set: func(t *rapid.T, s *submit, w *plan) string {
			bad := rapid.SampledFrom([]string{strings.Repeat("x", tagMax+1), "\xff"}).Draw(t, "bad")
			return put(t, w, message.Tag{Name: "a", Value: bad}) + `: "a" must be UTF-8`
		}},
		{name: "weight", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Steps[0].Weight = weightMax + 1
			return fmt.Sprintf("step %q: weight = %d", w.Steps[0].Name, weightMax+1)
		}},
		{name: "comes after one of the drawn", set: func(t *rapid.T, s *submit, w *plan) string {
			for i := range w.Steps {
				if last := &w.Steps[i]; len(last.After) > 0 {
					of := &w.Steps[last.After[0]]
					of.Weight = 1
					if !onlyWaiter(w.Steps, last.After[0], i) {
						return "which has a weight"
					}
					return fmt.Sprintf("step %q: comes after %q", last.Name, of.Name)
				}
			}
			return ""
		}},
		{name: "weighted", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Weighted = !w.Weighted
			return fmt.Sprintf("weighted = %v must be %v", w.Weighted, !w.Weighted)
		}},
	}
}

// onlyWaiter says that no step before one waits for another.
func onlyWaiter(steps []message.StepPlan, of uint32, before int) bool {
	for _, s := range steps[:before] {
		for _, k := range s.After {
			if k == of {
				return false
			}
		}
	}
	return true
}
