package gate

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// breach breaks one bound of a submission that is within all of them, and says what the
// fault must name; nothing where the submission has no place for it.
type breach struct {
	name   string
	code   message.Code
	inside bool // of a workflow
	set    func(t *rapid.T, s *message.JobSubmit, w *message.WorkflowPlan) string
}

// badName draws what is no name of at most so many bytes.
func badName(t *rapid.T, most int) string {
	return rapid.SampledFrom([]string{"", strings.Repeat("x", most+1), "\xff"}).Draw(t, "bad name")
}

func beyond(t *rapid.T, most time.Duration) time.Duration {
	return rapid.SampledFrom([]time.Duration{-1, most + 1, 1 << 62, -1 << 62}).Draw(t, "beyond")
}

func breaks() []breach {
	all := ofSubmissions()
	for _, list := range [][]breach{ofWorkflows(), ofLoads(), ofMixes(), ofThresholds()} {
		for _, b := range list {
			b.inside = true
			all = append(all, b)
		}
	}
	for i := range all {
		if all[i].code == message.CodeNone {
			all[i].code = message.CodeBadPlan
		}
	}
	return all
}

func ofSubmissions() []breach {
	type submit = message.JobSubmit
	type plan = message.WorkflowPlan
	return []breach{
		{name: "files", code: message.CodeTooLarge, set: func(t *rapid.T, s *submit, _ *plan) string {
			n := 1 + Default().ProgramBytesMax
			s.Program.Files = []message.File{{Name: s.Program.Main, Data: make([]byte, n)}}
			return fmt.Sprintf("program: its files have %d bytes", n)
		}},
		{name: "size", code: message.CodeTooLarge, set: func(t *rapid.T, s *submit, _ *plan) string {
			s.Program.Params = []message.Param{{Name: "p", Value: strings.Repeat("x", message.FrameMax-frameSlack)}}
			return fmt.Sprintf("the submission has %d bytes", s.Size())
		}},
		{name: "key", set: func(t *rapid.T, s *submit, _ *plan) string {
			s.Key = badName(t, keyMax)
			return fmt.Sprintf("key = %.64q", s.Key)
		}},
		{name: "name", set: func(t *rapid.T, s *submit, _ *plan) string {
			s.Name = rapid.SampledFrom([]string{strings.Repeat("x", nameMax+1), "\xff"}).Draw(t, "bad")
			return "name: "
		}},
		{name: "file", set: func(t *rapid.T, s *submit, _ *plan) string {
			at := len(s.Program.Files) - 1
			s.Program.Files[at].Name = badName(t, pathMax)
			return fmt.Sprintf("program.files[%d].name = %.64q", at, s.Program.Files[at].Name)
		}},
		{name: "main", set: func(t *rapid.T, s *submit, _ *plan) string {
			s.Program.Main = "gone"
			return `program.main = "gone"`
		}},
		{name: "feeds", set: func(t *rapid.T, s *submit, _ *plan) string {
			s.Program.Feeds = make([]message.FeedFile, feedsMax+1)
			return fmt.Sprintf("program.feeds: %d are", feedsMax+1)
		}},
		{name: "feed name", set: func(t *rapid.T, s *submit, _ *plan) string {
			s.Program.Feeds = append(s.Program.Feeds, message.FeedFile{Name: badName(t, pathMax)})
			return fmt.Sprintf("program.feeds[%d].name", len(s.Program.Feeds)-1)
		}},
		{name: "feed bounds", set: func(t *rapid.T, s *submit, _ *plan) string {
			f := message.FeedFile{Name: "f", Bytes: 1, Rows: 1, Columns: []string{"a"}}
			switch rapid.IntRange(0, 5).Draw(t, "which") {
			case 0:
				f.Bytes = 0
			case 1:
				f.Bytes = feedSizeMax + 1
			case 2:
				f.Rows = 0
			case 3:
				f.Rows = rowsMax + 1
			case 4:
				f.Columns = nil
			case 5:
				f.Columns = make([]string, columnsMax+1)
			}
			s.Program.Feeds = append(s.Program.Feeds, f)
			return fmt.Sprintf("program.feeds[%d]: %d bytes, %d rows, %d columns", len(s.Program.Feeds)-1, f.Bytes, f.Rows, len(f.Columns))
		}},
		{name: "feed column", set: func(t *rapid.T, s *submit, _ *plan) string {
			bad := badName(t, columnMax)
			s.Program.Feeds = append(s.Program.Feeds, message.FeedFile{Name: "f", Bytes: 1, Rows: 1, Columns: []string{"a", bad}})
			return fmt.Sprintf("program.feeds[%d].columns = %.64q", len(s.Program.Feeds)-1, bad)
		}},
		{name: "datacenters", set: func(t *rapid.T, s *submit, _ *plan) string {
			n := Default().DatacentersMax + 1
			s.Datacenters = make([]string, n)
			return fmt.Sprintf("datacenters: %d are", n)
		}},
		{name: "place", set: func(t *rapid.T, s *submit, _ *plan) string {
			bad := rapid.SampledFrom([]string{"", "a b", "ä", "a/b", strings.Repeat("x", placeMax+1)}).Draw(t, "bad")
			s.Datacenters = []string{"a", bad}
			return fmt.Sprintf("datacenters: %q is no name", bad)
		}},
		{name: "place twice", set: func(t *rapid.T, s *submit, _ *plan) string {
			s.Datacenters = []string{"b", "a", "b"}
			return `datacenters: "b" is named twice`
		}},
		{name: "run timeout", set: func(t *rapid.T, s *submit, _ *plan) string {
			s.RunTimeout = beyond(t, Default().RunTimeoutMax)
			return fmt.Sprintf("run_timeout = %v", s.RunTimeout)
		}},
		{name: "workflows", set: func(t *rapid.T, s *submit, _ *plan) string {
			n := rapid.SampledFrom([]int{0, workflowsMax + 1}).Draw(t, "n")
			s.Plan.Workflows = make([]message.WorkflowPlan, n)
			return fmt.Sprintf("plan.workflows: %d are", n)
		}},
		{name: "source", set: func(t *rapid.T, s *submit, _ *plan) string {
			s.Plan.Source = badName(t, pathMax)
			return fmt.Sprintf("plan.source = %.64q", s.Plan.Source)
		}},
		{name: "workflow name", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Name = badName(t, nameMax)
			return fmt.Sprintf("].name = %.64q", w.Name)
		}},
		{name: "workflow twice", set: func(t *rapid.T, s *submit, w *plan) string {
			s.Plan.Workflows = append(s.Plan.Workflows, *w)
			return fmt.Sprintf("workflow %q is declared twice", w.Name)
		}},
	}
}

