package uplink

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// PostMax is the size of the largest message that is posted as a datagram.
const PostMax = message.DatagramBody

// Post tells a fellow something: a small message by datagram, whether or not a
// stream stands; a large one by the stream, and while none stands it is dropped.
// Either may be lost: whoever posts tries again.
func (l *Links) Post(env node.Env, to node.Addr, m node.Message) {
	if m.Size() <= PostMax {
		env.Datagram(to, m)
		return
	}
	l.Send(env, to, m)
}

// Send uses the stream whatever the size, and says whether one stood.
func (l *Links) Send(env node.Env, to node.Addr, m node.Message) bool {
	k := l.To(to)
	if k == nil || !k.Stands {
		return false
	}
	env.Send(k.Stream, m)
	return true
}

// Receive takes the answer of a beat, and says whether the message was one on
// these links.
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

// AnswerBeat answers a Beat on whatever stream it came, and says whether it was
// one. Who is called by others calls it.
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

// All returns the links in their configured order. It is not to be changed.
func (l *Links) All() []*Link { return l.links }

// To returns the link to an address, whether it stands or not, or nil.
func (l *Links) To(a node.Addr) *Link {
	for _, k := range l.links {
		if k.Addr == a {
			return k
		}
	}
	return nil
}

// Of returns the standing link of a stream, or nil.
func (l *Links) Of(s node.StreamID) *Link {
	if k := l.with(s); k != nil && k.Stands {
		return k
	}
	return nil
}

// Peer returns the standing link to a node, or nil.
func (l *Links) Peer(id node.ID) *Link {
	for _, k := range l.links {
		if k.Stands && k.Peer.ID == id {
			return k
		}
	}
	return nil
}

// with returns the link that has a stream, standing or opening.
func (l *Links) with(s node.StreamID) *Link {
	for _, k := range l.links {
		if s != 0 && k.Stream == s {
			return k
		}
	}
	return nil
}
