package loop

import (
	"fmt"
	"strings"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// trailLength is how many inputs are remembered for the log of a panic: enough
// for the exchange that led to it, little enough to print.
const trailLength = 16

// step records one input, without its message, which may be large.
type step struct {
	at     node.Instant
	kind   node.InputKind
	from   node.ID
	stream node.StreamID
	timer  node.TimerKey
	about  node.Kind
}

type trail struct {
	steps [trailLength]step
	count uint64
}

func (t *trail) add(at node.Instant, in *node.Input) {
	s := &t.steps[t.count%trailLength]
	*s = step{at: at, kind: in.Kind, from: in.From.ID, stream: in.Stream, timer: in.Timer}
	if in.Message != nil {
		s.about = in.Message.Kind()
	} else if in.Exec.Body != nil {
		s.about = in.Exec.Body.Kind()
	}
	t.count++
}

func (t *trail) last() string { return t.steps[(t.count-1)%trailLength].String() }

// lines returns the oldest step first.
func (t *trail) lines() []string {
	var all []string
	first := uint64(0)
	if t.count > trailLength {
		first = t.count - trailLength
	}
	for i := first; i < t.count; i++ {
		all = append(all, t.steps[i%trailLength].String())
	}
	return all
}

func (s step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", s.at, s.kind)
	if s.about != 0 {
		fmt.Fprintf(&b, " %s", message.Name(s.about))
	}
	if s.from != "" {
		fmt.Fprintf(&b, " from %s", s.from)
	}
	if s.stream != 0 {
		fmt.Fprintf(&b, " stream %d", s.stream)
	}
	if s.kind == node.InputTimer {
		fmt.Fprintf(&b, " %s", s.timer)
	}
	return b.String()
}

// PanicError is what Run returns when the machine panicked.
type PanicError struct {
	Node   node.Peer
	Value  any
	Inputs []string // the last ones, oldest first; the last of them panicked
	Stack  []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("node %s stopped by a bug of ours: %v: report it with the node's log", e.Node, e.Value)
}
