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

// Cause is what failures of one kind have in common: the verdict and the first
// line of the detail, without what differs from run to run.
func Cause(o Outcome, detail string) string {
	first, _, _ := strings.Cut(detail, "\n")
	return string(o) + " " + varying().ReplaceAllString(first, "#")
}

// varying are the names of jobs (as long as one of them), of nodes, times and
// every number.
func varying() *regexp.Regexp {
	job := len(message.JobID{}.String())
	return regexp.MustCompile(fmt.Sprintf(`\b[0-9a-z]{%d}\b|\b(client|gate|manager|worker|node)-[a-z0-9-]+|\bdc-[a-z0-9]+|\b[0-9][0-9a-zµ.]*`, job))
}

// Cause of a run that failed.
func (r *Report) Cause() string { return Cause(r.Outcome, r.Detail) }

// fails says whether a run fails as another one did, and when.
func (r *Report) fails(as string) (time.Duration, bool) {
	if r.Outcome == OK || r.Cause() != as {
		return 0, false
	}
	return r.Broken, true
}

// Shrunk is a failure made small.
type Shrunk struct {
	Options Options // that play it again
	Report  Report
	Plays   int
}

// Shrink plays a failure again and again with less that goes wrong, until nothing
// can be left out or stop says so. progress takes what is left; both may be nil.
// False: played again, it does not fail as it did.
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
	all := append([]sim.Fault{}, r.Faults...) // never nil: that would be drawn anew
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
	if o.Until > cmp.Or(o.Virtual, s.Virtual) { // seen in the time that the world got to be at rest
		o.Until = 0
	}
	report := s.Run(o)
	if _, ok := report.fails(cause); !ok { // what broke is seen only when the rest is judged
		o.Until = 0
		report = s.Run(o)
	}
	return Shrunk{o, report, plays + 1}, true
}