func ofWorkflows() []breach {
	type submit = message.JobSubmit
	type plan = message.WorkflowPlan
	return []breach{
		{name: "vus", set: func(t *rapid.T, s *submit, w *plan) string {
			w.VUs = rapid.SampledFrom([]uint64{0, vusMax + 1}).Draw(t, "n")
			return fmt.Sprintf("vus = %d", w.VUs)
		}},
		{name: "duration", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Duration = beyond(t, longest)
			return fmt.Sprintf("duration = %v", w.Duration)
		}},
		{name: "timeout", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Timeout = rapid.SampledFrom([]time.Duration{0, -1, longest + 1}).Draw(t, "n")
			return fmt.Sprintf("timeout = %v", w.Timeout)
		}},
		{name: "think", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Think = beyond(t, longest)
			return fmt.Sprintf("think = %v", w.Think)
		}},
		{name: "cores", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Cores = coresMax + 1
			return fmt.Sprintf("cores = %d", w.Cores)
		}},
		{name: "depends on none", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Depends = []uint32{uint32(len(s.Plan.Workflows))}
			return fmt.Sprintf("depends = %v must ascend and be below %d", w.Depends, len(s.Plan.Workflows))
		}},
		{name: "starts after one twice", set: func(t *rapid.T, s *submit, w *plan) string {
			w.StartAfter = []uint32{0, 0}
			if s.Plan.Workflows[0].Name == w.Name { // its own layer is above itself: named first or not
				return ""
			}
			return "start_after = [0 0] must ascend"
		}},
		{name: "cycle", set: func(t *rapid.T, s *submit, w *plan) string {
			at := uint32(0)
			for s.Plan.Workflows[at].Name != w.Name {
				at++
			}
			w.Depends, w.StartAfter = []uint32{at}, nil
			return fmt.Sprintf("layer = %d must be %d", w.Layer, w.Layer+1)
		}},
		{name: "high layer", set: func(t *rapid.T, s *submit, w *plan) string {
			last := &s.Plan.Workflows[len(s.Plan.Workflows)-1]
			if last.Name == w.Name {
				return ""
			}
			w.Depends, last.Layer = []uint32{uint32(len(s.Plan.Workflows)) - 1}, 1<<32-1
			return fmt.Sprintf("layer %d is above the bound of %d", uint32(1<<32-1), len(s.Plan.Workflows))
		}},
		{name: "steps", set: func(t *rapid.T, s *submit, w *plan) string {
			n := rapid.SampledFrom([]int{0, stepsMax + 1}).Draw(t, "n")
			w.Steps = make([]message.StepPlan, n)
			return fmt.Sprintf("steps: %d are", n)
		}},
		{name: "step name", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Steps[len(w.Steps)-1].Name = badName(t, nameMax)
			return fmt.Sprintf("steps[%d].name", len(w.Steps)-1)
		}},
		{name: "step twice", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Steps = append(w.Steps, w.Steps[0])
			return fmt.Sprintf("step %q is declared twice", w.Steps[0].Name)
		}},
		{name: "step kind", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Steps[0].Kind = rapid.SampledFrom([]message.StepKind{0, 6}).Draw(t, "kind")
			return fmt.Sprintf("kind = %d is not known", w.Steps[0].Kind)
		}},
		{name: "step waits for itself", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Steps[0].After = []uint32{0}
			return fmt.Sprintf("step %q: after = [0]", w.Steps[0].Name)
		}},
		{name: "step layer", set: func(t *rapid.T, s *submit, w *plan) string {
			last := &w.Steps[len(w.Steps)-1]
			right := last.Layer
			last.Layer++
			return fmt.Sprintf("step %q: layer = %d must be %d", last.Name, last.Layer, right)
		}},
	}
}

