package uplink

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// PostMax is the size of the largest message that Post sends as a datagram.
const PostMax = message.DatagramBody

// Post sends a small message as a datagram, whether or not a stream is open. It sends a large
// one on the stream, and drops it while none is open. Either may be lost: the poster tries
// again.
func (l *Links) Post(env node.Env, to node.Addr, m node.Message) {
	if m.Size() <= PostMax {
		env.Datagram(to, m)
		return
	}
	l.Send(env, to, m)
}

// Send uses the stream for any size, and reports whether one was open.
func (l *Links) Send(env node.Env, to node.Addr, m node.Message) bool {
	k := l.To(to)
	if k == nil || !k.Stands {
		return false
	}
	env.Send(k.Stream, m)
	return true
}

// Receive takes the answer to a beat, and reports whether the message was one on these links.
func (l *Links) Receive(env node.Env, in *node.Input) bool {
	ack, ok := in.Message.(*message.BeatAck)
	if !ok {
		return false
	}
	k := l.Of(in.Stream)
	if k == nil {
		return false
	}
	l.Acked(env, k, ack.Counter)
	return true
}

// AnswerBeat answers a Beat on its own stream, and reports whether it was one. Roles to which
// others connect call it.
func AnswerBeat(env node.Env, in *node.Input) bool {
	b, ok := in.Message.(*message.Beat)
	if !ok {
		return false
	}
	if in.Stream != 0 {
		env.Send(in.Stream, &message.BeatAck{Counter: b.Counter})
	}
	return true
}

// All returns the links in their configured order. Do not change it.
func (l *Links) All() []*Link { return l.links }

// To returns the link to an address, or nil: one that stands before one that does not.
func (l *Links) To(a node.Addr) (to *Link) {
	for _, k := range l.links {
		if k.Addr == a && (to == nil || k.Stands && !to.Stands) {
			to = k
		}
	}
	return to
}

// Of returns the open link of a stream, or nil.
func (l *Links) Of(s node.StreamID) *Link {
	if k := l.with(s); k != nil && k.Stands {
		return k
	}
	return nil
}

// Peer returns the open link to a node, or nil.
func (l *Links) Peer(id node.ID) *Link {
	for _, k := range l.links {
		if k.Stands && k.Peer.ID == id {
			return k
		}
	}
	return nil
}

// with returns the link that has a stream, open or opening.
func (l *Links) with(s node.StreamID) *Link {
	for _, k := range l.links {
		if s != 0 && k.Stream == s {
			return k
		}
	}
	return nil
}
