package carrier

import (
	"fmt"
	"time"

	"hyperscale/runtime/outputs"
)

// Stats are how far one sink is.
type Stats struct {
	Sink, Kind string
	Window     time.Duration  // of its rows
	Default    bool           // jobs that name no sink have it
	Required   bool           // the gate is not ready while it takes no rows
	Total      outputs.Report // of all deliveries that are over
	Waiting    int            // deliveries that are not over
	Bytes      int            // of their batches
	Behind     time.Duration  // for how long the oldest of them has waited here
	Tries      uint64         // that failed
	Why        string         // the last failure of a try, or of the check; empty: the sink has taken a batch since
	LostAt     time.Time      // when rows were lost last; zero: never
}

// Stats are those of each sink, in the order of the configuration; a nil Carrier has none.
func (r *Carrier) Stats() (all []Stats) {
	if r == nil {
		return nil
	}
	now := time.Now()
	for _, l := range r.lines {
		all = append(all, l.stats(now))
	}
	return all
}

func (l *line) stats(now time.Time) Stats {
	report := l.shell.Report()
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Stats{Sink: l.sink.Name, Kind: l.sink.Settings.Kind.Name, Window: l.sink.Settings.Window(), Default: l.sink.Default, Required: l.sink.Required, Total: report, Waiting: len(l.all), Bytes: l.bytes / inMemory, Tries: l.tries, Why: l.why, LostAt: l.lost}
	if s.Why == "" {
		s.Why = l.fault
	}
	if len(l.all) > 0 {
		s.Behind = now.Sub(l.all[0].since)
	}
	return s
}

// Ready says that each required sink takes rows, as far as its check has found out, or which one does not and why.
func (r *Carrier) Ready() (bool, string) {
	if r == nil {
		return true, ""
	}
	for _, l := range r.lines {
		l.mu.Lock()
		fault := l.fault
		if !l.checked {
			fault = "its check has not ended yet"
		}
		l.mu.Unlock()
		if l.sink.Required && fault != "" {
			return false, fmt.Sprintf("sink %s, which the configuration requires, takes no rows: %s", l.sink.Name, fault)
		}
	}
	return true, ""
}
