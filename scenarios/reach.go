package scenarios

//go:generate env REWRITE=1 go test -run TestRareStatesAreListed -count=1 .

import (
	_ "embed"
	"strings"
)

//go:embed states.txt
var states string

// RareStates are the states that machines tell with event.Reached, in order: a
// swarm says which of them it has never visited.
func RareStates() []string { return strings.Fields(states) }
