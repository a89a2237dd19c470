package queue

// Crowd counts the places of the queue that each source of clients holds, so that none takes all.
type Crowd struct{ held map[string]int }

// NewCrowd returns a crowd without sources.
func NewCrowd() *Crowd { return &Crowd{held: map[string]int{}} }

// Share is how many of the places one source may hold: with n sources that hold any, itself
// included, one of n + 1 parts. So one source alone leaves half for those to come. An unknown
// source has no bound of its own.
func (c *Crowd) Share(source string, places int) int {
	if source == "" {
		return places
	}
	n := len(c.held)
	if c.held[source] == 0 {
		n++
	}
	return max(1, places/(n+1))
}

// Held is how many places a source holds.
func (c *Crowd) Held(source string) int { return c.held[source] }

// Len counts the sources that hold places.
func (c *Crowd) Len() int { return len(c.held) }

// Enter gives a source one more place.
func (c *Crowd) Enter(source string) {
	if source != "" {
		c.held[source]++
	}
}

// Leave takes one place from a source.
func (c *Crowd) Leave(source string) {
	if source == "" {
		return
	}
	if c.held[source]--; c.held[source] <= 0 {
		delete(c.held, source)
	}
}
