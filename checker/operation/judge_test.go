package operation_test

import (
	"testing"

	"hyperscale/checker/history"
	"hyperscale/checker/linear"
	"hyperscale/checker/operation"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

var one = message.JobID{1}

// watched is a judge, and its view of nodes.
type watched struct {
	*operation.Judge
	nodes *history.Nodes
	log   *history.Log
}

func watch() *watched {
	nodes, log := history.NewNodes(), &history.Log{}
	return &watched{operation.New(nodes, log), nodes, log}
}

func (c *watched) Observe(r history.Record) {
	if c.nodes.Observe(r) {
		c.Over(r.Node)
	}
	switch e := r.Event.(type) {
	case event.LeaseCalled:
		c.LeaseCalled(r, e)
	case event.LeaseReturned:
		c.LeaseReturned(r, e)
	case event.ClientCalled:
		c.ClientCalled(r, e)
	case event.ClientReturned:
		c.ClientReturned(r, e)
	}
}

// A call whose process died never returns, though its number is used again by the
// next incarnation.
func TestCallsEndWithTheirIncarnation(t *testing.T) {
	c := watch()
	tell := func(incarnation uint64, e node.Event) {
		c.Observe(history.Record{Node: "c1", Incarnation: incarnation, Event: e})
	}
	tell(1, event.ClientCalled{Call: 1, What: "submit", Job: one, Payload: 5})
	tell(2, event.ClientCalled{Call: 1, What: "submit", Job: one, Payload: 5})
	tell(2, event.ClientReturned{Call: 1, What: "submit", Job: one, OK: true})
	tell(2, event.ClientCalled{Call: 2, What: "status", Job: one})
	tell(2, event.ClientReturned{Call: 2, What: "status", Job: one, OK: true, State: message.JobRunning})
	tell(2, event.ClientCalled{Call: 3, What: "submit", Job: one, Payload: 6})
	tell(3, event.ClientReturned{Call: 3, What: "submit", Job: one, OK: true})
	if c.Settle(); len(c.log.First()) != 0 {
		t.Fatalf("call 3 died with incarnation 2: got %v", c.log.First())
	}
}

// Attempts without an answer do not keep the judge from judging a register: a caller that
// starts another attempt gets no more answers to them.
func TestAttemptsWithoutAnswerAreOver(t *testing.T) {
	c := watch()
	number := uint64(0)
	call := func(what string, epoch, value uint64) event.LeaseReturned {
		number++
		token := message.LeaseToken{Epoch: epoch, Ordinal: 1}
		e := event.LeaseCalled{Group: "gates", Job: one, Call: number, What: what, Token: token, Value: value}
		c.Observe(history.Record{Node: "g1", Incarnation: 1, Event: e})
		return event.LeaseReturned{Group: "gates", Job: one, Call: number, OK: true, Token: token, Value: value}
	}
	ends := func(e event.LeaseReturned) { c.Observe(history.Record{Node: "g1", Incarnation: 1, Event: e}) }
	for epoch := range uint64(200) {
		call("acquire", 3*epoch+1, 7)
		ends(call("acquire", 3*epoch+2, 7))
		call("update", 3*epoch+2, 8)
	}
	if len(c.log.First()) != 0 {
		t.Fatal("all may have happened so: ", c.log.First())
	}
	ends(call("acquire", 1000, 9))
	for range 100 {
		ends(call("read", 1000, 9))
	}
	if got := c.log.First(); len(got) != 1 || got[0].Invariant != "T4" {
		t.Fatalf("no node wrote 9, and it was judged without the end of the history: got %v", got)
	}
}

// A receiver that lost its disk starts again; any other does not.
func TestReceiverForgets(t *testing.T) {
	c := watch()
	answer := func(id node.ID, epoch uint64) {
		c.Answered(history.Record{Node: id}, operation.Receiver{Node: id}, linear.FencedOp{What: "cancel", Fence: message.Fence{JobEpoch: epoch}})
	}
	for _, id := range []node.ID{"m1", "m2"} {
		answer(id, 2)
	}
	c.Forget("m1")
	answer("m1", 1)
	if c.Settle(); c.log.Count() != 0 {
		t.Fatalf("m1 had lost its disk: got %v", c.log.First())
	}
	c = watch()
	answer("m2", 2)
	answer("m2", 1)
	if c.Settle(); c.log.Count() != 1 {
		t.Fatalf("m2 had not: got %v", c.log.First())
	}
}
