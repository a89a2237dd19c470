package checker

import (
	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/node"
)

// alerts judges R: what each node reports of an alert is a change.
type alerts struct {
	log *history.Log
	on  map[alertOf]bool
}

// alertOf is an alert of one incarnation of a node.
type alertOf struct {
	node        node.ID
	incarnation uint64
	alert       string
}

func newAlerts(log *history.Log) *alerts { return &alerts{log: log, on: map[alertOf]bool{}} }

// changed judges one report.
func (s *alerts) changed(r Record, e event.Alert) {
	key := alertOf{r.Node, r.Incarnation, e.Alert}
	on := e.Change == event.AlertRaised || e.Change == event.AlertTaken
	if s.on[key] == on {
		s.log.Violate("R", r, "%s reports that %s is %s, and it was raised there before: %v", r.Node, e.Alert, e.Change, on)
	}
	if s.on[key] = on; !on {
		delete(s.on, key)
	}
}
