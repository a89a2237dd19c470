package transport

import (
	"net"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/epoll"
)

// resting is a gate whose hall pauses for as long as the test lasts.
func resting(t *testing.T) (host, *hall) {
	h := serve(t, "g1", func(c *Config) { c.Self.Role = node.RoleGate })
	paused, err := newHall(h.Transport)
	if err != nil {
		t.Fatal(err)
	}
	h.Transport.mu.Lock()
	h.hall = paused
	h.Transport.mu.Unlock()
	return h, paused
}

// pause lets the hall pause, and ends that with the test.
func pause(t *testing.T, h *hall) {
	over := make(chan struct{})
	go func() {
		h.rest(make([]epoll.Event, hallTurn), time.Now().Add(time.Hour))
		close(over)
	}()
	t.Cleanup(func() {
		h.close()
		<-over
	})
}

// seatedIn waits until so many guests are in the hall, gives each its first look, at what came with its Hello, and
// counts those that end pauses.
func seatedIn(h *hall, guests int) (calm int) {
	for in := 0; in < guests; time.Sleep(time.Millisecond) {
		h.mu.Lock()
		in, calm = len(h.guests), h.calm.guests
		h.mu.Unlock()
	}
	h.serve(time.Now(), 2*guests)
	return calm
}

// client joins a gate from an address.
func client(t *testing.T, h host, from, id string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).Dial("tcp", h.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(wait))
	m := hello(id)
	m.Role = uint8(node.RoleClient)
	if _, err := conn.Write(frame(t, m)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1<<10)); err != nil || n == 0 {
		t.Fatalf("the node greets with %d bytes: %v", n, err)
	}
	h.ear.want(t, "opened")
	return conn
}

// TestACalmClientEndsAPause: a request of a client whose source has few streams does not wait for the end of a
// pause. The streams of a flood do.
func TestACalmClientEndsAPause(t *testing.T) {
	h, paused := resting(t)
	var flood []net.Conn
	for range calmFew + 1 {
		flood = append(flood, client(t, h, "127.0.0.8", "flood"))
	}
	calm := client(t, h, "127.0.0.9", "calm")
	if n := seatedIn(paused, calmFew+2); n != 1 {
		t.Errorf("%d guests end a pause, one source has 1 and another one %d", n, calmFew+1)
	}
	for _, conn := range flood {
		if _, err := conn.Write(frame(t, &message.JobQuery{Request: message.RequestID{Incarnation: 1, Counter: 1}, Job: message.JobOf("none")})); err != nil {
			t.Fatal(err)
		}
	}
	pause(t, paused)
	for range 3 {
		if _, err := calm.Write(frame(t, &message.JobCancel{Request: message.RequestID{Incarnation: 1, Counter: 1}, Job: message.JobOf("none")})); err != nil {
			t.Fatal(err)
		}
		h.ear.want(t, "JobCancel")
	}
}

// TestAnAnswerToACalmClientEndsAPause: what a node answers to such a client leaves at once. Answers to a flood wait.
func TestAnAnswerToACalmClientEndsAPause(t *testing.T) {
	h, paused := resting(t)
	for range calmFew + 1 {
		client(t, h, "127.0.0.8", "flood")
	}
	calm := client(t, h, "127.0.0.9", "calm")
	seatedIn(paused, calmFew+2)
	pause(t, paused)
	rests := func() bool {
		paused.mu.Lock()
		defer paused.mu.Unlock()
		return paused.calm.rests
	}
	for !rests() {
		time.Sleep(time.Millisecond)
	}
	ack := &message.JobCancelAck{Request: message.RequestID{Incarnation: 1, Counter: 1}}
	if h.Send(1, ack); !rests() {
		t.Error("an answer to a flood ends a pause")
	}
	h.Send(calmFew+2, ack)
	if n, err := calm.Read(make([]byte, 1<<10)); err != nil || n == 0 {
		t.Fatalf("the calm client reads %d bytes: %v", n, err)
	}
}
