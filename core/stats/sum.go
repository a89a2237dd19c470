package stats

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/message"
)

// Bounds of the sum of many parts.
const (
	KindsMax    = 64   // kinds of errors of one step, before KindOther takes the rest
	barriersMax = 16   // of a plan
	countersMax = 16   // of a plan
	LogsMax     = 20   // lines that users' programs wrote, and as many that the system tells
	StepsMax    = 1024 // steps of one workflow
	StatusesMax = 1000 // different statuses of one step, before StatusOther takes the rest
	PhasesMax   = 16   // phases of one step
	MeasuresMax = 16   // measures of one step
)

// KindOther counts the failures whose kind follows after KindsMax others.
const KindOther = "other"

// StatusOther counts the answers whose status follows after StatusesMax others.
const StatusOther = 0

// ErrParts is the error for parts that do not belong together.
var ErrParts = errors.New("parts of different workflows")

// Started sums the starts of the measured steps. Checks start too, but send nothing.
func Started(s *message.Stats) (sum uint64) {
	for i := range s.Steps {
		if s.Steps[i].Kind.Measured() {
			sum += s.Steps[i].Started
		}
	}
	return sum
}

// Sum adds the figures of parts of one workflow. Steps keep the order of their first
// occurrence. Nil parts count as nothing.
func Sum(parts []*message.Stats) (message.Stats, error) {
	var t Total
	for _, p := range parts {
		if p == nil {
			continue
		}
		if err := t.Add(p); err != nil {
			return message.Stats{}, err
		}
	}
	return t.Stats(), nil
}

// Total is a sum of figures of one workflow, to which parts are added one by one. The zero value is
// empty and ready.
type Total struct {
	sum      message.Stats
	lag      sparse
	steps    stepSums
	spans    spanSums
	activity dense
	some     bool // it has a part
}

// Add adds a part, which nothing may change from then on. After an error the sum is of no use.
func (t *Total) Add(p *message.Stats) error {
	t.count(p)
	if err := t.activity.merge(p.Activity); err != nil {
		return fmt.Errorf("add up users and iterations over time: %w", err)
	}
	if err := t.lag.merge(p.Generator.Lag, &t.steps.spare); err != nil {
		return fmt.Errorf("add up the generator's lag: %w", err)
	}
	t.steps.grow(len(p.Steps))
	for i := range p.Steps {
		if err := t.steps.add(i, &p.Steps[i]); err != nil {
			return fmt.Errorf("add up step %q: %w", p.Steps[i].Name, err)
		}
	}
	for i := range p.Spans {
		if err := t.spans.add(&p.Spans[i]); err != nil {
			return fmt.Errorf("add up the spans of step %q: %w", p.Spans[i].Step, err)
		}
	}
	return nil
}

// count adds what is no distribution.
func (t *Total) count(p *message.Stats) {
	total := &t.sum
	total.Active = add(total.Active, p.Active)
	total.Rows = add(total.Rows, p.Rows)
	total.Barriers = addBarriers(total.Barriers, p.Barriers)
	total.Counters = addCounters(total.Counters, p.Counters)
	total.SilentSum += p.SilentSum
	total.Silent = append(total.Silent, p.Silent[:min(SilentMax-len(total.Silent), len(p.Silent))]...)
	total.Elapsed = max(total.Elapsed, p.Elapsed)
	if total.Gap = min(total.Gap, p.Gap); !t.some {
		total.Gap, t.some = p.Gap, true
	}
	addGenerator(&total.Generator, &p.Generator)
	addLogs(total, p)
}

// addGenerator adds the figures of generators, but for their lags.
func addGenerator(total, p *message.Generator) {
	total.BusyMax = max(total.BusyMax, p.BusyMax)
	total.WaitMax = max(total.WaitMax, p.WaitMax)
	total.StealMax = max(total.StealMax, p.StealMax)
	total.Saturated = total.Saturated || p.Saturated
	total.Starved = total.Starved || p.Starved
	total.Late = total.Late || p.Late
	total.Begun = add(total.Begun, p.Begun)
	total.Waited = add(total.Waited, p.Waited)
	total.Dropped = add(total.Dropped, p.Dropped)
	total.Missed = add(total.Missed, p.Missed)
	total.Held = add(total.Held, p.Held)
	total.Usage = AddUsage(total.Usage, p.Usage)
}

// Stats returns the sum, to which nothing is added any more.
func (t *Total) Stats() message.Stats {
	out := t.sum
	out.Activity = t.activity.sum()
	out.Generator.Lag = t.lag.wire()
	out.Steps = t.steps.result()
	out.Spans = t.spans.result()
	return out
}

