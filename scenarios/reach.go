package scenarios

//go:generate env REWRITE=1 go test -run TestRareStatesAreListed -count=1 .

import (
	_ "embed"
	"strings"
)

//go:embed states.txt
var states string

// RareStates returns the states that machines report with event.Reached, in order. A swarm
// reports those that it never visited.
func RareStates() []string { return strings.Fields(states) }
