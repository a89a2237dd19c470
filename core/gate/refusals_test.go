package gate_test

import (
	"fmt"
	"testing"
	"time"

	"hyperscale/core/gate"
	"hyperscale/core/message"
)

// After a refusal for lack of room few dispatches wait for an answer at a time, and each answer lets
// another one go, as fast as the rate allows.
func TestRefusalsKeepDispatchesBack(t *testing.T) {
	c := gate.Default()
	c.DispatchRateMax = 20
	e := newListener(c, client("c1"), managerPeer("m1"))
	var has []message.SubjobRef
	beat := func() {
		e.beats++
		e.deliver("m1", &message.ManagerHeartbeat{Datacenter: "a", Sequence: e.beats, CoresTotal: 1000, CoresFree: 1000, WorkerSum: 2, Subjobs: has})
	}
	beat()
	_, d := e.dispatched(t, "m1")
	e.deliver("m1", &message.JobRefused{Job: d.Job, Fence: d.Fence, Code: message.CodeOverloaded, RetryAfter: time.Second})
	for i := range 30 {
		e.deliver("c1", e.submission(fmt.Sprint("more-", i), []string{"a"}, 2))
	}
	seconds := func(n int) {
		for range n {
			e.world.Advance(time.Second)
			beat()
		}
	}
	open := func() (all []*message.JobDispatch) {
		for _, msg := range e.heard["m1"] {
			if d, ok := msg.(*message.JobDispatch); ok {
				all = append(all, d)
			}
		}
		return all[1:] // without the one that was refused
	}
	const window, rate = 4, 2 // of a rate that fell to a tenth of its bound
	seconds(5)
	first := open()
	if len(first) != window {
		t.Fatalf("5 s after a refusal %d dispatches have no answer, want %d", len(first), window)
	}
	for _, d := range first {
		fence := message.Fence{JobEpoch: d.Fence.JobEpoch, SubjobEpoch: 257}
		has = append(has, message.SubjobRef{Job: d.Job, Fence: fence, State: message.JobRunning})
		e.deliver("m1", &message.JobAccepted{Job: d.Job, Fence: fence})
	}
	seconds(1)
	if n := len(open()) - window; n < 1 || n > 2*rate {
		t.Fatalf("a second after their answers %d more were dispatched, at a rate of %d", n, rate)
	}
	seconds(4)
	if n := len(open()); n != 2*window {
		t.Fatalf("%d were dispatched, %d of them answered: want %d more", n, window, window)
	}
}

// A manager that says nothing after a dispatch gets no more for as long: what goes down with its stream
// is owed once more. Its next word lets the others go.
func TestAMuteManagerKeepsDispatchesBack(t *testing.T) {
	e := newListener(gate.Default(), client("c1"), managerPeer("m1"))
	beat := func() {
		e.beats++
		e.deliver("m1", &message.ManagerHeartbeat{Datacenter: "a", Sequence: e.beats, CoresTotal: 1000, CoresFree: 1000, WorkerSum: 2})
	}
	beat()
	_, first := e.dispatched(t, "m1")
	open := func() (n int) {
		for _, msg := range e.heard["m1"] {
			if _, ok := msg.(*message.JobDispatch); ok {
				n++
			}
		}
		return n
	}
	submit := func(name string, n int) {
		for i := range n {
			e.deliver("c1", e.submission(fmt.Sprint(name, i), []string{"a"}, 2))
		}
	}
	e.world.Advance(400 * time.Millisecond)
	submit("soon-", 3)
	if n := open(); n != 4 {
		t.Fatalf("after less than half a second without a word %d are dispatched, want all 4", n)
	}
	e.world.Advance(100 * time.Millisecond)
	submit("late-", 3)
	e.world.Advance(3 * time.Second)
	if n := open(); n != 4 {
		t.Fatalf("after half a second without a word %d are dispatched, want no more than 4", n)
	}
	e.deliver("m1", &message.JobAccepted{Job: first.Job, Fence: message.Fence{JobEpoch: first.Fence.JobEpoch, SubjobEpoch: 257}})
	if n := open(); n != 7 {
		t.Fatalf("after a word %d are dispatched, want all 7", n)
	}
}

// Jobs that waited for a datacenter do not meet it all at once when it is back.
func TestAReturningDatacenterGetsFewAtFirst(t *testing.T) {
	e := newListener(gate.Default(), client("c1"), managerPeer("m1"))
	var has []message.SubjobRef
	beat := func() {
		e.beats++
		e.deliver("m1", &message.ManagerHeartbeat{Datacenter: "a", Sequence: e.beats, CoresTotal: 1000, CoresFree: 1000, WorkerSum: 2, Subjobs: has})
	}
	beat()
	e.world.Advance(6 * time.Second) // it is lost
	for i := range 30 {
		e.deliver("c1", e.submission(fmt.Sprint("waits-", i), []string{"a"}, 2))
	}
	e.heard["m1"] = nil
	open := func() (all []*message.JobDispatch) {
		for _, msg := range e.heard["m1"] {
			if d, ok := msg.(*message.JobDispatch); ok {
				all = append(all, d)
			}
		}
		return all
	}
	beat()
	e.world.Advance(400 * time.Millisecond)
	first := open()
	if len(first) != 4 {
		t.Fatalf("a manager that is back gets %d dispatches without an answer, want 4", len(first))
	}
	answered := 0
	for range 30 {
		for _, d := range open()[answered:] {
			fence := message.Fence{JobEpoch: d.Fence.JobEpoch, SubjobEpoch: 257}
			has = append(has, message.SubjobRef{Job: d.Job, Fence: fence, State: message.JobRunning})
			e.deliver("m1", &message.JobAccepted{Job: d.Job, Fence: fence})
			answered++
		}
		e.world.Advance(100 * time.Millisecond)
		beat()
	}
	if n := len(open()); n != 30 {
		t.Fatalf("3 s of answers later %d are dispatched, want all 30", n)
	}
}
