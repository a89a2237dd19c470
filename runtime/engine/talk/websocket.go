package talk

import (
	"fmt"
	"strings"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/websocket"
)

// socket is websocket.exchange.
type socket struct {
	of     *request.Socket
	config *websocket.Protocol
	says   []said
}

var _ verb = (*socket)(nil)

// said is a message: prepared, or cut where values stand.
type said struct {
	prepared *websocket.Prepared // nil: it has values
	pieces   []saidPiece
}

// saidPiece is text and the value behind it.
type saidPiece struct {
	text  string
	value int // index; below 0: none
}

func (s *socket) open() codec.Opening { return codec.Opening{Upgrade: s.config.Upgrade()} }

func (s *socket) say(x *Exchange, d codec.Dialogue) error {
	sent := x.account.Messages().Sent()
	for i := range s.says {
		m, text := &s.says[i], s.of.Send[i].Data
		if m.prepared == nil {
			text = x.filled(m)
		}
		x.shows(text)
		var err error
		if m.prepared != nil {
			err = d.(*websocket.Conn).SendPrepared(m.prepared, sent)
		} else {
			err = d.Send(codec.MessageText, text, sent)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *socket) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	x.received(payload)
	return x.got == s.of.Receive || s.of.Until != nil && s.of.Until.Holds(payload)
}

func (s *socket) deaf() bool { return s.of.Receive == 0 && s.of.Until == nil }

// status is that of every exchange: its connection's.
func (s *socket) status() uint16 { return statusUpgraded }

const statusUpgraded = 101

func (s *socket) protocol() string { return "HTTP/1.1" }

func (s *socket) left(code uint16, reason string) error { return websocket.Left(code, reason) }

// socket prepares an exchange over WebSocket.
func (p *Plan) socket(r *request.Request, w *workflow.Workflow, memory *websocket.Pool) (*request.Request, error) {
	s := &socket{of: r.Socket}
	for _, h := range r.Headers {
		if websocket.Reserved(h.Name) {
			return nil, &http1.InputError{Field: "headers", Value: h.Name, Remedy: "take it out: the upgrade sets it"}
		}
	}
	var err error
	if s.config, err = protocolOf(s.of, w.HTTP.MaxBody, memory); err != nil {
		return nil, err
	}
	upgrade := *r
	upgrade.Placeholders = nil
	in := map[string]bool{} // placeholders of messages
	for i := range s.of.Send {
		m, err := prepare(&s.of.Send[i], r.Placeholders, s.of.Compress != request.CompressNot, in)
		if err != nil {
			return nil, fmt.Errorf("send[%d]: %w", i, err)
		}
		s.says = append(s.says, m)
	}
	for _, h := range r.Placeholders {
		if !in[h.Word] {
			upgrade.Placeholders = append(upgrade.Placeholders, h)
		}
	}
	p.verb, p.Host = s, SocketHost(s.key(&upgrade), strings.HasPrefix(r.URL, "https:"))
	return &upgrade, nil
}

// SocketHost is a destination that upgrades: only HTTP/1.1 does.
func SocketHost(key string, secure bool) pool.TalkHost {
	return pool.TalkHost{Key: key, Secure: secure, Offer: []string{"http/1.1"}}
}

// protocolOf returns the protocol that a request asks for.
func protocolOf(s *request.Socket, messageMax int64, memory *websocket.Pool) (*websocket.Protocol, error) {
	config := websocket.Config{Protocols: s.Protocols, MessageMax: messageMax, Pool: memory}
	switch s.Compress {
	case request.CompressFresh:
		config.Compression = websocket.CompressionFresh
	case request.CompressTakeover:
		config.Compression = websocket.CompressionTakeover
	}
	return websocket.New(config)
}

// prepare prepares one message, and notes the placeholders in it.
func prepare(m *request.Said, all []request.Placeholder, compressed bool, in map[string]bool) (s said, err error) {
	if !m.Binary {
		if s.pieces = pieces(string(m.Data), all, in); s.pieces != nil {
			return s, nil
		}
	}
	kind := codec.MessageText
	if m.Binary {
		kind = codec.MessageBinary
	}
	s.prepared, err = websocket.Prepare(kind, m.Data, compressed)
	return s, err
}

// pieces cuts a text where placeholders stand in it, and notes them; nil: there are none.
func pieces(rest string, all []request.Placeholder, in map[string]bool) (cut []saidPiece) {
	for {
		first, at := (*request.Placeholder)(nil), len(rest)
		for i := range all {
			if k := strings.Index(rest[:at], all[i].Word); k >= 0 {
				first, at = &all[i], k
			}
		}
		if first == nil {
			break
		}
		in[first.Word] = true
		cut = append(cut, saidPiece{rest[:at], first.Var})
		rest = rest[at+len(first.Word):]
	}
	if cut == nil {
		return nil
	}
	return append(cut, saidPiece{rest, -1})
}

// key tells targets apart: exchanges of a user that ask for the same upgrade share its connection.
func (s *socket) key(r *request.Request) string {
	auth := request.Auth{}
	if r.Auth != nil {
		auth = *r.Auth
	}
	return fmt.Sprintf("websocket %q %q %q %q %q %q %d", r.URL, r.Headers, r.Params, r.Cookies, auth, s.of.Protocols, s.of.Compress)
}

// Show keeps the request that upgrades under the scheme of its URL.
func (p *Plan) Show(c *http1.Call) {
	p.Shown = *c
	p.Shown.Method, p.Shown.Scheme = "WebSocket", "ws"
	if p.Host.Secure {
		p.Shown.Scheme = "wss"
	}
}
