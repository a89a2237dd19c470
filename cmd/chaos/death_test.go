package main

import (
	"testing"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A gate that is killed for good leaves a call open. The checker learns of its death at its
// time among the records, and decides about the calls of the others.
func TestDeathsEndOpenCalls(t *testing.T) {
	var records []checker.Record
	tell := func(id node.ID, e node.Event) {
		records = append(records, checker.Record{At: time.Duration(len(records)), Node: id, Incarnation: 1, Event: e})
	}
	token := message.LeaseToken{Epoch: 1, Ordinal: 1}
	tell("g1", event.LeaseCalled{Group: "gates", Job: message.JobID{1}, Call: 1, What: "acquire", Token: token, Value: 10})
	tell("g1", event.LeaseReturned{Group: "gates", Job: message.JobID{1}, Call: 1, OK: true, Token: token, Value: 10})
	tell("g1", event.LeaseCalled{Group: "gates", Job: message.JobID{1}, Call: 2, What: "read"})
	died := []death{{"g1", time.Duration(len(records) - 1)}}
	for call := range uint64(5000) {
		tell("g2", event.LeaseCalled{Group: "gates", Job: message.JobID{1}, Call: call, What: "read"})
		tell("g2", event.LeaseReturned{Group: "gates", Job: message.JobID{1}, Call: call, OK: true, Token: token, Value: 10})
	}
	for _, row := range []struct {
		what string
		died []death
		want int
	}{{"the checker is not told", nil, 1}, {"it is told", died, 0}, {"it is told too late", []death{{"g1", time.Hour}}, 1}} {
		c := checker.New()
		observe(c, records, row.died)
		c.Settle()
		if got := c.Violations(); len(got) != row.want {
			t.Errorf("%s: %v, want %d", row.what, got, row.want)
		}
	}
}
