package compare

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

// cautionsMax bounds the cautions of one kind.
const cautionsMax = 3

// cautions list other differences, and reasons to doubt the figures.
func cautions(a, b *report.Result, rates *pacing) []string {
	all := []string{}
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if a.Job != "" && a.Job == b.Job {
		add("both files are of one run, job %.40s", a.Job)
	}
	if a.Name != b.Name {
		add("different tests: %.60s, now %.60s", a.Name, b.Name)
	}
	completed := message.JobCompleted.String()
	if a.Outcome != b.Outcome {
		add("different outcomes: %.20s, now %.20s", a.Outcome, b.Outcome)
	} else if a.Outcome != completed {
		add("both runs ended %.20s: they may lack requests", a.Outcome)
	}
	all = append(all, thresholds(a, b)...)
	for i, r := range []*report.Result{a, b} {
		for _, found := range []struct {
			so   bool
			what string
		}{{r.Generator.Saturated, "was saturated"}, {r.Generator.Starved, "was starved of its cores"}, {r.Generator.Late && !r.Generator.Saturated && !r.Generator.Starved, "was late"}} {
			if found.so {
				add("the generator of the %s %s: its figures are the generator's own, not the target's", []string{"baseline", "new run"}[i], found.what)
			}
		}
		if n := len(r.Missing); n > 0 {
			add("best effort left %.60s out of the %s: its load was less than asked, and no figure covers what that sent", strings.Join(r.Missing, ", "), []string{"baseline", "new run"}[i])
		}
		if r.Generator.Throttled() {
			add("the executors of the %s were throttled for their memory: its load was less than asked", []string{"baseline", "new run"}[i])
		}
		if n := r.Generator.Silent; n > 0 {
			add("%d executors of the %s had no answer at all: their share of its load did not get through", n, []string{"baseline", "new run"}[i])
		}
		if coarse(r) {
			add("the %s has many steps, its histograms are coarse: small changes may be theirs", []string{"baseline", "new run"}[i])
		}
	}
	return append(append(all, loads(a, b, rates)...), places(a, b)...)
}

// thresholds lists those that were met and no longer are.
func thresholds(a, b *report.Result) (all []string) {
	met := map[[2]string]bool{}
	for _, t := range a.Thresholds {
		met[[2]string{t.Workflow, t.Expr}] = t.OK
	}
	for _, t := range b.Thresholds {
		if ok, known := met[[2]string{t.Workflow, t.Expr}]; known && ok && !t.OK {
			all = append(all, fmt.Sprintf("threshold no longer met: %.80s", t.Expr))
		}
	}
	return few(all, "thresholds no longer met")
}

func few(all []string, what string) []string {
	if more := len(all) - cautionsMax; more > 0 {
		return append(all[:cautionsMax:cautionsMax], fmt.Sprintf("and %d more %s", more, what))
	}
	return all
}

// coarse says whether a result was too large for its histograms, according to its log.
func coarse(r *report.Result) bool {
	return slices.ContainsFunc(r.Workflows, func(w report.Workflow) bool {
		return slices.ContainsFunc(w.Logs, func(line string) bool { return strings.HasPrefix(line, "percentiles are up to ") })
	})
}

// loads lists differences in the requested load.
func loads(a, b *report.Result, rates *pacing) (all []string) {
	byName := map[string]*report.Workflow{}
	for i := range a.Workflows {
		byName[a.Workflows[i].Name] = &a.Workflows[i]
	}
	for i := range b.Workflows {
		now := &b.Workflows[i]
		was := byName[now.Name]
		if was == nil {
			continue
		}
		differs := func(what, before, after string) {
			all = append(all, fmt.Sprintf("workflow %.60s: different %s: %s, now %s", now.Name, what, before, after))
		}
		if was.VUs != now.VUs {
			differs("VUs", fmt.Sprint(was.VUs), fmt.Sprint(now.VUs))
		}
		if was.Cores != now.Cores {
			differs("cores", fmt.Sprint(was.Cores), fmt.Sprint(now.Cores))
		}
		if apart(float64(was.DurationNS), float64(now.DurationNS), 1.1) {
			differs("durations", length(was.DurationNS), length(now.DurationNS))
		}
		if rates.of(now.Name) {
			if x, y := asked(was), asked(now); apart(x, y, 1.02) {
				differs("rates asked for", perSecond(x), perSecond(y))
			}
			if x, y := was.Generator.Dropped, now.Generator.Dropped; x != y {
				differs("counts of dropped starts", fmt.Sprint(x), fmt.Sprint(y))
			}
		}
	}
	return few(all, "differences of load")
}

