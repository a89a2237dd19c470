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
