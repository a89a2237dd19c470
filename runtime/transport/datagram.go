package transport

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/seal"
	"hyperscale/runtime/transport/echo"
)

// datagramsWaiting bounds the datagrams that wait for the socket or for a name.
const datagramsWaiting = 1024

// headersMax bounds how many senders' headers are remembered.
const headersMax = 4096

// datagrams is the connectionless half: a queue, the names that are known, and
// the headers of peers that were heard lately.
type datagrams struct {
	out      chan outgoing
	names    names
	versions versions
	headers  map[netip.AddrPort]header // belongs to hear
	sealer   *seal.Sender              // belongs to tell; nil: nothing is sealed
	replier  *seal.Sender              // belongs to hear, for echoes; nil: nothing is sealed
	echoed   pace                      // belongs to hear
	begun    time.Time
	opener   *seal.Receiver // belongs to hear; nil: nothing is sealed
}

type outgoing struct {
	to node.Addr
	m  node.Message
}

func (d *datagrams) init(keys *seal.Ring) {
	if keys != nil {
		d.sealer, d.replier, d.opener = keys.NewSender(), keys.NewSender(), keys.NewReceiver()
	}
	d.out, d.begun = make(chan outgoing, datagramsWaiting), time.Now()
	d.names.init()
	d.headers = map[netip.AddrPort]header{}
}

// Datagram queues m for to; it may be lost: node.Network.
func (t *Transport) Datagram(to node.Addr, m node.Message) {
	select {
	case t.datagrams.out <- outgoing{to, m}:
	default:
		t.counters.datagrams.dropped.Add(1)
	}
}

// tell sends the queued datagrams.
func (t *Transport) tell() {
	head := appendHeader(nil, t.hello)
	var frame, sealed []byte
	for {
		select {
		case <-t.dialing.Done():
			return
		case d := <-t.datagrams.out:
			if p, known := t.datagrams.versions.knows(d.to, d.m.Kind()); !known {
				unknownTo(&t.config, p, d.m)
				continue
			}
			var err error
			if frame, err = message.Append(append(frame[:0], head...), d.m); err != nil {
				large(t, d, err)
				continue
			}
			b := frame
			if t.datagrams.sealer != nil {
				sealed = t.datagrams.sealer.Seal(sealed[:0], frame)
				b = sealed
			}
			if len(b) > message.DatagramMax {
				large(t, d, fmt.Errorf("%d bytes with its header are above the bound of %d: send it on a stream", len(b), message.DatagramMax))
				continue
			}
			t.post(d.to, b)
		}
	}
}

// large reports a datagram that cannot be sent.
func large(t *Transport, d outgoing, err error) {
	t.counters.datagrams.large.Add(1)
	t.config.Observe(event.ShedOf(d.m, t.config.Self.Role, event.ShedSize, fmt.Sprintf("datagram %s to %s", message.Name(d.m.Kind()), d.to), err.Error()))
}

// post sends b to an address, or starts to look its name up: then b waits.
func (t *Transport) post(to node.Addr, b []byte) {
	if at, err := netip.ParseAddrPort(string(to)); err == nil {
		t.write(at, b)
		return
	}
	at, known, ask := t.datagrams.names.find(to, b)
	if known {
		t.write(at, b)
	}
	if !ask {
		return
	}
	t.workers.Go(func() {
		found, err := lookup(t.dialing, to)
		at, waiting := t.datagrams.names.learn(to, found, err)
		for _, b := range waiting {
			if err != nil {
				t.counters.datagrams.dropped.Add(1)
				continue
			}
			t.write(at, b)
		}
	})
}

func (t *Transport) write(to netip.AddrPort, b []byte) {
	if _, err := t.sockets.udp.WriteToUDPAddrPort(b, to); err != nil {
		t.counters.datagrams.dropped.Add(1)
		return
	}
	t.counters.datagrams.out.Add(1)
}

