package amqptest

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"time"
)

// Client speaks to the server in frames.
type Client struct {
	s *Server
	c net.Conn
	r *bufio.Reader
}

// Dial connects as guest.
func (s *Server) Dial() *Client {
	s.tb.Helper()
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() { _ = c.Close() })
	n := &Client{s: s, c: c, r: bufio.NewReader(c)}
	n.write([]byte("AMQP\x00\x00\x09\x01"))
	n.await(10, 10)
	n.say(0, "\x00\x0a\x00\x0b\x00\x00\x00\x00\x05PLAIN\x00\x00\x00\x0c\x00guest\x00guest\x05en_US")
	n.await(10, 30)
	n.say(0, "\x00\x0a\x00\x1f\x00\x01\x00\x02\x00\x00\x00\x00")
	n.say(0, "\x00\x0a\x00\x28\x01/\x00\x00")
	n.await(10, 41)
	n.say(1, "\x00\x14\x00\x0a\x00")
	n.await(20, 11)
	return n
}

func (n *Client) write(b []byte) {
	n.s.tb.Helper()
	if _, err := n.c.Write(b); err != nil {
		n.s.tb.Fatal(err)
	}
}

// frame writes a frame, and say one with a method.
func (n *Client) frame(kind, channel byte, payload string) {
	b := binary.BigEndian.AppendUint32([]byte{kind, 0, channel}, uint32(len(payload)))
	n.write(append(append(b, payload...), 0xce))
}

func (n *Client) say(channel byte, method string) { n.frame(1, channel, method) }

// await reads up to a method, and returns its arguments.
func (n *Client) await(class, method uint16) []byte {
	n.s.tb.Helper()
	for {
		head := make([]byte, 7)
		if _, err := io.ReadFull(n.r, head); err != nil {
			n.s.tb.Fatalf("read %d.%d: %v", class, method, err)
		}
		payload := make([]byte, binary.BigEndian.Uint32(head[3:])+1)
		if _, err := io.ReadFull(n.r, payload); err != nil {
			n.s.tb.Fatal(err)
		}
		if head[0] != 1 {
			continue
		}
		switch c, m := binary.BigEndian.Uint16(payload), binary.BigEndian.Uint16(payload[2:]); {
		case c == class && m == method:
			return payload[4:]
		case m == 40 && c == 20 || m == 50 && c == 10:
			n.s.tb.Fatalf("the server closes in place of %d.%d: %q", class, method, payload[4:])
		}
	}
}

func short(s string) string { return string(rune(len(s))) + s } // below 128 bytes

// Declare makes a queue that does not outlive the server.
func (n *Client) Declare(queue string) {
	n.s.tb.Helper()
	n.say(1, "\x00\x32\x00\x0a\x00\x00"+short(queue)+"\x00\x00\x00\x00\x00")
	n.await(50, 11)
}

// DeclareDurable makes a queue that outlives the server, with its persistent messages.
func (n *Client) DeclareDurable(queue string) {
	n.s.tb.Helper()
	n.say(1, "\x00\x32\x00\x0a\x00\x00"+short(queue)+"\x02\x00\x00\x00\x00")
	n.await(50, 11)
}

// Length is how many messages of a queue wait, and how many consumers it has.
func (n *Client) Length(queue string) (messages, consumers uint32) {
	n.s.tb.Helper()
	n.say(1, "\x00\x32\x00\x0a\x00\x00"+short(queue)+"\x01\x00\x00\x00\x00")
	b := n.await(50, 11)
	b = b[1+int(b[0]):]
	return binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
}

// Settled returns the length of a queue when it does not change any more.
func (n *Client) Settled(queue string) uint64 {
	n.s.tb.Helper()
	last, same := uint32(0), 0
	for range 500 { // the server's processes hand messages on, and each takes its time
		now, consumers := n.Length(queue)
		if same++; now != last || consumers > 0 {
			same = 0
		}
		if last = now; same == 5 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return uint64(last)
}

// Fill sends messages to a queue, and waits until it has them.
func (n *Client) Fill(queue, body string, messages int) {
	n.s.tb.Helper()
	before, _ := n.Length(queue)
	for range messages {
		n.say(1, "\x00\x3c\x00\x28\x00\x00\x00"+short(queue)+"\x00")
		n.frame(2, 1, "\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x00"+string(rune(len(body)))+"\x00\x00")
		n.frame(3, 1, body)
	}
	for now := before; now < before+uint32(messages); now, _ = n.Length(queue) {
		time.Sleep(5 * time.Millisecond)
	}
}

// Purge empties a queue.
func (n *Client) Purge(queue string) {
	n.s.tb.Helper()
	n.say(1, "\x00\x32\x00\x1e\x00\x00"+short(queue)+"\x00")
	n.await(50, 31)
}

// Delete deletes a queue.
func (n *Client) Delete(queue string) {
	n.s.tb.Helper()
	n.say(1, "\x00\x32\x00\x28\x00\x00"+short(queue)+"\x00")
	n.await(50, 41)
}

// Bind binds a queue to an exchange.
func (n *Client) Bind(queue, exchange, key string) {
	n.s.tb.Helper()
	n.say(1, "\x00\x32\x00\x14\x00\x00"+short(queue)+short(exchange)+short(key)+"\x00\x00\x00\x00\x00")
	n.await(50, 21)
}
