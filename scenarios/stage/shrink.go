package stage

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/sim"
	"hyperscale/sim/shrink"
)

// Cause returns what failures of one kind share: the verdict and the first line of the detail,
// without what varies between runs.
func Cause(o Outcome, detail string) string {
	first, _, _ := strings.Cut(detail, "\n")
	return string(o) + " " + varying().ReplaceAllString(first, "#")
}

// varying matches names of jobs (also shortened), names of nodes, times and all numbers.
func varying() *regexp.Regexp {
	job := len(message.JobID{}.String())
	return regexp.MustCompile(fmt.Sprintf(`\b[0-9a-z]{%d}\b|\b(client|gate|manager|worker|node)-[a-z0-9-]+|\bdc-[a-z0-9]+|\b[0-9][0-9a-zµ.]*`, job))
}

// Cause returns the cause of a failed run.
func (r *Report) Cause() string { return Cause(r.Outcome, r.Detail) }

// fails reports whether a run fails for a given cause, and when.
func (r *Report) fails(as string) (time.Duration, bool) {
	if r.Outcome == OK || r.Cause() != as {
		return 0, false
	}
	return r.Broken, true
}

// Shrunk is a shrunk failure.
type Shrunk struct {
	Options Options // that play it again
	Report  Report
	Plays   int
}

// Shrink plays a failure again and again with fewer faults, until it can leave none out, or
// stop returns true. progress receives what is left; both may be nil. False: played again, the
// run does not fail as before.
func (s Scenario) Shrink(o Options, r Report, stop func() bool, progress func(faults, plays int)) (Shrunk, bool) {
	cause := r.Cause()
	o.Observer, o.Until, o.First = nil, 0, true
	plays := 0
	fails := func(faults []sim.Fault) (time.Duration, bool) {
		plays++
		o.Faults = faults
		report := s.Run(o)
		return report.fails(cause)
	}
	all := append([]sim.Fault{}, r.Faults...) // never nil: the run would draw new faults
	broken, ok := fails(all)
	if !ok {
		return Shrunk{}, false
	}
	small, _ := shrink.Shrink(shrink.Run{Faults: all, Broken: broken}, shrink.Options{
		Fails: fails, Stop: stop,
		Progress: func(run shrink.Run, _ int) {
			if progress != nil {
				progress(len(run.Faults), plays)
			}
		},
	})
	o.Faults, o.Until, o.First = small.Faults, small.Broken, false
	if o.Until > cmp.Or(o.Virtual, s.Virtual) { // the failure is in the extra time in which the world rests
		o.Until = 0
	}
	report := s.Run(o)
	if _, ok := report.fails(cause); !ok { // only the judgement at the end shows the failure
		o.Until = 0
		report = s.Run(o)
	}
	return Shrunk{o, report, plays + 1}, true
}
