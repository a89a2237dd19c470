package node_test

import (
	"testing"
	"time"

	"hyperscale/core/node"
)

// keeper is an entrance with room for two requests, which wait for a second at most.
type keeper struct {
	places, ended int
	took          time.Duration
}

func (k *keeper) Step(node.Env, *node.Input) {}
func (k *keeper) Entrance() node.Entrance    { return k }

func (k *keeper) Admit(node.Message, node.Role, string, node.Instant) (int32, node.Refusal) {
	if k.places == 2 {
		return 0, node.Refusal{Reason: "full", RetryAfter: time.Minute}
	}
	k.places++
	return 7, node.Refusal{}
}

func (k *keeper) Begin(_ node.Message, place int32, waited time.Duration, _ node.Instant) node.Refusal {
	if k.places--; place != 7 {
		node.Bug("place %d", place)
	}
	if waited > time.Second {
		return node.Refusal{Reason: "late", RetryAfter: time.Hour}
	}
	return node.Refusal{}
}

func (k *keeper) End(_ node.Message, _ int32, _, took time.Duration) {
	k.ended, k.took = k.ended+1, took
}

func (k *keeper) Load(node.Instant) uint8 { return uint8(k.places) }

func (k *keeper) Clear() { k.places = 0 }

// An entrance decides on requests alone, when they come and when their turn comes. The machine
// learns of each refusal, also of one on a node that is idle.
func TestEntranceDecidesTwice(t *testing.T) {
	k := &keeper{}
	box := node.NewMailbox(bounds(10))
	box.SetEntrance(k)
	put := func(counter int, full node.Full) node.Fate {
		return box.Push(&node.Input{Kind: node.InputMessage, Stream: node.StreamID(counter), Message: note{counter: counter, lane: node.Normal, full: full}}, 0)
	}
	for i, want := range []node.Fate{node.FateQueued, node.FateQueued, node.FateRefused} {
		if got := put(i+1, node.Refuse); got != want {
			t.Errorf("request %d: %v, want %v", i+1, got, want)
		}
	}
	if got := put(4, node.Keep); got != node.FateQueued {
		t.Errorf("the entrance refuses what is no request: %v", got)
	}
	pop := func(at time.Duration) (in node.Input) {
		if !box.Pop(&in, node.Instant(at)) {
			t.Fatal("the mailbox is empty")
		}
		return in
	}
	for _, want := range []struct {
		at     time.Duration
		stream node.StreamID
		kind   node.InputKind
		reason string
		after  time.Duration
		place  int32
	}{
		{0, 3, node.InputShed, "full", time.Minute, 0},
		{time.Second, 1, node.InputMessage, "", 0, 7},
		{time.Second + 1, 2, node.InputShed, "late", time.Hour, 0},
		{time.Second + 1, 4, node.InputMessage, "", 0, 0},
	} {
		in := pop(want.at)
		if in.Stream != want.stream || in.Kind != want.kind || in.Reason != want.reason || in.RetryAfter != want.after || in.Place != want.place {
			t.Errorf("got stream %d, kind %v, %q after %v, place %d: want %+v", in.Stream, in.Kind, in.Reason, in.RetryAfter, in.Place, want)
		}
		box.Done(&in, time.Millisecond)
	}
	if k.places != 0 || k.ended != 1 || k.took != time.Millisecond {
		t.Errorf("%d places are held, %d requests have ended, the last took %v", k.places, k.ended, k.took)
	}
	for i, want := range []node.InputKind{node.InputMessage, node.InputShed} {
		k.places = 2 * i
		in := node.Input{Kind: node.InputMessage, Message: note{lane: node.Normal, full: node.Refuse}}
		if box.Pass(&in, 0); in.Kind != want {
			t.Errorf("with %d places held, an idle node gets kind %v, want %v", 2*i, in.Kind, want)
		}
	}
	k.places = 1
	if box.Clear(); k.places != 0 {
		t.Error("a node that crashed leaves places held")
	}
}

// Each input carries what its mailbox holds after it: critical messages that were lost in this
// incarnation, how full lane HIGH is, and the load that the entrance finds.
func TestMailTellsOfTheMailbox(t *testing.T) {
	k := &keeper{}
	c := bounds(4)
	c.Lanes[node.Critical] = 1
	box := node.NewMailbox(c)
	box.SetEntrance(k)
	put := func(lane node.Priority, full node.Full, size int) {
		box.Push(&node.Input{Kind: node.InputMessage, Stream: 1, Message: note{lane: lane, full: full, size: size}}, 0)
	}
	expect := func(when string, want node.Mail) {
		t.Helper()
		var in node.Input
		if !box.Pop(&in, 0) || in.Mail != want {
			t.Errorf("%s: %+v, want %+v", when, in.Mail, want)
		}
	}
	put(node.Critical, node.Keep, 1)
	put(node.Critical, node.Keep, 1) // lost
	for range 3 {
		put(node.High, node.Keep, 1)
	}
	put(node.Normal, node.Refuse, 1)
	expect("three wait, and a request", node.Mail{Lost: 1, High: 75, Load: 1})
	expect("two wait", node.Mail{Lost: 1, High: 50, Load: 1})
	put(node.High, node.Keep, 54)
	expect("by bytes", node.Mail{Lost: 1, High: 91, Load: 1})
	box.Clear()
	put(node.Low, node.Keep, 1)
	expect("after a crash", node.Mail{})
	k.places = 2
	in := node.Input{Kind: node.InputMessage, Message: note{lane: node.Normal, full: node.Refuse}, Mail: node.Mail{Lost: 9}}
	if box.Pass(&in, 0); in.Mail != (node.Mail{Load: 2}) {
		t.Errorf("an input that need not wait has %+v", in.Mail)
	}
	in = node.Input{Kind: node.InputTimer, Mail: node.Mail{Lost: 9}}
	if box.Pass(&in, 0); in.Mail != (node.Mail{}) {
		t.Errorf("a timer that need not wait has %+v", in.Mail)
	}
}
