package plan

import (
	"fmt"
	"time"
	"unicode/utf8"

	"hyperscale/core/message"
)

// Check reports what no cluster could run. It trusts nothing: another version of the language
// may have built the plan.
func Check(p *message.Plan) []Fault {
	c := &check{}
	if n := len(p.Workflows); n == 0 {
		c.add("workflows", "0", fmt.Sprintf("be 1 to %d", WorkflowsMax), "declare a workflow")
	} else {
		c.most("workflows", uint64(n), WorkflowsMax, "submit the rest as another job")
	}
	c.text("source", p.Source, 1, PathMax, "give the main file a shorter name")
	c.params(p.Params)
	c.counters(p.Counters)
	c.barriers(p.Barriers)
	seen := map[string]bool{}
	for i := range p.Workflows[:min(len(p.Workflows), WorkflowsMax)] {
		w := &p.Workflows[i]
		c.name(fmt.Sprintf("workflows[%d].name", i), w.Name)
		if seen[w.Name] {
			c.add(fmt.Sprintf("workflows[%d].name", i), quoted(w.Name), "differ from the other workflows'", "give one of them another name")
		}
		seen[w.Name] = true
		c.at = Fault{Workflow: w.Name}
		c.workflow(p, w)
		c.at = Fault{}
	}
	c.whole(p)
	return c.faults
}

// check is the state of one Check.
type check struct {
	at     Fault // names the place of the next fault
	faults []Fault
}

func (c *check) add(key, value, bound, remedy string) {
	if len(c.faults) == FaultsMax {
		return
	}
	f := c.at
	f.Key, f.Value, f.Bound, f.Remedy = key, value, bound, remedy
	c.faults = append(c.faults, f)
}

func (c *check) most(key string, value, most uint64, remedy string) {
	if value > most {
		c.add(key, fmt.Sprint(value), fmt.Sprintf("be at most %d", most), remedy)
	}
}

// span checks a duration; least and most are inclusive.
func (c *check) span(key string, d, least, most time.Duration, remedy string) {
	if d >= least && d <= most {
		return
	}
	bound := fmt.Sprintf("be %s to %s", length(least), length(most))
	if least == 1 {
		bound = "be above 0s and at most " + length(most)
	}
	c.add(key, length(d), bound, remedy)
}

func (c *check) text(key, s string, least, most int, remedy string) {
	if len(s) < least || len(s) > most || !utf8.ValidString(s) {
		c.add(key, quoted(s), fmt.Sprintf("be UTF-8 of %d to %d bytes", least, most), remedy)
	}
}

// name rejects names that a table, a threshold or a flag could not distinguish.
func (c *check) name(key, s string) {
	if !Name(s) {
		c.add(key, quoted(s), fmt.Sprintf("be 1 to %d letters, digits, _ and -", NameMax), "rename it")
	}
}

// Name reports whether a workflow, a step, a tag or a param can have this name.
func Name(s string) bool {
	if s == "" || len(s) > NameMax {
		return false
	}
	for _, b := range []byte(s) {
		if b != '_' && b != '-' && (b < '0' || b > '9') && (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') {
			return false
		}
	}
	return true
}

func (c *check) params(params []message.ParamPlan) {
	c.most("params", uint64(len(params)), ParamsMax, "declare fewer")
	for i := range params[:min(len(params), ParamsMax)] {
		c.name(fmt.Sprintf("params[%d].name", i), params[i].Name)
	}
}

func (c *check) workflow(p *message.Plan, w *message.WorkflowPlan) {
	if w.VUs == 0 {
		c.add("vus", "0", fmt.Sprintf("be 1 to %d", VUsMax), "write how many virtual users run at the same time")
	}
	c.most("vus", w.VUs, VUsMax, "use fewer virtual users, or a rate")
	c.most("cores", uint64(w.Cores), CoresMax, "ask for fewer, or leave cores out")
	if w.Memory != 0 && (w.Memory < MemoryMin || w.Memory > MemoryMax) {
		c.add("memory", fmt.Sprint(w.Memory), fmt.Sprintf("be %d to %d bytes", MemoryMin, uint64(MemoryMax)), "leave it out for what workers let executors have")
	}
	c.spans(w)
	layer := func(i uint32) uint32 { return p.Workflows[i].Layer }
	above := max(c.after("depends", w.Depends, len(p.Workflows), layer), c.after("start_after", w.StartAfter, len(p.Workflows), layer))
	if above != w.Layer {
		c.add("layer", fmt.Sprint(w.Layer), fmt.Sprintf("be %d by depends and start_after", above), "take circles out of depends and start_after")
	}
	c.steps(w)
	c.load(w)
	c.feed(&w.Feed)
	c.thresholds(w)
}

// spans checks the durations.
func (c *check) spans(w *message.WorkflowPlan) {
	const remedy = "shorten it"
	c.span("duration", w.Duration, 0, DurationMax, "shorten it, or submit several jobs")
	c.span("timeout", w.Timeout, 1, TimeoutMax, "30s is the default")
	for _, d := range []struct {
		key string
		is  time.Duration
	}{{"think", w.Think}, {"think_max", w.ThinkMax}, {"pace", w.Pace}, {"graceful_stop", w.GracefulStop}, {"jitter", w.Jitter}, {"start_delay", w.StartDelay}} {
		c.span(d.key, d.is, 0, DurationMax, remedy)
	}
	if w.Interval != 0 {
		c.span("interval", w.Interval, IntervalMin, DurationMax, "1s is a good one")
	}
	if w.ThinkMax != 0 && w.ThinkMax < w.Think {
		c.add("think_max", length(w.ThinkMax), "be at least think = "+length(w.Think), "write the shorter one first: between(\"1s\", \"3s\")")
	}
}

