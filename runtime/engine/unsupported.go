package engine

import (
	"errors"
	"fmt"

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
	add(w.HTTP.Proxy != nil, "http.client(proxy = ...)")
	return errors.Join(faults...)
}
