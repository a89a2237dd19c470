package stage

import (
	"cmp"
	"fmt"
	"time"

	"hyperscale/netsim"
)

// LivenessBound is T11's: after the last fault healed, every accepted job ends
// within it.
const LivenessBound = 120 * time.Second

// Scenario is a named world: data, and one function that builds it.
type Scenario struct {
	Name string
	// Doc says what happens, then what must hold, each in a sentence or two.
	Doc string
	// Happens and Holds say it at length, for docs/scenarios.md, where Doc is not
	// enough.
	Happens, Holds string
	// Virtual is how long it lasts unless Options say otherwise.
	Virtual time.Duration
	// Least is the shortest time in which this world can be judged. Zero means Virtual: a
	// directed world's faults have fixed times, and a shorter run misses some of them.
	Least time.Duration
	// ExpectedLoss names the invariants that this world breaks, one at least and no other, for
	// a loss that is known and stated; empty for all others.
	ExpectedLoss string
	// Beyond lets clocks drift beyond the bound that protocols count on: only what
	// must hold then is judged.
	Beyond  bool
	Within  time.Duration        // after the healing all jobs end; 0: LivenessBound
	Rate    int                  // messages of one kind that a node gets in a second at most; 0: rateMax
	Network func() netsim.Config // nil: netsim.Default
	Build   func(*Stage)
}

// Shortest is the shortest time that judges this world.
func (s Scenario) Shortest() time.Duration { return cmp.Or(s.Least, s.Virtual) }

// Check rejects a run that is too short to judge its world.
func (s Scenario) Check(virtual time.Duration) error {
	if least := s.Shortest(); virtual > 0 && virtual < least {
		return fmt.Errorf("%v is shorter than the %v that scenario %s needs to be judged: choose %v or more", virtual, least, s.Name, least)
	}
	return nil
}
