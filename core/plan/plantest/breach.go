package plantest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// Breach breaks one bound of a legal plan. Set returns the key of the fault, and nothing
// where the plan has no place for it.
type Breach struct {
	Name  string
	Plain bool // it changes one value of a workflow, and nothing that others change
	Set   func(t *rapid.T, p *message.Plan, w *message.WorkflowPlan) (key string)
}

// Breaches lists one breach or more for each bound.
func Breaches() []Breach {
	var all []Breach
	for _, list := range [][]Breach{ofPlans(), ofWorkflows(), ofSteps(), ofEdges(), ofLoads(), ofStages(), ofFeeds(), ofCounters(), ofBarriers(), ofThresholds(), ofParts()} {
		all = append(all, list...)
	}
	return all
}

type w = message.WorkflowPlan

// BadText draws what is no UTF-8 of 1 to most bytes.
func BadText(t *rapid.T, most int) string {
	return rapid.SampledFrom([]string{"", strings.Repeat("x", most+1), "\xff"}).Draw(t, "bad text")
}

func badName(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", strings.Repeat("x", plan.NameMax+1), "\xff", "a b", "é", "a.b"}).Draw(t, "bad name")
}

// Beyond draws a span that is negative or above the most.
func Beyond(t *rapid.T, most time.Duration) time.Duration {
	return rapid.SampledFrom([]time.Duration{-1, most + 1, 1 << 62, -1 << 62}).Draw(t, "beyond")
}

func span(name string, most time.Duration, of func(*w) *time.Duration) Breach {
	return Breach{Name: name, Plain: true, Set: func(t *rapid.T, _ *message.Plan, w *w) string {
		*of(w) = Beyond(t, most)
		return name
	}}
}

func ofPlans() []Breach {
	return []Breach{
		{Name: "no workflow", Set: func(_ *rapid.T, p *message.Plan, _ *w) string { p.Workflows = nil; return "workflows" }},
		{Name: "workflows", Set: func(_ *rapid.T, p *message.Plan, _ *w) string {
			p.Workflows = make([]w, plan.WorkflowsMax+1)
			return "workflows"
		}},
		{Name: "source", Set: func(t *rapid.T, p *message.Plan, _ *w) string {
			p.Source = BadText(t, plan.PathMax)
			return "source"
		}},
		{Name: "params", Set: func(_ *rapid.T, p *message.Plan, _ *w) string {
			p.Params = make([]message.ParamPlan, plan.ParamsMax+1)
			return "params"
		}},
		{Name: "param name", Set: func(t *rapid.T, p *message.Plan, _ *w) string {
			p.Params = []message.ParamPlan{{Name: badName(t)}}
			return "params[0].name"
		}},
		{Name: "workflow twice", Set: func(_ *rapid.T, p *message.Plan, w *w) string {
			p.Workflows = append(p.Workflows, *w)
			return fmt.Sprintf("workflows[%d].name", len(p.Workflows)-1)
		}},
		{Name: "all durations", Set: func(_ *rapid.T, p *message.Plan, _ *w) string {
			for i := range p.Workflows {
				p.Workflows[i].Duration, p.Workflows[i].Stages, p.Workflows[i].Thresholds = plan.DurationMax, nil, nil
				if p.Workflows[i].Layer > 0 {
					return "duration of all layers"
				}
			}
			return ""
		}},
		{Name: "after_all", Set: func(_ *rapid.T, p *message.Plan, _ *w) string {
			p.AfterAll = uint32(len(p.Workflows) + 1)
			return "after_all"
		}},
		{Name: "after_all before others", Set: func(_ *rapid.T, p *message.Plan, _ *w) string {
			for i := range p.Workflows {
				for _, on := range slices.Concat(p.Workflows[i].Depends, p.Workflows[i].StartAfter) {
					p.AfterAll = on + 1
					return "after_all"
				}
			}
			return ""
		}},
		{Name: "bytes", Set: func(_ *rapid.T, p *message.Plan, _ *w) string {
			p.Params = []message.ParamPlan{{Name: "p", Help: strings.Repeat("x", plan.BytesMax)}}
			return "plan"
		}},
	}
}

