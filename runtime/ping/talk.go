package ping

import (
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http2"
	"hyperscale/runtime/protocol/sse"
)

// talk sends the request and reads the answer.
func (r *Report) talk(c net.Conn, cfg Config, call *http1.Call) error {
	r.enter(message.PhaseSend)
	switch {
	case cfg.GRPC != nil:
		return r.talkGRPC(c, cfg)
	case cfg.HTTP == HTTP2:
		return r.talk2(c, call)
	case cfg.WebSocket != nil:
		return r.talkMessages(c, cfg, call)
	case cfg.Redis != nil:
		return r.talkRedis(c, cfg)
	case cfg.Raw != nil:
		return r.talkRaw(c, cfg.Raw)
	}
	n, err := c.Write(call.Bytes)
	r.Answer = &Answer{Protocol: "HTTP/1.1", BytesOut: int64(n), Headers: [][2]string{}}
	if err != nil {
		r.Answer = nil
		return err
	}
	r.enter(message.PhaseWait)
	var p http1.Parser
	var kept http1.Collector
	p.Reset(call.Method)
	p.Collect(&kept)
	var w *waiter
	if cfg.Events {
		w = &waiter{r: r, head: &kept, status: p.Status}
		w.parser.Keep = true
		kept.Tap, kept.HeadOnly = w, true
	}
	buffer := make([]byte, 64<<10)
	for done := false; !done; {
		n, err := c.Read(buffer)
		if n > 0 && r.phase == message.PhaseWait {
			r.enter(message.PhaseReceive)
		}
		r.Answer.BytesIn += int64(n)
		var wrong error
		if n > 0 {
			_, done, wrong = p.Feed(buffer[:n])
		}
		if w != nil && r.Event != nil {
			done, wrong = true, nil // the rest of the stream does not matter
		} else if w != nil && w.err != nil {
			wrong = w.err
		}
		if !done && wrong == nil && errors.Is(err, io.EOF) {
			done, wrong = p.FinishEOF()
		} else if !done && wrong == nil {
			wrong = err
		}
		r.Answer.Status, r.Answer.BodyBytes = p.Status(), p.BytesBody()
		if wrong != nil {
			if r.Answer.Status == 0 {
				r.Answer = nil
			}
			return wrong
		}
	}
	r.Answer.KeepAlive = p.Reusable() && !call.Close
	r.keep(&kept)
	if w != nil && r.Event == nil && r.Answer.Status < 400 {
		if err := sse.Foreign(&kept); err != nil {
			return err
		}
		return &http1.Error{Kind: http1.KindExpect, Detail: "the stream ended before its first event"}
	}
	return nil
}

// waiter waits for the first event of an answer.
type waiter struct {
	r      *Report
	head   *http1.Collector
	status func() int
	parser sse.Parser
	err    error
}

var (
	_ http1.Tap    = (*waiter)(nil)
	_ sse.Listener = (*waiter)(nil)
)

// Piece implements http1.Tap.
func (w *waiter) Piece(b []byte) {
	if w.err != nil || w.status() >= 400 {
		return
	}
	if w.err = sse.Foreign(w.head); w.err == nil {
		_, w.err = w.parser.Feed(b, w)
	}
}

// Look implements http1.Tap.
func (w *waiter) Look() bool { return w.r.Event != nil || w.err != nil }

const dataShown = 4 << 10

// Event implements sse.Listener.
func (w *waiter) Event(e *sse.Event) bool {
	data := strings.ToValidUTF8(string(e.Data[:min(len(e.Data), dataShown)]), "\uFFFD")
	w.r.Event = &Event{Type: string(e.Type), ID: string(e.ID), Data: data, Bytes: len(e.Data), NS: int64(time.Since(w.r.StartedAt))}
	return true
}

// keep copies the head.
func (r *Report) keep(kept *http1.Collector) {
	for i := range kept.Len() {
		name, value := kept.At(i)
		r.Answer.Headers = append(r.Answer.Headers, [2]string{string(name), string(value)})
	}
}

// heard handles the events of one HTTP/2 stream.
type heard struct {
	r    *Report
	kept http1.Collector
	done bool
	err  error
}

var _ codec.Handler = (*heard)(nil)

func (h *heard) Begins(uint64) *http1.Collector { return &h.kept }

func (h *heard) Head(_ uint64, status int) { h.r.Answer.Status = status; h.receive() }
func (h *heard) Body(_ uint64, b []byte)   { h.r.Answer.BodyBytes += int64(len(b)) }
func (h *heard) Done(uint64)               { h.done = true }
func (h *heard) Failed(_ uint64, err error) {
	h.err = err
	h.receive()
}

func (h *heard) receive() {
	if h.r.phase == message.PhaseWait {
		h.r.enter(message.PhaseReceive)
	}
}

// talk2 is one stream of HTTP/2. Settings that a server sends before its answer are
// waiting, not receiving.
func (r *Report) talk2(c net.Conn, call *http1.Call) error {
	var conn http2.Conn
	var request codec.Operation
	http2.Render(&request, call)
	conn.Reset(http2.Config{Streams: 1})
	stream := conn.Open(&request, 1, nil)
	h := &heard{r: r}
	r.Answer = &Answer{Protocol: "HTTP/2", Headers: [][2]string{}}
	r.carry(c, &conn, stream, h)
	r.Answer.KeepAlive = conn.Usable()
	if h.err != nil {
		if r.Answer.Status == 0 {
			r.Answer = nil
		}
		return h.err
	}
	r.keep(&h.kept)
	conn.Shutdown()
	_, _ = c.Write(conn.Output()) // a goodbye; whether it arrives changes nothing
	return nil
}

// carry writes and reads until a stream has ended.
func (r *Report) carry(c net.Conn, conn *http2.Conn, stream uint32, h *heard) {
	buffer := make([]byte, 64<<10)
	for !h.done && h.err == nil {
		if out := conn.Output(); len(out) > 0 {
			n, err := c.Write(out)
			conn.Sent(n)
			r.Answer.BytesOut += int64(n)
			if err != nil {
				h.err = err
				break
			}
		}
		if r.phase == message.PhaseSend && !conn.Sending(stream) {
			r.enter(message.PhaseWait)
		}
		n, err := c.Read(buffer)
		r.Answer.BytesIn += int64(n)
		if n > 0 {
			if wrong := conn.Feed(buffer[:n], h); wrong != nil && h.err == nil && !h.done {
				h.err = wrong
			}
		}
		if err != nil && h.err == nil && !h.done {
			conn.Close(err, h)
			if h.err == nil {
				h.err = err
			}
		}
	}
}
