package sim

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/netsim"
)

// Open implements node.Env.
func (p *process) Open(to node.Addr) node.StreamID {
	w := p.w
	q, ok := w.at(to)
	var id node.StreamID
	if !ok || w.nodes[q].peer.Addr == "" {
		id = w.streams.OpenNowhere(p.leaves(), netsim.Host(p.index), p.peer, "nobody has the address "+string(to))
	} else {
		id = w.streams.Open(p.leaves(), netsim.Host(p.index), p.peer, netsim.Host(q))
	}
	w.trace.fold(uint64(id), uint64(p.index)<<8|foldEffect|uint64(EffectOpen), node.MixString(0, string(to)))
	if w.trace.watch&WantEffects != 0 {
		w.trace.observer.Effect(w.now, p.peer.ID, &Effect{Kind: EffectOpen, Stream: id, To: to})
	}
	w.streams.drain()
	return id
}

// Send implements node.Env.
func (p *process) Send(s node.StreamID, m node.Message) {
	w := p.w
	digest, size := w.trace.know(m)
	if message.HeaderSize+size > message.FrameMax {
		node.Bug("sim: %v sends %s of %d bytes, above the bound of %d", p.peer, message.NameOf(m), size, message.FrameMax)
	}
	w.trace.fold(uint64(s), uint64(p.index)<<8|foldEffect|uint64(EffectSend), digest)
	if w.trace.watch&WantEffects != 0 {
		w.trace.observer.Effect(w.now, p.peer.ID, &Effect{Kind: EffectSend, Stream: s, Message: m})
	}
	w.streams.Send(p.leaves(), s, m, digest, 4+message.HeaderSize+size)
	w.streams.drain()
}

// Resolve implements node.Env: roster.go has the table.
func (p *process) Resolve(name node.Addr) {
	w := p.w
	w.trace.fold(0, uint64(p.index)<<8|foldEffect|uint64(EffectResolve), node.MixString(0, string(name)))
	if w.trace.watch&WantEffects != 0 {
		w.trace.observer.Effect(w.now, p.peer.ID, &Effect{Kind: EffectResolve, To: name})
	}
	life := p.life
	n, took := w.names.find(name)
	w.At(p.leaves()+took, func() {
		if p.life == life && p.alive() {
			p.hand(node.Input{Kind: node.InputNames, Names: &n})
		}
	})
}

// Backlog implements node.Env.
func (p *process) Backlog(s node.StreamID) (bytes, bound int) {
	return p.w.streams.Backlog(p.leaves(), s)
}

// Close implements node.Env.
func (p *process) Close(s node.StreamID) {
	w := p.w
	w.trace.fold(uint64(s), uint64(p.index)<<8|foldEffect|uint64(EffectClose), 0)
	if w.trace.watch&WantEffects != 0 {
		w.trace.observer.Effect(w.now, p.peer.ID, &Effect{Kind: EffectClose, Stream: s})
	}
	c, side := netsim.End(s)
	w.streams.Close(p.leaves(), c, side)
	w.streams.drain()
}

// streams holds the streams of a world: it queues their actions, and delivers arrivals to the
// nodes.
type streams struct {
	*netsim.Streams
	w       *World
	reasons shelf[string] // why streams break, until their events are due
}

// drain moves the actions of the streams into the queue.
func (s *streams) drain() {
	for i := range s.Out {
		a := &s.Out[i]
		_, e := s.w.queue.add(max(a.At, s.w.now), eventStream)
		e.side, e.node = uint8(a.Kind)<<1|a.Side, uint32(a.Host)
		e.life, e.from = uint32(a.Stream>>32), uint32(a.Stream)
		e.word, e.message = a.Digest, a.Message
		if a.Kind == netsim.ActionBroken {
			e.word = s.reasons.keep(a.Reason)
		}
		a.Message = nil
	}
	s.Out = s.Out[:0]
}

func (s *streams) onStream(e *event) {
	a := netsim.Action{At: e.at, Kind: netsim.ActionKind(e.side >> 1), Side: e.side & 1, Stream: netsim.ConnID(e.life)<<32 | netsim.ConnID(e.from), Host: netsim.Host(e.node)}
	reason := ""
	if a.Kind == netsim.ActionBroken {
		reason = s.reasons.take(e.word)
	}
	p := s.w.nodes[e.node]
	if s.Happens(s.w.now, &a) {
		s.happen(p, &a, e, reason)
	}
	s.drain()
}

func (s *streams) happen(p *process, a *netsim.Action, e *event, reason string) {
	id := a.Stream.Of(a.Side)
	switch a.Kind {
	case netsim.ActionSyn:
		s.onSyn(p, a)
	case netsim.ActionOpened:
		p.hand(node.Input{Kind: node.InputStreamOpened, Stream: id, From: s.Peer(id)})
	case netsim.ActionBroken:
		p.hand(node.Input{Kind: node.InputStreamBroken, Stream: id, From: s.Peer(id), Reason: reason})
	case netsim.ActionMessage:
		m, digest := e.message, e.word
		if s.w.config.Wire {
			m = s.w.wire.clone(m)
			digest = m.Digest()
		}
		in := node.Input{Kind: node.InputMessage, Stream: id, From: s.Peer(id), Message: m, Generation: node.Mix(digest, uint64(id))}
		if !fits(p, &in) {
			s.breakEnd(id, "the peer sent what its role does not send")
			return
		}
		p.hand(in)
	}
}

// onSyn handles a request to open a stream to a node. A paused process does not answer; for a
// dead one its host refuses.
func (s *streams) onSyn(p *process, a *netsim.Action) {
	switch {
	case !p.started():
		s.Refuse(s.w.now, a.Stream, "refused: nobody listens at "+string(p.peer.Addr))
	case p.refusing > 0:
		s.Refuse(s.w.now, a.Stream, "refused: "+string(p.peer.Addr)+" accepts no streams")
	case p.bars.has(barPaused):
		return
	case p.spec.Cluster != s.w.find(s.Peer(a.Stream.Of(a.Side)).ID).spec.Cluster:
		s.Refuse(s.w.now, a.Stream, "refused: "+string(p.peer.Addr)+" is of another cluster")
	case !message.Callers(p.spec.Role).Has(s.Peer(a.Stream.Of(a.Side)).Role):
		s.Refuse(s.w.now, a.Stream, "refused: its role does not call "+string(p.peer.Addr))
	case s.Accept(s.w.now, a.Stream, p.peer):
		id := a.Stream.Of(a.Side)
		p.hand(node.Input{Kind: node.InputStreamOpened, Stream: id, From: s.Peer(id)})
	}
}

// breakEnd breaks a node's stream at both sides.
func (s *streams) breakEnd(id node.StreamID, reason string) {
	c, side := netsim.End(id)
	s.Break(s.w.now, c, side, reason)
	s.drain()
}
