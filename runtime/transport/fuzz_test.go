package transport

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

func bufioReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

// FuzzFrameReader: a stream of any bytes yields messages and then an error. The reader keeps no
// more than it received, and its messages can be encoded again.
func FuzzFrameReader(f *testing.F) {
	two := append(frame(f, pingOf(1)), frame(f, hello("b"))...)
	f.Add(two)
	f.Add(two[:len(two)-3])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0})
	f.Add([]byte{0, 0x0f, 0xff, 0xff, 0, 0, 6})
	f.Add([]byte{0, 0, 0, 4, 0, 0, 3, 0x80}) // a toy: of no kind
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &frameReader{in: bufio.NewReader(bytes.NewReader(b)), limit: message.FrameMax}
		for {
			m, err := r.next()
			if cap(r.buffer) > bufferFirst+2*len(b) {
				t.Fatalf("%d bytes were taken for %d", cap(r.buffer), len(b))
			}
			if err != nil {
				return
			}
			if _, _, err := appendFrame(nil, nil, nil, m); err != nil {
				t.Fatalf("read but not written: %v", err)
			}
		}
	})
}

// FuzzHandshake: only a peer whose Hello fits ours is accepted.
func FuzzHandshake(f *testing.F) {
	f.Add(frame(f, hello("b")))
	f.Add(frame(f, &message.HelloRefused{Field: "cluster", Got: "\x00", Want: "b", Remedy: "c"}))
	f.Add(frame(f, pingOf(1)))
	other := hello("b")
	other.Cluster = "d"
	f.Add(frame(f, other))
	f.Fuzz(func(t *testing.T, b []byte) {
		ours := hello("a")
		r := &frameReader{in: bufio.NewReader(bytes.NewReader(b)), limit: message.DatagramMax}
		h, err := readHello(r, ours)
		if err != nil {
			var refused *RefusedError
			if errors.As(err, &refused) && !refused.ByPeer {
				if _, err := message.Append(nil, refused.message()); err != nil {
					t.Fatalf("a refusal that cannot be sent: %v", err)
				}
			}
			return
		}
		m, err := message.Decode(b[4 : 4+binary.BigEndian.Uint32(b)])
		if err != nil {
			t.Fatal(err)
		}
		said, p := m.(*message.Hello), peerOf(h)
		if said.Cluster != ours.Cluster || said.Environment != ours.Environment || said.Major != ours.Major ||
			p.ID == "" || p.Incarnation == 0 || !p.Role.Valid() {
			t.Fatalf("%+v was let in as %+v", said, p)
		}
	})
}

// FuzzDatagram: the remembered header changes nothing.
func FuzzDatagram(f *testing.F) {
	head := appendHeader(nil, hello("b"))
	whole, err := message.Append(head, pingOf(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(head)
	f.Add(bytes.Repeat([]byte{0x81}, 1500))
	f.Add(head[:len(head)-3])
	f.Add(append(append(bytes.Clone(head[:headerFixed]), 1, 255), make([]byte, 300)...)) // the longest name
	f.Add(append(bytes.Clone(head[:headerFixed]), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0xff))
	fresh := func() *Transport {
		t := &Transport{hello: hello("a")}
		t.datagrams.init(nil)
		return t
	}
	warm := fresh()
	from := netip.MustParseAddrPort("127.0.0.1:1")
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, _, err := warm.parse(from, whole); err != nil {
			t.Fatal(err)
		}
		p, m, err := fresh().parse(from, b)
		q, n, again := warm.parse(from, b)
		if (err == nil) != (again == nil) || p != q {
			t.Fatalf("cold %v %v, warm %v %v", p, err, q, again)
		}
		if err == nil && (m.Digest() != n.Digest() || p == (node.Peer{})) {
			t.Fatalf("cold %v from %v, warm %v", m, p, n)
		}
	})
}

// BenchmarkFrame is a Ping read from a stream.
func BenchmarkFrame(b *testing.B) {
	one := frame(b, pingOf(1))
	many := bytes.Repeat(one, 1000)
	in := bytes.NewReader(many)
	r := &frameReader{in: bufio.NewReader(in), limit: message.FrameMax}
	b.ReportAllocs()
	b.SetBytes(int64(len(one)))
	for b.Loop() {
		if in.Len() == 0 && r.in.Buffered() == 0 {
			in.Reset(many)
		}
		if _, err := r.next(); err != nil {
			b.Fatal(err)
		}
	}
}

// drain is a Sink that makes room for the next message.
type drain struct{ room chan struct{} }

func (drain) StreamOpened(node.StreamID, node.Peer)               {}
func (drain) Resolved(node.Names)                                 {}
func (drain) StreamBroken(node.StreamID, node.Peer, string, bool) {}
func (d drain) Message(node.Peer, node.StreamID, node.Message) bool {
	<-d.room
	return true
}

// BenchmarkStream is Pings from one node to another over loopback, a thousand on
// their way at a time.
func BenchmarkStream(b *testing.B) {
	sockets, err := Listen("127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	from := serve(b, "a", nil)
	to := New(Config{Self: node.Peer{ID: "b", Incarnation: 1, Role: node.RoleToy}, Cluster: "c", Environment: "e"}, sockets)
	room := make(chan struct{}, 1000)
	to.Serve(drain{room})
	s := from.Open(node.Addr(to.Addr()))
	m := pingOf(1)
	b.ReportAllocs()
	for b.Loop() {
		room <- struct{}{}
		from.Send(s, m)
	}
	for len(room) > 0 {
		time.Sleep(time.Millisecond) // the last are on their way
	}
	to.Kill()
}
