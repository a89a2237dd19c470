package demand

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/language"
)

// ThresholdWords lists the first words of thresholds.
func ThresholdWords() []string {
	return []string{"latency", "service", "errors", "checks", "rate", "phase"}
}

// Judged is the workflow that conditions look at.
type Judged struct {
	Steps    []message.StepPlan
	Stages   []message.StagePlan // as its file lists them
	Duration time.Duration
}

// ParseThreshold compiles one condition:
//
//	[step.]latency.p99 < 250ms    also service; p50 ... p99.9, min, max, mean
//	[step.]phase.wait.p95 < 1s    also blocked, dns, connect, tls, send, receive
//	step.first_event.p95 < 1s     what the step's protocol measures; step.events > 100
//	[step.]errors < 1%            checks > 99%
//	[step.]rate > 1000/s
//	metric.p99 < 100              also min, max, mean, count, sum; metric.rate > 10/s
//
// It may say which part of the figures it looks at:
//
//	stage[1].  tag[kind=read].  group[pay].  datacenter[east].     before it, the first stage is 0
//	over 30s   after 1m                               behind it
func ParseThreshold(expr string, w Judged) (message.Threshold, *language.Fault) {
	t := message.Threshold{Expr: expr}
	if len(expr) > plan.ExprMax {
		return t, language.Faultf("it is longer than %d characters", plan.ExprMax)
	}
	at := strings.IndexAny(expr, "<>")
	if at < 0 {
		return t, language.Faultf("it does not compare").Do("write <, <=, > or >=, as in \"errors < 1%%\"")
	}
	left, right := strings.TrimSpace(expr[:at]), expr[at+1:]
	t.Op = message.OpBelow
	if expr[at] == '>' {
		t.Op = message.OpAbove
	}
	if rest, equal := strings.CutPrefix(right, "="); equal {
		right = rest
		t.Op++ // each comparison precedes its twin with equality
	}
	var f *language.Fault
	if left, f = readPlaces(&t, left, w); f != nil {
		return t, f
	}
	if right, f = readTimes(&t, right, w); f != nil {
		return t, f
	}
	if f = readSubject(&t, left, w.Steps); f != nil {
		return t, f
	}
	if f = oneSubject(&t); f != nil {
		return t, f
	}
	if t.Of == message.OfPhase && t.Partial() {
		return t, language.Faultf("a phase is judged over the whole run").Do("take over, after and stage out, or look at latency")
	}
	if t.OfProtocol() && t.Partial() {
		return t, language.Faultf("%s is judged over the whole run", t.Measure).Do("take over, after and stage out, or look at latency")
	}
	t.Bound, f = parseBound(t.Of, right)
	return t, f
}

// oneSubject rejects conditions that name what they look at in two ways.
func oneSubject(t *message.Threshold) *language.Fault {
	switch {
	case t.Group != "" && (t.Step != "" || len(t.Steps) > 0):
		return language.Faultf("it names the group %q, and a step or a tag", t.Group).Do("name one of them")
	case t.Group != "" && (t.Of == message.OfChecks || t.Of == message.OfMetric):
		return language.Faultf("a group has requests, and no checks or metrics").Do("as in \"group[%s].errors < 1%%%%\"", t.Group)
	case t.Step != "" && len(t.Steps) > 0:
		return language.Faultf("it names a tag and the step %q", t.Step).Do("name one of them")
	}
	return nil
}

// ParseAbort compiles a condition and how long it must hold:
//
//	home.errors > 20% for 10s
func ParseAbort(expr string, w Judged) (message.AbortPlan, *language.Fault) {
	condition, long, ok := strings.Cut(expr, " for ")
	if !ok {
		return message.AbortPlan{}, language.Faultf("it does not say for how long").Do("as in \"errors > 20%% for 10s\"")
	}
	d, err := time.ParseDuration(strings.TrimSpace(long))
	if err != nil || d <= 0 || d > plan.DurationMax {
		return message.AbortPlan{}, language.Faultf("%q is not how long something lasts", language.Clip(long, 40)).Do("as in \"errors > 20%% for 10s\"")
	}
	t, f := ParseThreshold(strings.TrimSpace(condition), w)
	if f == nil && (t.Partial() || t.Datacenter != "") {
		f = language.Faultf("it looks at a part of the time, or at one datacenter").Do("say only for how long it must hold, as in \"errors > 20%% for 10s\"")
	}
	return message.AbortPlan{When: t, For: d}, f
}

