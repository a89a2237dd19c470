package demand_test

import (
	"maps"
	"slices"
	"strings"
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
		"group[pay/card].errors < 1%":                   func(t *message.Threshold) { t.Group = "pay/card" },
		"stage[0].group[pay].errors < 1% over 1s":       func(t *message.Threshold) { t.Group, t.Until, t.Over = "pay", 10*s, s },
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

func TestThresholdsOfNamedRequests(t *testing.T) {
	w := demand.Judged{Steps: []message.StepPlan{{Name: "home", Kind: message.StepRequest}, {Name: "buy", Kind: message.StepFunction}, {Name: "good", Kind: message.StepCheck}}}
	for _, c := range []struct{ expr, row, fault string }{
		{"buy/login.latency.p99 < 200ms", "buy/login", ""},
		{"buy/GET /a.json.errors < 1%", "buy/GET /a.json", ""},
		{"buy/GET /users/{id}.rate > 1/s", "buy/GET /users/{id}", ""},
		{"buy/.latency.rate > 1/s", "buy/.latency", ""},
		{"good/checkout/GET /x.service.max < 1s", "good/checkout/GET /x", ""},
		{"setup/GET /token.latency.p99 < 1s", "setup/GET /token", ""},
		{"home/login.latency.p99 < 1s", "home/login", ""},
		{"bye/login.errors < 1%", "", "\"bye\" is not a step"},
		{"buy/login.latency < 1s", "", "does not say which latency"},
		{"buy/login.checks > 1%", "", "is not a check"},
	} {
		got, f := demand.ParseThreshold(c.expr, w)
		switch {
		case c.fault == "" && (f != nil || got.Step != c.row):
			t.Errorf("%s: %q, %v", c.expr, got.Step, f)
		case c.fault != "" && (f == nil || !strings.Contains(f.Message, c.fault)):
			t.Errorf("%s: %v, want %q", c.expr, f, c.fault)
		}
	}
}

func TestThresholdsOfGroups(t *testing.T) {
	w := demand.Judged{Steps: []message.StepPlan{{Name: "home", Kind: message.StepRequest}, {Name: "buy", Kind: message.StepFunction}, {Name: "sum", Kind: message.StepCheck}}}
	for _, c := range []struct{ expr, fault string }{
		{"group[pay].latency.p99 < 200ms", ""},
		{"group[pay].phase.wait.p99 < 200ms", ""},
		{"group[pay].rate > 2/s", ""},
		{"group[].errors < 1%", "is not a group's name"},
		{"group[/pay].errors < 1%", "is not a group's name"},
		{"group[pay].home.errors < 1%", "and a step or a tag"},
		{"group[pay].checks > 1%", "and no checks"},
	} {
		got, f := demand.ParseThreshold(c.expr, w)
		switch {
		case c.fault == "" && (f != nil || got.Group != "pay"):
			t.Errorf("%s: %+v, %v", c.expr, got, f)
		case c.fault != "" && (f == nil || !strings.Contains(f.Message, c.fault)):
			t.Errorf("%s: %v, want %q", c.expr, f, c.fault)
		}
	}
	w.Steps = w.Steps[:1]
	if _, f := demand.ParseThreshold("group[pay].errors < 1%", w); f == nil || !strings.Contains(f.Message, "has no function") {
		t.Errorf("without a function: %v", f)
	}
}
