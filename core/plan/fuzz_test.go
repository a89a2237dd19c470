package plan_test

import (
	"testing"
	"time"
	"unicode/utf8"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// FuzzCheck: for any bytes that make a plan, Check reports at most FaultsMax faults, each with
// a key, a value, a bound and a remedy in UTF-8. In a plan without faults everything points
// backwards, and the plan fits a frame beside the largest program.
func FuzzCheck(f *testing.F) {
	for _, p := range []message.Plan{
		{}, *small(), {Source: "\xff", Workflows: make([]message.WorkflowPlan, plan.WorkflowsMax+1)},
		{Source: "f", Workflows: []message.WorkflowPlan{{Name: "a", Layer: 1<<32 - 1, Depends: []uint32{0, 7}, StartAfter: []uint32{1 << 31}, Steps: []message.StepPlan{{After: []uint32{0, 1<<32 - 1}}}}}},
	} {
		b, err := p.MarshalMsg(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := message.Plan{}
		if _, err := p.UnmarshalMsg(data); err != nil {
			return
		}
		faults := plan.Check(&p)
		if len(faults) > plan.FaultsMax {
			t.Fatalf("%d faults", len(faults))
		}
		for _, f := range faults {
			if f.Key == "" || f.Value == "" || f.Bound == "" || f.Remedy == "" || !utf8.ValidString(f.String()) {
				t.Fatalf("the fault lacks something: %+v", f)
			}
		}
		if len(faults) > 0 {
			return
		}
		backwards(t, &p)
		if d := plan.Longest(&p, func(w *message.WorkflowPlan) time.Duration { return w.Duration }); d < 0 || d > plan.DurationMax {
			t.Fatalf("all layers take %v", d)
		}
		submit := message.JobSubmit{Plan: p, Program: message.Program{Files: []message.File{{Data: make([]byte, plan.FileBytesMax)}}, Params: []message.Param{{Value: string(make([]byte, plan.ProgramMax-plan.FileBytesMax-1000))}}}}
		if n := submit.Size(); n > message.FrameMax-16<<10 {
			t.Fatalf("a legal plan and the largest program have %d bytes", n)
		}
	})
}

func backwards(t *testing.T, p *message.Plan) {
	for i := range p.Workflows {
		w := &p.Workflows[i]
		for _, list := range [][]uint32{w.Depends, w.StartAfter} {
			for _, k := range list {
				if int(k) >= len(p.Workflows) || p.Workflows[k].Layer >= w.Layer {
					t.Fatalf("workflow %d waits for %d", i, k)
				}
			}
		}
		for k := range w.Steps {
			for _, on := range w.Steps[k].After {
				if int(on) >= k {
					t.Fatalf("step %d comes after %d", k, on)
				}
			}
		}
	}
}
