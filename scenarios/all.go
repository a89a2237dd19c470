package scenarios

import (
	"cmp"
	"fmt"
	"slices"
)

// All returns every scenario, by name.
func All() []Scenario {
	all := slices.Concat(reference(), directed(), worlds(), memoryWorlds(), shardWorlds(), recoverWorlds(), abortWorlds(), rowWorlds(), gossips(), memberships(), swimWorlds(), memberWorlds(), peerWorlds(), registers(), elections(), fileWorlds(), boundWorlds(), operatedWorlds(), canaries())
	slices.SortFunc(all, func(a, b Scenario) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Find returns the scenario of a name.
func Find(name string) (Scenario, error) {
	var names []string
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scenario{}, fmt.Errorf("scenario %q does not exist: choose one of %v", name, names)
}