// stepSum is the state of a step's sum beside its totals.
type stepSum struct {
	latency, service, metric sparse
	phases                   []phaseSum
	measures                 []measureSum
	windows                  dense
}

// phaseSum is the state of a phase's sum.
type phaseSum struct {
	phase message.Phase
	time  sparse
}

// stepSums are the sums of a workflow's steps, in the order of their first occurrence.
type stepSums struct {
	out   []message.StepStats
	sums  []stepSum
	index map[string]int // nil as long as there are few
	parts int            // those that count functions' requests
	spare []byte
}

// stepsFew is how many steps are compared by name before an index is worth it.
const stepsFew = 16

func (s *stepSums) grow(n int) {
	more := max(0, n-len(s.out))
	s.out, s.sums = slices.Grow(s.out, more), slices.Grow(s.sums, more)
}

// find returns the index of a step. Parts usually list their steps in the same order: the index
// in the part is the first guess.
func (s *stepSums) find(guess int, name string) (int, bool) {
	if guess < len(s.out) && s.out[guess].Name == name {
		return guess, true
	}
	if len(s.out) <= stepsFew {
		for at := range s.out {
			if s.out[at].Name == name {
				return at, true
			}
		}
		return 0, false
	}
	if s.index == nil {
		s.index = map[string]int{}
	}
	for i := len(s.index); i < len(s.out); i++ {
		s.index[s.out[i].Name] = i
	}
	at, known := s.index[name]
	return at, known
}

func (s *stepSums) add(guess int, part *message.StepStats) error {
	name := part.Name
	at, known := s.find(guess, name)
	if !known && isPart(part.Kind) {
		if name = s.room(name); name != part.Name {
			at, known = s.find(guess, name)
		}
	}
	if !known {
		if at = len(s.out); !isPart(part.Kind) && at-s.parts == StepsMax {
			return fmt.Errorf("more than %d steps: %w", StepsMax, ErrParts)
		}
		if isPart(part.Kind) {
			s.parts++
		}
		s.out = append(s.out, message.StepStats{Name: name, Kind: part.Kind})
		s.sums = append(s.sums, stepSum{})
	}
	out := &s.out[at]
	if out.Kind != part.Kind {
		return fmt.Errorf("kind is %d in one part and %d in another: %w", out.Kind, part.Kind, ErrParts)
	}
	return s.sums[at].add(out, part, &s.spare)
}

func isPart(k message.StepKind) bool { return k == message.StepPart || k == message.StepBeside }

// room returns the name under which a new part counts: its own while there is room for it.
func (s *stepSums) room(name string) string {
	of, _, _ := strings.Cut(name, "/")
	mine := 0
	for i := range s.out {
		if isPart(s.out[i].Kind) && strings.HasPrefix(s.out[i].Name, of+"/") {
			mine++
		}
	}
	if mine < PartsMax && s.parts < AllPartsMax {
		return name
	}
	return of + "/" + PartOther
}

func (s *stepSums) result() []message.StepStats {
	for k := range s.out {
		out, step := &s.out[k], &s.sums[k]
		out.Latency = step.latency.wire()
		out.Service = step.service.wire()
		out.Metric = step.metric.wire()
		out.Windows = step.windows.sum()
		for i := range step.phases {
			out.Phases = append(out.Phases, message.PhaseTimes{Phase: step.phases[i].phase, Time: step.phases[i].time.wire()})
		}
		out.Measures = wireMeasures(step.measures)
	}
	return s.out
}

func (s *stepSum) add(out, part *message.StepStats, spare *[]byte) error {
	out.Started = add(out.Started, part.Started)
	out.Sent = add(out.Sent, part.Sent)
	out.OK = add(out.OK, part.OK)
	out.Failed = add(out.Failed, part.Failed)
	out.TimedOut = add(out.TimedOut, part.TimedOut)
	out.Cancelled = add(out.Cancelled, part.Cancelled)
	out.Dropped = add(out.Dropped, part.Dropped)
	out.Skipped = add(out.Skipped, part.Skipped)
	out.Retried = add(out.Retried, part.Retried)
	out.BytesIn = add(out.BytesIn, part.BytesIn)
	out.BytesOut = add(out.BytesOut, part.BytesOut)
	if len(out.Errors) == 0 && len(part.Errors) > 0 {
		out.Errors = make([]message.ErrorCount, 0, min(len(part.Errors), KindsMax+1))
	}
	if len(out.Statuses) == 0 && len(part.Statuses) > 0 {
		out.Statuses = make([]message.StatusCount, 0, min(len(part.Statuses), StatusesMax+1))
	}
	for _, e := range part.Errors {
		out.Errors = AddError(out.Errors, e)
	}
	for _, c := range part.Statuses {
		out.Statuses = AddStatus(out.Statuses, c)
	}
	if err := s.latency.merge(part.Latency, spare); err != nil {
		return fmt.Errorf("latency: %w", err)
	}
	if err := s.service.merge(part.Service, spare); err != nil {
		return fmt.Errorf("service: %w", err)
	}
	if err := s.metric.merge(part.Metric, spare); err != nil {
		return fmt.Errorf("metric: %w", err)
	}
	for i := range part.Phases {
		if err := s.addPhase(&part.Phases[i], spare); err != nil {
			return fmt.Errorf("phase %d: %w", part.Phases[i].Phase, err)
		}
	}
	for i := range part.Measures.List {
		if err := s.addMeasure(&part.Measures.List[i], spare); err != nil {
			return fmt.Errorf("measure %q: %w", part.Measures.List[i].Name, err)
		}
	}
	if err := s.windows.merge(part.Windows); err != nil {
		return fmt.Errorf("windows: %w", err)
	}
	return nil
}

