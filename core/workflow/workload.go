package workflow

import (
	"slices"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/demand"
	"hyperscale/core/workflow/language"
)

// workload is the load in a workflow(), before its checks.
type workload struct {
	vus, iterations uint64 // zero: not given
	each            uint64 // iterations of each virtual user
	duration        time.Duration
	rate            *demand.IterationRate
	stages          []*demand.Stage
	arrivals        string
	whenFull        string
}

// load reads the load and its duration; the program's overrides take precedence.
func (d *declaration) load(p message.Program, in arguments) (err error) {
	var l workload
	for _, n := range []struct {
		name string
		most int
		to   *uint64
		is   string
	}{
		{"vus", plan.VUsMax, &l.vus, "vus is how many virtual users run at the same time"},
		{"iterations", plan.IterationsMax, &l.iterations, "iterations is how many iterations all virtual users make together"},
		{"vu_iterations", plan.IterationsMax, &l.each, "vu_iterations is how many iterations each virtual user makes"},
	} {
		if in.of(n.name) == nil {
			continue
		}
		v, err := language.Integer("workflow", n.name, in.of(n.name), 1, n.most)
		if err != nil {
			if f, ok := err.(*language.Fault); ok {
				f.Do("%s", n.is)
			}
			return err
		}
		*n.to = uint64(v)
	}
	if in.of("duration") != nil {
		if l.duration, err = language.Duration("workflow", "duration", in.of("duration")); err != nil {
			return err
		}
	}
	if in.of("rate") != nil {
		r, err := demand.ReadRate("workflow", in.of("rate"))
		if err != nil {
			return err
		}
		l.rate = &r
	}
	if err := l.readStages(in.of("stages")); err != nil {
		return err
	}
	if l.arrivals, err = in.choice("arrivals", "even", "poisson"); err != nil {
		return err
	}
	if l.whenFull, err = in.choice("when_full", "drop", "queue"); err != nil {
		return err
	}
	if err := d.pauses(in); err != nil {
		return err
	}
	if err := l.check(d, p, in); err != nil {
		return err
	}
	l.fill(&d.plan)
	d.stages = len(l.stages)
	if len(p.Stages) > 0 || p.Iterations > 0 {
		d.stages = len(p.Stages)
	}
	return demand.Override(&d.plan, p)
}

func (l *workload) readStages(v starlark.Value) error {
	if v == nil {
		return nil
	}
	values, err := language.List("workflow", "stages", "stages", v)
	if err != nil {
		return err
	}
	if len(values) == 0 || len(values) > demand.StagesMax {
		return language.Faultf("workflow: stages has %d of them", len(values)).In("stages").Do("it needs at least one, and at most %d", demand.StagesMax)
	}
	for i, v := range values {
		s, ok := v.(*demand.Stage)
		if !ok {
			return language.Faultf("workflow: stages has %s in it", language.Describe(v)).In("stages").At(i).Do("write stage(\"30s\", vus = 100) or stage(\"30s\", rate = \"100/s\")")
		}
		l.stages = append(l.stages, s)
	}
	return nil
}

// open reports that iterations begin when they are due.
func (l *workload) open() bool { return l.rate != nil || len(l.stages) > 0 && l.stages[0].Rate != nil }

// check rejects contradictions.
func (l *workload) check(d *declaration, p message.Program, in arguments) error {
	wrong := func(argument, format string, args ...any) *language.Fault {
		return language.Faultf("workflow %q "+format, append([]any{d.plan.Name}, args...)...).In(argument)
	}
	if err := l.checkStages(wrong); err != nil {
		return err
	}
	switch {
	case l.rate != nil && l.rate.Thousandths == 0 && len(l.stages) == 0:
		return wrong("rate", "has a rate of %s", l.rate.Text).Do("write how many iterations begin, such as \"500/s\"")
	case l.each > 0 && l.iterations > 0:
		return wrong("vu_iterations", "has iterations and vu_iterations").Do("keep one: iterations are of all virtual users together, vu_iterations of each")
	case l.each > 0 && (l.open() || len(l.stages) > 0):
		return wrong("vu_iterations", "has vu_iterations, and a rate or stages").Do("these say when the load ends: take vu_iterations out")
	case l.each > plan.IterationsMax/max(l.vus, 1):
		return wrong("vu_iterations", "has %d iterations of each of %d virtual users", l.each, l.vus).Do("all of them together make at most %d", uint64(plan.IterationsMax))
	case l.open() && in.of("jitter") != nil:
		return wrong("jitter", "has a rate and jitter").Do("write arrivals = \"poisson\" for iterations that begin by chance")
	case l.iterations > 0 && l.rate != nil:
		return wrong("iterations", "has a rate and iterations").Do("a rate goes on for a duration: take iterations out, or the rate, for virtual users that go round")
	case l.iterations > 0 && len(l.stages) > 0:
		return wrong("iterations", "has stages and iterations").Do("the load ends with its last stage: take iterations out")
	case l.iterations > 0 && l.iterations < l.vus:
		return wrong("iterations", "has %d iterations for %d virtual users", l.iterations, l.vus).Do("they share them, some would get none: have at most %d vus", l.iterations)
	case l.rate != nil && len(l.stages) == 0 && l.duration == 0 && p.Duration == 0 && len(p.Stages) == 0 && p.Iterations == 0:
		return wrong("rate", "has a rate and no duration").Do("say how long iterations begin: duration = \"5m\"")
	case l.open() && l.vus == 0 && p.VUs == 0:
		at := "rate"
		if l.rate == nil {
			at = "stages"
		}
		return wrong(at, "has a rate and no vus").Do("say how many iterations may be under way at the same time: the rate times how long an iteration may take, such as vus = %d for two seconds", l.enough())
	case !l.open() && in.of("arrivals") != nil:
		return wrong("arrivals", "has arrivals and no rate").Do("write rate = \"500/s\", or take arrivals out: virtual users that go round do not arrive")
	case !l.open() && in.of("when_full") != nil:
		return wrong("when_full", "has when_full and no rate").Do("write rate = \"500/s\", or take when_full out: virtual users that go round are never too few")
	}
	for _, pause := range []string{"think", "pace"} {
		if l.open() && in.of(pause) != nil {
			return wrong(pause, "has a rate and %s", pause).Do("the rate says when iterations begin: take %s out", pause)
		}
	}
	return nil
}