func ofWorkflows() []Breach {
	return []Breach{
		{Name: "workflow name", Set: func(t *rapid.T, p *message.Plan, w *w) string {
			w.Name = badName(t)
			for i := range p.Workflows {
				if p.Workflows[i].Name == w.Name {
					return fmt.Sprintf("workflows[%d].name", i)
				}
			}
			return ""
		}},
		{Name: "vus", Plain: true, Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.VUs = rapid.SampledFrom([]uint64{0, plan.VUsMax + 1}).Draw(t, "n")
			return "vus"
		}},
		{Name: "memory", Plain: true, Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.Memory = rapid.SampledFrom([]uint64{1, plan.MemoryMin - 1, plan.MemoryMax + 1}).Draw(t, "memory")
			return "memory"
		}},
		{Name: "cores", Plain: true, Set: func(_ *rapid.T, _ *message.Plan, w *w) string { w.Cores = plan.CoresMax + 1; return "cores" }},
		{Name: "depends on none", Set: func(_ *rapid.T, p *message.Plan, w *w) string {
			w.Depends = []uint32{uint32(len(p.Workflows))}
			return "depends"
		}},
		{Name: "starts after one twice", Set: func(_ *rapid.T, _ *message.Plan, w *w) string { w.StartAfter = []uint32{0, 0}; return "start_after" }},
		{Name: "circle", Set: func(_ *rapid.T, p *message.Plan, w *w) string {
			at := uint32(0)
			for p.Workflows[at].Name != w.Name {
				at++
			}
			w.Depends, w.StartAfter = []uint32{at}, nil
			return "layer"
		}},
		{Name: "high layer", Set: func(_ *rapid.T, p *message.Plan, w *w) string {
			last := &p.Workflows[len(p.Workflows)-1]
			if last == w {
				return ""
			}
			w.Depends, last.Layer = []uint32{uint32(len(p.Workflows)) - 1}, 1<<32-1
			return "depends"
		}},
		span("duration", plan.DurationMax, func(w *w) *time.Duration { return &w.Duration }),
		span("think", plan.DurationMax, func(w *w) *time.Duration { return &w.Think }),
		span("pace", plan.DurationMax, func(w *w) *time.Duration { return &w.Pace }),
		span("graceful_stop", plan.DurationMax, func(w *w) *time.Duration { return &w.GracefulStop }),
		span("think_max", plan.DurationMax, func(w *w) *time.Duration { return &w.ThinkMax }),
		{Name: "timeout", Plain: true, Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.Timeout = rapid.SampledFrom([]time.Duration{0, -1, plan.TimeoutMax + 1}).Draw(t, "n")
			return "timeout"
		}},
		{Name: "interval", Plain: true, Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.Interval = rapid.SampledFrom([]time.Duration{-1, 1, plan.IntervalMin - 1, plan.DurationMax + 1}).Draw(t, "n")
			return "interval"
		}},
		span("jitter", plan.DurationMax, func(w *w) *time.Duration { return &w.Jitter }),
		span("start_delay", plan.DurationMax, func(w *w) *time.Duration { return &w.StartDelay }),
		{Name: "iterations of each", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.UserIterations, w.Iterations = 3, 3*w.VUs+1
			return "vu_iterations"
		}},
		{Name: "iterations of each that overflow", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.VUs, w.UserIterations, w.Iterations, w.Stages = 4, 1<<62, 0, nil
			return "vu_iterations"
		}},
		{Name: "think_max below", Set: func(_ *rapid.T, _ *message.Plan, w *w) string { w.Think, w.ThinkMax = 2, 1; return "think_max" }},
	}
}

func ofEdges() []Breach {
	return []Breach{
		{Name: "step waits for itself", Set: func(_ *rapid.T, _ *message.Plan, w *w) string { w.Steps[0].After = []uint32{0}; return "after" }},
		{Name: "step behind itself", Set: func(_ *rapid.T, _ *message.Plan, w *w) string { w.Steps[0].Behind = []uint32{0}; return "behind" }},
		{Name: "step behind what it needs", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			for i := range w.Steps {
				if s := &w.Steps[i]; len(s.After) > 0 {
					s.Behind = s.After
					return "behind"
				}
			}
			return ""
		}},
		{Name: "step layer", Set: func(_ *rapid.T, _ *message.Plan, w *w) string { w.Steps[len(w.Steps)-1].Layer++; return "layer" }},
	}
}

func ofSteps() []Breach {
	// Each is planted among the tags of the workflow, or of a step.
	put := func(t *rapid.T, w *w, tags ...message.Tag) {
		if rapid.Bool().Draw(t, "of a step") {
			w.Steps[len(w.Steps)-1].Tags = tags
			return
		}
		w.Tags = tags
	}
	return []Breach{
		{Name: "no step", Set: func(_ *rapid.T, _ *message.Plan, w *w) string { w.Steps = nil; return "steps" }},
		{Name: "steps", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Steps = make([]message.StepPlan, plan.StepsMax+1)
			return "steps"
		}},
		{Name: "step name", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.Steps[len(w.Steps)-1].Name = badName(t)
			return fmt.Sprintf("steps[%d].name", len(w.Steps)-1)
		}},
		{Name: "step twice", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Steps = append(w.Steps, w.Steps[0])
			return fmt.Sprintf("steps[%d].name", len(w.Steps)-1)
		}},
		{Name: "step kind", Plain: true, Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			w.Steps[0].Kind = rapid.SampledFrom([]message.StepKind{0, message.StepAction + 1}).Draw(t, "kind")
			return "kind"
		}},
		{Name: "unit", Plain: true, Set: func(_ *rapid.T, _ *message.Plan, w *w) string { w.Steps[0].Unit = "rates"; return "unit" }},
		{Name: "weight", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			w.Steps[0].Weight = plan.WeightMax + 1
			return "weight"
		}},
		{Name: "comes after one of the drawn", Set: func(_ *rapid.T, _ *message.Plan, w *w) string {
			for i := range w.Steps {
				if on := w.Steps[i].After; len(on) > 0 {
					w.Steps[on[0]].Weight = 1
					return "after"
				}
			}
			return ""
		}},
		{Name: "weighted", Plain: true, Set: func(_ *rapid.T, _ *message.Plan, w *w) string { w.Weighted = !w.Weighted; return "weighted" }},
		{Name: "tags", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			put(t, w, make([]message.Tag, plan.TagsMax+1)...)
			return "tags"
		}},
		{Name: "tag name", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			put(t, w, message.Tag{Name: badName(t)})
			return "tags[0].name"
		}},
		{Name: "tag order", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			put(t, w, message.Tag{Name: "b"}, message.Tag{Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "second")})
			return "tags[1].name"
		}},
		{Name: "tag value", Set: func(t *rapid.T, _ *message.Plan, w *w) string {
			put(t, w, message.Tag{Name: "a", Value: rapid.SampledFrom([]string{strings.Repeat("x", plan.TagMax+1), "\xff"}).Draw(t, "bad")})
			return "tags[0].value"
		}},
	}
}
