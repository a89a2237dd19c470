package schedule

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/load"
)

// activeUsers are the users of a closed workflow. They begin in their order and leave in
// reverse.
type activeUsers struct {
	order   []int32 // nil: by number
	ranks   []uint64
	n       int
	up      int   // how many of the order have begun and need not leave
	wanted  int   // how many should have
	since   int64 // when wanted last changed
	last    int64 // due time of the last one that began
	spacing int64

	curve  load.Curve
	change int64 // when the curve has another value
	level  uint64
}

func newActiveUsers(cfg *Config) activeUsers {
	plan, spacing := cfg.Plan, int64(cfg.Spacing)
	c := activeUsers{n: int(cfg.VUs), wanted: int(cfg.VUs), spacing: spacing, last: -spacing, change: Never}
	if len(plan.Stages) == 0 {
		return c
	}
	c.wanted, c.curve = 0, load.NewActive(plan)
	spread := load.NewSpread(plan.VUs)
	c.order, c.ranks = make([]int32, c.n), make([]uint64, c.n)
	for i := range c.order {
		c.order[i] = int32(i)
	}
	slices.SortFunc(c.order, func(a, b int32) int {
		return cmp.Compare(spread.Rank(cfg.FirstVU+uint64(a)), spread.Rank(cfg.FirstVU+uint64(b)))
	})
	for i, vu := range c.order {
		c.ranks[i] = spread.Rank(cfg.FirstVU + uint64(vu))
	}
	c.set(0, c.curve.At(0))
	c.foresee(0)
	return c
}

func (c *activeUsers) at(i int) int32 {
	if c.order == nil {
		return int32(i)
	}
	return c.order[i]
}

// set follows the curve.
func (c *activeUsers) set(at int64, level uint64) {
	for c.wanted < c.n && c.ranks[c.wanted] < level {
		c.wanted++
	}
	for c.wanted > 0 && c.ranks[c.wanted-1] >= level {
		c.wanted--
	}
	c.since = at
}

func (c *activeUsers) foresee(at int64) {
	when, level, ok := c.curve.Next(time.Duration(at))
	if c.change, c.level = int64(when), level; !ok {
		c.change = Never
	}
}

// due returns when the next user begins.
func (c *activeUsers) due() int64 {
	if c.up >= c.wanted {
		return Never
	}
	return max(c.since, c.last+c.spacing)
}

func (c *activeUsers) wake() int64 { return min(c.due(), c.change) }

func (c *activeUsers) exhausted() bool { return c.up == c.n }

// recruit makes users begin and leave, as the curve says.
func (d *Iterations) recruit(now int64) (int32, int64, bool) {
	c := &d.closed
	for {
		due := c.due()
		if d.holds() {
			d.noteHeld(now)
			due = Never
		}
		switch {
		case c.up > c.wanted:
			c.up--
			d.discharge(c.at(c.up))
		case c.change <= now && c.change <= due:
			c.set(c.change, c.level)
			c.foresee(c.change)
		case due <= now:
			vu := c.at(c.up)
			c.up++
			c.last = due
			if u := &d.users[vu]; u.state == userBusy { // it has not left yet
				u.leaving = false
				continue
			}
			return vu, due, true
		default:
			return 0, 0, false
		}
	}
}

// discharge makes a user leave, after its iteration if it has begun one.
func (d *Iterations) discharge(vu int32) {
	switch u := &d.users[vu]; u.state {
	case userBusy:
		u.leaving = true
	case userWaiting:
		d.leaves(vu)
	}
}
