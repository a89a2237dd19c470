package demand_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow/demand"
)

func TestThresholdsOverParts(t *testing.T) {
	s := time.Second
	w := demand.Judged{
		Steps: []message.StepPlan{
			{Name: "home", Kind: message.StepRequest, Tags: []message.Tag{{Name: "kind", Value: "read"}}},
			{Name: "look", Kind: message.StepFunction, Tags: []message.Tag{{Name: "kind", Value: "read"}}},
			{Name: "good", Kind: message.StepCheck, Tags: []message.Tag{{Name: "kind", Value: "read"}}},
		},
		Stages:   []message.StagePlan{{Duration: 10 * s}, {}, {Duration: 20 * s}, {Duration: 30 * s}},
		Duration: 60 * s,
	}
	errors := message.Threshold{Of: message.OfErrors, Op: message.OpBelow, Bound: 10_000}
	all := map[string]func(*message.Threshold){
		"errors < 1% after 30s":                         func(t *message.Threshold) { t.From = 30 * s },
		"errors < 1% over 10s":                          func(t *message.Threshold) { t.Over = 10 * s },
		"errors<1%   after 5s   over 10s":               func(t *message.Threshold) { t.From, t.Over = 5*s, 10*s },
		"stage[0].errors < 1%":                          func(t *message.Threshold) { t.Until = 10 * s },
		"stage[2].errors < 1% over 4s":                  func(t *message.Threshold) { t.From, t.Until, t.Over = 10*s, 30*s, 4*s },
		"stage[3].errors < 1%":                          func(t *message.Threshold) { t.From = 30 * s },
		"tag[kind=read].errors < 1%":                    func(t *message.Threshold) { t.Steps = []string{"home", "look"} },
		"datacenter[east].home.errors < 1%":             func(t *message.Threshold) { t.Datacenter, t.Step = "east", "home" },
		"datacenter[east].stage[0].home.errors < 1%":    func(t *message.Threshold) { t.Datacenter, t.Until, t.Step = "east", 10*s, "home" },
		"stage[0].datacenter[east].errors < 1% over 1s": func(t *message.Threshold) { t.Datacenter, t.Until, t.Over = "east", 10*s, s },
	}
	for _, expr := range slices.Sorted(maps.Keys(all)) {
		t.Run(expr, func(t *testing.T) {
			want := errors
			want.Expr = expr
			all[expr](&want)
			got, f := demand.ParseThreshold(expr, w)
			if f != nil {
				t.Fatal(f)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatal(d)
			}
		})
	}
}