// readSubject reads the left side.
func readSubject(t *message.Threshold, left string, steps []message.StepPlan) *language.Fault {
	all := make([]string, len(steps))
	for i, s := range steps {
		all[i] = s.Name
	}
	if row, rest, ok := cutRow(left); ok {
		return rowSubject(t, row, rest, steps, all)
	}
	head, rest, _ := strings.Cut(left, ".")
	var kind message.StepKind
	if i := slices.Index(all, head); i < 0 && plan.MeasureOf(head).Kind != message.MeasureNone {
		if !t.Names() {
			return language.Faultf("it does not say whose %s", head).Do("name the step: %q", "feed."+left+" ...")
		}
		return measureSubject(t, head, rest)
	}
	if !slices.Contains(ThresholdWords(), head) {
		i := slices.Index(all, head)
		if i < 0 {
			return language.Faultf("%q is neither a step nor one of %s", language.Clip(head, 40), strings.Join(ThresholdWords(), ", ")).Meant(head, append(all, ThresholdWords()...))
		}
		t.Step, kind = head, steps[i].Kind
		if rest == "" {
			return language.Faultf("it does not say what of %q", head).Do("as in %q", head+".errors < 1%")
		}
		if kind == message.StepMetric {
			return metricSubject(t, rest)
		}
		head, rest, _ = strings.Cut(rest, ".")
		if m := plan.MeasureOf(head); m.Kind != message.MeasureNone {
			switch {
			case kind == message.StepFunction:
				return language.Faultf("the function %q has no %s, its requests do", t.Step, head).Do("name one of them, as in \"%s/GET /events.%s\"", t.Step, head)
			case !slices.Contains(m.Protocols, steps[i].Protocol):
				return language.Faultf("%q has no %s, %s requests do", t.Step, head, strings.Join(m.Protocols, " and "))
			}
			return measureSubject(t, head, rest)
		}
	}
	if f := stepSubject(t, head, rest, kind); f != nil {
		return f
	}
	return nothingToMeasure(t, steps)
}

// cutRow cuts step/name from what it says of it. The name may contain dots.
func cutRow(left string) (row, rest string, ok bool) {
	at := -1
	for _, word := range rowWords() {
		for from := 0; ; {
			i := strings.Index(left[from:], "."+word)
			if i < 0 {
				break
			}
			from += i + 1
			if end := from + len(word); end == len(left) || left[end] == '.' {
				at = max(at, from-1)
			}
		}
	}
	if at < 0 || !strings.Contains(left[:at], "/") {
		return "", "", false
	}
	return left[:at], left[at+1:], true
}

// rowSubject reads a condition of requests that a function sends under a name.
func rowSubject(t *message.Threshold, row, rest string, steps []message.StepPlan, all []string) *language.Fault {
	if !plan.Owned(row, steps) {
		of, _, _ := strings.Cut(row, "/")
		return language.Faultf("%q is not a step", language.Clip(of, 40)).Meant(of, append(all, plan.Hooks()...))
	}
	t.Step = row
	head, rest, _ := strings.Cut(rest, ".")
	if plan.MeasureOf(head).Kind != message.MeasureNone {
		return measureSubject(t, head, rest)
	}
	return stepSubject(t, head, rest, message.StepRequest)
}

func stepSubject(t *message.Threshold, word, rest string, kind message.StepKind) *language.Fault {
	switch word {
	case "phase":
		if kind == message.StepFunction {
			return language.Faultf("the function %q has no phases, its requests do", t.Step).Do("name one of them, as in \"%s/GET /.phase.wait.p95\"", t.Step)
		}
		if kind != message.StepNone && !kind.Measured() {
			return language.Faultf("%q is not measured, it has no phases", t.Step)
		}
		return phaseSubject(t, rest)
	case "latency", "service":
		t.Of = message.OfLatency
		if word == "service" {
			t.Of = message.OfService
		}
		if kind != message.StepNone && !kind.Measured() {
			return language.Faultf("%q is not measured, it has no %s", t.Step, word)
		}
		if rest == "count" || rest == "sum" {
			return statisticUnknown(word, rest, false)
		}
		return parseStatistic(t, word, rest)
	case "errors":
		t.Of = message.OfErrors
		if kind != message.StepNone && !kind.Measured() && kind != message.StepCheck {
			return language.Faultf("%q cannot fail: only steps and checks do", t.Step)
		}
	case "checks":
		t.Of = message.OfChecks
		if kind != message.StepNone && kind != message.StepCheck {
			return language.Faultf("%q is not a check", t.Step)
		}
	case "rate":
		t.Of = message.OfRate
		if kind != message.StepNone && !kind.Measured() {
			return language.Faultf("%q is not measured, it has no rate", t.Step)
		}
	default:
		return language.Faultf("a step has no %q", language.Clip(word, 40)).Meant(word, ThresholdWords())
	}
	if rest != "" {
		return language.Faultf("%s has no %q", word, language.Clip(rest, 40)).Do("write %q", word)
	}
	return nil
}

