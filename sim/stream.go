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
	w.fold(uint64(id), uint64(p.index)<<8|foldEffect|uint64(EffectOpen), node.MixString(0, string(to)))
	if w.watch&WantEffects != 0 {
		w.effect(p, &Effect{Kind: EffectOpen, Stream: id, To: to})
	}
	w.drain()
	return id
}

// Send implements node.Env.
func (p *process) Send(s node.StreamID, m node.Message) {
	w := p.w
	digest, size := w.know(m)
	if message.HeaderSize+size > message.FrameMax {
		node.Bug("sim: %v sends %s of %d bytes, above the bound of %d", p.peer, message.NameOf(m), size, message.FrameMax)
	}
	w.fold(uint64(s), uint64(p.index)<<8|foldEffect|uint64(EffectSend), digest)
	if w.watch&WantEffects != 0 {
		w.effect(p, &Effect{Kind: EffectSend, Stream: s, Message: m})
	}
	w.streams.Send(p.leaves(), s, m, digest, 4+message.HeaderSize+size)
	w.drain()
}

// Close implements node.Env.
func (p *process) Close(s node.StreamID) {
	w := p.w
	w.fold(uint64(s), uint64(p.index)<<8|foldEffect|uint64(EffectClose), 0)
	if w.watch&WantEffects != 0 {
		w.effect(p, &Effect{Kind: EffectClose, Stream: s})
	}
	c, side := netsim.End(s)
	w.streams.Close(p.leaves(), c, side)
	w.drain()
}

// drain files what the streams want to happen into the queue.
func (w *World) drain() {
	for i := range w.streams.Out {
		a := &w.streams.Out[i]
		_, e := w.queue.add(max(a.At, w.now), eventStream)
		e.side, e.node = uint8(a.Kind)<<1|a.Side, uint32(a.Host)
		e.life, e.from = uint32(a.Stream>>32), uint32(a.Stream)
		e.word, e.message = a.Digest, a.Message
		if a.Kind == netsim.ActionBroken {
			e.word = w.reasons.keep(a.Reason)
		}
		a.Message = nil
	}
	w.streams.Out = w.streams.Out[:0]
}

// reasons are texts beside the queue, as few events have one: why streams break, until
// their events come.
type reasons struct {
	all  []string
	idle []uint32 // free places
}

// keep returns zero for none.
func (r *reasons) keep(s string) uint64 {
	if s == "" {
		return 0
	}
	if n := len(r.idle); n > 0 {
		i := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.all[i-1] = s
		return uint64(i)
	}
	r.all = append(r.all, s)
	return uint64(len(r.all))
}

func (r *reasons) take(i uint64) string {
	if i == 0 {
		return ""
	}
	r.idle = append(r.idle, uint32(i))
	return r.all[i-1]
}

func (w *World) onStream(e *event) {
	a := netsim.Action{At: e.at, Kind: netsim.ActionKind(e.side >> 1), Side: e.side & 1, Stream: netsim.ConnID(e.life)<<32 | netsim.ConnID(e.from), Host: netsim.Host(e.node)}
	reason := ""
	if a.Kind == netsim.ActionBroken {
		reason = w.reasons.take(e.word)
	}
	p := w.nodes[e.node]
	if w.streams.Happens(w.now, &a) {
		w.happen(p, &a, e, reason)
	}
	w.drain()
}

func (w *World) happen(p *process, a *netsim.Action, e *event, reason string) {
	id := a.Stream.Of(a.Side)
	switch a.Kind {
	case netsim.ActionSyn:
		w.onSyn(p, a)
	case netsim.ActionOpened:
		w.hand(p, node.Input{Kind: node.InputStreamOpened, Stream: id, From: w.streams.Peer(id)})
	case netsim.ActionBroken:
		w.hand(p, node.Input{Kind: node.InputStreamBroken, Stream: id, From: w.streams.Peer(id), Reason: reason})
	case netsim.ActionMessage:
		m, digest := e.message, e.word
		if w.config.Wire {
			m = w.clone(m)
			digest = m.Digest()
		}
		w.hand(p, node.Input{Kind: node.InputMessage, Stream: id, From: w.streams.Peer(id), Message: m, Generation: node.Mix(digest, uint64(id))})
	}
}

// onSyn lets somebody open a stream to a node. A paused process does not answer;
// a dead one's machine refuses for it.
func (w *World) onSyn(p *process, a *netsim.Action) {
	switch {
	case !p.started():
		w.streams.Refuse(w.now, a.Stream, "refused: nobody listens at "+string(p.peer.Addr))
	case p.refusing > 0:
		w.streams.Refuse(w.now, a.Stream, "refused: "+string(p.peer.Addr)+" accepts no streams")
	case p.bars.has(barPaused):
		return
	case w.streams.Accept(w.now, a.Stream, p.peer):
		id := a.Stream.Of(a.Side)
		w.hand(p, node.Input{Kind: node.InputStreamOpened, Stream: id, From: w.streams.Peer(id)})
	}
}

// breakEnd breaks a node's stream at both sides.
func (w *World) breakEnd(s node.StreamID, reason string) {
	c, side := netsim.End(s)
	w.streams.Break(w.now, c, side, reason)
	w.drain()
}
