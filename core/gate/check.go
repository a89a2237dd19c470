package gate

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"hyperscale/core/message"
)

// Bounds of what a plan may declare. They keep every message that carries a part
// of it inside a frame.
const (
	keyMax        = 128
	nameMax       = 256
	pathMax       = 1024
	placeMax      = 64
	workflowsMax  = 256
	stepsMax      = 1024
	thresholdsMax = 256
	verdictsMax   = 4096 // of all workflows: a message's list holds no more
	vusMax        = 100_000_000
	coresMax      = 1 << 16
	frameSlack    = 16 << 10 // between a submission and the messages made of it

	verdictBytesMax = resultMax / 2
)

// check refuses what no cluster could run. It trusts nothing: a plan that another
// version of the loader made must not break a manager.
func (m *Machine) check(s *message.JobSubmit) (message.Code, string) {
	total := 0
	for _, f := range s.Program.Files {
		total += len(f.Data)
	}
	if total > m.config.ProgramBytesMax {
		return message.CodeTooLarge, fmt.Sprintf("program: its files have %d bytes, the bound is %d", total, m.config.ProgramBytesMax)
	}
	if n := s.Size(); n > message.FrameMax-frameSlack {
		return message.CodeTooLarge, fmt.Sprintf("the submission has %d bytes, the bound is %d", n, message.FrameMax-frameSlack)
	}
	if err := m.checkSubmit(s); err != nil {
		return message.CodeBadPlan, err.Error()
	}
	if err := checkPlan(&s.Plan); err != nil {
		return message.CodeBadPlan, err.Error()
	}
	return message.CodeNone, ""
}

func (m *Machine) checkSubmit(s *message.JobSubmit) error {
	if err := checkName("key", s.Key, keyMax); err != nil {
		return err
	}
	if len(s.Name) > nameMax || !utf8.ValidString(s.Name) {
		return fmt.Errorf("name: must be UTF-8 of at most %d bytes", nameMax)
	}
	for i, f := range s.Program.Files {
		if err := checkName(fmt.Sprintf("program.files[%d].name", i), f.Name, pathMax); err != nil {
			return err
		}
	}
	if err := checkFeeds(s.Program.Feeds); err != nil {
		return err
	}
	if !slices.ContainsFunc(s.Program.Files, func(f message.File) bool { return f.Name == s.Program.Main }) {
		return fmt.Errorf("program.main = %q is not among its files", s.Program.Main)
	}
	if n := len(s.Datacenters); n > m.config.DatacentersMax {
		return fmt.Errorf("datacenters: %d are named, the bound is %d", n, m.config.DatacentersMax)
	}
	names := sortedNames(s.Datacenters)
	for i, name := range names {
		if !placeName(name) {
			return fmt.Errorf("datacenters: %q is no name: use at most %d letters, digits, dots, dashes", name, placeMax)
		}
		if i > 0 && names[i-1] == name {
			return fmt.Errorf("datacenters: %q is named twice", name)
		}
	}
	if s.RunTimeout < 0 || s.RunTimeout > m.config.RunTimeoutMax {
		return fmt.Errorf("run_timeout = %v must be between 0 and %v", s.RunTimeout, m.config.RunTimeoutMax)
	}
	return nil
}

func sortedNames(names []string) []string { return slices.Sorted(slices.Values(names)) }

