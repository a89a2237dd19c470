package ping

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/protocol/http1"
)

// Bytes are what a server said over TCP or UDP.
type Bytes struct {
	In     int64  `json:"in"`
	Out    int64  `json:"out"`
	Text   string `json:"text"`   // the first 4 KiB of what came
	Closed bool   `json:"closed"` // the server closed the connection
}

// network is what carries a ping.
func (s *Said) network() string {
	if s != nil && s.UDP {
		return "udp"
	}
	return "tcp"
}

// listensFor is how long a ping waits for bytes over TCP: no length says when all have come.
const listensFor = 250 * time.Millisecond

// talkRaw sends what there is to send over TCP or UDP.
func (r *Report) talkRaw(c net.Conn, s *Said) error {
	if s.UDP {
		return r.talkDatagram(c, s.Data)
	}
	return r.talkBytes(c, s.Data)
}

// talkBytes sends what there is to send, and reads what comes.
func (r *Report) talkBytes(c net.Conn, send []byte) error {
	r.Bytes = &Bytes{}
	if len(send) > 0 {
		n, err := c.Write(send)
		if r.Bytes.Out = int64(n); err != nil {
			return err
		}
	}
	r.enter(message.PhaseWait)
	if err := c.SetReadDeadline(time.Now().Add(listensFor)); err != nil {
		return err
	}
	var kept []byte
	buffer := make([]byte, 64<<10)
	for {
		n, err := c.Read(buffer)
		if n > 0 && r.phase == message.PhaseWait {
			r.enter(message.PhaseReceive)
		}
		r.Bytes.In += int64(n)
		kept = append(kept, buffer[:min(n, dataShown-len(kept))]...)
		r.Bytes.Text = strings.ToValidUTF8(string(kept), "\uFFFD")
		switch {
		case errors.Is(err, io.EOF):
			r.Bytes.Closed = true
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil:
			return err
		}
	}
}

// talkDatagram sends a datagram, and waits for one that answers it.
func (r *Report) talkDatagram(c net.Conn, send []byte) error {
	sent := &Bytes{}
	n, err := c.Write(send)
	if sent.Out = int64(n); err != nil {
		return err
	}
	r.enter(message.PhaseWait)
	buffer := make([]byte, 64<<10)
	n, err = c.Read(buffer)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &http1.Error{Kind: http1.KindLost, Detail: "no answer came in time: a datagram was lost, or nothing answers"}
	case err != nil:
		return err
	}
	r.enter(message.PhaseReceive)
	sent.In, sent.Text = int64(n), strings.ToValidUTF8(string(buffer[:min(n, dataShown)]), "\uFFFD")
	r.Bytes = sent
	return nil
}