// hear hands datagrams to the sink until the socket is closed.
func (t *Transport) hear() {
	buffer := make([]byte, 64<<10)
	for {
		n, from, err := t.sockets.udp.ReadFromUDPAddrPort(buffer)
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(time.Millisecond) // an ICMP answer to what we sent, or an interface that went down
			continue
		}
		t.counters.datagrams.in.Add(1)
		peer, m, err := t.parse(from, buffer[:n])
		if errors.Is(err, errEchoed) {
			continue
		}
		if unknown := (*message.UnknownKindError)(nil); errors.As(err, &unknown) {
			t.skip(net.UDPAddrFromAddrPort(from), err)
			continue
		}
		if err != nil {
			t.count(err)
			t.quiet.source("a datagram was refused", net.UDPAddrFromAddrPort(from), err)
			continue
		}
		if t.takes(peer, 0, m) && !t.sink.Message(peer, 0, m) {
			t.counters.datagrams.dropped.Add(1)
		}
	}
}

// parse reads a datagram: its header, then one message.
func (t *Transport) parse(from netip.AddrPort, b []byte) (node.Peer, node.Message, error) {
	if len(b) > message.DatagramMax {
		return node.Peer{}, nil, fmt.Errorf("%d bytes are above the bound of %d: %w", len(b), message.DatagramMax, message.ErrFrame)
	}
	if t.datagrams.opener != nil {
		var err error
		if b, err = t.datagrams.opener.Open(b); err != nil {
			return node.Peer{}, nil, sealError(err)
		}
	} else if seal.SealedDatagram(b) {
		return node.Peer{}, nil, errSealed
	}
	if echo.Is(b) {
		answer, err := t.datagrams.reply(t.hello, &t.config, b)
		if err == nil {
			t.write(from, answer)
			err = errEchoed
		}
		return node.Peer{}, nil, err
	}
	peer, rest, err := t.header(from, b)
	if err != nil {
		return node.Peer{}, nil, err
	}
	m, err := message.Decode(rest)
	if err != nil {
		return node.Peer{}, nil, err
	}
	switch m.(type) {
	case *message.Hello, *message.HelloRefused:
		return node.Peer{}, nil, fmt.Errorf("%s says nothing in a datagram: %w", message.Name(m.Kind()), message.ErrFrame)
	}
	return peer, m, nil
}

// echoesMost bounds the echoes that a node without a secret answers in a second: any source can ask it.
const echoesMost = 500

// pace counts what happens in one second.
type pace struct {
	second int64
	n      int
}

// takes reports whether one more within a second stays within the bound.
func (p *pace) takes(second int64, most int) bool {
	if p.second != second {
		*p = pace{second: second}
	}
	p.n++
	return p.n <= most
}

// errEchoed says that a datagram was a question of an echo: it has its answer, or is above echoesMost.
var errEchoed = errors.New("an echo")

// reply is the answer to the question of an echo. What is of another cluster, or no question, gets none.
func (d *datagrams) reply(self *message.Hello, c *Config, b []byte) ([]byte, error) {
	of, nonce, err := echo.Question(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, message.ErrFrame)
	}
	if of != echo.Scope(digestOf(self)) {
		return nil, &RefusedError{Field: "digest of protocol version, cluster and environment", Got: "another one", Want: "its own",
			Remedy: "set --cluster and --environment to the same names on all nodes"}
	}
	now := time.Now()
	if d.replier == nil && !d.echoed.takes(int64(now.Sub(d.begun)/time.Second), echoesMost) {
		return nil, errEchoed
	}
	n := echo.Node{Awake: int64(now.Sub(d.begun)), Wall: now.UnixNano(), Role: self.Role, ID: self.Node, Leases: c.Leases, Sinks: c.Sinks}
	if c.Set != nil {
		for _, member := range c.Set() {
			n.Set = append(n.Set, string(member))
		}
	}
	out := echo.AppendAnswer(nil, of, nonce, len(b), &n)
	if d.replier != nil {
		out = d.replier.Seal(nil, out)
	}
	return out, nil
}