// placeName keeps datacenters' names usable in keys of the store.
func placeName(name string) bool {
	if name == "" || len(name) > placeMax {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return true
}

func checkName(what, name string, most int) error {
	if name == "" || len(name) > most || !utf8.ValidString(name) {
		return fmt.Errorf("%s = %.64q must be UTF-8 of 1 to %d bytes", what, name, most)
	}
	return nil
}

func checkPlan(p *message.Plan) error {
	if n := len(p.Workflows); n == 0 || n > workflowsMax {
		return fmt.Errorf("plan.workflows: %d are declared, must be 1 to %d", n, workflowsMax)
	}
	if err := checkName("plan.source", p.Source, pathMax); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range p.Workflows {
		w := &p.Workflows[i]
		if err := checkName(fmt.Sprintf("plan.workflows[%d].name", i), w.Name, nameMax); err != nil {
			return err
		}
		if seen[w.Name] {
			return fmt.Errorf("workflow %q is declared twice", w.Name)
		}
		seen[w.Name] = true
		if err := checkWorkflow(p, w); err != nil {
			return fmt.Errorf("workflow %q: %w", w.Name, err)
		}
	}
	return checkVerdicts(p)
}

// checkVerdicts bounds what the verdicts on all thresholds take in the job's result:
// fitResult leaves none of them out.
func checkVerdicts(p *message.Plan) error {
	var r message.JobResult
	for i := range p.Workflows {
		for k := range p.Workflows[i].Thresholds {
			r.Result.Thresholds = append(r.Result.Thresholds, message.ThresholdResult{Workflow: p.Workflows[i].Name, Expr: p.Workflows[i].Thresholds[k].Expr})
		}
	}
	if n, size := len(r.Result.Thresholds), r.Size(); n > verdictsMax || size > verdictBytesMax {
		return fmt.Errorf("plan: its %d thresholds take %d bytes in a result, the bounds are %d and %d", n, size, verdictsMax, verdictBytesMax)
	}
	return nil
}

func checkWorkflow(p *message.Plan, w *message.WorkflowPlan) error {
	switch {
	case w.VUs < 1 || w.VUs > vusMax:
		return fmt.Errorf("vus = %d must be between 1 and %d", w.VUs, vusMax)
	case w.Duration < 0 || w.Duration > longest:
		return fmt.Errorf("duration = %v must be between 0 and %v", w.Duration, longest)
	case w.Timeout <= 0 || w.Timeout > longest:
		return fmt.Errorf("timeout = %v must be above 0 and at most %v", w.Timeout, longest)
	case w.Think < 0 || w.Think > longest:
		return fmt.Errorf("think = %v must be between 0 and %v", w.Think, longest)
	case w.Cores > coresMax:
		return fmt.Errorf("cores = %d must be at most %d", w.Cores, coresMax)
	}
	// A layer above those of all dependencies also proves that there is no cycle.
	layer, err := layerOf("depends", w.Depends, len(p.Workflows), func(i uint32) uint32 { return p.Workflows[i].Layer })
	if err != nil {
		return err
	}
	later, err := layerOf("start_after", w.StartAfter, len(p.Workflows), func(i uint32) uint32 { return p.Workflows[i].Layer })
	if err != nil {
		return err
	}
	if layer = max(layer, later); layer != w.Layer {
		return fmt.Errorf("layer = %d must be %d by its dependencies", w.Layer, layer)
	}
	if err := checkSteps(w.Steps); err != nil {
		return err
	}
	if err := checkLoad(w); err != nil {
		return err
	}
	return checkThresholds(w)
}

// layerOf checks a list of indices and returns the layer that follows from it.
func layerOf(what string, list []uint32, bound int, layer func(uint32) uint32) (uint32, error) {
	var highest uint32
	for i, at := range list {
		if int(at) >= bound || i > 0 && list[i-1] >= at {
			return 0, fmt.Errorf("%s = %v must ascend and be below %d", what, list, bound)
		}
		below := layer(at)
		if int64(below) >= int64(bound) {
			return 0, fmt.Errorf("%s = %v: layer %d is above the bound of %d", what, list, below, bound)
		}
		highest = max(highest, below+1)
	}
	return highest, nil
}

func checkSteps(steps []message.StepPlan) error {
	if len(steps) == 0 || len(steps) > stepsMax {
		return fmt.Errorf("steps: %d are declared, must be 1 to %d", len(steps), stepsMax)
	}
	seen := map[string]bool{}
	for i := range steps {
		s := &steps[i]
		if err := checkName(fmt.Sprintf("steps[%d].name", i), s.Name, nameMax); err != nil {
			return err
		}
		if seen[s.Name] {
			return fmt.Errorf("step %q is declared twice", s.Name)
		}
		seen[s.Name] = true
		if s.Kind == message.StepNone || s.Kind > message.StepAction {
			return fmt.Errorf("step %q: kind = %d is not known", s.Name, s.Kind)
		}
		layer, err := layerOf("after", s.After, i, func(k uint32) uint32 { return steps[k].Layer })
		if err != nil {
			return fmt.Errorf("step %q: %w", s.Name, err)
		}
		if layer != s.Layer {
			return fmt.Errorf("step %q: layer = %d must be %d by the steps it waits for", s.Name, s.Layer, layer)
		}
	}
	return nil
}

func checkThresholds(w *message.WorkflowPlan) error {
	if n := len(w.Thresholds); n > thresholdsMax {
		return fmt.Errorf("thresholds: %d are declared, the bound is %d", n, thresholdsMax)
	}
	for i := range w.Thresholds {
		if err := checkThreshold("threshold", &w.Thresholds[i], w.Steps); err != nil {
			return err
		}
	}
	return nil
}

func checkThreshold(what string, t *message.Threshold, steps []message.StepPlan) error {
	switch {
	case t.Expr == "" || len(t.Expr) > tagMax || !utf8.ValidString(t.Expr):
		return fmt.Errorf("%s %.64q: its text must be UTF-8 of 1 to %d bytes", what, t.Expr, tagMax)
	case t.Of == message.OfNone || t.Of > message.OfMetric:
		return fmt.Errorf("%s %.64q: looks at %d, which is not known", what, t.Expr, t.Of)
	case t.Op == message.OpNone || t.Op > message.OpAtLeast:
		return fmt.Errorf("%s %.64q: compares by %d, which is not known", what, t.Expr, t.Op)
	case t.Quantile > 1_000_000:
		return fmt.Errorf("%s %.64q: quantile = %d is above 1000000", what, t.Expr, t.Quantile)
	case t.Step != "" && !slices.ContainsFunc(steps, func(s message.StepPlan) bool { return s.Name == t.Step }):
		return fmt.Errorf("%s %.64q: step %q is not declared", what, t.Expr, t.Step)
	}
	return nil
}

// runTimeout is what was asked for, or the longest chain of workflows and a
// minute. A workflow without a duration makes its iterations: each layer of its
// steps takes at most one timeout.
func (m *Machine) runTimeout(s *message.JobSubmit) time.Duration {
	if s.RunTimeout > 0 {
		return s.RunTimeout
	}
	const bound = 1 << 60 // far from overflow
	w := s.Plan.Workflows
	byLayer := make([]time.Duration, len(w)) // longest workflow of each layer
	for i := range w {
		at := min(int(w[i].Layer), len(w)-1)
		byLayer[at] = max(byLayer[at], span(&w[i]))
	}
	total := m.config.RunTimeoutExtra
	for _, d := range byLayer {
		total = min(bound, total+d)
	}
	return min(total, m.config.RunTimeoutMax)
}
