package main

import (
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestRejectedCancellationsAreNoneThatWorked: a phase says how many of its cancellations the gate has rejected, since a
// rejection is faster than a majority.
func TestRejectedCancellationsAreNoneThatWorked(t *testing.T) {
	p := &prober{asked: map[message.RequestID]*cancellation{}, told: make(chan node.Message, 1)}
	r, begun := [...]message.RequestID{p.request(), p.request(), p.request()}, time.Now()
	all := []*cancellation{{at: begun}, {at: begun}, {at: begun}}
	for i, id := range r {
		p.asked[id] = all[i]
	}
	p.Message(node.Peer{}, 1, &message.JobCancelAck{Request: r[0]})
	p.Message(node.Peer{}, 1, &message.Refused{Request: r[1]})
	p.Message(node.Peer{}, 1, &message.Refused{Request: p.request()}) // of a submission
	if _, rejected := p.cancel(nil, 0); rejected != 1 || all[0].took == 0 || all[1].took == 0 || all[2].took < time.Second {
		t.Errorf("%d rejected, they took %v, %v, and %v without an answer", rejected, all[0].took, all[1].took, all[2].took)
	}
	if _, rejected := p.cancel(nil, 0); rejected != 0 || len(p.asked) != 0 {
		t.Errorf("the next phase begins with %d rejected, and waits for %d", rejected, len(p.asked))
	}
}

// TestQuietCancellations: those around which the machine was late say more of the machine than of the gate.
func TestQuietCancellations(t *testing.T) {
	p := &phase{cancels: []*cancellation{{took: 1, late: quiet}, {took: 2, late: quiet + 1}, {took: 3}}}
	if all, still, late := p.waits(); len(all) != 3 || len(still) != 2 || still[1] != 3 || late[1] != quiet+1 {
		t.Errorf("%v, of them %v, beside timers %v late", all, still, late)
	}
}
