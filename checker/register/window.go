package register

import (
	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// ownWindow names the last window of a node for a job. No node is a gate and a manager,
// so that the group needs no mention.
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

func (j *Judge) opens(r history.Record, job message.JobID, token message.LeaseToken, until node.Instant) {
	j.opened[ownWindow{r.Node, job}] = opened{r.Incarnation, token.Packed(), until}
}

func (j *Judge) shuts(r history.Record, e event.LeaseEnded) {
	key := ownWindow{r.Node, e.Job}
	if w, ok := j.opened[key]; ok && w.token == e.Token.Packed() {
		w.until = 0
		j.opened[key] = w
	}
}

// Ordered judges that a node which sends an order owns what it orders, by its own
// clock. It needs no bound of drift.
func (j *Judge) Ordered(r history.Record, job message.JobID, token uint64, what string) {
	w, known := j.opened[ownWindow{r.Node, job}]
	if !known || r.Local == 0 {
		return // its registers are not told of here
	}
	if w.incarnation != r.Incarnation || w.token != token || r.Local >= w.until {
		j.log.Violate("T2", r, "%s of job %v was sent under token %d at %v of its own clock, its window is under %d until %v", what, job, token, r.Local, w.token, w.until)
	}
}
