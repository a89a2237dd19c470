package queue

// Holder is who holds places of the queue: a source of clients, or one subject among those of a source.
type Holder struct {
	Source  string // empty: not known
	Subject string // empty: the source has none
}

// String is how people know a holder.
func (h Holder) String() string {
	if h.Subject == "" {
		return h.Source
	}
	return h.Subject + " at " + h.Source
}

// Crowd counts the places of the queue that each source of clients holds, and of a source each subject, so that none takes all.
type Crowd struct {
	held   map[string]int
	within map[string]*Crowd // the subjects of a source
}

// NewCrowd returns a crowd without sources.
func NewCrowd() *Crowd { return &Crowd{held: map[string]int{}, within: map[string]*Crowd{}} }

// of returns the subjects of a source: a crowd of none, where it has none.
func (c *Crowd) of(source string) *Crowd {
	if w := c.within[source]; w != nil {
		return w
	}
	return &Crowd{}
}

// Share is how many of the places a holder may hold: with n sources that hold any, itself included, one of n + 1 parts. So one
// source alone leaves half for those to come. The subjects of a source share its part likewise. An unknown source has no
// bound of its own.
func (c *Crowd) Share(h Holder, places int) int {
	if h.Source == "" {
		return places
	}
	n := len(c.held)
	if c.held[h.Source] == 0 {
		n++
	}
	share := max(1, places/(n+1))
	if h.Subject == "" {
		return share
	}
	return c.of(h.Source).Share(Holder{Source: h.Subject}, share)
}

// Held is how many places a holder holds.
func (c *Crowd) Held(h Holder) int {
	if h.Subject != "" {
		return c.of(h.Source).held[h.Subject]
	}
	return c.held[h.Source]
}

// Len counts the sources that hold places, and their subjects.
func (c *Crowd) Len() int {
	n := len(c.held)
	//lint:orderfree a sum
	for _, w := range c.within {
		n += w.Len()
	}
	return n
}

// Enter gives a holder one more place.
func (c *Crowd) Enter(h Holder) {
	if h.Source == "" {
		return
	}
	c.held[h.Source]++
	if h.Subject == "" {
		return
	}
	if c.within[h.Source] == nil {
		c.within[h.Source] = NewCrowd()
	}
	c.within[h.Source].Enter(Holder{Source: h.Subject})
}

// Leave takes one place from a holder.
func (c *Crowd) Leave(h Holder) {
	if h.Source == "" {
		return
	}
	if c.held[h.Source]--; c.held[h.Source] <= 0 {
		delete(c.held, h.Source)
	}
	if w := c.within[h.Source]; h.Subject != "" && w != nil {
		w.Leave(Holder{Source: h.Subject})
		if w.Len() == 0 {
			delete(c.within, h.Source)
		}
	}
}
