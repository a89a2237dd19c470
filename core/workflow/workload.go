package workflow

import (
	"math/bits"
	"slices"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// workload is what a workflow() says of its load, before it is checked.
type workload struct {
	vus, iterations uint64 // zero: not said
	duration        time.Duration
	rate            *iterationRate
	stages          []*stageValue
	arrivals        string
	whenFull        string
}

// load reads how much and how long; what the program overrides stands above.
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
	} {
		if in.of(n.name) == nil {
			continue
		}
		v, err := integer("workflow", n.name, in.of(n.name), 1, n.most)
		if err != nil {
			if f, ok := err.(*fault); ok {
				f.do("%s", n.is)
			}
			return err
		}
		*n.to = uint64(v)
	}
	if in.of("duration") != nil {
		if l.duration, err = duration("workflow", "duration", in.of("duration")); err != nil {
			return err
		}
	}
	if in.of("rate") != nil {
		r, err := readRate("workflow", in.of("rate"))
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
	return override(&d.plan, p)
}

func (l *workload) readStages(v starlark.Value) error {
	if v == nil {
		return nil
	}
	values, err := list("workflow", "stages", "stages", v)
	if err != nil {
		return err
	}
	if len(values) == 0 || len(values) > stagesMax {
		return faultf("workflow: stages has %d of them", len(values)).in("stages").do("it needs at least one, and at most %d", stagesMax)
	}
	for i, v := range values {
		s, ok := v.(*stageValue)
		if !ok {
			return faultf("workflow: stages has %s in it", describe(v)).in("stages").at(i).do("write stage(\"30s\", vus = 100) or stage(\"30s\", rate = \"100/s\")")
		}
		l.stages = append(l.stages, s)
	}
	return nil
}

// open says that iterations begin when they are due.
func (l *workload) open() bool { return l.rate != nil || len(l.stages) > 0 && l.stages[0].rate != nil }

// check refuses what contradicts itself.
func (l *workload) check(d *declaration, p message.Program, in arguments) error {
	wrong := func(argument, format string, args ...any) *fault {
		return faultf("workflow %q "+format, append([]any{d.plan.Name}, args...)...).in(argument)
	}
	if err := l.checkStages(wrong); err != nil {
		return err
	}
	switch {
	case l.rate != nil && l.rate.thousandths == 0 && len(l.stages) == 0:
		return wrong("rate", "has a rate of %s", l.rate.text).do("write how many iterations begin, such as \"500/s\"")
	case l.iterations > 0 && l.rate != nil:
		return wrong("iterations", "has a rate and iterations").do("a rate goes on for a duration: take iterations out, or the rate, for virtual users that go round")
	case l.iterations > 0 && len(l.stages) > 0:
		return wrong("iterations", "has stages and iterations").do("the load ends with its last stage: take iterations out")
	case l.iterations > 0 && l.iterations < l.vus:
		return wrong("iterations", "has %d iterations for %d virtual users", l.iterations, l.vus).do("they share them, some would get none: have at most %d vus", l.iterations)
	case l.rate != nil && len(l.stages) == 0 && l.duration == 0 && p.Duration == 0:
		return wrong("rate", "has a rate and no duration").do("say how long iterations begin: duration = \"5m\"")
	case l.open() && l.vus == 0 && p.VUs == 0:
		at := "rate"
		if l.rate == nil {
			at = "stages"
		}
		return wrong(at, "has a rate and no vus").do("say how many iterations may be under way at the same time: the rate times how long an iteration may take, such as vus = %d for two seconds", l.enough())
	case !l.open() && in.of("arrivals") != nil:
		return wrong("arrivals", "has arrivals and no rate").do("write rate = \"500/s\", or take arrivals out: virtual users that go round do not arrive")
	case !l.open() && in.of("when_full") != nil:
		return wrong("when_full", "has when_full and no rate").do("write rate = \"500/s\", or take when_full out: virtual users that go round are never too few")
	}
	for _, pause := range []string{"think", "pace"} {
		if l.open() && in.of(pause) != nil {
			return wrong(pause, "has a rate and %s", pause).do("the rate says when iterations begin: take %s out", pause)
		}
	}
	return nil
}

// enough is how many virtual users the highest rate keeps busy for two seconds.
func (l *workload) enough() uint64 {
	var most uint64
	for _, r := range l.rates() {
		most = max(most, r.thousandths/uint64(r.per/time.Second))
	}
	return min(plan.VUsMax, max(1, most/500))
}

// rates lists the own one and those of the stages.
func (l *workload) rates() []iterationRate {
	all := []iterationRate{{per: time.Second}}
	if l.rate != nil {
		all[0] = *l.rate
	}
	for _, s := range l.stages {
		if s.rate != nil {
			all = append(all, *s.rate)
		}
	}
	return all
}

func (l *workload) checkStages(wrong func(argument, format string, args ...any) *fault) error {
	if len(l.stages) == 0 {
		return nil
	}
	word := func(rate bool) string {
		if rate {
			return "a rate"
		}
		return "vus"
	}
	open := l.stages[0].rate != nil
	var long time.Duration
	most := uint64(0)
	for i, s := range l.stages {
		if (s.rate != nil) != open {
			f := wrong("stages", "mixes stages: the first one has %s, number %d has %s", word(open), i+1, word(!open)).at(i)
			return f.do("give all of them vus, or all of them a rate")
		}
		if most = max(most, s.plan.VUs); s.rate != nil {
			most = max(most, s.rate.thousandths)
		}
		if long += s.plan.Duration; long > plan.DurationMax {
			return wrong("stages", "has stages of more than a month").at(i).do("at most \"744h\" together")
		}
	}
	switch {
	case l.duration > 0:
		return wrong("duration", "has stages and a duration").do("take the duration out: the stages last %v together", long)
	case long == 0:
		return wrong("stages", "has stages that take no time").do("give the last one a duration: stage(\"5m\", ...)")
	case l.rate != nil && !open:
		return wrong("stages", "has a rate, and stages of vus").do("write the stages as stage(\"1m\", rate = \"100/s\"), or take the rate out")
	case most == 0 && (open || l.vus == 0) && (l.rate == nil || l.rate.thousandths == 0):
		return wrong("stages", "has stages without any load").do("write how much at least one of them has")
	}
	return nil
}

// fill writes a load that was checked into the plan.
func (l *workload) fill(p *message.WorkflowPlan) {
	p.VUs, p.Duration, p.Iterations = max(l.vus, 1), l.duration, l.iterations
	p.Poisson, p.Queue = l.arrivals == "poisson", l.whenFull == "queue"
	for _, s := range l.stages {
		p.Stages = append(p.Stages, s.plan)
		p.Duration += s.plan.Duration
	}
	if l.open() {
		rates, per := common(l.rates())
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
		p.VUs = highest(p, vusOf)
	}
}

func vusOf(s *message.StagePlan) *uint64  { return &s.VUs }
func rateOf(s *message.StagePlan) *uint64 { return &s.Rate }

func highest(p *message.WorkflowPlan, of func(*message.StagePlan) *uint64) (most uint64) {
	for i := range p.Stages {
		most = max(most, *of(&p.Stages[i]))
	}
	return most
}

// scale is n * to / from, rounded to the nearest; n is at most from.
func scale(n, to, from uint64) uint64 {
	hi, lo := bits.Mul64(n, to)
	lo, carry := bits.Add64(lo, from/2, 0)
	q, _ := bits.Div64(hi+carry, lo, from)
	return q
}
