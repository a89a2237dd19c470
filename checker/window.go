package checker

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// ownWindow names what one node was told last of the register of a job: gates and
// managers are other nodes, so that its group need not be told.
type ownWindow struct {
	node node.ID
	job  message.JobID
}

// opened is that window, on the node's own clock; until is zero once it was ended.
type opened struct {
	incarnation uint64
	token       uint64
	until       node.Instant
}

func (c *Checker) opens(r Record, job message.JobID, token message.LeaseToken, until node.Instant) {
	c.opened[ownWindow{r.Node, job}] = opened{r.Incarnation, token.Packed(), until}
}

func (c *Checker) shuts(r Record, e event.LeaseEnded) {
	key := ownWindow{r.Node, e.Job}
	if w, ok := c.opened[key]; ok && w.token == e.Token.Packed() {
		w.until = 0
		c.opened[key] = w
	}
}

// insideWindow judges that who gives an order owns what it is about, by its own
// clock: what it believed a moment ago does not count. It needs no bound of drift.
func (c *Checker) insideWindow(r Record, job message.JobID, token uint64, what string) {
	w, known := c.opened[ownWindow{r.Node, job}]
	if !known || r.Local == 0 {
		return // its registers are not told of here
	}
	if w.incarnation != r.Incarnation || w.token != token || r.Local >= w.until {
		c.violate("T2", r, "%s of job %v was sent under token %d at %v of its own clock, its window is under %d until %v", what, job, token, r.Local, w.token, w.until)
	}
}
