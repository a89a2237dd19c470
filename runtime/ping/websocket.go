package ping

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/websocket"
)

// Greeting is what a server chose when it upgraded the connection to WebSocket, or told of itself.
type Greeting struct {
	Protocol   string `json:"protocol"` // of those offered; empty: none
	Server     string `json:"server,omitempty"`
	Extensions string `json:"extensions"` // as the server wrote them
	NS         int64  `json:"ns"`         // from the upgrade's first byte to the answer's last
	PongNS     int64  `json:"pong_ns"`    // from the ping to its answer; 0: none came
}

// upgraded listens for the answer to a ping.
type upgraded struct {
	ponged bool
	left   error
}

var _ codec.Listener = (*upgraded)(nil)

func (u *upgraded) Message(codec.MessageKind, []byte) {}
func (u *upgraded) Pong(uint64)                       { u.ponged = true }
func (u *upgraded) Leaves(code uint16, reason string) { u.left = websocket.Left(code, reason) }

// random32 returns random bits for a mask.
func random32() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.LittleEndian.Uint32(b[:])
}

// talkMessages upgrades the connection and waits for the answer to a ping.
func (r *Report) talkMessages(c net.Conn, cfg Config, call *http1.Call) error {
	p, err := websocket.New(websocket.Config{Protocols: cfg.WebSocket.Protocols, Compression: websocket.CompressionTakeover})
	if err != nil {
		return err
	}
	u := p.Upgrade()
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails
	head := append([]byte(nil), call.Bytes[:len(call.Bytes)-len("\r\n")]...)
	head = append(u.AppendFields(head, random), "\r\n"...)
	began := time.Now()
	n, err := c.Write(head)
	if err != nil {
		return err
	}
	r.Answer = &Answer{Protocol: "HTTP/1.1", BytesOut: int64(n), Headers: [][2]string{}}
	r.enter(message.PhaseWait)
	buffer := make([]byte, 64<<10)
	rest, kept, err := r.upgrade(c, call, buffer)
	if err != nil {
		if r.Answer.Status == 0 {
			r.Answer = nil
		}
		return err
	}
	r.keep(kept)
	d, err := u.Begin(r.Answer.Status, kept, random32)
	if err != nil {
		return err
	}
	defer d.Release()
	extensions, _ := kept.Header("Sec-WebSocket-Extensions")
	r.Greeting = &Greeting{Protocol: d.(*websocket.Conn).Chosen(), Extensions: extensions, NS: int64(time.Since(began))}
	r.Answer.KeepAlive = true
	return r.pong(c, d, rest, buffer)
}

// upgrade reads the head of the upgrade's answer, and returns the bytes behind it.
func (r *Report) upgrade(c net.Conn, call *http1.Call, buffer []byte) (rest []byte, kept *http1.Collector, err error) {
	var p http1.Parser
	kept = &http1.Collector{HeadOnly: true}
	p.Reset(call.Method)
	p.Upgrade()
	p.Collect(kept)
	for {
		n, readErr := c.Read(buffer)
		r.Answer.BytesIn += int64(n)
		used, done, err := 0, false, error(nil)
		if n > 0 {
			used, done, err = p.Feed(buffer[:n])
		}
		switch {
		case err != nil || done:
		case p.HeadDone(): // of a server that does not upgrade: its body does not matter
			done = true
		case errors.Is(readErr, io.EOF):
			done, err = p.FinishEOF()
		default:
			err = readErr
		}
		r.Answer.Status = p.Status()
		if err != nil || done {
			return buffer[used:n], kept, err
		}
	}
}

// pong sends a ping, reads until its answer comes, and says goodbye.
func (r *Report) pong(c net.Conn, d codec.Dialogue, rest, buffer []byte) error {
	on := &upgraded{}
	if err := d.Feed(rest, on); err != nil {
		return err
	}
	r.enter(message.PhaseSend)
	began := time.Now()
	d.Ping(uint64(began.UnixNano()))
	if err := r.write(c, d); err != nil {
		return err
	}
	r.enter(message.PhaseWait)
	for !on.ponged {
		if on.left != nil {
			return on.left
		}
		n, readErr := c.Read(buffer)
		r.Answer.BytesIn += int64(n)
		wrong := d.Feed(buffer[:n], on)
		err := r.write(c, d)
		switch {
		case on.ponged:
		case wrong != nil:
			return wrong
		case readErr != nil && on.left == nil:
			return d.End(readErr)
		case err != nil:
			return err
		}
	}
	r.Greeting.PongNS = int64(time.Since(began))
	d.Leave(websocket.CodeNormal, "")
	_ = r.write(c, d) // whether the goodbye arrives changes nothing
	return nil
}

func (r *Report) write(c net.Conn, d codec.Dialogue) error {
	for out := d.Output(); len(out) > 0; out = d.Output() {
		n, err := c.Write(out)
		d.Sent(n)
		r.Answer.BytesOut += int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}
