package simulate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/scenarios"
)

// virtualMax bounds --virtual: a year, far below the limit of a world.
const virtualMax = 365 * 24 * time.Hour

// findScenario names the nearest one where there is no such scenario.
func findScenario(name string) (scenarios.Scenario, error) {
	s, err := scenarios.Find(name)
	if err == nil {
		return s, nil
	}
	var names []string
	for _, s := range scenarios.All() {
		names = append(names, s.Name)
	}
	return s, command.Usage("scenario %q does not exist%s: `%s sim list` lists them", name, command.DidYouMean(name, names), command.Called())
}

// seedRange is a flag: one seed, or A..B with both ends.
type seedRange struct{ first, last uint64 }

func (r *seedRange) String() string {
	if r.first == r.last {
		return strconv.FormatUint(r.first, 10)
	}
	return fmt.Sprintf("%d..%d", r.first, r.last)
}

// Type implements pflag.Value.
func (*seedRange) Type() string { return "N|A..B" }

// Set implements pflag.Value.
func (r *seedRange) Set(s string) error {
	from, to, isRange := strings.Cut(s, "..")
	if !isRange {
		to = from
	}
	first, err1 := strconv.ParseUint(from, 10, 64)
	last, err2 := strconv.ParseUint(to, 10, 64)
	switch {
	case err1 != nil || err2 != nil:
		return fmt.Errorf("write a whole number from 0 to %d, or two of them, like 1..100", uint64(math.MaxUint64))
	case last < first:
		return fmt.Errorf("the first seed is above the last: write %d..%d", last, first)
	}
	r.first, r.last = first, last
	return nil
}

// many says whether there is more than one.
func (r *seedRange) many() bool { return r.first != r.last }

func addSeeds(flags *pflag.FlagSet, r *seedRange, name string, value seedRange, help string) {
	*r = value
	flags.Var(r, name, help)
}

// virtualSpan is a span of at least a millisecond and at most virtualMax.
type virtualSpan struct {
	command.Span
	value *time.Duration
}

func newVirtualSpan(p *time.Duration) virtualSpan {
	return virtualSpan{command.NewSpan(p, time.Millisecond), p}
}

// Set implements pflag.Value.
func (v virtualSpan) Set(s string) error {
	if err := v.Span.Set(s); err != nil {
		return err
	}
	if *v.value > virtualMax {
		return fmt.Errorf("it must be at most %v", virtualMax)
	}
	return nil
}

func addVirtual(flags *pflag.FlagSet, p *time.Duration) {
	flags.Var(newVirtualSpan(p), "virtual", "how long the world lasts, instead of what the scenario says")
}

const wireUsage = "encode and decode every message, as between real nodes"

// longEnough rejects a --virtual that cannot judge a world.
func longEnough(s scenarios.Scenario, virtual time.Duration) error {
	if err := s.Check(virtual); err != nil {
		return command.Usage("--virtual %w, leave it out, or cut the run with `sim run --until`", err)
	}
	return nil
}

// simExit ends a command of the simulator without an error text, as it has printed a verdict.
func simExit(code int) error {
	if code == command.ExitGood {
		return nil
	}
	return command.Exit(code, nil)
}

// interruptible ends with 130 at the first Ctrl-C: a world cannot be asked to
// stop, but it holds nothing that its process does not.
func interruptible(f func() error) error {
	interrupts := command.CatchInterrupts()
	defer interrupts.Release()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-interrupts.Asked:
		return command.Exit(command.ExitInterrupted, fmt.Errorf("interrupted"))
	}
}
