package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	"hyperscale/scenarios/gates"
	"hyperscale/scenarios/managers"
	"hyperscale/scenarios/members"
	"hyperscale/scenarios/outputs"
	"hyperscale/scenarios/reference"
	"hyperscale/scenarios/registers"
	"hyperscale/scenarios/restored"
	"hyperscale/scenarios/stage"
	"hyperscale/scenarios/trust"
	"hyperscale/scenarios/versions"
	"hyperscale/scenarios/voters"
	"hyperscale/scenarios/workers"
)

// All returns every scenario, by name.
func All() []stage.Scenario {
	all := slices.Concat(reference.Worlds(), gates.Worlds(), outputs.Worlds(), trust.Worlds(), managers.Worlds(), workers.Worlds(), members.Worlds(), registers.Worlds(), voters.Worlds(), restored.Worlds(), versions.Worlds(), canaries())
	slices.SortFunc(all, func(a, b stage.Scenario) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Find returns the scenario of a name.
func Find(name string) (stage.Scenario, error) {
	var names []string
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return stage.Scenario{}, fmt.Errorf("scenario %q does not exist: choose one of %v", name, names)
}
