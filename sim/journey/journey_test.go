package journey_test

import (
	"testing"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/sim"
	"hyperscale/sim/journey"
)

func ping(n uint64) node.Message { return &toy.Ping{Counter: n} }

func datagram(to node.Addr, m node.Message) *sim.Effect {
	return &sim.Effect{Kind: sim.EffectDatagram, To: to, Message: m}
}

func arrival(from node.ID, s node.StreamID, m node.Message) *node.Input {
	return &node.Input{Kind: node.InputMessage, From: node.Peer{ID: from, Addr: node.Addr(from + ":1")}, Stream: s, Message: m}
}

// JOURNEY-1: receivers distinguish one datagram that a node sent to many.
func TestDatagramsFindTheirReceivers(t *testing.T) {
	tr := journey.NewTracker()
	tr.Got(0, "a", arrival("b", 0, ping(9))) // fixes each node's address
	tr.Got(0, "a", arrival("c", 0, ping(9)))
	toB := tr.Sent(1, "a", datagram("b:1", ping(1)))
	toC := tr.Sent(2, "a", datagram("c:1", ping(1)))
	if got := tr.Got(5, "c", arrival("a", 0, ping(1))); got != toC || got.Arrived != 5 || got.Sent != 2 {
		t.Errorf("c got %+v, want what was sent to c", got)
	}
	if !toB.Lost() || tr.Whom(toB) != "b" {
		t.Errorf("what was sent to b: lost %v, to %q", toB.Lost(), tr.Whom(toB))
	}
}

// JOURNEY-2.
func TestASecondArrivalIsACopy(t *testing.T) {
	tr := journey.NewTracker()
	tr.Sent(1, "a", datagram("b:1", ping(1)))
	if got := tr.Got(2, "b", arrival("a", 0, ping(1))); got.Copy() {
		t.Errorf("the first arrival is a copy: %+v", got)
	}
	if got := tr.Got(3, "b", arrival("a", 0, ping(1))); !got.Copy() || got.From != "a" || got.To != "b" || got.Lost() {
		t.Errorf("the second arrival is no copy: %+v", got)
	}
}

// JOURNEY-1: equal messages on a stream arrive in order, and not on another stream.
func TestStreamsKeepTheirMessages(t *testing.T) {
	tr := journey.NewTracker()
	one, two := netsim.ConnID(1), netsim.ConnID(2)
	tr.Sent(0, "a", &sim.Effect{Kind: sim.EffectOpen, Stream: one.Of(0), To: "b:1"})
	tr.Sent(0, "a", &sim.Effect{Kind: sim.EffectOpen, Stream: two.Of(0), To: "nobody:1"})
	send := func(at time.Duration, s node.StreamID) *journey.Journey {
		return tr.Sent(at, "a", &sim.Effect{Kind: sim.EffectSend, Stream: s, Message: ping(1)})
	}
	first, second, other := send(1, one.Of(0)), send(2, one.Of(0)), send(3, two.Of(0))
	if got := tr.Called(other); got != "nobody:1" {
		t.Errorf("a call to an unknown address names %q", got)
	}
	if got := tr.Got(4, "b", arrival("a", one.Of(1), ping(1))); got != first {
		t.Errorf("got %+v first", got)
	}
	if got := tr.Got(5, "b", arrival("a", one.Of(1), ping(1))); got != second {
		t.Errorf("got %+v second", got)
	}
	if !other.Lost() {
		t.Error("what was sent on another stream has arrived")
	}
	back := tr.Sent(6, "b", &sim.Effect{Kind: sim.EffectSend, Stream: one.Of(1), Message: ping(1)})
	if tr.Whom(back) != "a" || tr.Got(7, "a", arrival("b", one.Of(0), ping(1))) != back {
		t.Errorf("the way back: %+v to %q", back, tr.Whom(back))
	}
}

// JobOf finds the job of every message and event that names a job or one of its shards.
func TestSubjects(t *testing.T) {
	id := message.JobID{7}
	s := message.ShardID{Job: id}
	for _, m := range []node.Message{
		&message.JobAck{Job: id}, &message.JobWatch{Job: id}, &message.JobQuery{Job: id}, &message.JobStatus{Job: id},
		&message.JobResult{Result: message.Result{Job: id}}, &message.JobCancel{Job: id}, &message.JobCancelAck{Job: id},
		&message.JobDispatch{Job: id}, &message.JobAccepted{Job: id}, &message.JobRefused{Job: id}, &message.JobProgress{Job: id},
		&message.SubjobResult{Job: id}, &message.SubjobResultAck{Job: id}, &message.SubjobCancel{Job: id},
		&message.ShardDispatch{Shard: s}, &message.ShardAccepted{Shard: s}, &message.ShardRefused{Shard: s}, &message.ShardProgress{Shard: s},
		&message.ShardResult{Shard: s}, &message.ShardResultAck{Shard: s}, &message.ShardCancel{Shard: s}, &message.ExecStart{Shard: s},
	} {
		if journey.JobOf(m) != id {
			t.Errorf("%s: its job is not found", message.NameOf(m))
		}
	}
	for _, e := range []node.Event{event.JobChanged{Job: id}, event.ShardLost{Shard: s}, event.SubjobCounted{Job: id}} {
		if journey.JobOfEvent(e) != id {
			t.Errorf("%s: its job is not found", e.EventName())
		}
	}
	if got := journey.JobOf(ping(1)); got != (message.JobID{}) {
		t.Errorf("a ping speaks of job %v", got)
	}
}