func apart(a, b, factor float64) bool { return max(a, b) > factor*min(a, b) }

func length(ns int64) string { return time.Duration(ns).Round(100 * time.Millisecond).String() }

// perSecond writes a rate with four digits, or all of a whole number.
func perSecond(rate float64) string {
	if rate >= 1000 {
		return fmt.Sprintf("%.0f/s", rate)
	}
	return fmt.Sprintf("%.4g/s", rate)
}

// asked is how many iterations were due in a second.
func asked(w *report.Workflow) float64 {
	return (float64(w.Generator.Begun) + float64(w.Generator.Dropped)) / max(time.Duration(w.DurationNS).Seconds(), 1e-9)
}

// rateWords are how a workflow's source asks for a rate.
var rateWords = regexp.MustCompile(`(?m)^[^#\n]*\brate\s*=`)

// pacing is what two files tell of rates that were asked for.
type pacing struct {
	runs  [2]*report.Result
	asked bool // by the command or the source of either
}

func pacingOf(a, b *report.Result) *pacing {
	return &pacing{[2]*report.Result{a, b}, asksRate(a) || asksRate(b)}
}

// of says whether iterations of a workflow began at a requested rate, as far as the files show
// it. Only then do starts wait for virtual users, or get dropped.
func (p *pacing) of(workflow string) bool {
	if p.asked {
		return true
	}
	for _, r := range p.runs {
		for i := range r.Workflows {
			if w := &r.Workflows[i]; w.Name == workflow && w.Generator.Waited+w.Generator.Dropped > 0 {
				return true
			}
		}
	}
	return false
}

func asksRate(r *report.Result) bool {
	if r.Run == nil {
		return false
	}
	return r.Run.Rate || slices.ContainsFunc(r.Run.Command, func(arg string) bool { return arg == "--rate" || strings.HasPrefix(arg, "--rate=") }) ||
		slices.ContainsFunc(r.Run.Files, func(f report.SourceFile) bool { return rateWords.MatchString(f.Text) })
}

// places lists differences in the machines that ran the test and the target.
func places(a, b *report.Result) (all []string) {
	if a.Run == nil || b.Run == nil {
		return nil
	}
	if !slices.Equal(a.Run.Files, b.Run.Files) {
		all = append(all, "the workflow's source differs")
	}
	if x, y := params(a.Run.Command), params(b.Run.Command); !slices.Equal(x, y) {
		all = append(all, fmt.Sprintf("different parameters: %.80s, now %.80s", cmp.Or(strings.Join(x, " "), "none"), cmp.Or(strings.Join(y, " "), "none")))
	}
	for _, d := range []struct{ what, a, b string }{
		{"versions of hyperscale", a.Run.Version, b.Run.Version},
		{"systems", a.Run.System, b.Run.System},
		{"processors", fmt.Sprintf("%d x %s", a.Run.CPUs, a.Run.CPU), fmt.Sprintf("%d x %s", b.Run.CPUs, b.Run.CPU)},
	} {
		if d.a != d.b {
			all = append(all, fmt.Sprintf("different %s: %.60s, now %.60s", d.what, d.a, d.b))
		}
	}
	return all
}

// params are the parameters that a command gave, without where results went.
func params(command []string) (all []string) {
	for i, arg := range command {
		if value, ok := strings.CutPrefix(arg, "--set="); ok {
			all = append(all, value)
		} else if arg == "--set" && i+1 < len(command) {
			all = append(all, command[i+1])
		}
	}
	return slices.Sorted(slices.Values(all))
}
