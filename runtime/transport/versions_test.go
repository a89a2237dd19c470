package transport

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// said gives a node a role and a version.
func said(role node.Role, minor uint16) func(*Config) {
	return func(c *Config) { c.Self.Role, c.Self.Minor = role, minor }
}

// TestPeersTellTheirVersion: on streams in both directions, and with datagrams of an incarnation
// that has said it on a stream.
func TestPeersTellTheirVersion(t *testing.T) {
	a, b := serve(t, "a", said(node.RoleGate, 7)), serve(t, "b", said(node.RoleGate, 3))
	a.Datagram(b.addr(), &message.LeaseHail{Group: "gates"})
	b.ear.want(t, "LeaseHail")
	if got := b.ear.minor("a"); got != 0 {
		t.Errorf("a has not said its version, and b takes it for %d", got)
	}
	s := a.Open(b.addr())
	a.ear.want(t, "opened 1 b#1")
	b.ear.want(t, "opened 1 a#1")
	if got := a.ear.minor("b"); got != 3 {
		t.Errorf("a takes b for version %d", got)
	}
	a.Datagram(b.addr(), &message.LeaseHail{Group: "gates"})
	b.ear.want(t, "LeaseHail")
	if got := b.ear.minor("a"); got != 7 {
		t.Errorf("b takes a for version %d in a datagram", got)
	}
	a.Send(s, pingOf(1))
	b.ear.want(t, "ping 1")
	if got := b.ear.minor("a"); got != 7 {
		t.Errorf("b takes a for version %d on a stream", got)
	}
	if got := b.datagrams.versions.of(node.Peer{ID: "a", Incarnation: 2}); got != 0 {
		t.Errorf("the next incarnation of a has said nothing, and b takes it for %d", got)
	}
}

// TestANewDiskSaysItsVersion: a node whose disk was lost counts its incarnations from 1 again. Its datagrams have its version.
func TestANewDiskSaysItsVersion(t *testing.T) {
	var v versions
	peer := func(incarnation uint64) node.Peer {
		return node.Peer{ID: "a", Role: node.RoleGate, Incarnation: incarnation, Addr: "a:1", Minor: 7}
	}
	for _, incarnation := range []uint64{40, 1, 2} {
		v.learn(peer(incarnation))
		if got := v.of(peer(incarnation)); got != 7 {
			t.Errorf("incarnation %d has minor version %d, want 7", incarnation, got)
		}
	}
}

// TestAPeerThatOnlyAsksForKeys: what TLS answers to a peer that reads nothing is bounded, and moves no deadline.
func TestAPeerThatOnlyAsksForKeys(t *testing.T) {
	g, l, now := &guest{}, &Limits{Write: time.Second, Queue: 100}, time.Now()
	for i := range 10 {
		if !g.answers(make([]byte, 10), now.Add(time.Duration(i)*time.Second), l) || !g.written.Equal(now.Add(time.Second)) {
			t.Fatalf("answer %d: written by %v, want a second after the first", i, g.written.Sub(now))
		}
	}
	if g.answers(make([]byte, 1), now, l) {
		t.Errorf("%d bytes wait, the bound is %d", len(g.out), l.Queue)
	}
}

// TestQuietSearchesOnceASecond: thousands of sources do not make each new one search all.
func TestQuietSearchesOnceASecond(t *testing.T) {
	q, now := &quiet{seen: map[string]time.Time{}}, time.Now()
	for i := range quietMax {
		q.first(fmt.Sprint(i), now)
	}
	if q.first("one more", now) || !q.swept.Equal(now) {
		t.Fatal("a source too many is logged")
	}
	q.seen["0"] = now.Add(-quietFor)
	if q.first("another", now.Add(time.Second/2)) {
		t.Error("it searches again within the second")
	}
	if !q.first("another", now.Add(time.Second)) {
		t.Error("a second later an old source makes room for it")
	}
}

// TestAnUnknownRequestIsRefused: the answer names both versions, and the stream stays.
func TestAnUnknownRequestIsRefused(t *testing.T) {
	for _, role := range []node.Role{node.RoleClient, node.RoleGate} {
		gate := serve(t, "g", said(node.RoleGate, 1))
		conn := dial(t, gate)
		h := hello("c")
		h.Role, h.Minor = uint8(role), 2
		b, err := message.Append(nil, &message.ClusterQuery{Request: message.RequestID{Incarnation: 4, Counter: 9}})
		if err != nil {
			t.Fatal(err)
		}
		binary.BigEndian.PutUint16(b[1:], 65000)
		out := append(frame(t, h), binary.BigEndian.AppendUint32(nil, uint32(len(b)))...)
		out = append(append(out, b...), frame(t, pingOf(1))...)
		if role == node.RoleClient {
			out = append(out[:len(out)-len(frame(t, pingOf(1)))], frame(t, &message.ClientPing{Counter: 1})...)
		}
		if _, err := conn.Write(out); err != nil {
			t.Fatal(err)
		}
		gate.ear.want(t, "opened")
		r := gate.newReader(conn)
		r.limit = message.FrameMax
		if m, err := r.next(); err != nil || m.Kind() != message.KindHello || m.(*message.Hello).Minor != 1 {
			t.Fatalf("%+v, %v", m, err)
		}
		if role == node.RoleGate { // no request: nothing answers it
			gate.ear.want(t, "ping 1")
			continue
		}
		gate.ear.want(t, "ClientPing")
		m, err := r.next()
		want := message.Refused{Request: message.RequestID{Incarnation: 4, Counter: 9}, Code: message.CodeVersion,
			Detail: "g of protocol version 1.1 does not know kind 65000, which c of version 1.2 sends: upgrade g, or use the client that came with it"}
		if err != nil || *m.(*message.Refused) != want {
			t.Errorf("%+v, %v", m, err)
		}
	}
}
