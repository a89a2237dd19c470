package island

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// PacketsUnread bounds the datagrams that wait for the library, and PacketMost the bytes of one.
const (
	PacketsUnread = 1024
	PacketMost    = 2 << 10 // QUIC takes no longer ones than 1,452 here
	usual         = 1452    // bytes of a buffer; a longer datagram has one of its own
)

var errDeadline = errors.New("a write has no deadline: it ends when its socket is closed")

// Packets is a socket of datagrams that a loop reads for a library, which takes it for its socket. The
// library writes to the kernel at once.
type Packets struct {
	inlet
	writes  sync.Mutex // held while send runs, ahead of that of inlet: Feed waits for no write
	shore   *Shore
	local   net.UDPAddr
	send    func(b []byte, to netip.AddrPort) error
	queue   []packet // a ring
	first   int
	count   int
	dropped uint64
}

type packet struct {
	bytes  []byte
	shared *[usual]byte // the memory of bytes, if it goes back to buffers
	from   netip.AddrPort
}

// buffers are shared by all sockets: most of them have nothing to read at any moment.
var buffers = sync.Pool{New: func() any { return new([usual]byte) }}

// newPacket copies a datagram.
func newPacket(b []byte, from netip.AddrPort) packet {
	if len(b) > usual {
		return packet{bytes: bytes.Clone(b), from: from}
	}
	own := buffers.Get().(*[usual]byte)
	return packet{bytes: own[:copy(own[:], b)], shared: own, from: from}
}

// drop gives the memory of a datagram back.
func (p *packet) drop() {
	if p.shared != nil {
		buffers.Put(p.shared)
	}
	*p = packet{}
}

var _ net.PacketConn = (*Packets)(nil)

// NewPackets returns an open socket. Send must not wait: a datagram that the kernel does not take is lost,
// as one on the way is. It is not called after Close.
func NewPackets(s *Shore, local netip.AddrPort, send func(b []byte, to netip.AddrPort) error) *Packets {
	p := &Packets{shore: s, local: *net.UDPAddrFromAddrPort(local), send: send}
	p.moved.L = &p.mu
	return p
}

// ReadFrom implements net.PacketConn.
func (p *Packets) ReadFrom(b []byte) (int, net.Addr, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.count == 0 || p.closed {
		if p.end != nil && !p.closed {
			return 0, nil, p.end
		}
		if err := p.waits(); err != nil {
			return 0, nil, err
		}
	}
	if !p.due.IsZero() && !time.Now().Before(p.due) {
		return 0, nil, os.ErrDeadlineExceeded
	}
	one := &p.queue[p.first]
	n := copy(b, one.bytes)
	from := net.UDPAddrFromAddrPort(one.from)
	one.drop()
	p.first, p.count = (p.first+1)%len(p.queue), p.count-1
	return n, from, nil
}

// WriteTo implements net.PacketConn.
func (p *Packets) WriteTo(b []byte, to net.Addr) (int, error) {
	at, ok := to.(*net.UDPAddr)
	if !ok {
		return 0, &net.AddrError{Err: "it is no address of UDP", Addr: to.String()}
	}
	p.writes.Lock()
	defer p.writes.Unlock()
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return 0, net.ErrClosed
	}
	if err := p.send(b, at.AddrPort()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close implements net.PacketConn.
func (p *Packets) Close() error {
	p.writes.Lock()
	defer p.writes.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.shut()
		p.queue, p.count = nil, 0
		p.shore.Tell()
	}
	return nil
}

// LocalAddr implements net.PacketConn.
func (p *Packets) LocalAddr() net.Addr { return &p.local }

// SetDeadline implements net.PacketConn: a write does not wait.
func (p *Packets) SetDeadline(t time.Time) error { return p.SetReadDeadline(t) }

// SetReadDeadline implements net.PacketConn.
func (p *Packets) SetReadDeadline(t time.Time) error {
	p.until(t)
	return nil
}

// SetWriteDeadline implements net.PacketConn: a write does not wait, so each deadline is kept.
func (p *Packets) SetWriteDeadline(time.Time) error { return nil }

// SetReadBuffer and SetWriteBuffer are what quic-go asks of a socket: the loop has set its buffers.
func (p *Packets) SetReadBuffer(int) error { return nil }

// SetWriteBuffer is as SetReadBuffer.
func (p *Packets) SetWriteBuffer(int) error { return nil }

// Feed gives the library a datagram that the loop has read. False: it was dropped, as the queue is full or
// closed.
func (p *Packets) Feed(b []byte, from netip.AddrPort) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.end != nil || len(b) > PacketMost || p.count == PacketsUnread {
		p.dropped++
		return false
	}
	if p.count == len(p.queue) {
		p.grow()
	}
	p.queue[(p.first+p.count)%len(p.queue)] = newPacket(b, from)
	p.count++
	p.moved.Signal()
	p.shore.crew.Fed()
	return true
}

// grow makes the ring longer, as datagrams come and not before.
func (p *Packets) grow() {
	longer := make([]packet, min(PacketsUnread, max(4, 2*len(p.queue))))
	for i := range p.count {
		longer[i] = p.queue[(p.first+i)%len(p.queue)]
	}
	p.queue, p.first = longer, 0
}

// End gives the library's reads an error, behind what was fed.
func (p *Packets) End(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed && p.end == nil {
		p.end = err
		p.moved.Broadcast()
		p.shore.crew.Fed()
	}
}

// Dropped is how many datagrams Feed dropped.
func (p *Packets) Dropped() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}
