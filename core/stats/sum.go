package stats

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"hyperscale/core/message"
)

// Bounds of what is kept of many parts.
const (
	KindsMax    = 64   // kinds of errors of one step, before KindOther takes the rest
	LogsMax     = 20   // lines that users' programs wrote
	StepsMax    = 1024 // steps of one workflow
	StatusesMax = 1000 // different statuses of one step, before StatusOther takes the rest
	PhasesMax   = 16   // phases of one step
)

// KindOther counts the failures whose kind came after KindsMax others.
const KindOther = "other"

// StatusOther counts the answers whose status came after StatusesMax others.
const StatusOther = 0

// ErrParts is what parts that do not belong together get.
var ErrParts = errors.New("parts of different workflows")

// Sum adds up what parts of one workflow measured. Steps keep the order in which they
// are first seen. Nil parts count as nothing.
func Sum(parts []*message.Stats) (message.Stats, error) {
	var total message.Stats
	var lag sparse
	steps := newStepSums()
	for _, p := range parts {
		if p == nil {
			continue
		}
		total.Active = add(total.Active, p.Active)
		total.Rows = add(total.Rows, p.Rows)
		total.Elapsed = max(total.Elapsed, p.Elapsed)
		total.Generator.BusyMax = max(total.Generator.BusyMax, p.Generator.BusyMax)
		total.Generator.Saturated = total.Generator.Saturated || p.Generator.Saturated
		total.Generator.Begun = add(total.Generator.Begun, p.Generator.Begun)
		total.Generator.Waited = add(total.Generator.Waited, p.Generator.Waited)
		total.Generator.Dropped = add(total.Generator.Dropped, p.Generator.Dropped)
		if room := LogsMax - len(total.Logs); room > 0 {
			total.Logs = append(total.Logs, p.Logs[:min(room, len(p.Logs))]...)
		}
		if err := lag.merge(p.Generator.Lag); err != nil {
			return message.Stats{}, fmt.Errorf("add up the generator's lag: %w", err)
		}
		steps.all = slices.Grow(steps.all, max(0, len(p.Steps)-len(steps.all)))
		for i := range p.Steps {
			if err := steps.add(&p.Steps[i]); err != nil {
				return message.Stats{}, fmt.Errorf("add up step %q: %w", p.Steps[i].Name, err)
			}
		}
	}
	total.Generator.Lag = lag.wire()
	total.Steps = steps.result()
	return total, nil
}

// stepSum is a step under way.
type stepSum struct {
	out                      message.StepStats
	latency, service, metric sparse
	phases                   []phaseSum
}

// phaseSum is a phase under way.
type phaseSum struct {
	phase message.Phase
	time  sparse
}

type stepSums struct {
	all   []stepSum
	index map[string]int
}

func newStepSums() *stepSums { return &stepSums{index: map[string]int{}} }

func (s *stepSums) add(part *message.StepStats) error {
	at, known := s.index[part.Name]
	if !known {
		if at = len(s.all); at == StepsMax {
			return fmt.Errorf("more than %d steps: %w", StepsMax, ErrParts)
		}
		s.index[part.Name] = at
		s.all = append(s.all, stepSum{out: message.StepStats{Name: part.Name, Kind: part.Kind}})
	}
	to := &s.all[at]
	if to.out.Kind != part.Kind {
		return fmt.Errorf("kind is %d in one part and %d in another: %w", to.out.Kind, part.Kind, ErrParts)
	}
	return to.add(part)
}

func (s *stepSums) result() []message.StepStats {
	if len(s.all) == 0 {
		return nil
	}
	out := make([]message.StepStats, 0, len(s.all))
	for k := range s.all {
		step := &s.all[k]
		step.out.Latency = step.latency.wire()
		step.out.Service = step.service.wire()
		step.out.Metric = step.metric.wire()
		for i := range step.phases {
			step.out.Phases = append(step.out.Phases, message.PhaseTimes{Phase: step.phases[i].phase, Time: step.phases[i].time.wire()})
		}
		out = append(out, step.out)
	}
	return out
}

func (s *stepSum) add(part *message.StepStats) error {
	out := &s.out
	out.Started = add(out.Started, part.Started)
	out.Sent = add(out.Sent, part.Sent)
	out.OK = add(out.OK, part.OK)
	out.Failed = add(out.Failed, part.Failed)
	out.TimedOut = add(out.TimedOut, part.TimedOut)
	out.Cancelled = add(out.Cancelled, part.Cancelled)
	out.Dropped = add(out.Dropped, part.Dropped)
	out.Skipped = add(out.Skipped, part.Skipped)
	out.BytesIn = add(out.BytesIn, part.BytesIn)
	out.BytesOut = add(out.BytesOut, part.BytesOut)
	for _, e := range part.Errors {
		out.Errors = AddError(out.Errors, e)
	}
	for _, c := range part.Statuses {
		out.Statuses = AddStatus(out.Statuses, c)
	}
	if err := s.latency.merge(part.Latency); err != nil {
		return fmt.Errorf("latency: %w", err)
	}
	if err := s.service.merge(part.Service); err != nil {
		return fmt.Errorf("service: %w", err)
	}
	if err := s.metric.merge(part.Metric); err != nil {
		return fmt.Errorf("metric: %w", err)
	}
	for i := range part.Phases {
		if err := s.addPhase(&part.Phases[i]); err != nil {
			return fmt.Errorf("phase %d: %w", part.Phases[i].Phase, err)
		}
	}
	var err error
	if out.Windows, err = mergeWindows(out.Windows, part.Windows); err != nil {
		return fmt.Errorf("windows: %w", err)
	}
	return nil
}

func (s *stepSum) addPhase(part *message.PhaseTimes) error {
	at, found := slices.BinarySearchFunc(s.phases, part.Phase, func(p phaseSum, phase message.Phase) int { return cmp.Compare(p.phase, phase) })
	if !found {
		if len(s.phases) == PhasesMax {
			return fmt.Errorf("more than %d phases: %w", PhasesMax, ErrParts)
		}
		s.phases = slices.Insert(s.phases, at, phaseSum{phase: part.Phase})
	}
	return s.phases[at].time.merge(part.Time)
}

// AddStatus counts a status in a list that stays ascending and holds at most
// StatusesMax beside StatusOther. It writes to the list: only its owner may call it.
func AddStatus(list []message.StatusCount, c message.StatusCount) []message.StatusCount {
	at, found := slices.BinarySearchFunc(list, c, func(a, b message.StatusCount) int { return cmp.Compare(a.Status, b.Status) })
	if found {
		list[at].Count = add(list[at].Count, c.Count)
		return list
	}
	full := len(list) >= StatusesMax
	if full && list[0].Status == StatusOther {
		full = len(list) > StatusesMax
	}
	if full && c.Status != StatusOther {
		return AddStatus(list, message.StatusCount{Status: StatusOther, Count: c.Count})
	}
	return slices.Insert(list, at, c)
}

// AddError counts a failure in a list that stays sorted by kind and holds at most
// KindsMax kinds beside KindOther. The first example of a kind is kept. It writes to
// the list: only its owner may call it.
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