// phaseSubject reads a phase of requests, and the statistic of its times.
func phaseSubject(t *message.Threshold, rest string) *language.Fault {
	phases := []string{"blocked", "dns", "connect", "tls", "send", "wait", "receive"} // by message.Phase, from 1
	word, rest, _ := strings.Cut(rest, ".")
	i := slices.Index(phases, word)
	if i < 0 {
		return language.Faultf("there is no phase %q", language.Clip(word, 40)).Meant(word, phases)
	}
	t.Of, t.Phase = message.OfPhase, message.Phase(i+1)
	if rest == "count" || rest == "sum" {
		return statisticUnknown("phase."+word, rest, false)
	}
	return parseStatistic(t, "phase."+word, rest)
}

// nothingToMeasure rejects thresholds that no run could meet.
func nothingToMeasure(t *message.Threshold, steps []message.StepPlan) *language.Fault {
	if t.Step != "" {
		return nil
	}
	wanted := func(s message.StepPlan) bool { return s.Kind.Measured() }
	what := "measured step"
	if t.Of == message.OfChecks {
		what = "check"
		wanted = func(s message.StepPlan) bool { return s.Kind == message.StepCheck }
	}
	if !slices.ContainsFunc(steps, wanted) {
		return language.Faultf("the workflow has no %s", what)
	}
	return nil
}

func metricSubject(t *message.Threshold, rest string) *language.Fault {
	if rest == "rate" {
		t.Of = message.OfRate
		return nil
	}
	t.Of = message.OfMetric
	return parseStatistic(t, t.Step, rest)
}

// parseStatistic reads p50 ... p99.99, min, max, mean, count.
func parseStatistic(t *message.Threshold, of, word string) *language.Fault {
	switch word {
	case "min":
		t.Statistic = message.StatMin
	case "max":
		t.Statistic = message.StatMax
	case "mean":
		t.Statistic = message.StatMean
	case "count", "sum":
		t.Statistic = message.StatCount
		if word == "sum" {
			t.Statistic = message.StatSum
		}
	case "":
		return language.Faultf("it does not say which %s", of).Do("as in \"%s.p99\"", of)
	default:
		percent, ok := strings.CutPrefix(word, "p")
		ppm, wrong := parseDecimal(percent, 4)
		if !ok || wrong || ppm <= 0 || ppm > 100_0000 {
			return statisticUnknown(of, word, t.Of == message.OfMetric)
		}
		t.Quantile = uint32(ppm)
	}
	return nil
}

func statisticUnknown(of, word string, metric bool) *language.Fault {
	known := "p50 ... p99.9, min, max or mean"
	if metric {
		known = "p50 ... p99.9, min, max, mean, count, sum or rate"
	}
	return language.Faultf("%s has no %q", of, language.Clip(word, 40)).Do("write %s", known)
}

// parseBound reads the right side, in the unit of the left one.
func parseBound(of message.ThresholdOf, text string) (int64, *language.Fault) {
	wrong := func(want string) (int64, *language.Fault) {
		return 0, language.Faultf("%q is not %s", language.Clip(text, 40), want)
	}
	switch of {
	case message.OfLatency, message.OfService, message.OfPhase, message.OfMeasure:
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return wrong("a duration such as 250ms")
		}
		return int64(d), nil
	case message.OfErrors, message.OfChecks:
		share, ok := strings.CutSuffix(text, "%")
		ppm, bad := parseDecimal(share, 4)
		if !ok || bad || ppm > 100_0000 {
			return wrong("a share such as 1%")
		}
		return ppm, nil
	case message.OfRate:
		rate, ok := strings.CutSuffix(text, "/s")
		n, bad := parseDecimal(rate, 3)
		if !ok || bad {
			return wrong("a rate such as 1000/s")
		}
		return n, nil
	}
	n, bad := parseDecimal(text, 3)
	if bad {
		return wrong("a number such as 100 or 2.5")
	}
	return n, nil
}

// parseDecimal parses an unsigned number with at most places decimals, times 10^places. It uses
// no floats, because a bound must be the same everywhere.
func parseDecimal(text string, places int) (n int64, wrong bool) {
	whole, part, dotted := strings.Cut(text, ".")
	if len(whole) == 0 || len(whole) > 14 || len(part) > places || dotted && part == "" {
		return 0, true
	}
	digits := whole + part + strings.Repeat("0", places-len(part))
	u, err := strconv.ParseUint(digits, 10, 63)
	return int64(u), err != nil
}
