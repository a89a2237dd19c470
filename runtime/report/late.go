package report

import (
	"time"

	"hyperscale/core/message"
)

// LateAfter is how long a window may be over before people hear that a sink does not have it.
const LateAfter = 30 * time.Second

// lateMost bounds the times of a sink that are kept: the newest.
const lateMost = 16

// Lateness gathers when sinks were behind from the statuses that a process sees of one job. What happened before the first
// of them, but for the rows that were still missing then, it does not know.
type Lateness struct{ sinks map[string]*lateSink }

type lateSink struct {
	times []Late
	on    bool
}

// See takes a status.
func (l *Lateness) See(s *message.JobStatus) {
	for i := range s.Sinks.List {
		r := &s.Sinks.List[i]
		one := l.sinks[r.Name]
		if one == nil {
			one = new(lateSink)
			if l.sinks == nil {
				l.sinks = map[string]*lateSink{}
			}
			l.sinks[r.Name] = one
		}
		one.see(r, s.Elapsed)
	}
}

func (l *lateSink) see(r *message.SinkReport, elapsed time.Duration) {
	if r.Behind == 0 || r.Since < LateAfter {
		l.on = false
		return
	}
	if !l.on {
		l.on = true
		l.times = append(l.times, Late{FromNS: int64(r.Through)})
		l.times = l.times[max(0, len(l.times)-lateMost):]
	}
	last := &l.times[len(l.times)-1]
	last.UntilNS = max(last.UntilNS, int64(elapsed), last.FromNS)
}

// Of lists the times of a sink, the oldest first.
func (l *Lateness) Of(name string) []Late {
	if one := l.sinks[name]; one != nil {
		return append([]Late(nil), one.times...)
	}
	return nil
}

// Sinks shows what gates report, with the times at which each sink was behind.
func (l *Lateness) Sinks(in []message.SinkReport) []Sink {
	all := SinksOf(in)
	for i := range all {
		all[i].Late = l.Of(all[i].Name)
	}
	return all
}