func ofThresholds() []breach {
	type submit = message.JobSubmit
	type plan = message.WorkflowPlan
	// Each is planted as a threshold, or as the condition of an abort.
	put := func(t *rapid.T, w *plan, x message.Threshold) string {
		if rapid.Bool().Draw(t, "abort") {
			w.AbortWhen = append(w.AbortWhen, message.AbortPlan{For: 1, When: x})
			return "abort_when"
		}
		w.Thresholds = append(w.Thresholds, x)
		return "threshold"
	}
	ok := message.Threshold{Expr: "x", Of: message.OfErrors, Op: message.OpBelow}
	return []breach{
		{name: "thresholds", set: func(t *rapid.T, s *submit, w *plan) string {
			w.Thresholds = make([]message.Threshold, thresholdsMax+1)
			return fmt.Sprintf("thresholds: %d are", thresholdsMax+1)
		}},
		{name: "aborts", set: func(t *rapid.T, s *submit, w *plan) string {
			w.AbortWhen = make([]message.AbortPlan, abortsMax+1)
			return fmt.Sprintf("abort_when: %d conditions", abortsMax+1)
		}},
		{name: "for", set: func(t *rapid.T, s *submit, w *plan) string {
			a := message.AbortPlan{When: ok, For: rapid.SampledFrom([]time.Duration{0, -1, longest + 1}).Draw(t, "for")}
			w.AbortWhen = append(w.AbortWhen, a)
			return fmt.Sprintf(`abort_when "x": for = %v`, a.For)
		}},
		{name: "expr", set: func(t *rapid.T, s *submit, w *plan) string {
			x := ok
			x.Expr = badName(t, tagMax)
			return put(t, w, x) + fmt.Sprintf(" %.64q: its text", x.Expr)
		}},
		{name: "of", set: func(t *rapid.T, s *submit, w *plan) string {
			x := ok
			x.Of = rapid.SampledFrom([]message.ThresholdOf{0, 7}).Draw(t, "of")
			return put(t, w, x) + fmt.Sprintf(` "x": looks at %d`, x.Of)
		}},
		{name: "op", set: func(t *rapid.T, s *submit, w *plan) string {
			x := ok
			x.Op = rapid.SampledFrom([]message.ThresholdOp{0, 5}).Draw(t, "op")
			return put(t, w, x) + fmt.Sprintf(` "x": compares by %d`, x.Op)
		}},
		{name: "quantile", set: func(t *rapid.T, s *submit, w *plan) string {
			x := ok
			x.Quantile = 1_000_001
			return put(t, w, x) + ` "x": quantile = 1000001`
		}},
		{name: "step of a threshold", set: func(t *rapid.T, s *submit, w *plan) string {
			x := ok
			x.Step = "gone"
			return put(t, w, x) + ` "x": step "gone"`
		}},
	}
}
