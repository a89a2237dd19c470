package stage

import (
	"cmp"
	"fmt"
	"time"

	"hyperscale/netsim"
)

// LivenessBound is the bound of T11: after the last fault has healed, every accepted job ends
// within it.
const LivenessBound = 120 * time.Second

// Scenario is a named world: data, and one function that builds it.
type Scenario struct {
	Name string
	// Doc says what happens, then what must hold, each in a sentence or two.
	Doc string
	// Happens and Holds say it at length, for docs/scenarios.md, if Doc is not enough.
	Happens, Holds string
	// Virtual is its length unless Options set another.
	Virtual time.Duration
	// Least is the shortest time in which this world can be judged. Zero means Virtual: a
	// directed world's faults have fixed times, and a shorter run misses some of them.
	Least time.Duration
	// ExpectedLoss names the invariants that this world breaks because of a known and
	// documented loss: at least one, and no other. It is empty for all other worlds.
	ExpectedLoss string
	// Beyond lets clocks drift beyond the bound that protocols rely on: the checker judges only
	// what must hold then.
	Beyond  bool
	Within  time.Duration        // after the healing all jobs end within it; 0: LivenessBound
	Rate    int                  // messages of one kind that a node receives in a second at most; 0: rateMax
	Most    int                  // the most members that Crowd draws; 0: the world has no crowd
	Network func() netsim.Config // nil: netsim.Default
	Build   func(*Stage)
}

// Shortest returns the shortest time in which this world can be judged.
func (s Scenario) Shortest() time.Duration { return cmp.Or(s.Least, s.Virtual) }

// Bounds of a crowd: fewer are none, and a manager takes no more workers.
const (
	crowdLeast = 8
	crowdMost  = 10_000
)

// CheckCrowd rejects a size for a world that has no crowd.
func (s Scenario) CheckCrowd(members int) error {
	if members != 0 && (members < crowdLeast || members > crowdMost) {
		return fmt.Errorf("%d: a crowd has %d to %d members", members, crowdLeast, crowdMost)
	}
	if members > 0 && s.Most == 0 {
		return fmt.Errorf("%d: the size of %s is fixed: leave it out", members, s.Name)
	}
	return nil
}

// Check rejects a run that is too short to judge its world.
func (s Scenario) Check(virtual time.Duration) error {
	if least := s.Shortest(); virtual > 0 && virtual < least {
		return fmt.Errorf("%v is shorter than the %v that scenario %s needs to be judged: choose %v or more", virtual, least, s.Name, least)
	}
	return nil
}
