package engine

import (
	"errors"
	"fmt"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
)

// unsupported names everything of a plan that this engine does not obey: a run that
// left it out would measure something else than what its file says. What the engine
// learns to obey is taken out here.
func unsupported(w *workflow.Workflow) error {
	p := w.Plan
	var faults []error
	add := func(used bool, field string) {
		if used {
			faults = append(faults, fmt.Errorf("this engine does not know %s: take it out of workflow %q", field, p.Name))
		}
	}
	add(p.Iterations != 0, "iterations")
	add(p.Rate != 0, "rate")
	add(p.Poisson, `arrivals = "poisson"`)
	add(p.Queue, `when_full = "queue"`)
	add(len(p.Stages) != 0, "stages")
	add(p.ThinkMax != 0, "think = between(...)")
	add(p.Pace != 0, "pace")
	add(p.GracefulStop != 0 && p.GracefulStop != message.GracefulStopDefault, "graceful_stop")
	add(p.Session != message.SessionVU, `session = "none"`)
	add(p.Connections != 0, "connections")
	add(p.Weighted, "weight")
	for i := range w.Steps {
		add(w.Steps[i].Conditional(), "when")
	}
	for _, h := range []workflow.Hook{workflow.HookSetup, workflow.HookTeardown, workflow.HookVUSetup, workflow.HookVUTeardown} {
		add(w.Has(h), h.String())
	}
	return errors.Join(faults...)
}