// enough returns how many virtual users the highest rate keeps busy for two seconds.
func (l *workload) enough() uint64 {
	var most uint64
	for _, r := range l.rates() {
		most = max(most, r.Thousandths/uint64(r.Per/time.Second))
	}
	return min(plan.VUsMax, max(1, most/500))
}

// rates lists the workflow's own rate and those of its stages.
func (l *workload) rates() []demand.IterationRate {
	all := []demand.IterationRate{{Per: time.Second}}
	if l.rate != nil {
		all[0] = *l.rate
	}
	for _, s := range l.stages {
		if s.Rate != nil {
			all = append(all, *s.Rate)
		}
	}
	return all
}

func (l *workload) checkStages(wrong func(argument, format string, args ...any) *language.Fault) error {
	if len(l.stages) == 0 {
		return nil
	}
	word := func(rate bool) string {
		if rate {
			return "a rate"
		}
		return "vus"
	}
	open := l.stages[0].Rate != nil
	var long time.Duration
	most := uint64(0)
	for i, s := range l.stages {
		if (s.Rate != nil) != open {
			f := wrong("stages", "mixes stages: the first one has %s, number %d has %s", word(open), i+1, word(!open)).At(i)
			return f.Do("give all of them vus, or all of them a rate")
		}
		if most = max(most, s.Plan.VUs); s.Rate != nil {
			most = max(most, s.Rate.Thousandths)
		}
		if long += s.Plan.Duration; long > plan.DurationMax {
			return wrong("stages", "has stages of more than a month").At(i).Do("at most \"744h\" together")
		}
	}
	switch {
	case l.duration > 0:
		return wrong("duration", "has stages and a duration").Do("take the duration out: the stages last %v together", long)
	case long == 0:
		return wrong("stages", "has stages that take no time").Do("give the last one a duration: stage(\"5m\", ...)")
	case l.rate != nil && !open:
		return wrong("stages", "has a rate, and stages of vus").Do("write the stages as stage(\"1m\", rate = \"100/s\"), or take the rate out")
	case most == 0 && (open || l.vus == 0) && (l.rate == nil || l.rate.Thousandths == 0):
		return wrong("stages", "has stages without any load").Do("write how much at least one of them has")
	}
	return nil
}

// fill writes a checked load into the plan.
func (l *workload) fill(p *message.WorkflowPlan) {
	p.VUs, p.Duration, p.Iterations = max(l.vus, 1), l.duration, l.iterations
	if l.each > 0 {
		p.UserIterations, p.Iterations = l.each, l.each*p.VUs
	}
	p.Poisson, p.Queue = l.arrivals == "poisson", l.whenFull == "queue"
	for _, s := range l.stages {
		p.Stages = append(p.Stages, s.Plan)
		p.Duration += s.Plan.Duration
	}
	if l.open() {
		rates, per := demand.Common(l.rates())
		p.Rate = rates[0]
		for i := range p.Stages {
			p.Stages[i].Rate = rates[i+1]
		}
		if per != time.Second {
			p.RatePer = per
		}
		return
	}
	if len(p.Stages) > 0 {
		if l.vus > 0 { // where the first stage begins
			p.Stages = slices.Insert(p.Stages, 0, message.StagePlan{VUs: l.vus})
		}
		p.VUs = demand.Highest(p, demand.VusOf)
	}
}
