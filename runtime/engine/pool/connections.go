package pool

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/cancel"
	"hyperscale/runtime/engine/coroutine"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http3"
)

// Connections are all connections of a run, and the slots of the requests that they carry. Its
// parts reach each other through it. One goroutine uses all of it.
type Connections struct {
	Slots      slots
	Sockets    sockets
	Pools      pools
	Dialer     dialer
	Handshakes handshakes
	Tunnels    tunnels
	Quics      quics
	streams    streams
	talks      talks
	Pins       pins
	branches   branches
	Cancels    *cancel.Crew
	Wire       wire

	Clock      measure.Clock
	Halt       halt
	Coroutines coroutine.Pool
	workflow   *workflow.Workflow
	Requests   Requests
	Aside      Aside // nil: the run has no custom program
}

// Aside carries what no connection does: calls of custom programs, over pipes that the poller watches.
type Aside interface {
	Begin(index int32)                // a slot's request is ready
	Drop(n *RequestSlot)              // it is given up
	Late(n *RequestSlot) http1.Kind   // what its timeout is
	Handle(at uint32, e *epoll.Event) // an event of a descriptor whose token is AsideToken(at)
	Flush()                           // write what is queued
}

// asideBit marks the tokens of descriptors that are no connections.
const asideBit = 1 << 31

// AsideToken is the token of a descriptor of Aside.
func AsideToken(at uint32) uint64 { return uint64(at | asideBit) }

// Requests is what the connections ask and report about the requests in their slots: the engine
// knows a request's content, and the use of its answer.
type Requests interface {
	Outgoing(index int32) http1.Message                             // the request
	KeepRest(index int32, m http1.Message)                          // the connection has sent only a part of this
	Framed(index int32) *codec.Operation                            // the request, compiled for the protocol
	Collector(index int32) *http1.Collector                         // an answer begins: its collector; nil: nothing reads the body
	SetCookies(n *RequestSlot)                                      // the head of an answer sets cookies
	Answered(index int32, now int64)                                // the answer is complete, and the slot has no connection
	Failed(index int32, kind http1.Kind, example string, now int64) // there will be no complete answer
	Send(index int32)                                               // dispatch again: the request's host speaks HTTP/1.1 after all
	Wakes(index int32) bool                                         // the alarm of a slot without a request
}

// Options say what a run connects to, and how.
type Options struct {
	Workflow *workflow.Workflow
	FirstVU  uint64
	VUs      uint64
	Slots    uint64 // of request steps
	Seed     uint64
	Hosts    []*Host // of request steps
	Names    *Names
	Protocol codec.Protocol // of connections that carry several requests
}

// halt says what a run may still do.
type halt struct {
	Cancelled atomic.Bool // nothing begins any more
	Cut       bool        // the run cancels what is in flight
}

func NewConnections(o Options) (*Connections, error) {
	config, err := tlsOptions(o.Workflow)
	if err != nil {
		return nil, err
	}
	poller, err := epoll.New()
	if err != nil {
		return nil, err
	}
	c := &Connections{Clock: measure.Clock{Base: time.Now()}, workflow: o.Workflow}
	c.Slots = newSlots(c, o)
	c.Sockets = sockets{Connections: c, Poller: poller, buffer: make([]byte, readBuffer), keepers: make([]keeper, o.VUs+1)}
	for i := range c.Sockets.keepers {
		c.Sockets.keepers[i].idle, c.Sockets.keepers[i].replaced = None, None
	}
	c.Pools = pools{Connections: c}
	c.Dialer = dialer{Connections: c, Hosts: map[string]*Host{}, sources: newSources(o.Workflow.HTTP.Sources, o.FirstVU), names: o.Names, seed: o.Seed, firstVU: o.FirstVU}
	for _, h := range o.Hosts {
		c.Dialer.Hosts[h.Key] = h
	}
	c.Handshakes = handshakes{Connections: c, Tls: config, Sessions: map[int32]*sessions{}}
	c.Tunnels = tunnels{Connections: c, Proxy: newProxy(o.Workflow.HTTP.Proxy), tunnels: map[int32]*tunnel{}}
	c.Quics = quics{Connections: c}
	c.streams = streams{Connections: c, protocol: o.Protocol, three: &http3.Protocol{Streams: o.Workflow.HTTP.Streams}}
	c.streams.reading.l = c
	c.talks = talks{Connections: c, random: rand.New(rand.NewPCG(o.Seed, o.FirstVU)), wheel: epoll.NewWheel(0)}
	c.Pins = pins{Connections: c, open: map[int32][]*Pin{}}
	c.branches = branches{c}
	c.Cancels = cancel.New()
	c.Wire = wire{c}
	return c, nil
}

// ProtocolOf returns the protocol of a host's connections that carry several requests.
func (c *Connections) ProtocolOf(h *Host) codec.Protocol { return c.streams.of(h) }
