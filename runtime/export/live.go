package export

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/report"
)

// Live is a job according to one of its statuses: what a result would say now.
func Live(s *message.JobStatus, accepted time.Time) (*Snapshot, error) {
	in := &message.Result{Job: s.Job, Name: s.Name, State: s.State, Error: s.Reason, Duration: s.Elapsed}
	now := map[string]uint64{}
	for _, d := range s.Datacenters {
		d.Workflows = slices.Clone(d.Workflows)
		for i := range d.Workflows {
			d.Workflows[i].Stats.Steps = withoutCourses(d.Workflows[i].Stats.Steps)
		}
		in.Datacenters = append(in.Datacenters, d)
	}
	for _, name := range workflowNames(s) {
		w, err := merged(in.Datacenters, name)
		if err != nil {
			return nil, fmt.Errorf("workflow %s: %w", name, err)
		}
		in.Workflows = append(in.Workflows, w)
		if !w.State.Terminal() {
			now[name] = w.Stats.Active
		}
	}
	r, err := report.Build(in, accepted)
	if err != nil {
		return nil, err
	}
	return &Snapshot{Result: r, Active: now}, nil
}

// withoutCourses leaves out what happened when: a server keeps that by itself.
func withoutCourses(steps []message.StepStats) []message.StepStats {
	steps = slices.Clone(steps)
	for i := range steps {
		steps[i].Windows = message.Windows{}
	}
	return steps
}

func workflowNames(s *message.JobStatus) (names []string) {
	for _, d := range s.Datacenters {
		for _, w := range d.Workflows {
			if !slices.Contains(names, w.Name) {
				names = append(names, w.Name)
			}
		}
	}
	return names
}

// merged is one workflow over all datacenters. It has ended when each part has.
func merged(datacenters []message.DatacenterResult, name string) (message.WorkflowResult, error) {
	out := message.WorkflowResult{Name: name}
	var parts []*message.Stats
	running := false
	for d := range datacenters {
		for w := range datacenters[d].Workflows {
			part := &datacenters[d].Workflows[w]
			if part.Name != name {
				continue
			}
			parts = append(parts, &part.Stats)
			running = running || !part.State.Terminal()
			out.State = max(out.State, part.State)
			out.VUs, out.Cores, out.Burned = out.VUs+part.VUs, out.Cores+part.Cores, out.Burned+part.Burned
			out.Duration = max(out.Duration, part.Duration)
			out.Error = cmp.Or(out.Error, part.Error)
		}
	}
	if running && out.State.Terminal() {
		out.State = message.WorkflowRunning
	}
	var err error
	out.Stats, err = stats.Sum(parts)
	return out, err
}
