package shrink

import (
	"slices"
	"time"

	"hyperscale/sim"
)

// simpler returns simpler versions of a fault, the boldest first. Each is simpler by SHRINK-2,
// so that no two faults derive from each other.
func simpler(f *sim.Fault) []sim.Fault {
	var all []sim.Fault
	add := func(change func(*sim.Fault)) {
		c := *f
		change(&c)
		all = append(all, c)
	}
	if f.Aim != "" {
		add(func(c *sim.Fault) { c.Aim = "" })
	}
	for _, nodes := range fewer(f.Nodes) {
		add(func(c *sim.Fault) { c.Nodes = nodes })
	}
	for _, peers := range fewer(f.Peers) {
		add(func(c *sim.Fault) { c.Peers = peers })
	}
	for _, d := range shorter(f.For) {
		add(func(c *sim.Fault) { c.For = d })
	}
	for _, d := range shorter(f.Hold) {
		add(func(c *sim.Fault) { c.Hold = d })
	}
	for _, d := range rounder(f.At) {
		add(func(c *sim.Fault) { c.At = d })
	}
	if f.Kind != sim.FaultSwizzle && f.Kind != sim.FaultTight { // their values are seeds
		for _, v := range lower(f.Value) {
			add(func(c *sim.Fault) { c.Value = v })
		}
	}
	return all
}

// fewer returns halves of a list, then the list without each single element. It never returns
// an empty list, which would mean all.
func fewer(names []string) [][]string {
	n := len(names)
	if n < 2 {
		return nil
	}
	all := [][]string{names[: n/2 : n/2], names[n/2:]}
	if n > 2 {
		for i := range names {
			all = append(all, slices.Delete(slices.Clone(names), i, i+1))
		}
	}
	return all
}

// shorter returns half of a length, and rounder ones below it. It never returns zero, which
// would mean no end.
func shorter(d time.Duration) []time.Duration {
	var all []time.Duration
	if half := d / 2; half >= time.Millisecond {
		all = append(all, half)
	}
	return append(all, rounder(d)...)
}

// units are what times are rounded down to.
func units() []time.Duration {
	return []time.Duration{10 * time.Second, time.Second, 100 * time.Millisecond, 10 * time.Millisecond, time.Millisecond}
}

// rounder returns the time rounded down to whole units, the coarsest first. It leaves a round
// time as it is.
func rounder(d time.Duration) []time.Duration {
	var all []time.Duration
	for _, u := range units() {
		if d%u == 0 {
			break
		}
		if r := d.Truncate(u); r > 0 {
			all = append(all, r)
		}
	}
	return all
}

// lower returns values nearer to zero: half, and with fewer digits. It leaves one as it is:
// that is a flag or a minimum.
func lower(v int64) []int64 {
	if v >= -3 && v <= 3 {
		return nil
	}
	all := []int64{v / 2}
	unit := int64(1)
	for abs := max(v, -v); abs/10 >= unit; {
		unit *= 10
	}
	if r := v / unit * unit; r != v {
		all = append(all, r)
	}
	return all
}
