package measure

import "time"

// Clock is the time of a run: instants are nanoseconds since its base.
type Clock struct {
	Base time.Time
	Now  int64 // its last reading
}

// Tick reads the clock.
func (c *Clock) Tick() int64 {
	c.Now = int64(time.Since(c.Base))
	return c.Now
}

// Millis returns the run's clock in milliseconds since 1970: records have it.
func (c *Clock) Millis() int64 { return c.Base.Add(time.Duration(c.Now)).UnixMilli() }

// Wall returns the run's clock in seconds since 1970: cookies expire by it.
func (c *Clock) Wall() int64 { return c.Base.Add(time.Duration(c.Now)).Unix() }
