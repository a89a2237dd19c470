package pool

import (
	"hyperscale/runtime/engine/cancel"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// cancels asks a server to end what an exchange has given up, on another connection, if the server has
// all of the question and the protocol knows such a request.
func (y *talks) cancels(n *RequestSlot, kind http1.Kind) {
	if kind != http1.KindCancelled && !measure.TimedOut(string(kind)) {
		return
	}
	c := y.Sockets.Conns.At(n.Conn)
	if c.talk == nil || c.talk.state.is(talkQueued) {
		return
	}
	of, ok := c.talk.Dialogue.(codec.Cancellable)
	if !ok {
		return
	}
	e := cancel.Errand{Say: of.Cancel()}
	if e.Say.Request == nil {
		return
	}
	var err error
	if e.Source, e.Server, err = epoll.Ends(int(c.fd)); err != nil {
		return // the connection has gone, and the server knows
	}
	if c.secure != nil {
		e.TLS = c.host.handshakes.config.Clone()
		e.TLS.ClientSessionCache = nil
	}
	y.Cancels.Ask(e)
}
