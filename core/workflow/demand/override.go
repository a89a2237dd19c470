package demand

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/language"
)

// Override applies --vus, --rate, --duration, --iterations and --stage over the file's values.
// Stages of the file keep their shape: the highest becomes the set value, and together they take the
// set time. Iterations and stages from outside replace the file's load.
func Override(w *message.WorkflowPlan, p message.Program) error {
	switch {
	case len(p.Stages) > 0:
		return overrideStages(w, p)
	case p.Iterations > plan.IterationsMax:
		return language.Faultf("%d iterations are set from outside, the limit is %d", p.Iterations, uint64(plan.IterationsMax)).Do("set --iterations to less")
	case p.Iterations > 0 && p.Rate > 0:
		return language.Faultf("iterations and a rate are set from outside").Do("leave --iterations or --rate out")
	case p.VUs > plan.VUsMax:
		return language.Faultf("%d virtual users are set from outside, the limit is %d", p.VUs, plan.VUsMax).Do("set --vus to less")
	case p.Duration < 0 || p.Duration > plan.DurationMax:
		return language.Faultf("a duration of %v is set from outside", p.Duration).Do("set --duration to more than nothing and at most \"744h\"")
	}
	if p.Iterations > 0 {
		w.Rate, w.RatePer, w.Poisson, w.Queue, w.Stages, w.Duration = 0, 0, false, false, nil, 0
		w.Iterations, w.UserIterations = p.Iterations, 0
		w.VUs = min(w.VUs, p.Iterations)
	}
	if p.Duration > 0 {
		var whole, scaled time.Duration
		for i := range w.Stages {
			whole += w.Stages[i].Duration
			end := time.Duration(scale(uint64(whole), uint64(p.Duration), uint64(w.Duration)))
			w.Stages[i].Duration, scaled = end-scaled, end
		}
		w.Duration = p.Duration
	}
	if err := overrideRate(w, p); err != nil {
		return err
	}
	if p.VUs == 0 {
		return nil
	}
	if w.UserIterations > 0 {
		if w.UserIterations > plan.IterationsMax/p.VUs {
			return language.Faultf("workflow %q has %d iterations of each virtual user, and %d of these are set from outside", w.Name, w.UserIterations, p.VUs).In("vu_iterations").Do("set --vus to at most %d", plan.IterationsMax/w.UserIterations)
		}
		w.Iterations = w.UserIterations * p.VUs
	}
	if w.Iterations > 0 && w.Iterations < p.VUs {
		return language.Faultf("workflow %q has %d iterations, and %d virtual users are set from outside", w.Name, w.Iterations, p.VUs).In("iterations").Do("set --vus to at most %d", w.Iterations)
	}
	if most := Highest(w, VusOf); most > 0 {
		for i := range w.Stages {
			w.Stages[i].VUs = scale(w.Stages[i].VUs, p.VUs, most)
		}
	}
	w.VUs = p.VUs
	return nil
}

// overrideStages replaces the load of a workflow: users, or iterations in a time.
func overrideStages(w *message.WorkflowPlan, p message.Program) error {
	var whole time.Duration
	var users, rates uint64
	for _, s := range p.Stages {
		if s.Duration <= 0 || s.Duration > plan.DurationMax-whole || s.VUs > plan.VUsMax || s.Rate > plan.RateBound(time.Hour) {
			return language.Faultf("a stage of %v to %d virtual users or %d thousandths in an hour is set from outside", s.Duration, s.VUs, s.Rate).Do("set --stage to DURATION:VUS or DURATION:RATE, such as 30s:100 or 30s:500/s, at most \"744h\" in all")
		}
		whole, users, rates = whole+s.Duration, max(users, s.VUs), max(rates, s.Rate)
	}
	switch {
	case len(p.Stages) > StagesMax:
		return language.Faultf("%d stages are set from outside, the limit is %d", len(p.Stages), StagesMax).Do("join stages of the same slope")
	case p.Duration > 0 || p.Rate > 0 || p.Iterations > 0:
		return language.Faultf("stages are set from outside, and a duration, a rate or iterations too").Do("leave --stage out, or --duration, --rate and --iterations")
	case users > 0 && rates > 0:
		return language.Faultf("stages of virtual users and of rates are set from outside").Do("set all --stage to virtual users, or all to rates")
	case users == 0 && rates == 0:
		return language.Faultf("the stages that are set from outside are no load at all").Do("set one --stage to more than nothing")
	case users > 0 && p.VUs > 0:
		return language.Faultf("stages of virtual users are set from outside, and %d virtual users too", p.VUs).Do("leave --vus out: the highest --stage says how many")
	case rates > 0 && w.VUs == 1 && p.VUs == 0:
		return language.Faultf("workflow %q has one virtual user, and stages of rates are set from outside", w.Name).Do("set --vus too: how many iterations may be under way at the same time")
	}
	w.Stages, w.Duration, w.Rate, w.RatePer = slices.Clone(p.Stages), whole, 0, 0
	w.Iterations, w.UserIterations = 0, 0
	if users > 0 {
		w.VUs, w.Poisson, w.Queue = users, false, false
		return nil
	}
	w.Think, w.ThinkMax, w.Pace, w.Jitter, w.RatePer = 0, 0, 0, 0, time.Hour
	if p.VUs > 0 {
		w.VUs = p.VUs
	}
	coarsen(w)
	return nil
}

