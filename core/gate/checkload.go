package gate

import (
	"errors"
	"fmt"
	"math/bits"
	"time"
	"unicode/utf8"

	"hyperscale/core/message"
)

// Bounds of how much load a plan may declare.
const (
	iterationsMax  = 1 << 48
	rateMax        = 100_000_000 // iterations a second
	stagesMax      = 128
	connectionsMax = 1 << 24
	weightMax      = 1 << 24
	tagsMax        = 64
	tagMax         = 1024
	reportsMax     = 64
	abortsMax      = 64
	longest        = 7 * 24 * time.Hour // of everything in a plan that takes time
)

// checkLoad refuses a load that core/load and the executors would not hold, and
// what this version of the cluster would leave out.
func checkLoad(w *message.WorkflowPlan) error {
	for _, d := range []struct {
		name string
		is   time.Duration
	}{{"think_max", w.ThinkMax}, {"pace", w.Pace}, {"graceful_stop", w.GracefulStop}, {"interval", w.Interval}} {
		if d.is < 0 || d.is > longest {
			return fmt.Errorf("%s = %v must be between 0 and %v", d.name, d.is, longest)
		}
	}
	switch {
	case w.ThinkMax != 0 && w.ThinkMax < w.Think:
		return fmt.Errorf("think_max = %v must not be below think = %v", w.ThinkMax, w.Think)
	case w.Iterations > iterationsMax:
		return fmt.Errorf("iterations = %d must be at most %d", w.Iterations, uint64(iterationsMax))
	case w.Priority > message.PriorityExclusive:
		return fmt.Errorf("priority = %d is not known", w.Priority)
	case w.Session > message.SessionNone:
		return fmt.Errorf("session = %d is not known", w.Session)
	case w.Connections > connectionsMax:
		return fmt.Errorf("connections = %d must be at most %d", w.Connections, connectionsMax)
	case len(w.Report) > reportsMax:
		return fmt.Errorf("report: %d are declared, the bound is %d", len(w.Report), reportsMax)
	}
	for i, r := range w.Report {
		if err := checkName(fmt.Sprintf("report[%d]", i), r, pathMax); err != nil {
			return err
		}
	}
	if err := checkFeed(&w.Feed); err != nil {
		return err
	}
	if err := checkRates(w); err != nil {
		return err
	}
	if err := checkMix(w); err != nil {
		return err
	}
	return checkAborts(w)
}

// checkRates looks at the rates and the stages.
func checkRates(w *message.WorkflowPlan) error {
	per := w.RatePer
	switch per {
	case 0:
		per = time.Second
	case time.Second, time.Minute, time.Hour:
	default:
		return fmt.Errorf("rate_per = %v must be 1s, 1m or 1h", per)
	}
	most := uint64(rateMax) * 1000 * uint64(per/time.Second)
	if w.Rate > most {
		return fmt.Errorf("rate = %d must be at most %d", w.Rate, most)
	}
	if len(w.Stages) == 0 {
		return nil
	}
	if len(w.Stages) > stagesMax {
		return fmt.Errorf("stages: %d are declared, the bound is %d", len(w.Stages), stagesMax)
	}
	var long time.Duration
	vus, rates := false, w.Rate > 0
	for i, s := range w.Stages {
		if s.Duration < 0 || s.Duration > longest-long {
			return fmt.Errorf("stages[%d]: duration = %v must not be negative, and all together at most %v", i, s.Duration, longest)
		}
		if s.VUs > w.VUs || s.Rate > most {
			return fmt.Errorf("stages[%d]: vus = %d, rate = %d must be at most %d and %d", i, s.VUs, s.Rate, w.VUs, most)
		}
		long += s.Duration
		vus, rates = vus || s.VUs > 0, rates || s.Rate > 0
	}
	if vus == rates {
		return errors.New("stages must be of vus or of rates, and one of them above 0")
	}
	if long == 0 || long != w.Duration {
		return fmt.Errorf("duration = %v must be that of all stages, %v, and above 0", w.Duration, long)
	}
	return nil
}

func checkMix(w *message.WorkflowPlan) error {
	if err := checkTags("tags", w.Tags); err != nil {
		return err
	}
	weighted := false
	for i := range w.Steps {
		s := &w.Steps[i]
		if s.Weight > weightMax {
			return fmt.Errorf("step %q: weight = %d must be at most %d", s.Name, s.Weight, weightMax)
		}
		weighted = weighted || s.Weight > 0
		if err := checkTags("tags", s.Tags); err != nil {
			return fmt.Errorf("step %q: %w", s.Name, err)
		}
		for _, k := range s.After {
			if w.Steps[k].Weight > 0 {
				return fmt.Errorf("step %q: comes after %q, which has a weight", s.Name, w.Steps[k].Name)
			}
		}
	}
	if weighted != w.Weighted {
		return fmt.Errorf("weighted = %v must be %v by its steps", w.Weighted, weighted)
	}
	return nil
}

func checkTags(what string, tags []message.Tag) error {
	if len(tags) > tagsMax {
		return fmt.Errorf("%s: %d are declared, the bound is %d", what, len(tags), tagsMax)
	}
	for i, t := range tags {
		if err := checkName(fmt.Sprintf("%s[%d].name", what, i), t.Name, nameMax); err != nil {
			return err
		}
		if i > 0 && tags[i-1].Name >= t.Name {
			return fmt.Errorf("%s: %q must be once, and sorted by name", what, t.Name)
		}
		if len(t.Value) > tagMax || !utf8.ValidString(t.Value) {
			return fmt.Errorf("%s: %q must be UTF-8 of at most %d bytes", what, t.Name, tagMax)
		}
	}
	return nil
}

// checkAborts refuses conditions that nobody could judge, or never would.
func checkAborts(w *message.WorkflowPlan) error {
	if n := len(w.AbortWhen); n > abortsMax {
		return fmt.Errorf("abort_when: %d conditions are declared, the bound is %d", n, abortsMax)
	}
	for i := range w.AbortWhen {
		a := &w.AbortWhen[i]
		if a.For <= 0 || a.For > longest {
			return fmt.Errorf("abort_when %.64q: for = %v must be above 0 and at most %v", a.When.Expr, a.For, longest)
		}
		if err := checkThreshold("abort_when", &a.When, w.Steps); err != nil {
			return err
		}
	}
	return nil
}

// iterationTime bounds how long one iteration takes, with the pause behind it.
func iterationTime(w *message.WorkflowPlan) time.Duration {
	const bound = 1 << 60 // far from overflow
	var last time.Duration
	for k := range w.Steps {
		last = min(bound, max(last, time.Duration(w.Steps[k].Layer+1)*min(w.Timeout, bound/(stepsMax+1))))
	}
	return min(bound, max(last+max(w.Think, w.ThinkMax), w.Pace))
}

// span bounds how long a workflow runs. One with a duration is given one timeout at
// its end, or as long as its functions may go on; one without makes its iterations.
func span(w *message.WorkflowPlan) time.Duration {
	const bound = 1 << 60
	if w.Duration > 0 {
		return min(bound, w.Duration+max(w.Timeout, w.GracefulStop))
	}
	iterations := uint64(1)
	if w.Iterations > 0 { // a core that has few users shares few: they may be uneven by one
		iterations = w.Iterations/max(w.VUs, 1) + 2
	}
	hi, lo := bits.Mul64(iterations, uint64(iterationTime(w)))
	if hi > 0 || lo > bound {
		return bound
	}
	return time.Duration(lo)
}