// after checks a list of indices, and returns the layer above all of them. Each index is below
// its reader's layer, which also proves that there is no cycle.
func (c *check) after(key string, list []uint32, bound int, layer func(uint32) uint32) uint32 {
	for i, at := range list {
		if int64(at) >= int64(bound) || i > 0 && list[i-1] >= at {
			c.add(key, fmt.Sprintf("%v", list[:min(len(list), 8)]), fmt.Sprintf("ascend and be below %d", bound), "name each once, and none that is not declared")
			return 0
		}
		if int64(layer(at)) >= int64(bound) {
			c.add(key, fmt.Sprintf("[%d] of layer %d", at, layer(at)), fmt.Sprintf("be of a layer below %d", bound), "take circles out")
			return 0
		}
	}
	return Above(list, layer)
}

// whole checks what all workflows of a plan have together.
func (c *check) whole(p *message.Plan) {
	if len(c.faults) == 0 { // layers are valid
		if d := Longest(p, Lasts); d > DurationMax {
			c.add("duration of all layers", length(d), "be at most "+length(DurationMax), "shorten the workflows that wait for each other, or submit several jobs")
		}
	}
	c.cleanUp(p)
	verdicts := 0
	for i := range p.Workflows {
		verdicts += len(p.Workflows[i].Thresholds)
	}
	c.most("thresholds of all workflows", uint64(verdicts), VerdictsMax, "declare fewer")
	if bytes := (&message.JobSubmit{Plan: *p}).Size(); bytes > BytesMax {
		c.add("plan", size(bytes), "be at most "+size(BytesMax), "declare fewer steps, thresholds and tags, or submit several jobs")
	}
}

func (c *check) thresholds(w *message.WorkflowPlan) {
	c.most("thresholds", uint64(len(w.Thresholds)), ThresholdsMax, "declare fewer")
	for i := range w.Thresholds[:min(len(w.Thresholds), ThresholdsMax)] {
		key := fmt.Sprintf("thresholds[%d]", i)
		c.threshold(key, &w.Thresholds[i], w.Steps)
		c.parts(key, &w.Thresholds[i], w)
	}
	if w.Duration <= DurationMax && len(Cuts(w)) > CutsMax {
		c.add("thresholds", "parts of the time", fmt.Sprintf("be at most %d", CutsMax+1), "write a longer time behind over")
	}
	c.most("abort_when", uint64(len(w.AbortWhen)), AbortsMax, "declare fewer")
	for i := range w.AbortWhen[:min(len(w.AbortWhen), AbortsMax)] {
		key := fmt.Sprintf("abort_when[%d]", i)
		c.span(key+".for", w.AbortWhen[i].For, 1, DurationMax, "write how long it must hold: \"errors > 20% for 10s\"")
		c.threshold(key, &w.AbortWhen[i].When, w.Steps)
		if when := &w.AbortWhen[i].When; when.Partial() || when.Datacenter != "" {
			c.add(key, quoted(when.Expr), "look at all of the time and all datacenters", "write for 10s alone")
		}
	}
}

func (c *check) threshold(key string, t *message.Threshold, steps []message.StepPlan) {
	c.text(key, t.Expr, 1, ExprMax, "write one condition")
	c.known(key+".of", uint64(t.Of), 1, uint64(message.OfAmount))
	c.known(key+".op", uint64(t.Op), 1, uint64(message.OpAtLeast))
	c.known(key+".statistic", uint64(t.Statistic), 0, uint64(message.StatSum))
	c.most(key+".quantile", uint64(t.Quantile), 1_000_000, "write p50 to p99.9999")
	if t.Of == message.OfPhase {
		c.known(key+".phase", uint64(t.Phase), 1, uint64(message.PhaseReceive))
		if t.Partial() {
			c.add(key, quoted(t.Expr), "look at all of the time", "take over, after and stage out: the time of a phase is counted for the whole run")
		}
	}
	if t.OfProtocol() {
		c.measure(key, t)
	}
	if t.Step != "" && !Owned(t.Step, steps) {
		c.add(key+".step", quoted(t.Step), "be a step of the workflow", "name one that is declared")
	}
}

// measure checks what a threshold says of a protocol's measure.
func (c *check) measure(key string, t *message.Threshold) {
	want := map[message.ThresholdOf]message.MeasureKind{message.OfMeasure: message.MeasureTimes, message.OfCount: message.MeasureCount, message.OfAmount: message.MeasureAmounts}
	if MeasureOf(t.Measure).Kind != want[t.Of] {
		c.add(key+".measure", quoted(t.Measure), "be a measure of that kind", "use the same version of hyperscale at both ends")
	}
	if t.Partial() {
		c.add(key, quoted(t.Expr), "look at all of the time", "take over, after and stage out: measures are counted for the whole run")
	}
}

// known checks a number that stands for a name.
func (c *check) known(key string, value, least, most uint64) {
	if value < least || value > most {
		c.add(key, fmt.Sprint(value), fmt.Sprintf("be %d to %d", least, most), "use the same version of hyperscale at both ends")
	}
}