// ParseStage reads a stage from outside: "30s:100" for virtual users, "30s:500/s" for a rate. Its
// rate is in thousandths of an iteration in an hour.
func ParseStage(text string) (s message.StagePlan, err error) {
	wrong := func(why string) (message.StagePlan, error) {
		return s, fmt.Errorf("%q %s: write DURATION:VUS or DURATION:RATE, such as 30s:100 or 30s:500/s", language.Clip(text, 40), why)
	}
	length, to, ok := strings.Cut(text, ":")
	if !ok {
		return wrong("is no stage")
	}
	if s.Duration, err = time.ParseDuration(length); err != nil || s.Duration <= 0 || s.Duration > plan.DurationMax {
		return wrong("has no duration above nothing, and at most 744h")
	}
	if !strings.Contains(to, "/") {
		if s.VUs, err = strconv.ParseUint(to, 10, 64); err != nil || s.VUs > plan.VUsMax {
			return wrong(fmt.Sprintf("has no number of virtual users from 0 to %d", plan.VUsMax))
		}
		return s, nil
	}
	r, why := parseRate(to)
	if why != "" {
		return wrong("has a rate that " + why)
	}
	s.Rate = r.Thousandths * uint64(time.Hour/r.Per)
	return s, nil
}

func overrideRate(w *message.WorkflowPlan, p message.Program) error {
	if p.Rate == 0 {
		return nil
	}
	per := p.RatePer
	if per == 0 {
		per = time.Second
	}
	switch {
	case per != time.Second && per != time.Minute && per != time.Hour, p.Rate > plan.RateBound(per):
		return language.Faultf("a rate of %d thousandths in %v is set from outside", p.Rate, p.RatePer).Do("set --rate to at most %d/s", plan.RateMax)
	case w.Iterations > 0:
		return language.Faultf("workflow %q has iterations, and a rate is set from outside", w.Name).In("iterations").Do("take iterations out, or leave --rate out")
	case Highest(w, VusOf) > 0:
		return language.Faultf("workflow %q has stages of vus, and a rate is set from outside", w.Name).In("stages").Do("set --vus, or write its stages as stage(\"1m\", rate = \"100/s\")")
	case w.Duration == 0:
		return language.Faultf("workflow %q has no duration, and a rate is set from outside", w.Name).Do("set --duration too")
	case w.Rate == 0 && w.Stages == nil && w.VUs == 1 && p.VUs == 0:
		return language.Faultf("workflow %q has one virtual user, and a rate is set from outside", w.Name).Do("set --vus too: how many iterations may be under way at the same time")
	}
	// The rate replaces the settings that decided when iterations begin.
	w.Think, w.ThinkMax, w.Pace, w.Jitter = 0, 0, 0, 0
	most := max(w.Rate, Highest(w, rateOf))
	if len(w.Stages) == 0 {
		w.Rate, w.RatePer = p.Rate, p.RatePer
		return nil
	}
	p.Rate, w.RatePer = p.Rate*uint64(time.Hour/per), time.Hour // there rounding is finest
	w.Rate = scale(w.Rate, p.Rate, most)
	for i := range w.Stages {
		w.Stages[i].Rate = scale(w.Stages[i].Rate, p.Rate, most)
	}
	coarsen(w)
	return nil
}

// coarsen converts rates per hour to rates per minute or second, if all of them are then whole.
func coarsen(w *message.WorkflowPlan) {
	for _, by := range []uint64{3600, 60} {
		whole := w.Rate%by == 0
		for i := range w.Stages {
			whole = whole && w.Stages[i].Rate%by == 0
		}
		if !whole {
			continue
		}
		w.Rate, w.RatePer = w.Rate/by, time.Hour/time.Duration(by)
		for i := range w.Stages {
			w.Stages[i].Rate /= by
		}
		break
	}
	if w.RatePer == time.Second {
		w.RatePer = 0
	}
}

// VusOf returns the place of a stage's virtual users.
func VusOf(s *message.StagePlan) *uint64 { return &s.VUs }

func rateOf(s *message.StagePlan) *uint64 { return &s.Rate }

// Highest returns the highest value of any stage.
func Highest(p *message.WorkflowPlan, of func(*message.StagePlan) *uint64) (most uint64) {
	for i := range p.Stages {
		most = max(most, *of(&p.Stages[i]))
	}
	return most
}

// scale returns n * to / from, rounded to the nearest; n is at most from.
func scale(n, to, from uint64) uint64 {
	hi, lo := bits.Mul64(n, to)
	lo, carry := bits.Add64(lo, from/2, 0)
	q, _ := bits.Div64(hi+carry, lo, from)
	return q
}
