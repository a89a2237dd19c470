package stage

import (
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/node"
	"hyperscale/sim"
)

// tee passes events to the checker, and everything to another observer, which may be nil.
type tee struct {
	stage *Stage
	other sim.Observer
}

// Interest implements sim.Interested: without another observer, only events cost time.
func (t tee) Interest() sim.Interest {
	if o, ok := t.other.(sim.Interested); ok {
		return o.Interest() | sim.WantEvents | sim.WantFaults
	}
	if t.other != nil {
		return sim.WantAll
	}
	return sim.WantEvents | sim.WantFaults
}

// Input implements sim.Observer.
func (t tee) Input(at time.Duration, id node.ID, in *node.Input) {
	if t.other != nil {
		t.other.Input(at, id, in)
	}
}

// Effect implements sim.Observer.
func (t tee) Effect(at time.Duration, id node.ID, e *sim.Effect) {
	if t.other != nil {
		t.other.Effect(at, id, e)
	}
}

// Fault implements sim.Observer.
func (t tee) Fault(at time.Duration, f sim.Fault) {
	if f.Kind == sim.FaultCrash && f.Value == 1 {
		for _, id := range t.stage.World.Nodes() {
			if len(f.Nodes) == 0 || slices.Contains(f.Nodes, string(id)) {
				t.stage.Checker.Forget(id)
			}
		}
	}
	if t.other != nil {
		t.other.Fault(at, f)
	}
}

// Event implements sim.Observer: it feeds the checker.
func (t tee) Event(at time.Duration, id node.ID, incarnation uint64, e node.Event) {
	s := t.stage
	record := checker.Record{At: at, Node: id, Incarnation: incarnation, Local: s.Local(id), Event: e}
	s.Checker.Observe(record)
	for _, look := range s.Witness {
		look(record)
	}
	if s.Options.History != nil {
		s.Options.History(record)
	}
	if s.broken == 0 && s.Checker.Broken() > 0 {
		s.broken = at
	}
	if t.other != nil {
		t.other.Event(at, id, incarnation, e)
	}
}