func (s *stepSum) addPhase(part *message.PhaseTimes, spare *[]byte) error {
	at, found := slices.BinarySearchFunc(s.phases, part.Phase, func(p phaseSum, phase message.Phase) int { return cmp.Compare(p.phase, phase) })
	if !found {
		if len(s.phases) == PhasesMax {
			return fmt.Errorf("more than %d phases: %w", PhasesMax, ErrParts)
		}
		s.phases = slices.Insert(s.phases, at, phaseSum{phase: part.Phase})
	}
	return s.phases[at].time.merge(part.Time, spare)
}

// AddStatus counts a status in a list that stays ascending and holds at most StatusesMax beside
// StatusOther. It writes to the list: only the owner may call it.
func AddStatus(list []message.StatusCount, c message.StatusCount) []message.StatusCount {
	at, found := slices.BinarySearchFunc(list, c, func(a, b message.StatusCount) int { return cmp.Compare(a.Status, b.Status) })
	if found {
		list[at].Count = add(list[at].Count, c.Count)
		list[at].Challenged = add(list[at].Challenged, c.Challenged)
		return list
	}
	full := len(list) >= StatusesMax
	if full && list[0].Status == StatusOther {
		full = len(list) > StatusesMax
	}
	if full && c.Status != StatusOther {
		return AddStatus(list, message.StatusCount{Status: StatusOther, Count: c.Count, Challenged: c.Challenged})
	}
	return slices.Insert(list, at, c)
}

// AddError counts a failure in a list that stays sorted by kind and holds at most KindsMax
// kinds beside KindOther. It keeps the first example of a kind. It writes to the list: only the
// owner may call it.
func AddError(list []message.ErrorCount, e message.ErrorCount) []message.ErrorCount {
	at, found := findKind(list, e.Kind)
	if !found && e.Kind != KindOther {
		if full := len(list) >= KindsMax; full {
			_, other := findKind(list, KindOther)
			if !other || len(list) > KindsMax {
				e.Kind = KindOther
				at, found = findKind(list, KindOther)
			}
		}
	}
	if !found {
		return slices.Insert(list, at, e)
	}
	list[at].Count = add(list[at].Count, e.Count)
	if list[at].Example == "" {
		list[at].Example = e.Example
	}
	return list
}

func findKind(list []message.ErrorCount, kind string) (int, bool) {
	return slices.BinarySearchFunc(list, kind, func(e message.ErrorCount, kind string) int { return cmp.Compare(e.Kind, kind) })
}

// addCounters adds up values by the counter's name.
func addCounters(sum, more []message.CounterStats) []message.CounterStats {
	for _, c := range more {
		at := slices.IndexFunc(sum, func(o message.CounterStats) bool { return o.Name == c.Name })
		if at < 0 && len(sum) == countersMax {
			continue // no plan has so many
		}
		if at < 0 {
			at = len(sum)
			sum = append(sum, message.CounterStats{Name: c.Name})
		}
		sum[at].Taken = add(sum[at].Taken, c.Taken)
	}
	return sum
}

// addBarriers adds up waits by the barrier's name.
func addBarriers(sum, more []message.BarrierStats) []message.BarrierStats {
	for _, b := range more {
		at := slices.IndexFunc(sum, func(o message.BarrierStats) bool { return o.Name == b.Name })
		if at < 0 && len(sum) == barriersMax {
			continue // no plan has so many
		}
		if at < 0 {
			at = len(sum)
			sum = append(sum, message.BarrierStats{Name: b.Name})
		}
		o := &sum[at]
		o.Released, o.TimedOut, o.Ended = add(o.Released, b.Released), add(o.TimedOut, b.TimedOut), add(o.Ended, b.Ended)
	}
	return sum
}
