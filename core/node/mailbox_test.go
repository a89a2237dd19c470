package node_test

import (
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// note is a message whose counter and lane a test chooses.
type note struct {
	lane    node.Priority
	counter int
}

func (note) Kind() node.Kind           { return 1 }
func (n note) Priority() node.Priority { return n.lane }
func (note) Size() int                 { return 1 }
func (n note) Digest() uint64          { return uint64(n.counter) }

// The test compares the mailbox with the simplest model: four slices.
func TestMailboxServesTheMostUrgentLaneInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.IntRange(1, 20).Draw(t, "bound")
		box := node.NewMailbox(node.MailboxConfig{Lanes: [node.Priorities]int{bound, bound, bound, bound}})
		var model [node.Priorities][]int
		counter := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				lane := node.Priority(rapid.IntRange(0, node.Priorities-1).Draw(t, "lane"))
				counter++
				ok := box.Push(&node.Input{Kind: node.InputMessage, Message: note{lane, counter}})
				if want := len(model[lane]) < bound; ok != want {
					t.Fatalf("push to a lane of %d with bound %d: got %v", len(model[lane]), bound, ok)
				}
				if ok {
					model[lane] = append(model[lane], counter)
				}
			},
			"pop": func(t *rapid.T) {
				var in node.Input
				ok := box.Pop(&in)
				for lane := range model {
					if len(model[lane]) == 0 {
						continue
					}
					if got := in.Message.(note); !ok || int(got.lane) != lane || got.counter != model[lane][0] {
						t.Fatalf("pop: got %v %v, want %d of lane %d", got, ok, model[lane][0], lane)
					}
					model[lane] = model[lane][1:]
					return
				}
				if ok {
					t.Fatalf("pop of an empty mailbox returned %v", in)
				}
			},
			"": func(t *rapid.T) {
				sum := 0
				for lane := range model {
					sum += len(model[lane])
					if got := box.Waiting(node.Priority(lane)); got != len(model[lane]) {
						t.Fatalf("lane %d: %d wait, want %d", lane, got, len(model[lane]))
					}
				}
				if box.Len() != sum {
					t.Fatalf("len %d, want %d", box.Len(), sum)
				}
			},
		})
	})
}

func TestMailboxNeverRefusesWhatTheNodeSetInMotion(t *testing.T) {
	box := node.NewMailbox(node.MailboxConfig{Lanes: [node.Priorities]int{1, 1, 1, 1}})
	for _, kind := range []node.InputKind{node.InputTimer, node.InputStored, node.InputExec, node.InputStreamBroken, node.InputTimer} {
		if !box.Push(&node.Input{Kind: kind}) {
			t.Errorf("a %v was refused", kind)
		}
	}
	if box.Push(&node.Input{Kind: node.InputMessage, Message: note{lane: node.High}}) {
		t.Error("a message entered a full lane")
	}
	if got := box.Dropped(node.High); got != 1 {
		t.Errorf("dropped: got %d, want 1", got)
	}
}

func TestMailboxReusesItsRings(t *testing.T) {
	box := node.NewMailbox(node.DefaultMailbox())
	in := node.Input{Kind: node.InputTimer}
	box.Push(&in)
	box.Pop(&in)
	in = node.Input{Kind: node.InputTimer}
	if got := testing.AllocsPerRun(100, func() { box.Push(&in); box.Pop(&in) }); got != 0 {
		t.Errorf("a push and a pop allocate %v times, want 0", got)
	}
}

func BenchmarkMailbox(b *testing.B) {
	b.ReportAllocs()
	box := node.NewMailbox(node.DefaultMailbox())
	in := node.Input{Kind: node.InputTimer}
	for b.Loop() {
		box.Push(&in)
		box.Pop(&in)
	}
}
