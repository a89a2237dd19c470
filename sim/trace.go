package sim

import (
	"fmt"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Marks of what the hash covers besides inputs, in the second argument of fold.
const (
	foldEffect   = 0x80
	foldCrash    = 0x7f
	foldSequence = 0x9e3779b97f4a7c15
)

// inputDigest is the content of an input, as 64 bits. The digest of a message was computed when
// it arrived.
func inputDigest(in *node.Input) uint64 {
	switch in.Kind {
	case node.InputMessage, node.InputCommand:
		return in.Generation
	case node.InputShed:
		return node.Mix(in.Message.Digest(), uint64(in.Stream))
	case node.InputTimer:
		return keyDigest(&in.Timer)
	case node.InputStreamOpened:
		return node.Mix(uint64(in.Stream), in.From.Incarnation)
	case node.InputStreamBroken:
		return node.MixString(uint64(in.Stream), in.Reason)
	case node.InputNames:
		return namesDigest(in.Names)
	case node.InputDelivered:
		return deliveredDigest(in.Delivered)
	case node.InputStored:
		if in.Err != nil {
			return node.MixString(uint64(in.WriteID), in.Err.Error())
		}
		return uint64(in.WriteID)
	case node.InputExec:
		return execDigest(&in.Exec)
	}
	return 0
}

func namesDigest(n *node.Names) uint64 {
	h := node.MixString(uint64(n.TTL), string(n.Name))
	for _, a := range n.Addrs {
		h = node.MixString(h, string(a))
	}
	return node.MixString(h, n.Err)
}

func deliveredDigest(d *node.Delivered) uint64 {
	h := node.MixString(node.Mix(uint64(d.ID), uint64(d.Verdict)), d.Why)
	for _, n := range [...]uint64{d.Rejected, d.RejectedRequests, d.Lost, d.LostRequests, d.Twice} {
		h = node.Mix(h, n)
	}
	return h
}

func execDigest(e *node.ExecEvent) uint64 {
	h := node.Mix(uint64(e.ID), uint64(e.Kind))
	if e.Body != nil {
		h = node.Mix(h, e.Body.Digest())
	}
	return node.MixString(node.MixString(h, e.Reason), e.Tail)
}

// EffectKind distinguishes effects.
type EffectKind uint8

// What a machine can ask of its world.
const (
	EffectDatagram    EffectKind = iota // To, Message
	EffectOpen                          // To, Stream
	EffectSend                          // Stream, Message
	EffectClose                         // Stream
	EffectSetTimer                      // Timer, Delay
	EffectCancelTimer                   // Timer
	EffectPut                           // Token, Records
	EffectExecStart                     // Exec, Core, Message
	EffectExecCancel                    // Exec
	EffectExecKill                      // Exec
	EffectAnswer                        // Command, Message
	EffectHalt                          // Reason
	EffectExecExtend                    // Exec, Until
	EffectExecTell                      // Exec, Message
	EffectResolve                       // To
	EffectDeliver                       // Delivery
	EffectForget                        // Delivery.ID
)

func (k EffectKind) String() string {
	names := [...]string{"datagram", "open", "send", "close", "set-timer", "cancel-timer", "put", "exec-start", "exec-cancel", "exec-kill", "answer", "halt", "exec-extend", "exec-tell", "resolve", "deliver", "forget"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("effect(%d)", uint8(k))
}

// Effect is what a machine asked of its world. Only the fields named at its kind are set.
type Effect struct {
	Kind    EffectKind
	To      node.Addr
	Stream  node.StreamID
	Message node.Message
	Timer   node.TimerKey
	Delay   time.Duration
	WriteID node.WriteID
	Records []node.Record
	Exec    node.ExecID
	Until   node.Instant
	Core    int
	Command node.CommandID
	Reason  string

	Delivery *node.Delivery
}

// Observer sees all that happens; it must change nothing. It may keep messages and events;
// everything else is valid only during the call.
type Observer interface {
	Input(at time.Duration, id node.ID, in *node.Input)
	Effect(at time.Duration, id node.ID, e *Effect)
	Event(at time.Duration, id node.ID, incarnation uint64, e node.Event)
	Fault(at time.Duration, f Fault)
}

// Interest says what an observer wants to see.
type Interest uint8

// Parts of an Interest.
const (
	WantInputs Interest = 1 << iota
	WantEffects
	WantEvents
	WantFaults
	WantAll = WantInputs | WantEffects | WantEvents | WantFaults
)

// Interested is an Observer that does not want everything. What it does not want costs nothing.
type Interested interface {
	Observer
	Interest() Interest
}

func interestOf(o Observer) Interest {
	if o == nil {
		return 0
	}
	if i, ok := o.(Interested); ok {
		return i.Interest()
	}
	return WantAll
}

// recorder adds what happens to the trace hash and shows it to the observer.
type recorder struct {
	hash     uint64
	observer Observer
	watch    Interest

	last       node.Message // the message whose digest and size were computed last
	lastDigest uint64
	lastSize   int
}

// fold adds one input or effect to the trace hash.
func (r *recorder) fold(a, what, digest uint64) {
	r.hash = node.Mix(r.hash^a, what*foldSequence^digest)
}

// know returns a message's digest and size. It computes them once for a message that goes to
// many nodes in a row.
func (r *recorder) know(m node.Message) (uint64, int) {
	if m != r.last {
		r.last, r.lastDigest, r.lastSize = m, m.Digest(), m.Size()
	}
	return r.lastDigest, r.lastSize
}

// wire encodes and decodes messages.
type wire struct{ scratch []byte }

// clone encodes and decodes a message that wire mode delivers.
func (x *wire) clone(m node.Message) node.Message {
	c, scratch, err := message.Clone(m, x.scratch)
	x.scratch = scratch
	if err != nil {
		node.Bug("sim: a message that cannot cross a wire: %v", err)
	}
	return c
}
